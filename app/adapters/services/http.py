"""JSON over HTTP to a service: one deadline for the whole call, a limit of bytes, checked addresses, no redirects.

httpx applies its timeouts per read, so a service that sends a byte now and then could hold a post for ever; the
guarded connection of ``adapters.net`` ends every wait at the deadline.
"""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

import httpx

from app.adapters import net
from app.adapters.net import Deadline, Guarded
from app.core import clock
from app.core.outbound import BadAddress, check_url, parse_retry_after
from app.core.services.kinds import Connection, Failure

ANSWER_BYTES = 1024 * 1024
_LATER = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which asking again may help."""

_guarded = Guarded()


class Refusal(Failure):
    """An answer with status 400. ``body`` says why, in the service's own form; it may quote the post."""

    def __init__(self, body: bytes) -> None:
        super().__init__("it refuses the request (400)", retry=False, refused=True)
        self.body = body


def post_json(
    connection: Connection,
    url: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    most: int = ANSWER_BYTES,
    reads_refusal: bool = False,
) -> dict[str, Any]:
    """POST ``body`` to ``url`` within the connection's deadline and return the answer, a JSON object of ``most`` bytes.

    ``url`` begins with the connection's URL. The address is checked as a webhook's: public, or on the allow-list.
    ``reads_refusal``: of an answer with status 400 the body is read too.

    Raises:
        Failure: no answer in time, a status other than 2xx, too many bytes, or no JSON object.
        Refusal: the status is 400 and ``reads_refusal``.
    """
    deadline = Deadline(connection.deadline)
    try:
        target = check_url(url, connection.allow)
    except BadAddress as error:
        raise Failure(f"bad address: it {error.reason}", retry=False) from error
    request = httpx.Request(
        "POST",
        httpx.URL(url),
        content=json.dumps(body, ensure_ascii=True, allow_nan=False).encode(),
        headers={
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Connection": "close",
            "User-Agent": "Bridgenote",
            **headers,
        },
    )
    try:
        with _guarded.exchange(target, request, deadline) as response:
            if reads_refusal and response.status_code == 400:
                raise Refusal(_body(response, most))
            _check_status(response)
            received = _body(response, most)
    except (httpx.TimeoutException, TimeoutError) as error:
        raise Failure(f"no answer within {round(connection.deadline, 2):g} s") from error
    except httpx.RemoteProtocolError as error:
        # Its message quotes what the service sent, which may be the post.
        raise Failure("broken answer: no HTTP") from error
    except httpx.TransportError as error:
        raise Failure(str(error)[:200] or "it cannot be reached") from error
    return read_object(received)


def read_object(text: str | bytes) -> dict[str, Any]:
    """Parse a JSON object; NaN and infinities, which JSON does not have, are refused.

    Raises:
        Failure: it is none.
    """
    try:
        parsed = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Failure("broken answer: no JSON") from error
    if not isinstance(parsed, dict):
        raise Failure("broken answer: no JSON object")
    return parsed


def _refuse(_constant: str) -> NoReturn:
    raise ValueError("not a JSON number")


def bearer(connection: Connection) -> dict[str, str]:
    """The usual header of a key; none without a key."""
    return {"Authorization": f"Bearer {connection.key}"} if connection.key else {}


def member(answer: Mapping[str, Any], name: str, kind: type) -> Any:
    """A member of an answer, of this type. Raises Failure."""
    value = answer.get(name) if isinstance(answer, Mapping) else None
    if not isinstance(value, kind):
        raise Failure(f"broken answer: no {name}")
    return value


def model_of(answer: Mapping[str, Any]) -> str:
    """The model's name as an answer gives it; "" if it gives none."""
    model = answer.get("model")
    return model if isinstance(model, str) else ""


def _check_status(response: httpx.Response) -> None:
    status = response.status_code
    if 200 <= status < 300:
        return
    if status in (401, 403):
        raise Failure(f"it rejects the key ({status})", retry=False)
    if status in _LATER or status >= 500:
        after = parse_retry_after(response.headers.get("Retry-After"), clock.now())
        reason = "over its rate limit (429)" if status == 429 else f"it failed ({status})"
        raise Failure(reason, after=after)
    if 300 <= status < 400:
        raise Failure(f"it redirects elsewhere ({status})", retry=False)
    raise Failure(f"it refuses the request ({status})", retry=False, refused=True)


def _body(response: httpx.Response, most: int) -> bytes:
    if net.coding(response):
        raise Failure("broken answer: compressed")
    received = net.body(response, most)
    if received is None:
        raise Failure(f"broken answer: more than {most // 1024} KB")
    return received
