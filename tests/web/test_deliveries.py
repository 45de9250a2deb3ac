"""Deliveries: the log and its filters, one looked into, one and a range sent again."""

import html
import json
import shlex
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.models import Action, Delivery, Event, HistoryEntry, Note, Replay, Request, Webhook
from app.core.permissions import SYSTEM
from app.core.review import verbs
from app.core.vocabulary import ActionState, DeliveryState
from app.core.webhooks import deliveries, events, replays, signing
from app.core.webhooks.deliveries import Filters
from app.web.webhooks import replays as pages
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast, Person
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visitor
from tests.web.hooks import MISSING, OK, SECRET, Hooks

Visit = Callable[[Person | None], Visitor]
DEAD, DELIVERED, DUE = DeliveryState.DEAD, DeliveryState.DELIVERED, DeliveryState.DUE


@pytest.fixture
def hooks(wiring: Wiring, cast: Cast) -> Hooks:
    return Hooks(wiring, cast.community_id)


def listed(visitor: Visitor, query: str = "") -> list[str]:
    """The ids of the deliveries that the log shows, in its order."""
    answer = visitor.get(f"/deliveries{query}")
    assert answer.status_code == 200, query
    return [
        part.split('"')[0]
        for part in answer.text.split('<a href="/deliveries/')[1:]
        if "data-row-link" in part
    ]


@pytest.mark.both_databases
def test_the_log_is_empty_then_filtered_by_the_address_and_walked_page_by_page(
    visit: Visit, cast: Cast, hooks: Hooks, stage: Stage, wiring: Wiring, statements: Callable[[], Any]
) -> None:
    operator = visit(cast.operator)
    assert "No deliveries yet" in operator.get("/deliveries").text
    webhook_id, other = hooks.register(), hooks.register("https://forum.example.org/other")
    clock.set_source(lambda: datetime(2026, 3, 1, 12, tzinfo=UTC))
    (old,) = hooks.tell(other)
    clock.set_source(None)
    (first,) = hooks.tell(webhook_id)
    with statements() as few:
        assert listed(operator) == [str(first), str(old)]
    dead, *_ = hooks.tell(webhook_id, 60)
    hooks.attempt(OK, OK, MISSING)
    with statements() as many:
        newest = listed(operator)
    assert len(newest) == 50
    assert len(many) == len(few)
    page = operator.get("/deliveries").text
    following = html.unescape(page.split('rel="next" href="')[1].split('"')[0])
    hooks.tell(webhook_id)
    rest = listed(operator, following.removeprefix("/deliveries"))
    assert len({*newest, *rest}) == 62
    assert str(dead) in rest
    assert listed(operator, f"?endpoint={other}") == [str(old)]
    assert listed(operator, "?to=2026-03-01") == [str(old)]
    assert listed(operator, "?from=2026-03-02&to=2026-03-03") == []
    assert set(listed(operator, "?state=dead")) == set(listed(operator, "?event=webhook.test&state=dead"))
    assert "No deliveries match." in operator.get(f"/deliveries?endpoint={uuid.uuid4()}").text
    for query in ("?from=2026-03-02&to=2026-03-01", "?state=lost", "?from=yesterday", "?after=nonsense"):
        assert operator.get(f"/deliveries{query}").status_code == 422, query

    action_id = stage.post()
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        request = session.get_one(Request, action.request_id)
        event = session.get_one(Event, session.get_one(Delivery, old).event_id)
        event.request_id, event.action_id = request.id, action.id
        names = (old, event.id, request.id, request.request_id, action.id)
    for name in names:
        assert listed(operator, f"?q={name}") == [str(old)], name


@pytest.mark.both_databases
def test_a_delivery_says_which_post_it_is_about_and_leads_there(
    visit: Visit, cast: Cast, hooks: Hooks, stage: Stage, wiring: Wiring, statements: Callable[[], Any]
) -> None:
    operator = visit(cast.operator)
    webhook_id = hooks.register()

    def decided(text: str, category: str = "spam") -> uuid.UUID:
        action_id = stage.post(text, category=category)
        with wiring.database.writing() as session:
            action = session.get_one(Action, action_id)
            verbs.change_action(session, SYSTEM, action, ActionState.PROPOSED)
        return action_id

    first = decided("Cheap <b>watches</b>")
    with statements() as few:
        page = operator.get("/deliveries").text
    assert f'<a class="host" href="/review/{first}"><bdi>“Cheap &lt;b&gt;watches&lt;/b&gt;”</bdi></a>' in page
    for _ in range(3):
        decided("More watches")
    sensitive = decided("I will find you", category="threat")
    hooks.tell(webhook_id)
    with statements() as many:
        page = operator.get("/deliveries").text
    assert len(many) == len(few)
    assert "A test, about no post" in page
    assert f'href="/review/{sensitive}"' in page
    assert "I will find you" not in page
    delivery_id = listed(operator, f"?q={first}")[0]
    assert f'href="/review/{first}"' in operator.get(f"/deliveries/{delivery_id}").text
    assert f'href="/review/{sensitive}"' in operator.get(f"/endpoints/{webhook_id}").text


@pytest.mark.both_databases
def test_a_delivery_about_a_note_leads_to_the_note(
    visit: Visit, cast: Cast, hooks: Hooks, stage: Stage, wiring: Wiring
) -> None:
    hooks.register()
    note_id = stage.note(stage.post(), text="It quotes a joke")
    with wiring.database.writing() as session:
        events.emit_note(session, session.get_one(Note, note_id))
    page = visit(cast.operator).get("/deliveries").text
    assert f'<a class="host" href="/notes/{note_id}"><bdi>Note “It quotes a joke”</bdi></a>' in page


def test_a_delivery_is_offered_as_curl_with_its_bytes_and_without_any_secret(
    visit: Visit, cast: Cast, hooks: Hooks, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    webhook_id = hooks.register()
    (delivery_id,) = hooks.tell(webhook_id)
    page = html.unescape(operator.get(f"/deliveries/{delivery_id}").text)
    command = page.split('id="delivery-curl"')[1].split(">", 1)[1].split("</textarea>")[0]
    with wiring.database.reading() as session:
        event = session.get_one(Event, session.get_one(Delivery, delivery_id).event_id)
    words = shlex.split(command)
    assert words[:3] == ["curl", "-sS", "https://forum.example.org/hook?YOUR_QUERY"]
    assert words[-2:] == ["--data-binary", signing.canonical(event.payload).decode()]
    headers = [words[i + 1] for i, word in enumerate(words) if word == "-H"]
    assert headers == [
        f"{name}: {value}" for name, value in signing.same_headers(str(event.id), "webhook.test").items()
    ]
    assert "each attempt makes them anew" in page
    assert "not-for-eyes" not in page
    assert SECRET not in page
    operator.post(f"/endpoints/{webhook_id}/remove")
    assert "curl -sS https://YOUR_URL " in html.unescape(operator.get(f"/deliveries/{delivery_id}").text)


def test_a_log_is_counted_up_to_a_number(
    visit: Visit, cast: Cast, hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "MOST_MATCHING", 2)
    operator = visit(cast.operator)
    hooks.tell(hooks.register(), 4)
    hooks.attempt(OK, OK, OK, MISSING)
    for query, count in (
        ("", "More than 2 deliveries"),
        ("?state=delivered", "More than 2 deliveries"),
        ("?state=dead", "1 delivery"),
        ("?event=webhook.test&state=delivered", "More than 2 deliveries"),
        ("?event=webhook.test&state=dead", "1 delivery"),
    ):
        assert f">{count}<" in operator.get(f"/deliveries{query}").text, query


def test_a_delivery_shows_its_attempts_its_exact_payload_and_no_secret(
    visit: Visit, cast: Cast, hooks: Hooks, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    (delivery_id,) = hooks.tell(hooks.register())
    hooks.attempt(MISSING)
    page = operator.get(f"/deliveries/{delivery_id}").text
    with wiring.database.reading() as session:
        event = session.get_one(Event, session.get_one(Delivery, delivery_id).event_id)
    text = html.unescape(page)
    assert signing.canonical(event.payload).decode() in text
    assert json.dumps(event.payload, indent=2, sort_keys=True) in text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    for words in ("Failed", "120 ms", str(event.id), "webhook-signature", "new in each attempt"):
        assert words in page, words
    assert SECRET not in page
    assert operator.post(f"/deliveries/{delivery_id}/replay").status_code == 303
    assert hooks.states([delivery_id]) == [DUE]
    again = operator.post(f"/deliveries/{delivery_id}/replay")
    assert again.status_code == 303
    assert "already on its way" in operator.get(f"/deliveries/{delivery_id}").text
    hooks.attempt(OK)
    page = operator.get(f"/deliveries/{delivery_id}").text
    assert "Delivered" in page
    assert "Did not arrive" in page


@pytest.mark.both_databases
def test_a_range_is_counted_confirmed_and_goes_on_after_a_restart_where_it_was(
    visit: Visit,
    cast: Cast,
    hooks: Hooks,
    wiring: Wiring,
    jobs: InlineEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replays, "BATCH", 2)
    operator = visit(cast.operator)
    webhook_id, other = hooks.register(), hooks.register("https://forum.example.org/other")
    ids = hooks.tell(webhook_id, 6)
    hooks.attempt(MISSING, MISSING, OK)
    (elsewhere,) = hooks.tell(other)
    hooks.attempt(MISSING)
    dead = [one for one, state in zip(ids, hooks.states(ids), strict=True) if state is DEAD]
    assert len(dead) == 4
    page = operator.get(f"/deliveries/replay?endpoint={webhook_id}").text
    assert "4 deliveries" in page
    assert "in the background" in page
    assert "6 deliveries" in operator.get(f"/deliveries/replay?endpoint={webhook_id}&which=all").text
    begun = operator.post("/deliveries/replay", endpoint=str(webhook_id), which="dead")
    assert begun.status_code == 303
    later = hooks.tell(webhook_id)
    assert "0 of 4 are in the queue again." in operator.get(begun.location).text

    with wiring.database.writing() as session:
        replay_id = session.scalars(sa.select(Replay.id)).one()
        assert not replays.run_batch(session, replay_id)
    # The process died here. What was sent meanwhile has arrived, and is not sent a second time.
    assert set(hooks.attempt(OK)) == {*dead[:2], *later}
    poll = operator.get(begun.location).text.split('hx-get="')[1].split('"')[0]
    assert operator.get(poll, **HTMX).status_code == 204
    jobs.run_all()
    assert "All 4 deliveries are in the queue again." in operator.get(poll, **HTMX).text
    assert hooks.states(dead) == [DELIVERED, DELIVERED, DUE, DUE]
    assert hooks.states([elsewhere]) == [DEAD]
    assert set(hooks.attempt(OK)) == set(dead[2:])
    with wiring.database.reading() as session:
        entry = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.object_type == "replay")).one()
        assert entry.what == "delivery.range_replayed"
        assert entry.after["deliveries"] == 4
    nothing = operator.post("/deliveries/replay", endpoint=str(webhook_id), which="dead")
    assert nothing.status_code == 409
    assert visit(cast.moderator).get(begun.location).status_code == 403
    assert visit(cast.outsider).get(begun.location).status_code == 404


def test_a_range_of_two_states_that_the_api_replays_is_followed_too(
    visit: Visit, cast: Cast, hooks: Hooks, wiring: Wiring
) -> None:
    hooks.tell(hooks.register(), 2)
    hooks.attempt(OK, MISSING)
    with wiring.database.writing() as session:
        filters = Filters(states=(DEAD, DELIVERED))
        replay_id = replays.begin(session, SYSTEM, cast.community_id, filters).id
    page = visit(cast.operator).get(f"/deliveries/replays/{replay_id}").text
    assert "Those that failed, Those delivered" in page
    assert "All 2 deliveries are in the queue again." in page


@pytest.mark.both_databases
def test_a_large_range_is_counted_up_to_a_number_and_sent_again_in_full(
    visit: Visit, cast: Cast, hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_MATCHING", 2)
    operator = visit(cast.operator)
    hooks.tell(hooks.register(), 5)
    hooks.attempt(OK, OK, OK, OK, MISSING)
    page = operator.get("/deliveries/replay?which=all").text
    assert ">More than 3 deliveries<" in page
    assert "<li>Failed: 1</li>" in page
    assert "gets them a second time: More than 2</li>" in page
    assert "Replay all of them" in page
    begun = operator.post("/deliveries/replay", which="all")
    assert "All 5 deliveries are in the queue again." in operator.get(begun.location).text


def test_a_range_leaves_out_what_cannot_be_sent_and_says_so(
    visit: Visit, cast: Cast, hooks: Hooks, jobs: InlineEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = visit(cast.operator)
    webhook_id, other = hooks.register(), hooks.register("https://forum.example.org/other")
    hooks.tell(webhook_id, 2)
    (elsewhere,) = hooks.tell(other)
    hooks.attempt(MISSING)
    operator.post(f"/endpoints/{other}/disable")
    page = operator.get("/deliveries/replay").text
    assert "Failed: 2" in page
    assert "disabled or removed: 1." in page
    small = operator.post("/deliveries/replay", which="dead")
    assert "All 2 deliveries are in the queue again." in operator.get(small.location).text
    assert hooks.states([elsewhere]) == [DEAD]

    hooks.attempt(MISSING)
    (restored,) = hooks.tell(webhook_id)
    with hooks.wiring.database.writing() as session:
        session.get_one(Delivery, restored).state = DeliveryState.PARKED
    assert "nobody knows whether they arrived: 1<" in operator.get("/deliveries/replay?which=parked").text
    operator.post("/deliveries/replay", which="parked")
    assert hooks.attempt(OK) == [restored]
    assert operator.post("/deliveries/replay", which="dead", **{"from": "2999-01-01"}).status_code == 422
    monkeypatch.setattr(replays, "BATCH", 1)
    large = operator.post("/deliveries/replay", which="dead")
    operator.post(f"/endpoints/{webhook_id}/disable")
    jobs.run_all()
    assert "2 were left out" in operator.get(large.location).text
    wrong = operator.get("/deliveries/replay?from=2026-03-02&to=2026-03-01")
    assert wrong.status_code == 422
    assert "To must not be before From." in wrong.text


def test_a_request_that_ended_without_action_is_named_by_its_own_id(
    visit: Visit, wiring: Wiring, cast: Cast, hooks: Hooks
) -> None:
    webhook_id = hooks.register()
    request_id = factories.submit(wiring, cast, "The harbour is quiet", "<t/12>")
    with wiring.database.writing() as session:
        session.get_one(Webhook, webhook_id).events = ["request.completed"]
        event = events.emit_completed(session, session.get_one(Request, request_id), None)
    page = visit(cast.operator).get("/deliveries?event=request.completed").text
    assert "The post &lt;t/12&gt;" in page
    with wiring.database.reading() as session:
        delivery_id = deliveries.of_event(session, event.id, webhook_id)
    assert "The post &lt;t/12&gt;" in visit(cast.operator).get(f"/deliveries/{delivery_id}").text
