"""Schemathesis asks every documented operation what the document allows and forbids, with all of its checks.

Its phases: the document's examples, systematic coverage of every parameter's and body's limits, sequences of calls that
use each other's answers, and in `make faults` random fuzzing. It runs in parts, so that several processes can share the
work.
"""

import base64
import itertools
import json
import re
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest
import schemathesis
from apiflask import APIFlask
from hypothesis import strategies
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema
from schemathesis.transport.wsgi import WSGITransport

from app.api.blueprints import PREFIX
from app.api.documents import examples
from app.api.shapes import NOT_BLANK
from app.core import limits
from app.core.outbound import URL_LENGTH
from app.wiring import Wiring
from tests.api.conftest import SPAM, Api
from tests.api.test_notes import made
from tests.api.test_ratings import rate
from tests.api.test_webhooks import REGISTER, registration
from tests.cast import Cast
from tests.examples import PROFILE
from tests.inline_engine import InlineEngine
from tests.web.hooks import MISSING, Hooks

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

DOCUMENT = f"{PREFIX}/openapi.json"
PARTS = {
    "requests": r"^/api/public/v1/(requests(/\{request_id\}|/batch)?|openapi\.json)$",
    "scores": r"^/api/public/v1/scores$",
    "reports": r"^/api/public/v1/reports",
    "actions": r"^/api/public/v1/moderation-actions",
    "communities and people": r"^/api/public/v1/(community-servers|user-profiles)/",
    "notes": r"^/api/public/v1/notes(/\{note_id\})?$",
    "verdicts and drafts": r"/(dismiss|force-publish|ai-notes)$",
    "ratings": r"/ratings",
    "webhooks": r"^/webhooks",
    "older clients": r"^/api/v[12]/",
}
"""Paths of each part. Verdicts stand apart from notes because they lock what the others want to edit."""
CHECKS = {
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "positive_data_acceptance",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
    "use_after_free",
    "ensure_resource_availability",
    "ignored_auth",
    "object_level_authorization",
}
IS_LONG = PROFILE == "long"
"""Random values find what nobody thought of only when there are many of them, and to prepare them takes seconds for
each body. So `make test` leaves them out, and `make faults` makes many."""
FUZZED = 30
PHASES = ("examples", "coverage", "fuzzing") if IS_LONG else ("examples", "coverage")
ACCEPTED = ["2xx", "3xx", "401", "403", "404", "409", "429", "5xx"]
BEYOND_SCHEMAS = {
    "list_requests": "since needs status=decided",
    "create_scores": "which categories there are depends on the community",
    "list_moderation_actions": "limit beside page[size], offset beside page[number], limit with plain filters",
    "patch_request": "status moves from FAILED to PENDING only",
    "create_moderation_action": "only a silence has an end, which lies ahead",
    "patch_moderation_action": "which moves are open depends on the action's state",
    "create_note": "an author must be named, in the body or by the acting user",
    "link_profile": "the acting user must be named, and the code must be one that an account shows",
    "replay_deliveries": "the range begins in the past, and before it ends",
    "create_report": "the post must be named, by the one id or the other, and which categories there are differs",
    "create_rating": "a rater must be named, in the body or by the acting user",
}
"""Operations that may refuse with 422 what their schemas allow, and why no schema can say so."""
PAGED = (
    "list_requests",
    "list_notes",
    "list_ratings",
    "list_moderation_actions",
    "list_webhooks",
    "list_deliveries",
    "list_reports",
)
"""Lists. They refuse a cursor of another list, and a second one, with 400, which no schema can say either."""


READ_BEFORE_ALL = [
    {"$ref": f"#/components/parameters/Adapter{name}"}
    for name in ("Username", "TrustLevel", "Admin", "Scope")
]
"""Headers that ``authenticate`` reads or refuses before the view of any operation runs. In ``make test`` each operation
is asked with one of them, in turn, beside those that say who acts and as what; in ``make faults`` with all."""
NEVER_MERGED = r"\S|\S"
"""Says what ``NOT_BLANK`` says. The generator writes the length of a text into a pattern so simple, and to compile
``^\\S{1,50000}$`` takes it half a second each time; it would also leave no space between words."""


def _cursor(place: tuple[datetime, uuid.UUID]) -> str:
    written = json.dumps([f"{place[0].isoformat()}Z", str(place[1]), "0" * 12])
    return base64.urlsafe_b64encode(written.encode()).decode().rstrip("=")


def _url(number: int, port: str, path: str) -> str:
    return f"https://hooks-{number}.example{port}{path}"


def register_formats() -> None:
    """Teach the generator the two formats of our own.

    Addresses about as long as they may be are among them: it looks for those, and would draw hundreds before it
    gives up.
    """
    moments = strategies.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1))  # noqa: DTZ001 - hypothesis wants them without a zone
    schemathesis.openapi.format("cursor", strategies.tuples(moments, strategies.uuids()).map(_cursor))
    numbers = strategies.integers(0, 2**31)
    ends = strategies.sampled_from(["", ":8443"]), strategies.sampled_from(["", "/", "/hooks/1", "/a//b"])
    ordinary = strategies.builds(_url, numbers, *ends)
    longest = strategies.sampled_from([-1, 0, 1]).map(
        lambda more: "https://hooks.example/".ljust(URL_LENGTH + more, "a")
    )
    schemathesis.openapi.format("webhook-url", ordinary | longest)


def map_body(_context: Any, body: Any) -> Any:
    """A generated body without integers beyond 64 bits.

    Inside free-form values no schema can forbid them and still allow 1e300; that they are 400 is tested by
    ``test_parsing``.
    """
    if isinstance(body, int) and not isinstance(body, bool):
        return max(-limits.INT64_MAX - 1, min(limits.INT64_MAX, body))
    if isinstance(body, list):
        return [map_body(_context, one) for one in body]
    if isinstance(body, dict):
        return {name: map_body(_context, one) for name, one in body.items()}
    return body


@dataclass
class WithRealIds:
    """The application, its document naming objects that are there where the examples name invented ones.

    Both media types of a body have the same schema and the same reader; each operation is asked in one of them, in
    turn, which spares a third of the calls. What differs between them is tested by ``test_parsing``. Headers that are
    read before any operation take turns too, which spares another third.
    """

    app: APIFlask
    ids: dict[str, str]

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] != DOCUMENT or "HTTP_AUTHORIZATION" in environ:
            return self.app(environ, start_response)
        document = self.app.test_client().get(DOCUMENT).json
        bodies, headers = itertools.cycle((0, 1)), itertools.cycle(READ_BEFORE_ALL)
        for item in document["paths"].values():
            for operation in item.values():
                content = operation.get("requestBody", {}).get("content", {})
                if len(content) > 1:
                    content.pop(sorted(content)[next(bodies)])
                if not IS_LONG and READ_BEFORE_ALL[0] in operation.get("parameters", []):
                    kept = next(headers)
                    operation["parameters"] = [
                        one for one in operation["parameters"] if one == kept or one not in READ_BEFORE_ALL
                    ]
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(_renamed(document, self.ids)).encode()]


def _renamed(document: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    written = json.dumps(document).replace(json.dumps(NOT_BLANK["pattern"]), json.dumps(NEVER_MERGED))
    for invented, real in ids.items():
        written = written.replace(invented, real)
    made: dict[str, Any] = json.loads(written)
    return made


@pytest.fixture
def inhabited(api: Api, jobs: InlineEngine, wiring: Wiring, cast: Cast) -> dict[str, str]:
    """The story that the examples tell, told: real ids by the invented ones."""
    assert api.submit("post-1", SPAM, requested_by="user-7").status_code == 201
    jobs.run_all()
    request = api.get("/requests/post-1").json["data"]
    on_discourse = {"X-Adapter-Platform": "discourse"}
    note = made(api, on_discourse, classification="NOT_MISLEADING", author_id="user-3", request_id="post-1")
    rating = rate(api, note, headers=on_discourse, rater_id="user-7").json["data"]["id"]
    webhook = api.post(REGISTER, json=registration()).json["id"]
    hooks = Hooks(wiring, cast.community_id)
    hooks.tell(uuid.UUID(webhook))
    hooks.attempt(MISSING)
    return {
        examples.COMMUNITY: request["attributes"]["community_server_id"],
        examples.REQUEST: request["id"],
        examples.ACTION: request["attributes"]["action_id"],
        examples.NOTE: note,
        examples.RATING: rating,
        examples.WEBHOOK: webhook,
    }


@dataclass
class Outcome:
    """What a run found. ``statuses`` are those that were answered, by operation."""

    failures: list[str] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)
    phases: dict[str, Status] = field(default_factory=dict)
    statuses: dict[str, set[int]] = field(default_factory=dict)

    def note(self, event: events.EngineEvent) -> None:
        if isinstance(event, events.NonFatalError):
            self.failures.append(f"{event.label}: {event.info.message}")
        elif isinstance(event, events.FatalError):
            self.failures.append(repr(event.exception))
        elif isinstance(event, events.PhaseFinished):
            self.phases[event.phase.name.value] = event.status
        elif isinstance(event, events.ScenarioFinished):
            self._note_scenario(event)

    def _note_scenario(self, event: events.ScenarioFinished) -> None:
        for case_id, checks in event.recorder.checks.items():
            case = event.recorder.cases[case_id].value
            interaction = event.recorder.interactions.get(case_id)
            response = interaction.response if interaction is not None else None
            if response is not None:
                self.statuses.setdefault(case.operation.label, set()).add(response.status_code)
            for check in checks:
                self.ran.add(check.name)
                if check.status is Status.FAILURE:
                    found = check.failure_info
                    answered = f"{response.status_code} {response.text[:300]}" if response else ""
                    self.failures.append(
                        f"{check.name}: {found.failure.message}\n{found.code_sample}\n{answered}"
                    )


@pytest.fixture
def fuzz(
    monkeypatch: pytest.MonkeyPatch, app: APIFlask, cast: Cast, inhabited: dict[str, str]
) -> Callable[[str], Outcome]:
    """Run schemathesis over the operations whose paths match."""
    register_formats()
    send = WSGITransport.send

    def without_sockets(self: WSGITransport, case: Any, **options: Any) -> Any:
        # Schemathesis 4.32 hands its checks' own calls settings of sockets, which werkzeug's client does not know.
        for name in ("max_redirects", "verify", "cert"):
            options.pop(name, None)
        return send(self, case, **options)

    monkeypatch.setattr(WSGITransport, "send", without_sockets)

    def run(paths: str) -> Outcome:
        loosened = [
            {
                "include-operation-id": name,
                "checks": {"positive_data_acceptance": {"expected-statuses": [*ACCEPTED, *refused]}},
            }
            for name in sorted({*BEYOND_SCHEMAS, *PAGED})
            for refused in [["422"] * (name in BEYOND_SCHEMAS) + ["400"] * (name in PAGED)]
        ]
        # What is wrong with one submission of a batch is told beside the others' answers, and ``batch`` may be the id
        # of a request too, which has other methods.
        own = {
            "negative_data_rejection": {"expected-statuses": ["200", *ACCEPTED, "4xx"]},
            "allow_header_conformance": {"enabled": False},
        }
        loosened.append({"include-operation-id": "create_requests", "checks": own})
        config = SchemathesisConfig.from_dict(
            {
                "headers": {"Authorization": f"Bearer {cast.adapter_key}"},
                "seed": 1,
                "generation": {
                    "max-examples": FUZZED if IS_LONG else 3,
                    "deterministic": True,
                    "database": "none",
                    # NUL is refused in every text, and that has a test of its own; a pattern in every schema
                    # would say it to machines and hide the rest from people.
                    "allow-x00": False,
                },
                "phases": {"fuzzing": {"enabled": IS_LONG}},
                "operations": [{"exclude-path-regex": paths, "enabled": False}, *loosened],
                "cache": {"enabled": False},
            }
        )
        schema = schemathesis.openapi.from_wsgi(DOCUMENT, WithRealIds(app, inhabited), config=config)
        schema.hook(map_body)
        outcome = Outcome()
        for event in from_schema(schema).execute():
            outcome.note(event)
        return outcome

    return run


@pytest.mark.parametrize("part", PARTS)
def test_every_operation_keeps_its_word(fuzz: Callable[[str], Outcome], part: str) -> None:
    outcome = fuzz(PARTS[part])
    assert outcome.failures == [], "\n\n".join(outcome.failures)
    assert outcome.ran >= CHECKS
    for phase in PHASES:
        assert outcome.phases[phase] is Status.SUCCESS, phase
    unheard = {label for label, seen in outcome.statuses.items() if not any(code < 300 for code in seen)}
    assert unheard == set(), "these were only ever refused"


def test_every_path_is_in_one_part(app: APIFlask) -> None:
    for path in app.test_client().get(DOCUMENT).json["paths"]:
        assert len([part for part, paths in PARTS.items() if re.search(paths, path)]) == 1, path
