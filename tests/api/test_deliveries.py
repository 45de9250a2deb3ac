"""A webhook's deliveries: listed, and a range of them sent again (docs/integrate/api.md)."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.models import Delivery, HistoryEntry
from app.core.permissions import SYSTEM
from app.core.upkeep import community_revisions
from app.core.vocabulary import DeliveryState
from app.core.webhooks import replays
from app.wiring import Wiring
from tests.api.conftest import Api, problem_of
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.web.hooks import MISSING, OK, Hooks

pytestmark = pytest.mark.both_databases

DEAD, DELIVERED, DUE = DeliveryState.DEAD, DeliveryState.DELIVERED, DeliveryState.DUE


@pytest.fixture
def hooks(wiring: Wiring, cast: Cast) -> Hooks:
    return Hooks(wiring, cast.community_id)


@pytest.fixture
def hook(hooks: Hooks) -> uuid.UUID:
    """The id of a webhook of the home community."""
    return hooks.register()


def listed(api: Api, hook: uuid.UUID, **query: str) -> list[str]:
    """The ids of the deliveries on the first page of the list."""
    filters = {f"filter[{name}]": value for name, value in query.items()}
    answer = api.get(f"/webhooks/{hook}/deliveries", query_string=filters)
    assert answer.status_code == 200, answer.text
    return [row["id"] for row in answer.json["data"]]


def test_the_list_says_what_became_of_each_delivery(api: Api, hook: uuid.UUID, hooks: Hooks) -> None:
    (failed,) = hooks.tell(hook)
    hooks.attempt(MISSING)
    (arrived,) = hooks.tell(hook)
    hooks.attempt(OK)
    (waits,) = hooks.tell(hook)
    rows = api.get(f"/webhooks/{hook}/deliveries").json["data"]
    assert [row["id"] for row in rows] == [str(one) for one in (waits, arrived, failed)]
    shown = {row["id"]: row["attributes"] for row in rows}
    facts = ("state", "event", "attempts", "last_status", "last_error")
    assert [[shown[str(one)][name] for name in facts] for one in (waits, arrived, failed)] == [
        ["due", "webhook.test", 0, None, None],
        ["delivered", "webhook.test", 1, OK.status, None],
        ["dead", "webhook.test", 1, MISSING.status, None],
    ]
    assert shown[str(waits)]["due_at"] is not None
    assert shown[str(waits)]["last_attempt_at"] is None
    assert shown[str(arrived)]["delivered_at"] is not None
    assert len({row["event_id"] for row in shown.values()}) == 3


def test_the_list_is_filtered_and_its_cursors_miss_nothing(api: Api, hook: uuid.UUID, hooks: Hooks) -> None:
    hooks.tell(hooks.register("https://forum.example.org/other"))
    (failed,) = hooks.tell(hook)
    hooks.attempt(MISSING)
    since = clock.iso(clock.now())
    later = hooks.tell(hook, 4)
    assert listed(api, hook, state="dead") == [str(failed)]
    assert listed(api, hook, state="dead", created_at__gte=since) == []
    assert set(listed(api, hook, created_at__gte=since)) == {str(one) for one in later}
    assert len(listed(api, hook, event="webhook.test")) == 5
    assert listed(api, hook, event="moderation.decision") == []
    page = api.get(f"/webhooks/{hook}/deliveries?page[size]=2").json
    assert page["meta"]["count"] == 5
    seen = [row["id"] for row in page["data"]]
    hooks.tell(hook)
    while page["links"]["next"]:
        page = api.get(page["links"]["next"].removeprefix("http://localhost")).json
        seen += [row["id"] for row in page["data"]]
    assert sorted(seen) == sorted(str(one) for one in (failed, *later))


def test_a_filter_that_cannot_be_read_is_refused_at_its_place(api: Api, hook: uuid.UUID) -> None:
    for name, value in (("state", "lost"), ("event", "moderation.decided"), ("created_at__gte", "monday")):
        answer = api.get(f"/webhooks/{hook}/deliveries", query_string={f"filter[{name}]": value})
        assert problem_of(answer)["loc"] == ["query", f"filter[{name}]"]
    assert api.get(f"/webhooks/{hook}/deliveries?filter[status]=dead").status_code == 400


def test_the_list_costs_the_same_queries_for_one_row_and_for_many(
    api: Api, hook: uuid.UUID, hooks: Hooks, counting: Callable[[], Any]
) -> None:
    hooks.tell(hook)
    hooks.attempt(MISSING)
    listed(api, hook)  # the first call also records the use of the key
    with counting() as few:
        assert len(listed(api, hook)) == 1
    hooks.tell(hook, 9)
    hooks.attempt(*[OK] * 9)
    with counting() as many:
        assert len(listed(api, hook)) == 10
    assert few.count == many.count, many.statements


def test_a_replay_sends_what_failed_in_its_range_again_with_the_same_events(
    api: Api, hook: uuid.UUID, hooks: Hooks, wiring: Wiring, cast: Cast
) -> None:
    elsewhere = hooks.tell(hooks.register("https://forum.example.org/other"))
    before = hooks.tell(hook)
    hooks.attempt(MISSING, MISSING)
    since = clock.iso(clock.now())
    failed, arrived = hooks.tell(hook, 2)
    hooks.attempt(MISSING, OK)
    until = clock.iso(clock.now())
    after = hooks.tell(hook)
    hooks.attempt(MISSING)
    if hooks.states([failed]) == [DELIVERED]:  # the two were claimed in the other order
        failed, arrived = arrived, failed
    event_ids = {row["attributes"]["event_id"] for row in _rows(api, hook)}

    answer = api.post(f"/webhooks/{hook}/replay", json={"since": since, "until": until})
    assert answer.status_code == 202
    shown = answer.json["data"]["attributes"]
    assert (shown["since"], shown["until"], shown["states"]) == (since, until, ["dead"])
    assert (shown["total"], shown["sent"]) == (1, 1)
    assert shown["finished_at"] is not None
    assert hooks.states([failed, arrived]) == [DUE, DELIVERED]
    assert hooks.states([*before, *after, *elsewhere]) == [DEAD] * 3
    assert hooks.attempt(OK) == [failed]

    both = {"data": {"type": "webhook-replays", "attributes": {"states": ["delivered", "dead", "dead"]}}}
    shown = api.post(f"/webhooks/{hook}/replay", json=both).json["data"]["attributes"]
    assert (shown["since"], shown["states"], shown["total"]) == (None, ["delivered", "dead"], 4)
    assert hooks.states([*before, failed, arrived, *after]) == [DUE] * 4
    assert hooks.states(elsewhere) == [DEAD]
    assert {row["attributes"]["event_id"] for row in _rows(api, hook)} == event_ids

    with wiring.database.reading() as session:
        entry, _ = session.scalars(
            sa.select(HistoryEntry)
            .where(HistoryEntry.what == "delivery.range_replayed")
            .order_by(HistoryEntry.number)
        )
    assert (entry.community_id, entry.after["endpoint_id"]) == (cast.community_id, str(hook))
    assert (entry.after["state"], entry.after["since"], entry.after["deliveries"]) == ("dead", since, 1)


def _rows(api: Api, hook: uuid.UUID) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = api.get(f"/webhooks/{hook}/deliveries").json["data"]
    return rows


def test_a_large_replay_goes_on_in_the_background_part_by_part(
    api: Api, hook: uuid.UUID, hooks: Hooks, jobs: InlineEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "BATCH", 2)
    dead = hooks.tell(hook, 5)
    hooks.attempt(*[MISSING] * 5)
    shown = api.post(f"/webhooks/{hook}/replay", json={}).json["data"]["attributes"]
    assert (shown["total"], shown["sent"], shown["finished_at"]) == (5, 0, None)
    assert hooks.states(dead) == [DEAD] * 5
    jobs.run_all()
    assert hooks.states(dead) == [DUE] * 5


def test_a_replay_of_nothing_or_to_a_disabled_webhook_is_409(api: Api, hook: uuid.UUID, hooks: Hooks) -> None:
    nothing = api.post(f"/webhooks/{hook}/replay", json={})
    assert (nothing.status_code, nothing.json["detail"]) == (409, "Nothing here can be sent again")
    dead = hooks.tell(hook)
    hooks.attempt(MISSING)
    api.patch(f"/webhooks/{hook}", json={"is_active": False})
    disabled = api.post(f"/webhooks/{hook}/replay", json={})
    assert disabled.status_code == 409
    assert "disabled" in disabled.json["detail"]
    assert hooks.states(dead) == [DEAD]


def test_a_bad_replay_is_422_at_its_place(api: Api, hook: uuid.UUID, hooks: Hooks) -> None:
    hooks.tell(hook)
    hooks.attempt(MISSING)
    tomorrow = clock.iso(clock.now() + timedelta(days=1))
    for body, loc in (
        ({"since": "2026-03-02T12:00:00Z", "until": "2026-03-01T12:00:00Z"}, ["body", "until"]),
        ({"since": tomorrow}, ["body", "since"]),
        ({"since": "yesterday"}, ["body", "since"]),
        ({"states": []}, ["body", "states"]),
        ({"states": None}, ["body", "states"]),
        ({"states": ["dead", "due"]}, ["body", "states", 1]),
        ({"state": "dead"}, ["body", "state"]),
    ):
        assert problem_of(api.post(f"/webhooks/{hook}/replay", json=body))["loc"] == loc, body


def test_deliveries_of_an_archived_community_are_read_and_not_sent_again(
    api: Api, cast: Cast, wiring: Wiring, hook: uuid.UUID, hooks: Hooks
) -> None:
    dead = hooks.tell(hook)
    hooks.attempt(MISSING)
    with wiring.database.writing() as session:
        community_revisions.archive(session, SYSTEM, cast.community_id, "Closed")
    assert listed(api, hook) == [str(dead[0])]
    assert api.post(f"/webhooks/{hook}/replay", json={}).status_code == 403
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Delivery.state)).all() == [DEAD]
