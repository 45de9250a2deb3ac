"""Ratings: one per note and rater, also under a race; counted; never of one's own note (docs/integrate/api.md)."""

import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app.core.models import Note, Rating
from app.core.notes import ratings
from app.core.people import profiles
from app.core.permissions import SYSTEM
from app.core.vocabulary import HelpfulnessLevel
from app.settings import Settings
from app.throttle import Throttle
from app.wiring import Wiring
from tests.api.conftest import Api, acting, problem_of
from tests.api.test_notes import edit_body, made, rationale_of
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.racing import at_once


def rate(
    api: Api, note_id: str, level: Any = "HELPFUL", headers: dict[str, str] | None = None, **more: Any
) -> TestResponse:
    attributes = {"note_id": note_id, "helpfulness_level": level, **more}
    return api.post("/ratings", json={"data": {"type": "ratings", "attributes": attributes}}, headers=headers)


def change(
    api: Api, rating_id: str, level: Any = "NOT_HELPFUL", headers: dict[str, str] | None = None
) -> TestResponse:
    body = {"data": {"type": "ratings", "id": rating_id, "attributes": {"helpfulness_level": level}}}
    return api.put(f"/ratings/{rating_id}", json=body, headers=headers)


def test_a_first_rating_is_201_and_the_same_rater_again_changes_it_with_200(api: Api) -> None:
    note = made(api)
    first = rate(api, note, rater_id="r-1")
    assert first.status_code == 201
    shown = first.json["data"]
    assert (
        shown["attributes"].items()
        >= {
            "note_id": note,
            "rater_id": "r-1",
            "helpfulness_level": "HELPFUL",
        }.items()
    )
    again = rate(api, note, "NOT_HELPFUL", rater_id="r-1")
    assert again.status_code == 200
    assert again.json["data"]["id"] == shown["id"]
    assert again.json["data"]["attributes"]["helpfulness_level"] == "NOT_HELPFUL"
    assert again.json["data"]["attributes"]["updated_at"] > shown["attributes"]["updated_at"]
    assert api.get(f"/ratings/{shown['id']}").json["data"] == again.json["data"]
    assert api.get(f"/notes/{note}").json["data"]["attributes"]["ratings_count"] == 1


@pytest.mark.both_databases
def test_twenty_equal_ratings_at_once_are_one_row_and_one_201(api: Api, app: Flask, wiring: Wiring) -> None:
    note = made(api)
    callers = [Api(app.test_client(), api.headers) for _ in range(20)]
    answers = at_once(*(partial(rate, caller, note, rater_id="eager") for caller in callers))
    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Rating.id))) == 1


@pytest.mark.both_databases
def test_a_rating_takes_few_statements_and_half_of_them_before_the_lock_of_its_community(
    api: Api, wiring: Wiring, jobs: InlineEngine, counting: Callable[[], Any]
) -> None:
    notes = [made(api), rationale_of(api, wiring, jobs)]
    for note, rater in ((notes[0], "first"), (notes[1], "first"), (made(api), "known")):
        rate(api, note, rater_id=rater)
    for note in notes:
        with counting() as sent:
            assert rate(api, note, rater_id="known").status_code == 201
        assert sent.count <= 20, sent.statements
        locks = [number for number, text in enumerate(sent.statements, 1) if "pg_advisory" in text]
        assert not locks or sent.count - locks[-1] <= 10, sent.statements[locks[-1] :]


def test_the_rater_is_a_profile_uuid_a_platform_id_or_the_acting_user(api: Api) -> None:
    note = made(api)
    profile = api.get("/user-profiles/lookup?platform=discourse&platform_user_id=7").json["data"]["id"]
    by_id = rate(api, note, headers={"X-Adapter-Platform": "discourse"}, rater_id="7")
    assert (by_id.status_code, by_id.json["data"]["attributes"]["rater_id"]) == (201, "7")
    by_uuid = rate(api, note, rater_id=profile)
    assert (by_uuid.status_code, by_uuid.json["data"]["attributes"]["rater_id"]) == (200, profile)
    assert rate(api, note, headers=acting("7")).status_code == 200
    assert rate(api, note, headers=acting("7"), rater_id="7").json["data"]["attributes"]["rater_id"] == "7"
    assert rate(api, note, headers=acting("8")).status_code == 201


def test_a_rating_without_any_rater_names_rater_id(api: Api) -> None:
    for headers in (None, {"X-Adapter-Platform": "discourse"}):
        answer = rate(api, made(api), headers=headers)
        assert problem_of(answer)["loc"] == ["body", "data", "attributes", "rater_id"]
        assert problem_of(answer)["type"] == "missing"


def test_nobody_rates_in_another_persons_name(api: Api, cast: Cast, wiring: Wiring) -> None:
    note = made(api)
    for headers in (acting("7"), acting("7", Moderator="true")):
        assert rate(api, note, headers=headers, rater_id="8").status_code == 403
        assert rate(api, note, headers=headers, rater_id=str(uuid.uuid4())).status_code == 403
    assert rate(api, note, rater_id=str(cast.rater.profile_id)).status_code == 403
    assert rate(api, note, headers={"X-Adapter-Platform": "web"}, rater_id="me").status_code == 403
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Rating.id))) == 0


def test_one_cannot_rate_ones_own_note_nor_a_locked_one(api: Api) -> None:
    note = made(api, author_id="writer-1")
    own = rate(api, note, rater_id="writer-1")
    assert (own.status_code, own.json) == (403, {"detail": "You cannot rate your own note"})
    rating = rate(api, note, rater_id="r").json["data"]["id"]
    api.post(f"/notes/{note}/force-publish")
    assert rate(api, note, rater_id="r-2").status_code == 403
    assert change(api, rating).status_code == 403


def test_invalid_ratings_are_422_at_their_place(api: Api) -> None:
    note = made(api)
    table: list[tuple[dict[str, Any], str]] = [
        ({"level": "helpful"}, "helpfulness_level"),
        ({"level": None}, "helpfulness_level"),
        ({"rater_id": ""}, "rater_id"),
        ({"rater_id": "x" * 256}, "rater_id"),
        ({"rater_id": "\x00"}, "rater_id"),
        ({"rater_id": 7}, "rater_id"),
        ({"reasons": []}, "reasons"),
    ]
    for given, named in table:
        answer = rate(api, note, **({"rater_id": "r"} | given))
        assert problem_of(answer)["loc"] == ["body", "data", "attributes", named], given
    assert rate(api, "none", rater_id="r").json["detail"][0]["loc"][-1] == "note_id"


def test_unknown_foreign_and_deleted_notes_look_the_same(api: Api, foreign_api: Api) -> None:
    note, gone = made(api), made(api, author_id="w2")
    rating = rate(api, note, rater_id="r").json["data"]["id"]
    api.delete(f"/notes/{gone}")
    answers = [
        rate(api, str(uuid.uuid4()), rater_id="r"),
        rate(api, gone, rater_id="r"),
        rate(foreign_api, note, rater_id="r"),
        foreign_api.get(f"/notes/{note}/ratings"),
        foreign_api.get(f"/notes/{note}/ratings/stats"),
        api.get("/notes/none/ratings"),
    ]
    assert {(answer.status_code, answer.text) for answer in answers} == {(404, answers[0].text)}
    foreign = [
        change(foreign_api, rating),
        foreign_api.get(f"/ratings/{rating}"),
        api.get(f"/ratings/{uuid.uuid4()}"),
    ]
    assert {(answer.status_code, answer.text) for answer in foreign} == {(404, foreign[0].text)}


def test_put_changes_ones_own_rating_only(api: Api) -> None:
    note = made(api)
    rating = rate(api, note, headers=acting("7")).json["data"]
    assert change(api, rating["id"], headers=acting("8")).status_code == 403
    changed = change(api, rating["id"], "SOMEWHAT_HELPFUL", headers=acting("7"))
    assert changed.status_code == 200
    assert changed.json["data"]["attributes"]["helpfulness_level"] == "SOMEWHAT_HELPFUL"
    assert changed.json["data"]["attributes"]["rater_id"] == rating["attributes"]["rater_id"]
    assert change(api, rating["id"]).status_code == 200, (
        "without an acting user the key speaks for its raters"
    )
    body = {
        "data": {"type": "ratings", "id": str(uuid.uuid4()), "attributes": {"helpfulness_level": "HELPFUL"}}
    }
    assert api.put(f"/ratings/{rating['id']}", json=body).status_code == 409
    assert change(api, str(uuid.uuid4())).status_code == 404
    assert change(api, "none").status_code == 404


@pytest.mark.both_databases
def test_the_list_shows_the_ratings_of_the_current_text_newest_first(api: Api) -> None:
    note = made(api)
    for number in range(3):
        rate(api, note, rater_id=f"r-{number}")
    page = api.get(f"/notes/{note}/ratings?page[size]=2")
    assert [row["attributes"]["rater_id"] for row in page.json["data"]] == ["r-2", "r-1"]
    assert page.json["meta"] == {"count": 3, "page": 1, "pages": 2, "limit": 2, "offset": 0}
    rest = api.get(page.json["links"]["next"].removeprefix("http://localhost"))
    assert [row["attributes"]["rater_id"] for row in rest.json["data"]] == ["r-0"]
    assert api.get(f"/notes/{note}/ratings?filter[rater_id]=r-1").status_code == 400
    api.patch(f"/notes/{note}", json=edit_body(note, summary="Other words"))
    assert api.get(f"/notes/{note}/ratings").json["meta"]["count"] == 0
    assert rate(api, note, rater_id="r-1").status_code == 200
    assert api.get(f"/notes/{note}/ratings").json["meta"]["count"] == 1


@pytest.mark.both_databases
def test_stats_count_each_level(api: Api) -> None:
    note = made(api)
    shown = api.get(f"/notes/{note}").json["data"]["attributes"]
    unrated = api.get(f"/notes/{note}/ratings/stats").json["data"]
    assert unrated == {
        "type": "rating-stats",
        "id": note,
        "attributes": {
            "total": 0,
            "helpful": 0,
            "somewhat_helpful": 0,
            "not_helpful": 0,
            "average_score": 0.0,
            "created_at": shown["created_at"],
            "updated_at": shown["updated_at"],
        },
    }
    times = []
    for rater, level in (("a", "HELPFUL"), ("b", "HELPFUL"), ("c", "SOMEWHAT_HELPFUL"), ("d", "NOT_HELPFUL")):
        given = rate(api, note, level, rater_id=rater).json["data"]["attributes"]
        times.append(given["created_at"])
    counted = api.get(f"/notes/{note}/ratings/stats").json["data"]["attributes"]
    assert counted == {
        "total": 4,
        "helpful": 2,
        "somewhat_helpful": 1,
        "not_helpful": 1,
        "average_score": 2.25,
        "created_at": times[0],
        "updated_at": counted["updated_at"],
    }
    assert counted["updated_at"] >= times[-1]


def test_ratings_decide_the_note_and_its_action(api: Api, wiring: Wiring, jobs: InlineEngine) -> None:
    note = rationale_of(api, wiring, jobs)
    for number in range(6):
        assert rate(api, note, rater_id=f"r-{number}").status_code == 201
    shown = api.get(f"/notes/{note}").json["data"]["attributes"]
    assert shown["status"] == "CURRENTLY_RATED_HELPFUL"
    assert shown["ratings_count"] == 6
    assert 0 < shown["helpfulness_score"] <= 100
    assert api.get("/requests/queued").json["data"]["attributes"]["decision"] == "hide"
    assert rate(api, note, "NOT_HELPFUL", rater_id="late").status_code == 201, "decided but not locked"


def test_a_page_of_ratings_costs_the_same_queries_for_one_row_and_for_a_hundred(
    api: Api, wiring: Wiring, counting: Callable[[], Any]
) -> None:
    note = made(api)
    rate(api, note, rater_id="r")
    path = f"/notes/{note}/ratings?page[size]=100"
    with counting() as few:
        assert len(api.get(path).json["data"]) == 1
    with wiring.database.writing() as session:
        row = session.get_one(Note, uuid.UUID(note))
        for number in range(99):
            session.add(
                Rating(
                    community_id=row.community_id,
                    note_id=row.id,
                    rater_id=profiles.ensure(session, "discourse", f"r-{number}").id,
                    rater_ref=f"r-{number}",
                    helpfulness_level=HelpfulnessLevel.HELPFUL,
                )
            )
    with counting() as many:
        assert len(api.get(path).json["data"]) == 100
    assert few.count == many.count
    assert many.count <= 5, many.statements


def test_too_many_ratings_of_one_rater_are_429_and_others_go_on(
    api: Api, wiring: Wiring, settings: Settings
) -> None:
    limited = settings.model_copy(update={"rate_limit_enabled": True, "rate_limit_ratings": "2 per hour"})
    wiring.throttle = Throttle.from_settings(limited)
    note = made(api)
    mine = acting("7")
    rating = rate(api, note, headers=mine).json["data"]["id"]
    assert rate(api, note, headers=mine).status_code == 200
    refused = rate(api, note, headers=mine)
    assert refused.status_code == 429
    assert refused.headers["RateLimit-Policy"] == '"ratings";q=2;w=3600'
    assert refused.headers["RateLimit"] == f'"ratings";r=0;t={refused.headers["Retry-After"]}'
    assert api.get("/requests").headers["RateLimit-Policy"].startswith('"key";')
    assert change(api, rating, headers=mine).status_code == 429
    assert rate(api, note, headers=acting("8")).status_code == 201
    assert [rate(api, note, rater_id="new").status_code for _ in range(3)] == [201, 200, 429]


def test_nobody_uses_up_the_ratings_of_another_rater(api: Api, wiring: Wiring, settings: Settings) -> None:
    limited = settings.model_copy(update={"rate_limit_enabled": True, "rate_limit_ratings": "2 per hour"})
    wiring.throttle = Throttle.from_settings(limited)
    note = made(api)
    rating = rate(api, note, headers=acting("7")).json["data"]["id"]
    assert [change(api, rating, headers=acting("8")).status_code for _ in range(3)] == [403] * 3
    assert [rate(api, note, headers=acting("8"), rater_id="7").status_code for _ in range(3)] == [403] * 3
    assert change(api, rating, headers=acting("7")).status_code == 200
    assert change(api, rating, headers=acting("7")).status_code == 429


def test_rated_by_the_core_and_read_by_the_api_are_the_same(api: Api, wiring: Wiring) -> None:
    note = made(api)
    with wiring.database.writing() as session:
        rater = profiles.ensure(session, "web", "somebody")
        who = replace(SYSTEM, profile_id=rater.id)
        row = session.get_one(Note, uuid.UUID(note))
        ratings.rate(session, who, row, rater, HelpfulnessLevel.NOT_HELPFUL)
        expected = str(rater.id)
    (shown,) = api.get(f"/notes/{note}/ratings").json["data"]
    assert shown["attributes"]["rater_id"] == expected
