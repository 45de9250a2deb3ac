"""The list of requests: filters, stable pages, the catch-up poll (docs/integrate/api.md)."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from app.wiring import Wiring
from tests.api.conftest import Api
from tests.cast import Cast


def _ids(answer: Any) -> list[str]:
    return [row["attributes"]["request_id"] for row in answer.json["data"]]


@pytest.mark.both_databases
def test_filters_combine_with_and(api: Api, fill: Callable[..., None], cast: Cast, foreign_api: Api) -> None:
    api.submit("odd", requested_by='100%_of\'"users"', dataset_name="moon", dataset_item_id="m-1")
    fill(3)
    every = _ids(api.get("/requests"))
    assert every == ["row-2", "row-1", "row-0", "odd"], "newest first"
    home = str(cast.community_id)
    table: list[tuple[dict[str, str], list[str]]] = [
        ({"filter[requested_by]": "user-1"}, ["row-1"]),
        ({"filter[requested_by]": '100%_of\'"users"'}, ["odd"]),
        ({"filter[requested_by]": "%"}, []),
        ({"filter[status]": "PENDING", "filter[requested_by]": "user-0"}, ["row-0"]),
        ({"filter[status]": "pending"}, every),
        ({"filter[dataset_name]": "moon"}, ["odd"]),
        ({"filter[dataset_name]": "moon", "filter[dataset_item_id]": "m-1"}, ["odd"]),
        ({"filter[dataset_name]": "Moon"}, []),
        ({"filter[dataset_item_id]": "m-2"}, []),
        ({"filter[status]": "COMPLETED"}, []),
        ({"filter[community_server_id]": home}, every),
        ({"community_server_id": home, "filter[requested_by]": "user-2"}, ["row-2"]),
        ({"filter[community_server_id]": str(cast.other_community_id)}, []),
        ({"filter[community_server_id]": str(uuid.uuid4())}, []),
        ({"filter[requested_at__gte]": "2020-01-01T00:00:00Z"}, every),
        ({"filter[requested_at__lte]": "2020-01-01T00:00:00+05:30"}, []),
        ({"filter[requested_at__gte]": "9999-12-31T23:59:59.999999999Z"}, []),
        ({"filter[requested_at__lte]": "0001-01-01t00:00:00z"}, []),
        ({"unknown": "ignored", "page[size]": "2"}, every[:2]),
        ({"page[size]": "2", "page[number]": "2"}, every[2:]),
        ({"page[number]": "1000000000"}, []),
    ]
    for query, expected in table:
        answer = api.get("/requests", query_string=query)
        assert answer.status_code == 200, query
        assert _ids(answer) == expected, query
    assert _ids(foreign_api.get("/requests")) == []
    for size in (1, 2, 3):
        for number in range(1, 6):
            path = f"/requests?page[size]={size}&page[number]={number}"
            assert _ids(api.get(path)) == every[(number - 1) * size : number * size], path


@pytest.mark.both_databases
def test_the_times_of_a_filter_include_their_own_moment(api: Api, fill: Callable[..., None]) -> None:
    fill(3)
    middle = api.get("/requests").json["data"][1]["attributes"]["requested_at"]
    assert _ids(api.get("/requests", query_string={"filter[requested_at__gte]": middle})) == [
        "row-2",
        "row-1",
    ]
    assert _ids(api.get("/requests", query_string={"filter[requested_at__lte]": middle})) == [
        "row-1",
        "row-0",
    ]


@pytest.mark.both_databases
def test_following_next_neither_misses_nor_repeats_while_rows_come_and_go(
    api: Api, fill: Callable[..., None]
) -> None:
    fill(9)
    wanted = [f"row-{number}" for number in range(8, -1, -1)]
    answer = api.get("/requests?page[size]=2")
    assert answer.json["meta"] == {"count": 9, "page": 1, "pages": 5, "limit": 2, "offset": 0}
    assert answer.json["links"]["prev"] is None
    seen, turn = _ids(answer), 0
    while answer.json["links"]["next"]:
        fill(3, prefix=f"late-{turn}")
        api.delete(f"/requests/{seen[0]}") if turn == 0 else None
        answer = api.get(answer.json["links"]["next"].removeprefix("http://localhost"))
        seen += _ids(answer)
        turn += 1
    assert seen == wanted
    back = api.get(answer.json["links"]["prev"].removeprefix("http://localhost"))
    assert _ids(back) == wanted[-3:-1]
    assert _ids(api.get("/requests?page[size]=2")) == ["late-3-2", "late-3-1"], "page 1 shows the live list"


@pytest.mark.both_databases
def test_a_page_beyond_the_end_leads_back(api: Api, fill: Callable[..., None]) -> None:
    assert api.get("/requests?page[number]=2").json["links"]["prev"] is None, "an empty list has no pages"
    fill(3)
    after = api.get("/requests?page[size]=2").json["links"]["next"].removeprefix("http://localhost")
    api.delete("/requests/row-0")
    for path in ("/requests?page[size]=2&page[number]=9", after):
        links = api.get(path).json["links"]
        assert (links["next"], links["prev"]) == (None, links["last"]), path
        assert _ids(api.get(links["prev"].removeprefix("http://localhost"))) == ["row-2", "row-1"], path
    before = api.get("/requests?page[size]=1&page[number]=2").json["links"]["prev"]
    api.delete("/requests/row-2")
    links = api.get(before.removeprefix("http://localhost")).json["links"]
    assert (links["next"], links["prev"]) == (links["first"], None)


def test_an_unknown_filter_is_answered_with_those_there_are(api: Api) -> None:
    answer = api.get("/requests?filter[color]=red")
    assert answer.status_code == 400
    assert {"filter[status]", "page[size]", "since"} <= set(
        answer.json["detail"]
        .removeprefix("Unknown query parameter filter[color]; this call reads: ")
        .split(", ")
    )
    none = api.get(f"/requests/{uuid.uuid4()}?include=note").json["detail"]
    assert none == "Unknown query parameter include; this call reads: none"


def test_a_page_costs_the_same_queries_for_one_row_and_for_a_hundred(
    api: Api, fill: Callable[..., None], decide: Callable[..., None], counting: Callable[[], Any]
) -> None:
    decide("decided-1")
    fill(1)
    api.get("/requests")
    poll = "/requests?status=decided&since=2020-01-01T00:00:00Z"
    with counting() as few:
        assert len(api.get("/requests?page[size]=1").json["data"]) == 1
    with counting() as few_decided:
        assert len(api.get(poll).json["data"]) == 1
    decide("decided-2", "decided-3")
    with counting() as many_decided:
        assert len(api.get(poll).json["data"]) == 3
    assert few_decided.count == many_decided.count, many_decided.statements
    fill(97, prefix="more")
    with counting() as many:
        assert len(api.get("/requests?page[size]=100").json["data"]) == 100
    assert few.count == many.count, many.statements
    assert many.count <= 6, many.statements


@pytest.mark.both_databases
def test_the_poll_does_not_count_decisions_on_withdrawn_requests(
    api: Api, wiring: Wiring, decide: Callable[..., None]
) -> None:
    decide("kept", "withdrawn")
    wide = api.with_key(wiring)
    assert api.delete("/requests/withdrawn").status_code == 204
    for caller in (api, wide):
        for since, expected in (("2020-01-01T00:00:00Z", 1), ("9000-01-01T00:00:00Z", 0)):
            query = {"status": "decided", "since": since}
            answer = caller.get("/requests", query_string=query)
            assert answer.json["meta"]["count"] == expected, (since, answer.json)
            narrowed = caller.get("/requests", query_string=query | {"filter[requested_by]": "nobody"})
            assert narrowed.json["meta"]["count"] == 0


@pytest.mark.both_databases
def test_the_poll_gives_decisions_in_order_and_where_to_go_on(api: Api, decide: Callable[..., None]) -> None:
    decide("a", "b", "c")
    api.submit("undecided")
    first = api.get("/requests?status=decided&since=2020-01-01T00:00:00Z&page[size]=2")
    assert _ids(first) == ["a", "b"]
    shown = first.json["data"][0]["attributes"]
    assert shown["status"] == "COMPLETED"
    assert (shown["decision"], shown["tier"]) == ("hide", 1)
    assert (shown["moderation_action"], shown["recommended_action"]) == ("immediate_action", "hide_post")
    assert {"decided_at", "action_id", "note_status"} <= shown.keys()
    rest = api.get(first.json["links"]["next"].removeprefix("http://localhost"))
    assert _ids(rest) == ["c"]
    decided = [row["attributes"]["decided_at"] for row in first.json["data"] + rest.json["data"]]
    assert decided == sorted(decided)
    repeated = api.get("/requests", query_string={"status": "decided", "since": decided[2]})
    assert _ids(repeated) == ["c"], "since includes its own moment"
    since = rest.json["meta"]["next_since"]
    empty = api.get("/requests", query_string={"status": "decided", "since": since})
    assert _ids(empty) == []
    assert empty.json["meta"]["next_since"] == since
    decide("d")
    assert _ids(api.get("/requests", query_string={"status": "decided", "since": since})) == ["d"]


@pytest.mark.both_databases
def test_the_poll_across_communities_repeats_rather_than_misses(
    api: Api, wiring: Wiring, decide: Callable[..., None]
) -> None:
    decide("a")
    wide = api.with_key(wiring)
    answer = wide.get("/requests?status=decided")
    assert _ids(answer) == ["a"]
    assert answer.json["meta"]["next_since"] < answer.json["data"][0]["attributes"]["decided_at"]
