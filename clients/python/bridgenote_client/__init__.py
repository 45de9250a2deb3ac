"""Send posts to a Bridgenote service and carry out its decisions. ``generated`` has every call of the API.

The rules are those of docs/integrate/api.md: Refusals, Signatures, Your duties.
"""

import base64
import hmac
import json
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, Self, TypeVar, cast
from uuid import UUID

import httpx

from .generated import AuthenticatedClient
from .generated.api.moderation_actions import (
    list_moderation_actions,
    patch_moderation_action,
    read_moderation_action,
)
from .generated.api.requests import create_request, read_request
from .generated.models import (
    ActionAttributes,
    ActionPatchAttributes,
    ActionPatchAttributesUndoStateType0,
    ActionState,
    ModerationActionDocument,
    ModerationActionList,
    PageLinks,
    RequestCreate,
    RequestCreateAttributes,
    RequestCreateResource,
    RequestDocument,
    RequestResource,
    UndoState,
)
from .generated.types import Response, Unset

RETRIED = frozenset({429, 500, 502, 503, 504})


class RetryingClient(httpx.Client):
    """Makes a call up to three times, after 0.5 s and 1 s, or as ``Retry-After`` says if that is at most a minute."""

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        response = self._send(request, **options)
        if response.is_error and "json" not in response.headers.get("Content-Type", ""):
            response.raise_for_status()  # a page of a proxy, where the generated calls expect JSON
        return response

    def _send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        for attempt in (1, 2):
            wait = 0.5 * 2 ** (attempt - 1) * random.uniform(1, 1.5)  # noqa: S311 - no secret
            try:
                response = super().send(request, **options)
            except httpx.TransportError:
                pass
            else:
                after = response.headers.get("Retry-After", "")
                wait = int(after) if after.isdecimal() else wait
                if response.status_code not in RETRIED or wait > 60:
                    return response
                response.close()
            time.sleep(wait)
        return super().send(request, **options)


def connect(base_url: str, key: str) -> AuthenticatedClient:
    """A client for the calls in ``generated.api``, which repeats what may be repeated."""
    client = RetryingClient(base_url=base_url, headers={"Authorization": f"Bearer {key}"}, timeout=30)
    return AuthenticatedClient(base_url=base_url, token=key).set_httpx_client(client)


class Refused(Exception):
    """The service refused a call. ``status`` is HTTP's, the text is what it answered."""

    def __init__(self, response: Response[Any]) -> None:
        super().__init__(response.content.decode(errors="replace"))
        self.status = int(response.status_code)


Document = TypeVar("Document")


def _expect(kind: type[Document], response: Response[Any]) -> Document:
    if not isinstance(response.parsed, kind):
        raise Refused(response)
    return response.parsed


def send(client: AuthenticatedClient, **attributes: Any) -> RequestResource:
    """Submit a post with the attributes of ``RequestCreateAttributes``. One that is known is returned as it is."""
    resource = RequestCreateResource(type_="requests", attributes=RequestCreateAttributes(**attributes))
    response: Response[Any] = create_request.sync_detailed(client=client, body=RequestCreate(data=resource))
    if response.status_code == 409:
        response = read_request.sync_detailed(attributes["request_id"], client=client)
    return _expect(RequestDocument, response).data


class Page(Protocol):
    links: PageLinks

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self: ...


AnyPage = TypeVar("AnyPage", bound=Page)


def pages(client: AuthenticatedClient, page: AnyPage) -> Iterator[AnyPage]:
    """This page of a list and those after it."""
    yield page
    while page.links.next_ is not None:
        response = client.get_httpx_client().get(page.links.next_).raise_for_status()
        page = page.from_dict(response.json())
        yield page


def verify(body: bytes, headers: Mapping[str, str], secret: str) -> dict[str, Any]:
    """The event of a delivery. ValueError unless a signature holds whose timestamp is at most 300 seconds from now.

    Checks the header of Standard Webhooks, any one of its signatures; without that header, the signature in the body.
    """
    sent = {name.lower(): value for name, value in headers.items()}
    try:
        if "webhook-signature" in sent:
            timestamp = sent["webhook-timestamp"]
            key = base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()
            digest = hmac.digest(key, f"{sent['webhook-id']}.{timestamp}.".encode() + body, "sha256")
            expected = "v1," + base64.b64encode(digest).decode()
            signatures = sent["webhook-signature"].split()
            event = None
        else:
            event = json.loads(body)
            signatures = [event["_webhook_signature"]]
            timestamp = event["_webhook_timestamp"]
            signed = {name: event[name] for name in event if not name.startswith("_webhook_")}
            canonical = json.dumps(signed, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
            expected = hmac.digest(secret.encode(), f"{timestamp}:{canonical}".encode(), "sha256").hex()
        if not any(hmac.compare_digest(expected.encode(), one.encode()) for one in signatures):
            raise ValueError("no signature holds")
        if abs(time.time() - int(timestamp)) > 300:
            raise ValueError("the timestamp is old")
    except (AttributeError, KeyError, RecursionError, TypeError) as error:
        raise ValueError("not a signed delivery") from error
    return cast(dict[str, Any], json.loads(body) if event is None else event)


class Impossible(Exception):
    """Raise it in ``carry_out`` for what cannot be undone on the platform; its text is the reason."""


class Decisions:
    """Hands everything to be done on the platform to ``carry_out``, once, and acknowledges it.

    ``carry_out`` gets a verb (``hide``, ``unhide``, ``delete``, ``warn``, ``silence``, or to undo what was overturned
    ``restore``, ``unsilence``, ``retract``) and the action, whatever event it came with. It looks first whether that is
    done already, and may return the platform's own id of what it did. If it raises, the action stays proposed.
    """

    def __init__(
        self, client: AuthenticatedClient, carry_out: Callable[[str, ActionAttributes], str | None]
    ) -> None:
        self._client, self._carry_out = client, carry_out
        self._lock = threading.Lock()
        # A repeated event that is no longer among these finds its action applied, and does nothing.
        self._handled: deque[str] = deque(maxlen=1000)

    def handle(self, event: Mapping[str, Any]) -> None:
        """Work on a verified event of any shape, once its delivery is answered. Notes and rationales are ignored."""
        with self._lock:
            if event["event_id"] in self._handled:
                return
            action_id = self._action_of(event)
            if action_id is not None:
                self._work_on(action_id)
            self._handled.append(event["event_id"])

    def catch_up(self) -> None:
        """Work on everything still to be done, oldest first: when you start, and after an outage."""
        for query in (
            {"filteraction_state": ActionState.PROPOSED},
            {"filterundo_state": UndoState.PROPOSED},
        ):
            response = list_moderation_actions.sync_detailed(client=self._client, pagesize=100, **query)
            first = _expect(ModerationActionList, response)
            waiting = [action.id for page in pages(self._client, first) for action in page.data]
            for action_id in reversed(waiting):
                with self._lock:
                    self._work_on(action_id)

    def _action_of(self, event: Mapping[str, Any]) -> UUID | None:
        name = event.get("event") or event["event_type"]
        if name.removeprefix("moderation_action.") in ("created", "proposed", "overturned"):
            return UUID(event["data"]["id"])
        if name != "moderation.decision" or event["decision"] == "none":
            return None
        response = read_request.sync_detailed(event["request_id"], client=self._client)
        action_id = _expect(RequestDocument, response).data.attributes.action_id
        return None if isinstance(action_id, Unset) else action_id

    def _work_on(self, action_id: UUID) -> None:
        # Read again: the event may be old, or another may have come first.
        response = read_moderation_action.sync_detailed(action_id, client=self._client)
        action = _expect(ModerationActionDocument, response).data.attributes
        if action.action_state == ActionState.PROPOSED:
            done = self._carry_out(action.action_type.value, action)
            answer = ActionPatchAttributes(action_state=ActionState.APPLIED, platform_action_id=done)
        elif action.undo is not None and action.undo_state == UndoState.PROPOSED:
            try:
                self._carry_out(action.undo.value, action)
                answer = ActionPatchAttributes(undo_state=ActionPatchAttributesUndoStateType0.DONE)
            except Impossible as impossible:
                answer = ActionPatchAttributes(
                    undo_state=ActionPatchAttributesUndoStateType0.IMPOSSIBLE, reason=str(impossible)
                )
        else:
            return
        patched = patch_moderation_action.sync_detailed(action_id, client=self._client, body=answer)
        _expect(ModerationActionDocument, patched)
