"""Notes: written once per author and request, filtered, edited, decided by staff (docs/integrate/api.md)."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from app.core.models import Action, HistoryEntry, Note, Request
from app.core.notes import notes
from app.core.people import profiles
from app.core.permissions import SYSTEM
from app.core.vocabulary import ActionState, Classification
from app.wiring import Wiring
from tests.api.conftest import INSULT, Api, acting, problem_of
from tests.cast import Cast
from tests.inline_engine import InlineEngine

MISLEADING = "MISINFORMED_OR_POTENTIALLY_MISLEADING"
ADMIN_REQUIRED = "Admin privileges required"


def note_body(**attributes: Any) -> dict[str, Any]:
    given = {
        "summary": "The ferry timetable of this year says otherwise",
        "classification": MISLEADING,
        "community_server_id": "forum-1",
        "author_id": "writer-1",
    }
    kept = {name: value for name, value in (given | attributes).items() if value is not ...}
    return {"data": {"type": "notes", "attributes": kept}}


def write(api: Api, headers: dict[str, str] | None = None, **attributes: Any) -> TestResponse:
    return api.post("/notes", json=note_body(**attributes), headers=headers)


def made(api: Api, headers: dict[str, str] | None = None, **attributes: Any) -> str:
    """The id of a new note."""
    answer = write(api, headers, **attributes)
    assert answer.status_code == 201, answer.json
    found: str = answer.json["data"]["id"]
    return found


def edit_body(note_id: str, **attributes: Any) -> dict[str, Any]:
    return {"data": {"type": "notes", "id": note_id, "attributes": attributes}}


def rate(api: Api, note_id: str, level: str = "HELPFUL", rater: str = "rater-1") -> None:
    attributes = {"note_id": note_id, "helpfulness_level": level, "rater_id": rater}
    answer = api.post("/ratings", json={"data": {"type": "ratings", "attributes": attributes}})
    assert answer.status_code in {200, 201}, answer.json


def rationale_of(api: Api, wiring: Wiring, jobs: InlineEngine, request_id: str = "queued") -> str:
    """The id of the rationale note of a review that content has opened."""
    api.submit(request_id, INSULT)
    jobs.run_all()
    with wiring.database.reading() as session:
        return str(session.scalars(sa.select(Note.id).where(Note.rationale)).one())


def test_a_note_is_written_with_every_value_as_given(api: Api, cast: Cast) -> None:
    request = api.submit("post-1", platform_channel_id="channel-9").json["data"]
    summary = "  Words\n\twith spaces, e\u0301 and 🙂 "
    answer = write(api, summary=summary, request_id=request["id"], channel_id=" channel\u00a0")
    assert answer.status_code == 201
    shown = answer.json["data"]
    assert (
        shown["attributes"].items()
        >= {
            "author_id": "writer-1",
            "summary": summary,
            "classification": MISLEADING,
            "status": "NEEDS_MORE_RATINGS",
            "helpfulness_score": 0,
            "ratings_count": 0,
            "ai_generated": False,
            "force_published": False,
            "community_server_id": str(cast.community_id),
            "request_id": request["id"],
            "channel_id": " channel\u00a0",
            "platform_message_id": "message-of-post-1",
            "platform_channel_id": "channel-9",
        }.items()
    )
    assert answer.headers["Location"].endswith(f"/api/public/v1/notes/{shown['id']}")
    assert api.get(f"/notes/{shown['id']}").json["data"] == shown


def test_what_a_note_has_not_is_left_out(api: Api) -> None:
    shown = write(api).json["data"]["attributes"]
    assert not {
        "request_id", "channel_id", "platform_message_id", "ai_provider", "ai_model", "force_published_at",
    } & shown.keys()  # fmt: skip


def test_a_note_may_name_its_request_and_community_by_the_integrations_own_ids(
    api: Api, cast: Cast, wiring: Wiring
) -> None:
    request = api.submit("post-1").json["data"]
    by_string = write(api, request_id="post-1", community_server_id=str(cast.community_id))
    assert by_string.json["data"]["attributes"]["request_id"] == request["id"]
    assert write(api, request_id="unknown", author_id="w2").status_code == 404
    assert write(api, community_server_id="forum-2", author_id="w2").status_code == 404


def test_the_author_is_a_profile_uuid_a_platform_id_or_the_acting_user(api: Api, cast: Cast) -> None:
    profile = api.get("/user-profiles/lookup?platform=discourse&platform_user_id=7").json["data"]["id"]
    by_uuid = write(api, author_id=profile)
    assert by_uuid.json["data"]["attributes"]["author_id"] == profile
    here = {"X-Adapter-Platform": "discourse"}
    assert write(api, here, author_id="7").json["data"]["attributes"]["author_id"] == "7"
    assert write(api, acting("7"), author_id=...).json["data"]["attributes"]["author_id"] == profile
    assert len(api.get("/notes?filter[author_id]=7").json["data"]) == 3
    assert len(api.get(f"/notes?filter[author_id]={profile}").json["data"]) == 3
    nobody = write(api, author_id=...)
    assert problem_of(nobody)["loc"] == ["body", "data", "attributes", "author_id"]
    assert problem_of(nobody)["type"] == "missing"


def test_nobody_writes_in_another_persons_name(api: Api, wiring: Wiring, cast: Cast) -> None:
    assert write(api, acting("7"), author_id="8").status_code == 403
    assert write(api, acting("7", Moderator="true"), author_id="8").status_code == 403
    with wiring.database.writing() as session:
        service = str(profiles.of_service(session).id)
    for author in (str(cast.moderator.profile_id), service):
        assert write(api, author_id=author).status_code == 403
    assert write(api, {"X-Adapter-Platform": "web"}, author_id="me").status_code == 403
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Note.id))) == 0


def test_one_human_note_per_author_and_request(api: Api) -> None:
    request_id = api.submit("post-1").json["data"]["id"]
    first = made(api, request_id=request_id)
    assert write(api, request_id=request_id).status_code == 409
    made(api, request_id=request_id, author_id="writer-2")
    api.delete(f"/notes/{first}")
    made(api, request_id=request_id)


def test_a_request_of_another_community_is_400(api: Api, wiring: Wiring, cast: Cast) -> None:
    wide = api.with_key(wiring, [cast.community_id, cast.other_community_id])
    away = wide.submit("post-1", community_server_id="forum-2").json["data"]["id"]
    assert write(wide, request_id=away).status_code == 400
    home = wide.submit("post-1").json["data"]["id"]
    assert write(wide, request_id="post-1").json["data"]["attributes"]["request_id"] == home


INVALID: dict[str, list[Any]] = {
    "summary": ["", " \n ", "x" * 5001, "a\x00b", "\ud800", 5, None],
    "classification": ["", "not_misleading", "MISLEADING", 1, None],
    "community_server_id": ["", "x" * 256, 7],
    "author_id": ["", "x" * 256, "\x00", 7],
    "request_id": ["", "x" * 256, 7],
    "channel_id": ["", "x" * 256, "\x00"],
    "status": ["CURRENTLY_RATED_HELPFUL"],
    "ai_generated": [True],
    "force_published": [True],
}


def test_an_invalid_attribute_is_422_at_its_place(api: Api, wiring: Wiring) -> None:
    for name, value in [(name, value) for name, values in INVALID.items() for value in values]:
        answer = write(api, **{name: value})
        assert problem_of(answer)["loc"][:4] == ["body", "data", "attributes", name], (name, value)
    for missing in ("summary", "classification", "community_server_id"):
        answer = write(api, **{missing: ...})
        assert answer.json["detail"][0]["type"] == "missing"
        assert answer.json["detail"][0]["loc"] == ["body", "data", "attributes", missing]
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Note.id))) == 0
    assert write(api, summary="x" * 5000).status_code == 201


@pytest.mark.both_databases
def test_every_filter_works_and_they_combine_with_and(api: Api, foreign_api: Api, cast: Cast) -> None:
    request = api.submit("post-1").json["data"]
    one = made(api, author_id="a", request_id=request["id"])
    two = made(api, author_id="b", classification="NOT_MISLEADING")
    three = made(api, author_id='100%_of\'"users"')
    api.post(f"/notes/{three}/dismiss")
    rate(api, one, rater="r1")
    rate(api, two, rater="r2")
    middle = api.get(f"/notes/{two}").json["data"]["attributes"]["created_at"]
    every, home = [three, two, one], str(cast.community_id)
    table: list[tuple[dict[str, str], list[str]]] = [
        ({}, every),
        ({"filter[status]": "NEEDS_MORE_RATINGS"}, [two, one]),
        ({"filter[status]": "CURRENTLY_RATED_NOT_HELPFUL"}, [three]),
        ({"filter[status__neq]": "NEEDS_MORE_RATINGS"}, [three]),
        ({"filter[classification]": "NOT_MISLEADING"}, [two]),
        ({"filter[community_server_id]": home}, every),
        ({"filter[community_server_id]": str(cast.other_community_id)}, []),
        ({"filter[author_id]": "a"}, [one]),
        ({"filter[author_id]": '100%_of\'"users"'}, [three]),
        ({"filter[author_id]": "%"}, []),
        ({"filter[request_id]": request["id"]}, [one]),
        ({"filter[request_id]": "post-1"}, [one]),
        ({"filter[request_id]": str(uuid.uuid4())}, []),
        ({"filter[platform_message_id]": "message-of-post-1"}, [one]),
        ({"filter[created_at__gte]": middle}, [three, two]),
        ({"filter[created_at__lte]": middle}, [two, one]),
        ({"filter[rater_id]": "r1"}, [one]),
        ({"filter[rater_id]": "nobody"}, []),
        ({"filter[rater_id__not_in]": "r1"}, [three, two]),
        ({"filter[rater_id__not_in]": "r1,r2,nobody"}, [three]),
        ({"filter[rater_id__not_in]": "r1", "filter[status]": "NEEDS_MORE_RATINGS"}, [two]),
        ({"filter[author_id]": "a", "filter[classification]": "NOT_MISLEADING"}, []),
        ({"unknown": "ignored", "page[size]": "2"}, every[:2]),
        ({"page[size]": "2", "page[number]": "2"}, every[2:]),
    ]
    for query, expected in table:
        answer = api.get("/notes", query_string=query)
        assert answer.status_code == 200, query
        assert [row["id"] for row in answer.json["data"]] == expected, query
    assert foreign_api.get("/notes").json["data"] == []


def test_unknown_and_invalid_filters_are_refused(api: Api) -> None:
    for query in (
        "filter[summary]=x",
        "filter[status__gte]=x",
        "sort=created_at",
        "include=author",
        "page[x]=1",
    ):
        assert api.get(f"/notes?{query}").status_code == 400, query
    twice = "filter[status]=NEEDS_MORE_RATINGS&filter[status]=NEEDS_MORE_RATINGS"
    assert api.get(f"/notes?{twice}").status_code == 400
    for name, value in [
        ("filter[status]", "needs_more_ratings"),
        ("filter[status__neq]", ""),
        ("filter[classification]", "MISLEADING"),
        ("filter[community_server_id]", "forum-1"),
        ("filter[created_at__gte]", "2026-01-31"),
        ("filter[author_id]", "x" * 256),
        ("filter[rater_id]", "\x00"),
        ("filter[rater_id__not_in]", "a,,b"),
        ("filter[rater_id__not_in]", ",".join(["a"] * 101)),
        ("page[size]", "101"),
    ]:
        answer = api.get("/notes", query_string={name: value})
        assert problem_of(answer)["loc"] == ["query", name], (name, value)


def test_a_rating_of_an_older_text_is_no_rating_of_the_note(api: Api) -> None:
    note = made(api)
    rate(api, note, rater="r1")
    assert api.get("/notes?filter[rater_id__not_in]=r1").json["data"] == []
    api.patch(f"/notes/{note}", json=edit_body(note, summary="A new text"))
    assert len(api.get("/notes?filter[rater_id__not_in]=r1").json["data"]) == 1
    assert api.get("/notes?filter[rater_id]=r1").json["data"] == []


def test_a_page_costs_the_same_queries_for_one_row_and_for_a_hundred(
    api: Api, wiring: Wiring, cast: Cast, counting: Callable[[], Any]
) -> None:
    def fill(count: int) -> None:
        with wiring.database.writing() as session:
            author = profiles.ensure(session, "discourse", "a")
            for _ in range(count):
                notes.write(
                    session, SYSTEM, cast.community_id, author, "text", Classification.MISLEADING
                )  # fmt: skip

    fill(1)
    path = "/notes?page[size]=100&filter[author_id]=a&filter[rater_id__not_in]=x,y,z"
    api.get(path)
    with counting() as few:
        assert len(api.get(path).json["data"]) == 1
    fill(99)
    with counting() as many:
        assert len(api.get(path).json["data"]) == 100
    assert few.count == many.count
    assert many.count <= 5, many.statements


@pytest.mark.both_databases
def test_following_next_neither_misses_nor_repeats(api: Api) -> None:
    wanted = [made(api, author_id=f"w-{number}") for number in range(5)][::-1]
    answer = api.get("/notes?page[size]=2")
    seen = [row["id"] for row in answer.json["data"]]
    while answer.json["links"]["next"]:
        made(api, author_id=f"late-{len(seen)}")
        answer = api.get(answer.json["links"]["next"].removeprefix("http://localhost"))
        seen += [row["id"] for row in answer.json["data"]]
    assert seen == wanted


def test_editing_the_text_of_a_rated_note_starts_a_new_version(api: Api) -> None:
    note = made(api)
    for number in range(6):
        rate(api, note, rater=f"r-{number}")
    assert api.get(f"/notes/{note}").json["data"]["attributes"]["status"] == "CURRENTLY_RATED_HELPFUL"
    same = api.patch(
        f"/notes/{note}", json=edit_body(note, summary=note_body()["data"]["attributes"]["summary"])
    )
    assert same.json["data"]["attributes"]["ratings_count"] == 6
    edited = api.patch(
        f"/notes/{note}", json=edit_body(note, summary="Other words", classification="NOT_MISLEADING")
    )
    shown = edited.json["data"]["attributes"]
    assert (shown["summary"], shown["classification"]) == ("Other words", "NOT_MISLEADING")
    assert (shown["status"], shown["ratings_count"], shown["helpfulness_score"]) == (
        "NEEDS_MORE_RATINGS",
        0,
        0,
    )
    assert api.get(f"/notes/{note}/ratings").json["data"] == []


def test_a_patch_needs_its_summary_and_the_id_of_its_path(api: Api) -> None:
    note = made(api)
    missing = api.patch(f"/notes/{note}", json=edit_body(note, classification="NOT_MISLEADING"))
    assert problem_of(missing)["loc"] == ["body", "data", "attributes", "summary"]
    assert problem_of(missing)["type"] == "missing"
    other = api.patch(f"/notes/{note}", json=edit_body(str(uuid.uuid4()), summary="text"))
    assert other.status_code == 409
    upper = api.patch(f"/notes/{note}", json=edit_body(note.upper(), summary="text"))
    assert upper.status_code == 200
    for path in (str(uuid.uuid4()), "none", note.replace("-", "")):
        assert api.patch(f"/notes/{path}", json=edit_body(path, summary="text")).status_code == 404
        assert api.get(f"/notes/{path}").status_code == 404


def test_only_its_author_or_staff_changes_a_note(api: Api, foreign_api: Api) -> None:
    note = made(api, acting("7"), author_id=...)
    body = edit_body(note, summary="Changed")
    other = api.patch(f"/notes/{note}", json=body, headers=acting("8"))
    assert (other.status_code, other.json) == (403, {"detail": ADMIN_REQUIRED})
    assert api.delete(f"/notes/{note}", headers=acting("8")).status_code == 403
    for headers in (acting("7"), acting("9", Moderator="true"), acting("9", Admin="true"), None):
        assert api.patch(f"/notes/{note}", json=body, headers=headers).status_code == 200
    unknown = foreign_api.get(f"/notes/{uuid.uuid4()}")
    for answer in (
        foreign_api.get(f"/notes/{note}"),
        foreign_api.patch(f"/notes/{note}", json=body),
        foreign_api.delete(f"/notes/{note}"),
        foreign_api.post(f"/notes/{note}/dismiss"),
    ):
        assert (answer.status_code, answer.json) == (404, unknown.json)


def test_a_read_only_key_reads_notes_and_writes_none(api: Api, cast: Cast) -> None:
    note = made(api)
    reader = Api(api.client, cast.read_only_headers)
    assert reader.get(f"/notes/{note}").status_code == 200
    assert write(reader).status_code == 403
    assert reader.post(f"/notes/{note}/force-publish").status_code == 403


def test_a_deleted_note_is_gone_and_leaves_history(api: Api, wiring: Wiring) -> None:
    api.submit("post-1")
    note = made(api)
    api.patch("/requests/post-1", json={"note_id": note})
    assert api.delete(f"/notes/{note}").status_code == 204
    assert api.get(f"/notes/{note}").status_code == 404
    assert api.delete(f"/notes/{note}").status_code == 404
    assert api.get("/notes").json["data"] == []
    assert api.get("/requests/post-1").json["data"]["attributes"]["note_id"] is None
    with wiring.database.reading() as session:
        assert "note.withdrawn" in set(session.scalars(sa.select(HistoryEntry.what)))


def test_force_publish_and_dismiss_lock_the_note_whatever_ratings_say(api: Api) -> None:
    forced, dismissed = made(api, author_id="a"), made(api, author_id="b")
    answer = api.post(f"/notes/{forced}/force-publish", json={"reason": "Verified by the harbour office"})
    shown = answer.json["data"]["attributes"]
    assert (shown["status"], shown["force_published"]) == ("CURRENTLY_RATED_HELPFUL", True)
    assert shown["force_published_at"]
    wrapped = {"data": {"type": "notes", "id": dismissed, "attributes": {"reason": "Off topic"}}}
    shown = api.post(f"/notes/{dismissed}/dismiss", json=wrapped).json["data"]["attributes"]
    assert (shown["status"], shown["force_published"]) == ("CURRENTLY_RATED_NOT_HELPFUL", False)
    assert "force_published_at" not in shown
    for note in (forced, dismissed):
        attributes = {"note_id": note, "helpfulness_level": "HELPFUL", "rater_id": "r"}
        refused = api.post("/ratings", json={"data": {"type": "ratings", "attributes": attributes}})
        assert refused.status_code == 403
        assert api.patch(f"/notes/{note}", json=edit_body(note, summary="text")).status_code == 403
    again = api.post(f"/notes/{forced}/force-publish")
    assert again.status_code == 200
    changed = api.post(f"/notes/{forced}/dismiss").json["data"]["attributes"]
    assert (changed["status"], changed["force_published"]) == ("CURRENTLY_RATED_NOT_HELPFUL", False)


def test_staffs_word_needs_staff_and_a_reason_that_can_be_kept(api: Api) -> None:
    note = made(api)
    for verb in ("force-publish", "dismiss"):
        for headers in (acting("7"), acting("7", Admin="false", Moderator="false")):
            refused = api.post(f"/notes/{note}/{verb}", headers=headers)
            assert (refused.status_code, refused.json) == (403, {"detail": ADMIN_REQUIRED})
        assert api.post(f"/notes/{uuid.uuid4()}/{verb}").status_code == 404
        for reason in ("x" * 2001, "\x00", 7):
            answer = api.post(f"/notes/{note}/{verb}", json={"reason": reason})
            assert problem_of(answer)["loc"] == ["body", "reason"]
        assert api.post(f"/notes/{note}/{verb}", json={"why": "x"}).status_code == 422
        assert api.post(f"/notes/{note}/{verb}", headers=acting("7", Moderator="true")).status_code == 200


def test_the_word_on_a_rationale_decides_its_action(api: Api, wiring: Wiring, jobs: InlineEngine) -> None:
    note = rationale_of(api, wiring, jobs)
    shown = api.get(f"/notes/{note}").json["data"]["attributes"]
    assert (shown["ai_generated"], shown["ai_provider"], shown["ai_model"]) == (
        True,
        "builtin",
        "rationale-1",
    )
    assert api.delete(f"/notes/{note}").status_code == 403
    assert api.patch(f"/notes/{note}", json=edit_body(note, summary="text")).status_code == 403
    assert api.post(f"/notes/{note}/force-publish").status_code == 200
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Action.action_state)).one() is ActionState.PROPOSED
    decided = api.get("/requests/queued").json["data"]["attributes"]
    assert (decided["status"], decided["decision"]) == ("COMPLETED", "hide")


def test_dismissing_a_rationale_decides_no_action(api: Api, wiring: Wiring, jobs: InlineEngine) -> None:
    note = rationale_of(api, wiring, jobs)
    assert api.post(f"/notes/{note}/dismiss", json={}).status_code == 200
    decided = api.get("/requests/queued").json["data"]["attributes"]
    assert (decided["status"], decided["decision"]) == ("COMPLETED", "none")


def test_a_forced_note_that_is_no_rationale_decides_nothing(
    api: Api, wiring: Wiring, jobs: InlineEngine
) -> None:
    rationale_of(api, wiring, jobs)
    api.post(f"/notes/{made(api, request_id='queued')}/force-publish")
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Action.action_state)).one() is ActionState.UNDER_REVIEW


def test_a_note_on_a_withdrawn_request_is_read_by_its_author_alone(api: Api, wiring: Wiring) -> None:
    api.submit("post-1")
    other, note = made(api), made(api, request_id="post-1")
    assert api.get("/notes").json["meta"]["count"] == 2
    api.delete("/requests/post-1")
    assert api.get(f"/notes/{note}").status_code == 404
    assert api.get(f"/notes/{note}", headers=acting("writer-1")).status_code == 200
    assert api.get("/notes?filter[request_id]=post-1").json["data"] == []
    for query in ("", "?filter[status]=NEEDS_MORE_RATINGS", "?filter[classification]=" + MISLEADING):
        listed = api.get(f"/notes{query}").json
        assert [one["id"] for one in listed["data"]] == [other], query
        assert listed["meta"]["count"] == 1, query
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Request.withdrawn_at)).one() is not None


def test_the_alias_prefix_serves_notes_too(api: Api) -> None:
    note = made(api)
    answer = api.get(f"/api/v2/notes/{note}")
    assert answer.json["links"]["self"].endswith(f"/api/v2/notes/{note}")
