"""The example answers of the OpenAPI document, beside what each operation really answers."""

import re
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.api.blueprints import PREFIX
from app.api.documents import examples
from app.api.documents import examples as example_bodies
from app.core import clock
from app.core.actions import strikes
from app.core.history.reason import Reason
from app.core.models import Account, Attempt, Community, Delivery
from app.core.people import keys, mailed_links
from app.core.permissions import SYSTEM
from app.core.review import author_pages
from app.core.vocabulary import DeliveryState, KeyTemplate
from app.wiring import Wiring
from tests import factories
from tests.api.conftest import HARMLESS, Api, acting
from tests.api.test_openapi import operations
from tests.cast import Cast
from tests.inline_engine import InlineEngine

# What the document says does not depend on the database.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

VARYING = {
    "activity",
    "categories",
    "consensus",
    "content",
    "count",
    "helpfulness_score",
    "is_public",
    "labels",
    "language",
    "ratings_count",
    "requested_by",
    "platform_message_id",
    "score",
    "scores",
    "slug",
    "summary",
    "top_reviewers",
    # the counts of ratings
    "average_score",
    "helpful",
    "not_helpful",
    "somewhat_helpful",
    "total",
}
"""Members whose values depend on what was sent, scored or configured before. Only their types are compared."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_NUMBERED = re.compile(r"\b(post|forum)-\d+\b")

Answers = dict[tuple[str, str], Any]


def shape(value: Any, name: str = "") -> Any:
    """A body without what differs from call to call: ids, times, hosts, and the values of ``VARYING``.

    Of a list it keeps the newest resource.
    """
    if value is None:
        return None
    if name in VARYING or (name == "classification" and isinstance(value, dict)):
        return type(value).__name__
    if name == "details":
        return {key: type(member).__name__ for key, member in value.items()}
    if isinstance(value, dict):
        return {key: shape(member, key) for key, member in value.items()}
    if isinstance(value, list):
        return [shape(member, name) for member in (value[:1] if name == "data" else value)]
    if isinstance(value, str):
        plain = value.replace("http://localhost", examples.BASE)
        return _NUMBERED.sub(r"\1-N", _TIME.sub("TIME", _UUID.sub("ID", plain)))
    return value


class Replay:
    """Makes the calls of the document's examples, and keeps the first answer of each operation and status."""

    def __init__(self, api: Api, document: dict[str, Any]) -> None:
        self.api = api
        self.answers: Answers = {}
        self._where = {
            operation["operationId"]: (method.upper(), path)
            for path, method, operation in operations(document)
        }

    def call(self, operation: str, status: int, *, query: dict[str, str] | None = None, **call: Any) -> Any:
        method, path = self._where[operation]
        ids = {name: call.pop(name) for name in re.findall(r"{(\w+)}", path)}
        body = call.pop("body", None)
        if body is not None:
            call["json"] = body
        answer = self.api.call(method, path.format(**ids), query_string=query, **call)
        assert answer.status_code == status, f"{operation}: {answer.text}"
        self.answers.setdefault((operation, str(status)), answer.json if answer.data else None)
        return answer.json if answer.data else None


def body_of(operation: str, name: str, **changes: Any) -> Any:
    """An example body, with other ids."""
    body = example_bodies.BODIES[operation][name][1]
    if "data" not in body or isinstance(body["data"], list):
        return body | changes
    data = body["data"]
    given = {key: changes.pop(key) for key in ("id",) if key in changes}
    return {"data": data | given | {"attributes": data["attributes"] | changes}}


@pytest.fixture
def replayed(api: Api, app: Flask, wiring: Wiring, cast: Cast, jobs: InlineEngine) -> Answers:
    document = app.test_client().get(f"{PREFIX}/openapi.json").json
    replay = Replay(api, document)
    call = replay.call

    community = {"platform": "discourse", "platform_community_server_id": "forum-1"}
    call("look_up_community", 200, query=community)
    call("read_community", 200, community_server_id="forum-1")
    call(
        "rename_community",
        200,
        platform_community_server_id="forum-1",
        body=body_of("rename_community", "name"),
    )
    with wiring.database.writing() as session:
        text = keys.mint(session, SYSTEM, "Opener", KeyTemplate.ADAPTER, None).text
    body = body_of("create_community", "forum", platform_community_server_id="forum-9")
    call("create_community", 201, body=body, instead={"X-API-Key": text})
    call("read_rating_thresholds", 200)
    call("read_scoring_analysis", 200, community_server_id="forum-1")

    webhook = call("register_webhook", 201, body=body_of("register_webhook", "endpoint"))["id"]
    call("list_webhooks", 200)
    call("read_webhook", 200, webhook_id=webhook)
    call("test_webhook", 202, webhook_id=webhook)
    with wiring.database.writing() as session:
        delivery = session.scalars(sa.select(Delivery)).one()
        delivery.state, delivery.due_at, delivery.attempts_made = DeliveryState.DEAD, None, 3
        failed = {"delivery_id": delivery.id, "at": clock.now(), "status": 503, "milliseconds": 12}
        session.add(Attempt(**failed))
    call("list_deliveries", 200, webhook_id=webhook)
    outage = body_of("replay_deliveries", "outage")
    call("replay_deliveries", 202, webhook_id=webhook, body=outage)
    call("register_webhook", 200, body=body_of("register_webhook", "endpoint", secret="my-next-secret"))
    call("patch_webhook", 200, webhook_id=webhook, body=body_of("patch_webhook", "rotate", id=webhook))

    call("create_request", 201, body=body_of("create_request", "post"))
    jobs.run_all()
    call("create_request", 200, body=body_of("create_request", "post"))
    decided = call("read_request", 200, request_id="post-1")["data"]["attributes"]
    call("list_requests", 200)
    call(
        "create_request",
        201,
        body=body_of("create_request", "post", request_id="post-8", platform_message_id="message-8"),
    )
    call("create_requests", 200, body=body_of("create_requests", "posts"))
    call("create_scores", 200, body=body_of("create_scores", "spam"))
    call("create_ai_note", 201, request_id="post-1")
    action = decided["action_id"]
    call(
        "patch_moderation_action",
        200,
        action_id=action,
        body=body_of("patch_moderation_action", "acknowledge"),
    )
    call("read_moderation_action", 200, action_id=action)
    call("list_moderation_actions", 200)
    call("create_moderation_action", 200, body=body_of("create_moderation_action", "taken"))
    api.submit("post-3", HARMLESS)
    taken = body_of("create_moderation_action", "taken", request_id="post-3")
    call("create_moderation_action", 201, body=taken)
    api.submit("post-4", HARMLESS)
    report = body_of("create_report", "report", request_id="post-4")
    filed = call("create_report", 201, body=report)["data"]["id"]
    call("create_report", 200, body=report)
    call("read_report", 200, report_id=filed)
    call("list_reports", 200)
    call("patch_report", 200, report_id=filed, body=body_of("patch_report", "withdraw", id=filed))
    note = call("create_note", 201, body=body_of("create_note", "note"))["data"]["id"]
    call("read_note", 200, note_id=note)
    call("list_notes", 200)
    rating = body_of("create_rating", "helpful", note_id=note, rater_id="user-8")
    given = call("create_rating", 201, body=rating)["data"]["id"]
    call("create_rating", 200, body=rating)
    call("read_rating", 200, rating_id=given)
    call("list_ratings", 200, note_id=note)
    call("put_rating", 200, rating_id=given, body=body_of("put_rating", "changed", id=given))
    call("read_rating_stats", 200, note_id=note)
    call("patch_note", 200, note_id=note, body=body_of("patch_note", "text", id=note))
    call("force_publish_note", 200, note_id=note, body=body_of("force_publish_note", "reason"))
    call("dismiss_note", 200, note_id=note, body=body_of("dismiss_note", "reason"))
    api.submit("post-2", HARMLESS)
    call("patch_request", 200, request_id="post-2", body=body_of("patch_request", "escalate"))

    call("look_up_profile", 200, query={"platform": "discourse", "platform_user_id": "user-7"})
    api.submit("post-9", HARMLESS, platform_author_id="user-9")
    until = clock.iso(clock.now() + timedelta(days=7))
    silence = body_of("create_moderation_action", "taken", request_id="post-9") | {"action_type": "silence"}
    assert api.post("/moderation-actions", json=silence | {"until": until}).status_code == 201
    call("read_standing", 200, profile_id=with_a_strike(wiring, cast, "user-9"))
    with wiring.database.writing() as session:
        code = mailed_links.show_code(session, session.get_one(Account, cast.rater.account_id)).text
    said = acting("user-7", Username="ann", Trust_Level="2")
    call("link_profile", 200, body={"code": code}, headers=said)
    return replay.answers


def with_a_strike(wiring: Wiring, cast: Cast, author: str) -> str:
    """Add a strike of two points by hand; return the author's profile."""
    with wiring.database.writing() as session:
        moderator, reason = factories.moderator(cast), Reason("Advertises by mail")
        strikes.add(session, moderator, cast.community_id, author, 2, reason=reason, category="spam")
        community = session.get_one(Community, cast.community_id)
        return str(author_pages.profile_of(session, moderator, community, author).id)


def test_every_example_is_what_the_operation_answers(replayed: Answers, app: Flask) -> None:
    document = app.test_client().get(f"{PREFIX}/openapi.json").json
    shown: Answers = {}
    for _, _, operation in operations(document):
        for status, response in operation["responses"].items():
            for content in response.get("content", {}).values():
                if "example" in content:
                    shown[operation["operationId"], status] = content["example"]
    assert shown.keys() == replayed.keys()
    for (operation, status), example in shown.items():
        assert shape(example) == shape(replayed[operation, status]), f"{operation} {status}"
