"""A community of a test's own: its people, and its platform's integration, which uses the HTTP API alone."""

import ssl
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import sqlalchemy as sa

from app.core import clock, limits, outbox
from app.core.communities import communities
from app.core.models import Account, Hold
from app.core.people import accounts, keys, sessions
from app.core.permissions import SYSTEM
from app.core.review import holds
from app.core.vocabulary import KeyTemplate, Role
from tests.browser.live import PATIENCE, Service, wait_for
from tests.browser.receiver import Receiver
from tests.cast import SETTINGS

API = "/api/public/v1"
PASSWORD = "correct horse battery"
PLATFORM = "forum"
_NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""The service is met without TLS, and to read the certificates of the system takes long."""
NEWCOMER = "Nora"
"""The rater who has never been here; the others have been welcomed before."""


@dataclass(frozen=True)
class Person:
    """Someone with an account; ``token`` is the session of a browser that is signed in already."""

    name: str
    email: str
    token: str


@dataclass
class Place:
    """A community of a test's own, seen from its platform: people, and the API under a key."""

    service: Service
    community_id: uuid.UUID
    platform_id: str
    rater: Person
    newcomer: Person
    moderator: Person
    other_moderator: Person
    operator: Person
    admin: Person
    client: httpx.Client
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    queued: Iterator[int] = field(default_factory=count)

    def submit(self, text: str, **more: Any) -> str:
        """A submission; the integration's own id of it."""
        number = next(self.numbers)
        request_id = f"{self.platform_id}-{number}"
        attributes = {
            "request_id": request_id,
            "requested_by": "ann",
            "community_server_id": str(self.community_id),
            "original_message_content": text,
            "platform_message_id": f"m-{number}",
            "platform_channel_id": "general",
            "platform_author_id": f"author-{number}",
            **more,
        }
        self.ask("POST", f"{API}/requests", json={"data": {"type": "requests", "attributes": attributes}})
        return request_id

    def queue(self, *texts: str, **more: Any) -> list[str]:
        """Submissions that wait for people, oldest and most urgent first as given: the ids of their actions.

        Each of the first six of the community has twice as many reports as the next; else the score would order them.
        """
        return [action_id for text in texts for action_id in self.queue_together(text, **more)]

    def queue_together(self, *texts: str, **more: Any) -> list[str]:
        """The same in the time that one takes, for a test that does not ask which is older."""
        submitted = []
        for text in texts:
            reports = {"metadata": {"reports": 63 >> min(next(self.queued), 6)}}
            submitted.append(self.submit(text, **{**reports, **more}))

        def routed() -> list[str] | None:
            waiting = {one["attributes"]["request_id"]: one["id"] for one in self.actions("under_review")}
            return [waiting[one] for one in submitted] if waiting.keys() >= set(submitted) else None

        return wait_for("routing to people", routed)

    def actions(self, state: str) -> Sequence[dict[str, Any]]:
        query = {"filter[action_state]": state, "limit": "1000"}
        rows: list[dict[str, Any]] = self.ask("GET", f"{API}/moderation-actions", params=query)["data"]
        return rows

    def action(self, action_id: str) -> dict[str, Any]:
        """The attributes of one action."""
        attributes: dict[str, Any] = self.ask("GET", f"{API}/moderation-actions/{action_id}")["data"][
            "attributes"
        ]
        return attributes

    def state(self, action_id: str) -> str:
        return str(self.action(action_id)["action_state"])

    def becomes(self, action_id: str, state: str) -> None:
        """Wait until an action is in this state, though not for the time to undo a decision about it."""
        self._wait_for(state, Hold.action_id == uuid.UUID(action_id), lambda: self.state(action_id))

    def ratings_of(self, action_id: str) -> int:
        """How many have rated the action's rationale."""
        return int(self.note(self.action(action_id)["note_id"])["ratings_count"])

    def note_becomes(self, note_id: str, status: str) -> None:
        """Wait until a note has this status, though not for the time to undo a decision about it."""
        self._wait_for(status, Hold.note_id == uuid.UUID(note_id), lambda: str(self.note(note_id)["status"]))

    def _wait_for(self, wanted: str, held: sa.ColumnElement[bool], look: Callable[[], str]) -> None:
        """Wait for a state; what is ``held`` meanwhile is carried out as if its time had passed."""
        hurried: set[uuid.UUID] = set()

        def reached() -> bool:
            if look() == wanted:
                return True
            database = self.service.wiring.database
            with database.reading() as session:
                found = set(session.scalars(sa.select(Hold.id).where(held))) - hurried
            for hold_id in found:
                with database.writing() as session:
                    args = {"hold_id": str(hold_id)}
                    outbox.enqueue(session, holds.CARRY_OUT_JOB, args, community_id=self.community_id)
            hurried.update(found)
            return False

        wait_for(f"the state {wanted}", reached)

    def note(self, note_id: str) -> dict[str, Any]:
        """The attributes of one note."""
        attributes: dict[str, Any] = self.ask("GET", f"{API}/notes/{note_id}")["data"]["attributes"]
        return attributes

    def finished(self, request_id: str) -> None:
        """Wait until a request is completed."""

        def status() -> str:
            return str(self.ask("GET", f"{API}/requests/{request_id}")["data"]["attributes"]["status"])

        wait_for("completion", lambda: status() == "COMPLETED")

    def acknowledge(self, action_id: str) -> None:
        body = {"action_state": "applied", "platform_action_id": "hidden-1"}
        self.ask("PATCH", f"{API}/moderation-actions/{action_id}", json=body)

    def rate(self, note_id: str, levels: str) -> None:
        """One member of the platform a letter rates the note: H helpful, S somewhat, N not."""
        words = {"H": "HELPFUL", "S": "SOMEWHAT_HELPFUL", "N": "NOT_HELPFUL"}
        for number, letter in enumerate(levels):
            rating = {"note_id": note_id, "helpfulness_level": words[letter]}
            document = {"data": {"type": "ratings", "attributes": rating}}
            self.ask("POST", f"{API}/ratings", json=document, headers=self._as(f"member-{number}"))

    def write_note(self, request_id: str, text: str, author: str = "author-of-notes") -> str:
        """A note by a member of the platform on the request with this UUID; its id."""
        attributes = {
            "summary": text,
            "classification": "NOT_MISLEADING",
            "community_server_id": str(self.community_id),
            "request_id": request_id,
        }
        document = {"data": {"type": "notes", "attributes": attributes}}
        return str(self.ask("POST", f"{API}/notes", json=document, headers=self._as(author))["data"]["id"])

    def request_uuid(self, request_id: str) -> str:
        """Our id of the request with this id of the integration's."""
        return str(self.ask("GET", f"{API}/requests/{request_id}")["data"]["id"])

    def register(self, receiver: Receiver) -> None:
        """Have events of this community sent to the receiver."""
        body = {
            "url": receiver.url,
            "secret": receiver.secret,
            "platform_community_server_id": self.platform_id,
        }
        self.ask("POST", "/webhooks/register", json=body, headers={"X-Adapter-Platform": PLATFORM})

    def ask(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """One call of the API that must succeed."""
        response = self.client.request(method, path, **options)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        body: dict[str, Any] = response.json()
        return body

    def _as(self, user: str) -> Mapping[str, str]:
        return {"X-Adapter-Platform": PLATFORM, "X-Adapter-User-Id": user}


@contextmanager
def opened_place(service: Service) -> Iterator[Place]:
    """A new community with its people and its adapter's key."""
    number = next(service.numbers)
    with service.wiring.database.writing() as session:
        community = communities.open_community(
            session, SYSTEM, PLATFORM, f"place-{number}", name=f"Harbour forum {number}"
        )
        community.getting_started_hidden_at = clock.now()  # its people know their way about
        community.settings = dict(SETTINGS)

        def person(name: str, role: Role) -> Person:
            email = f"{name.lower()}-{number}@example.org"
            account: Account = accounts.create(session, email, PASSWORD, display_name=name, confirmed=True)
            membership = accounts.give_role(session, SYSTEM, account, community.id, role)
            membership.welcomed_at = None if name == NEWCOMER else clock.now()
            return Person(name, email, sessions.begin(session, account, "Test"))

        rater, newcomer = person("Rita", Role.RATER), person(NEWCOMER, Role.RATER)
        moderator, other_moderator = person("Max", Role.MODERATOR), person("Sam", Role.MODERATOR)
        operator, admin = person("Olga", Role.OPERATOR), person("Ada", Role.ADMIN)
        key = keys.mint(session, SYSTEM, "Forum adapter", KeyTemplate.ADAPTER, [community.id]).text
        community_id, platform_id = community.id, community.platform_community_server_id
    with httpx.Client(
        base_url=service.url,
        headers={"Authorization": f"Bearer {key}"},
        timeout=PATIENCE,
        verify=_NO_AUTHORITIES,
    ) as client:
        yield Place(
            service,
            community_id,
            platform_id,
            rater,
            newcomer,
            moderator,
            other_moderator,
            operator,
            admin,
            client=client,
        )


def take_a_minute(service: Service, person: Person) -> None:
    """Give this person the longest time to undo, so that no slow machine sends a decision before a test undoes it."""
    _set_undo_seconds(service, person, limits.UNDO_SECONDS[1])


def be_brief(service: Service, person: Person) -> None:
    """Give this person less time to undo than anybody may choose, for what is to be carried out."""
    _set_undo_seconds(service, person, 5)


def _set_undo_seconds(service: Service, person: Person, seconds: int) -> None:
    with service.wiring.database.writing() as session:
        account = session.scalars(sa.select(Account).where(Account.email == person.email)).one()
        account.undo_seconds = seconds
