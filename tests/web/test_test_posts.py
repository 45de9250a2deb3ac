"""Test posts: sent by the API's own verb, followed to their item, marked, and counted in no figure."""

import json
import re
import shlex
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from app.core.classify import CATEGORIES, Context
from app.core.classify.rulepack import RulePackClassifier
from app.core.helpfulness import rating_snapshots
from app.core.insights import trends
from app.core.models import Account, Action, HistoryEntry, Request, Score
from app.core.people import accounts
from app.core.periods import Period
from app.core.permissions import SYSTEM
from app.core.requests import test_posts
from app.core.scoring import Camps, Regime
from app.core.thresholds import post_scores, threshold_sets
from app.core.thresholds.drafts import DEFAULTS, CategoryDraft
from app.core.vocabulary import ActionState, Role
from app.wiring import Wiring
from tests.cast import Cast
from tests.factories import rate, scored_action
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Visit

REFERENCE = "test-0123456789ab"
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def _request(wiring: Wiring, reference: str = REFERENCE) -> Request:
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Request).where(Request.request_id == reference)).one()


def _action(wiring: Wiring) -> Action:
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Action)).one()


def test_a_test_post_is_sent_scored_and_its_item_opened(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine
) -> None:
    operator = visit(cast.operator)
    answer = operator.post("/test-post", reference=REFERENCE)
    assert (answer.status_code, answer.location) == (303, f"/test-post/{REFERENCE}?community=harbour-forum")
    request = _request(wiring)
    assert (request.is_test, request.extra) == (True, {"bridgenote_test": True})
    assert (request.content, request.requested_by) == (test_posts.TEXTS["spam"], "bridgenote-test")
    page = operator.get(answer.location)
    assert page.status_code == 200
    assert "is being scored" in page.text
    assert '<meta http-equiv="refresh"' in page.text, "without script it goes on too"
    part = operator.get(f"/test-post/{REFERENCE}/progress?seen=waiting", **HTMX)
    assert part.status_code == 204
    jobs.run_all()
    action = _action(wiring)
    assert (action.action_state, action.category) == (ActionState.UNDER_REVIEW, "spam")
    item = f"/review/{action.id}"
    assert operator.get(answer.location).location == item
    led = operator.get(f"/test-post/{REFERENCE}/progress?seen=waiting", **HTMX)
    assert led.headers["HX-Redirect"] == item
    shown = operator.get(item).text
    assert "A test post" in shown
    assert "Test post sent" in shown
    with wiring.database.reading() as session:
        entry = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "request.test_sent")).one()
        assert entry.account_id == cast.operator.account_id


@on_sqlite
def test_sent_a_second_time_it_sends_nothing(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    for _ in range(2):
        assert operator.post("/test-post", reference=REFERENCE).status_code == 303
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Request)) == 1


@on_sqlite
def test_a_category_or_a_text_of_ones_own_is_sent(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    assert operator.post("/test-post", reference=REFERENCE, category="toxicity").status_code == 303
    assert _request(wiring).content == test_posts.TEXTS["toxicity"]
    other = "test-000000000001"
    assert operator.post("/test-post", reference=other, text="Is this spam?").status_code == 303
    assert _request(wiring, other).content == "Is this spam?"
    refused = operator.post("/test-post", reference="test-000000000002", category="no_such")
    assert refused.status_code == 422
    assert "has no test post" in refused.text
    assert operator.post("/test-post", reference="post-1").status_code == 422, "not one of ours"
    assert operator.post("/test-post", reference="test-000000000003", text="x" * 200_000).status_code == 422


@on_sqlite
def test_only_categories_in_use_are_offered_and_without_any_one_writes_a_text(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        drafts = [CategoryDraft("spam", 0.5, enabled=False), CategoryDraft("toxicity", 0.5)]
        threshold_sets.revise(session, SYSTEM, cast.community_id, drafts, "Fewer")
        assert test_posts.categories(session, cast.community_id) == ["toxicity"]
    operator = visit(cast.operator)
    assert operator.post("/test-post", reference=REFERENCE).status_code == 303
    assert _request(wiring).content == test_posts.TEXTS["toxicity"]
    with wiring.database.writing() as session:
        drafts = [CategoryDraft("house_rule", 0.5)]
        threshold_sets.revise(session, SYSTEM, cast.community_id, drafts, "Our own alone")
    refused = operator.post("/test-post", reference="test-000000000001")
    assert refused.status_code == 409
    assert "Write a text of your own." in refused.text


@on_sqlite
def test_what_is_below_every_threshold_says_so_with_its_scores(
    visit: Visit, cast: Cast, wiring: Wiring, jobs: InlineEngine
) -> None:
    with wiring.database.writing() as session:
        threshold_sets.revise(session, SYSTEM, cast.community_id, [CategoryDraft("spam", 0.99)], "Strict")
    operator = visit(cast.operator)
    sent = operator.post("/test-post", reference=REFERENCE).location
    jobs.run_all()
    page = operator.get(sent).text
    assert "nothing is above a threshold" in page
    assert "0.99" in page
    assert "hx-get" not in page.split('id="test-post"')[1], "nothing is waited for any more"


@on_sqlite
def test_one_that_has_not_arrived_is_waited_for_and_only_ours_are(visit: Visit, cast: Cast) -> None:
    operator = visit(cast.operator)
    assert "Nothing has arrived yet" in operator.get("/test-post/test-ffffffffffff").text
    assert operator.get("/test-post/post-1").status_code == 404


@on_sqlite
def test_one_account_sends_so_many_a_minute(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    wiring.throttle.enabled = True
    operator = visit(cast.operator)
    sent = [operator.post("/test-post").status_code for _ in range(11)]
    assert (sent[0], sent[-1]) == (303, 429)


def test_every_sample_asks_people_by_the_shipped_thresholds_for_its_category() -> None:
    classifier = RulePackClassifier(tier1_categories=frozenset(CATEGORIES))
    defaults = {one.name: one for one in DEFAULTS}
    assert set(test_posts.TEXTS) == set(defaults)
    for name, text in test_posts.TEXTS.items():
        (result,) = classifier.score([text], Context())
        above = {found for found, score in result.scores.items() if score > defaults[found].tier2}
        assert above == {name}, text
        assert result.scores[name] <= (defaults[name].tier1 or 1.0), "people decide it"


def test_an_integration_marks_its_own_tests_alike_and_only_by_a_true_mark(
    wiring: Wiring, cast: Cast, client: FlaskClient
) -> None:
    for number, (metadata, expected) in enumerate(
        [
            ({"bridgenote_test": True}, True),
            ({"bridgenote_test": "yes"}, False),
            ({"test": True}, False),
            (None, False),
        ]
    ):
        attributes = test_posts.attributes(cast.community_id, f"post-{number}", "Is this spam?")
        document = {"data": {"type": "requests", "attributes": {**attributes, "metadata": metadata}}}
        assert client.post("/api/public/v1/requests", json=document, headers=cast.headers).status_code == 201
        assert _request(wiring, f"post-{number}").is_test is expected


def test_figures_previews_and_what_is_learned_of_raters_leave_test_posts_out(
    visit: Visit, wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    real = scored_action(wiring, cast)
    visit(cast.operator).post("/test-post", reference=REFERENCE, category="toxicity")
    jobs.run_all()
    with wiring.database.reading() as session:
        (test,) = session.scalars(sa.select(Action.id).where(Action.id != real))
    for action_id in (real, test):
        rate(wiring, cast, action_id, "HHHHH")
    jobs.run_all()
    with wiring.database.reading() as session:
        states = {one.id: one.action_state for one in session.scalars(sa.select(Action))}
        assert states == {real: ActionState.PROPOSED, test: ActionState.PROPOSED}, "raters decide both"
        now = datetime.now(UTC)
        period = Period(now.date() - timedelta(days=1), now.date() + timedelta(days=1), ZoneInfo("UTC"))
        found = trends.for_community(session, SYSTEM, cast.community_id, period)
        assert sum(one.submitted for one in found.volume) == 1
        assert found.delay.decided == 1
        assert sum(one.opened for one in found.backlog) == 1
        assert [(one.name, one.acted) for one in found.categories] == [("toxicity", 1)]
        assert sum(one.reviews for one in found.agreement) == 1
        posts = post_scores.read(session, cast.community_id, now - timedelta(days=1))
        assert {sum(post_scores.histogram(column, 20)) for column in posts.columns.values()} == {1}
        highest = sa.select(sa.func.count()).select_from(Score).where(Score.is_highest)
        assert session.scalar(highest) >= 1
        expected = {session.get_one(Action, real).note_id}
    with wiring.database.reading() as session:
        assert {
            one.id for one in rating_snapshots.take(session, cast.community_id, Regime.COLD, Camps()).notes
        } == expected


@on_sqlite
def test_the_call_beside_a_new_key_is_the_one_that_works(
    visit: Visit, cast: Cast, wiring: Wiring, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = visit(cast.admin)
    form = {"name": "New", "template": "adapter", "communities": str(cast.community_id), "reason": "New"}
    page = admin.post("/keys", **form).text
    text = _call(page)
    curl, _silent, address, *rest = shlex.split(text.replace("\\\n", " "))
    assert (curl, address) == ("curl", "http://localhost/api/public/v1/requests")
    given = dict(zip(rest[::2], rest[1::2], strict=False))
    document = json.loads(given["-d"])
    headers = dict(rest[at + 1].split(": ", 1) for at, one in enumerate(rest) if one == "-H")
    assert re.fullmatch(r"Bearer bnk_[0-9a-f]{12}_[\w-]{43}", headers["Authorization"])
    answer = client.post("/api/public/v1/requests", json=document, headers=headers)
    assert answer.status_code == 201
    reference = document["data"]["attributes"]["request_id"]
    assert _request(wiring, reference).community_id == cast.community_id
    assert f"/test-post/{reference}" in page, "and leads to what it sent"
    settings = wiring.settings.model_copy(update={"public_url": "https://moderation.example.org/notes"})
    monkeypatch.setattr(wiring, "settings", settings)
    shown = _call(admin.get("/getting-started").text)
    assert "https://moderation.example.org/notes/api/public/v1/requests" in shown
    assert "Bearer YOUR_KEY" in shown
    assert str(cast.community_id) in shown
    read_only = {**form, "template": "read-only", "name": "Reader"}
    assert 'id="curl-line"' not in admin.post("/keys", **read_only).text, "it can submit nothing"


def _call(page: str) -> str:
    found = re.search(r'<textarea id="curl-line"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    assert found
    return found.group(1).replace("&#34;", '"').replace("&#39;", "'").replace("&amp;", "&")


@on_sqlite
def test_a_test_post_of_another_community_is_not_there(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    visit(cast.operator).post("/test-post", reference=REFERENCE)
    with wiring.database.writing() as session:
        outsider = session.get_one(Account, cast.outsider.account_id)
        accounts.give_role(session, SYSTEM, outsider, cast.other_community_id, Role.OPERATOR)
    page = visit(cast.outsider).get(f"/test-post/{REFERENCE}")
    assert (page.status_code, "Nothing has arrived yet" in page.text) == (200, True)
