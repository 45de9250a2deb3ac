"""Lists of what was completed or changed since a client last asked (docs/integrate/api.md)."""

import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import actions
from app.core.models import Action, Note, Request
from app.wiring import Wiring
from tests.api.conftest import HARMLESS, INSULT, Api
from tests.api.test_notes import edit_body, made
from tests.inline_engine import InlineEngine

pytestmark = pytest.mark.both_databases

LONG_AGO = "2020-01-01T00:00:00Z"
LISTS = {
    "/requests": "filter[completed_at__gte]",
    "/moderation-actions": "filter[updated_at__gte]",
    "/notes": "filter[updated_at__gte]",
}


def changed(api: Api, path: str, since: str = LONG_AGO, **more: str) -> Any:
    answer = api.get(path, query_string={LISTS[path]: since, **more})
    assert answer.status_code == 200, answer.text
    return answer.json


def ids(document: Any) -> list[str]:
    return [row["id"] for row in document["data"]]


def pages(api: Api, path: str, since: str, size: int) -> Iterator[Any]:
    document = changed(api, path, since, **{"page[size]": str(size)})
    while True:
        yield document
        link = document["links"]["next"]
        if link is None:
            return
        document = api.get(link.removeprefix("http://localhost")).json


def set_times(wiring: Wiring, model: Any, column: str, moments: dict[str, Any]) -> None:
    with wiring.database.writing() as session:
        for identity, moment in moments.items():
            statement = sa.update(model).where(model.id == uuid.UUID(identity))
            session.execute(statement.values(**{"updated_at": moment, column: moment}))


def test_a_request_that_ends_without_action_is_in_the_list_of_completed_ones(
    api: Api, jobs: InlineEngine, decide: Callable[..., None]
) -> None:
    api.submit("quiet")
    jobs.run_all()
    decide("spam")
    api.submit("waits", INSULT)
    jobs.run_all()
    api.submit("new")
    query = {"filter[status]": "COMPLETED", "filter[completed_at__gte]": LONG_AGO}
    rows = api.get("/requests", query_string=query).json["data"]
    assert [row["attributes"]["request_id"] for row in rows] == ["quiet", "spam"], "oldest completion first"
    quiet = rows[0]["attributes"]
    assert "decision" not in quiet
    later = api.get("/requests", query_string=query | {"filter[completed_at__gte]": quiet["completed_at"]})
    assert [row["attributes"]["request_id"] for row in later.json["data"]] == ["quiet", "spam"]
    assert "completed_at" not in api.get("/requests/waits").json["data"]["attributes"]
    assert api.patch("/requests/quiet", json={"escalated": True}).status_code == 200
    assert "completed_at" not in api.get("/requests/quiet").json["data"]["attributes"], "people decide now"
    assert len(api.get("/requests", query_string=query).json["data"]) == 1


def test_what_changed_comes_in_the_order_of_changes(api: Api, jobs: InlineEngine) -> None:
    first, second, third = (made(api, author_id=f"author-{number}") for number in range(3))
    assert ids(api.get("/notes").json) == [third, second, first]
    assert ids(changed(api, "/notes")) == [first, second, third]
    edited = api.patch(f"/notes/{first}", json=edit_body(first, summary="Other words"))
    assert edited.status_code == 200
    assert ids(changed(api, "/notes")) == [second, third, first]
    assert ids(changed(api, "/notes", edited.json["data"]["attributes"]["updated_at"])) == [first]
    for request_id in ("one", "two"):
        api.submit(request_id, INSULT)
        jobs.run_all()
    two, one = ids(api.get("/moderation-actions").json)
    assert ids(changed(api, "/moderation-actions")) == [one, two]
    move = {"action_state": "dismissed"}
    assert api.patch(f"/moderation-actions/{one}", json=move).status_code == 200
    assert ids(changed(api, "/moderation-actions")) == [two, one]
    waiting = {"filter[action_state]": "under_review"}
    assert ids(changed(api, "/moderation-actions", **waiting)) == [two]


def test_a_client_that_follows_the_pages_and_next_since_misses_no_row(api: Api, wiring: Wiring) -> None:
    """A row that is committed late has an earlier time than rows that were listed before; several share a time."""
    now = clock.now()
    notes = [made(api, author_id=f"author-{number}") for number in range(7)]
    # Five long ago at one moment, one just now, and one that is not committed yet.
    old = dict.fromkeys(notes[:5], now - timedelta(hours=1))
    set_times(wiring, Note, "updated_at", old | {notes[5]: now, notes[6]: now - timedelta(days=9)})
    seen: list[str] = []
    since = clock.iso(now - timedelta(days=1))
    for document in pages(api, "/notes", since, size=2):
        seen += ids(document)
        since = document["meta"]["next_since"]
    assert sorted(seen) == sorted(notes[:6])
    assert len(seen) == len(set(seen)), "equal times are told apart by id"
    late = now - timedelta(seconds=30)
    set_times(wiring, Note, "updated_at", {notes[6]: late})
    again = changed(api, "/notes", since)
    assert ids(again) == [notes[6], notes[5]], "the last minute is repeated"
    assert again["meta"]["next_since"] >= since
    quiet = changed(api, "/notes", clock.iso(now + timedelta(hours=1)))
    assert quiet["data"] == []
    assert quiet["meta"]["next_since"] == clock.iso(now + timedelta(hours=1))


def test_next_since_goes_on_past_what_is_older_than_the_overlap(api: Api, wiring: Wiring) -> None:
    note = made(api, author_id="author")
    moment = clock.now() - timedelta(hours=1)
    set_times(wiring, Note, "updated_at", {note: moment})
    assert changed(api, "/notes")["meta"]["next_since"] == clock.iso(moment)
    assert ids(changed(api, "/notes", clock.iso(moment))) == [note], "it includes its own moment"
    assert ids(changed(api, "/notes", clock.iso(moment + timedelta(microseconds=1)))) == []


def test_only_lists_of_changes_have_next_since(api: Api) -> None:
    for path in LISTS:
        assert "next_since" not in api.get(path).json["meta"], path
        assert changed(api, path)["meta"]["next_since"] == clock.iso(
            clock.now().replace(2020, 1, 1, 0, 0, 0, 0)
        )


def test_a_time_that_cannot_be_read_is_422_and_a_cursor_of_another_order_400(api: Api) -> None:
    for number in range(2):
        made(api, author_id=f"author-{number}")
    for path, name in LISTS.items():
        answer = api.get(path, query_string={name: "yesterday"})
        assert (answer.status_code, answer.json["detail"][0]["loc"]) == (422, ["query", name])
    link = api.get("/notes?page[size]=1").json["links"]["next"].removeprefix("http://localhost")
    assert api.get(f"{link}&filter[updated_at__gte]={LONG_AGO}").status_code == 400


def test_what_is_foreign_is_not_listed(api: Api, foreign_api: Api, jobs: InlineEngine) -> None:
    made(api, author_id="author")
    api.submit("queued", INSULT)
    api.submit("quiet", HARMLESS)
    jobs.run_all()
    for path in LISTS:
        assert changed(api, path)["data"], path
        assert changed(foreign_api, path)["data"] == [], path


def test_a_page_of_changes_costs_the_same_queries_for_one_row_and_for_many(
    api: Api, jobs: InlineEngine, counting: Callable[[], Any]
) -> None:
    def ask() -> dict[str, list[str]]:
        found = {}
        for path in LISTS:
            with counting() as queries:
                assert changed(api, path)["data"], path
            found[path] = list(queries.statements)
        return found

    api.submit("queued-0", INSULT)
    api.submit("quiet-0")
    jobs.run_all()
    ask()
    few = ask()
    for number in range(1, 8):
        api.submit(f"queued-{number}", f"{INSULT} {number}")
        api.submit(f"quiet-{number}")
    jobs.run_all()
    many = ask()
    assert {path: len(sent) for path, sent in few.items()} == {path: len(sent) for path, sent in many.items()}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("is_wide", [False, True])
def test_an_index_serves_each_list_of_changes(api: Api, wiring: Wiring, is_wide: bool) -> None:
    """``tests/web/test_plans.py`` asks PostgreSQL the same, with many rows."""
    caller = api.with_key(wiring) if is_wide else api
    plans: list[str] = []

    def explain(connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        if "ed_at >= " in statement and "ORDER BY" in statement:
            rows = connection.connection.cursor().execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plans.append("; ".join(row[3] for row in rows))

    sa.event.listen(wiring.database.engine, "before_cursor_execute", explain)
    try:
        for path in LISTS:
            changed(caller, path)
    finally:
        sa.event.remove(wiring.database.engine, "before_cursor_execute", explain)
    first = "" if is_wide else "community_id_"
    for plan, index in zip(
        plans,
        ("requests_{}completed_at", "moderation_actions_{}updated_at", "notes_{}updated_at"),
        strict=True,
    ):
        assert f"ix_{index.format(first)}_id" in plan, plan
        assert "TEMP B-TREE" not in plan, plan


def test_a_claim_and_other_invisible_changes_do_not_list_an_action_again(
    api: Api, wiring: Wiring, jobs: InlineEngine
) -> None:
    api.submit("queued", INSULT)
    jobs.run_all()
    before = changed(api, "/moderation-actions")["data"]
    with wiring.database.writing() as session:
        action = session.scalars(sa.select(Action)).one()
        actions.set_columns(session, action, claimed_until=clock.now())
        assert session.scalars(sa.select(Request)).one().completed_at is None
    assert changed(api, "/moderation-actions")["data"] == before
