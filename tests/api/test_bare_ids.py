"""Ids of authors and raters that are sent without X-Adapter-Platform: whom they mean (docs/integrate/api.md)."""

import uuid

import pytest
import sqlalchemy as sa

from app.core.communities import communities
from app.core.models import Note, Profile, Rating
from app.core.notes import notes, ratings
from app.core.people import profiles
from app.core.permissions import SYSTEM
from app.core.vocabulary import Classification, HelpfulnessLevel
from app.wiring import Wiring
from tests.api.conftest import Api, acting
from tests.api.test_notes import edit_body, made
from tests.api.test_ratings import change, rate
from tests.cast import Cast

pytestmark = pytest.mark.both_databases

SEVEN = acting("7")


def raters_of(wiring: Wiring, note_id: str) -> list[tuple[str, str, str]]:
    with wiring.database.reading() as session:
        rows = session.execute(
            sa.select(Profile.platform, Profile.provider_scope, Profile.platform_user_id)
            .join(Rating, Rating.rater_id == Profile.id)
            .where(Rating.note_id == uuid.UUID(note_id))
        )
        return sorted(tuple(row) for row in rows)


def found(api: Api, headers: dict[str, str] | None = None, **filters: str) -> set[str]:
    query = {f"filter[{name}]": value for name, value in filters.items()}
    return {note["id"] for note in api.get("/notes", query_string=query, headers=headers).json["data"]}


def test_a_person_rates_once_with_the_headers_and_without(api: Api, wiring: Wiring) -> None:
    note = made(api)
    assert rate(api, note, rater_id="7").status_code == 201
    assert rate(api, note, "NOT_HELPFUL", headers=SEVEN).status_code == 200
    assert rate(api, note, rater_id="7").status_code == 200
    assert raters_of(wiring, note) == [("discourse", "forum-1", "7")]


def test_a_note_written_without_the_header_is_its_authors_own(api: Api) -> None:
    note = made(api, author_id="7")
    body = edit_body(note, summary="Better words")
    assert api.patch(f"/notes/{note}", json=body, headers=SEVEN).status_code == 200
    assert api.patch(f"/notes/{note}", json=body, headers=acting("8")).status_code == 403
    assert rate(api, note, headers=SEVEN).status_code == 403
    assert rate(api, note, rater_id="7").status_code == 403


def test_users_of_two_forums_with_one_number_are_two_people(wide: Api, wiring: Wiring) -> None:
    here, there = made(wide), made(wide, community_server_id="forum-2")
    for note in (here, there):
        assert rate(wide, note, rater_id="7").status_code == 201
    assert raters_of(wiring, here) == [("discourse", "forum-1", "7")]
    assert raters_of(wiring, there) == [("discourse", "forum-2", "7")]


def test_a_platform_whose_ids_mean_one_person_needs_no_scope(wide: Api, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        communities.open_community(session, SYSTEM, "slack", "team-1")
        communities.open_community(session, SYSTEM, "slack", "team-2")
    for team in ("team-1", "team-2"):
        note = made(wide, community_server_id=team)
        assert rate(wide, note, rater_id="U7").status_code == 201
        assert raters_of(wiring, note) == [("slack", "", "U7")]


def test_the_header_names_another_platform_than_the_communitys(api: Api, wiring: Wiring) -> None:
    note = made(api)
    assert rate(api, note, headers={"X-Adapter-Platform": "discord"}, rater_id="7").status_code == 201
    assert raters_of(wiring, note) == [("discord", "", "7")]


def test_filters_follow_the_same_rule(wide: Api, wiring: Wiring) -> None:
    here, there = made(wide, author_id="7"), made(wide, author_id="8", community_server_id="forum-2")
    rate(wide, here, rater_id="8")
    rate(wide, there, headers={"X-Adapter-Platform": "reddit"}, rater_id="8")
    on_reddit = {"X-Adapter-Platform": "reddit"}
    for headers in (None, {"X-Adapter-Platform": "discourse"}):
        assert found(wide, headers, author_id="7") == {here}
        assert found(wide, headers, rater_id="8") == {here}
        assert found(wide, headers, rater_id__not_in="8,9") == {there}
    assert found(wide, on_reddit, author_id="7") == set()
    assert found(wide, on_reddit, rater_id="8") == {there}
    assert found(wide, on_reddit, rater_id__not_in="8") == {here}


def given_before(wiring: Wiring, note_id: str, user_id: str = "7") -> str:
    """A rating as a bare id made it before: by a profile of platform discord. Returns the profile's id."""
    with wiring.database.writing() as session:
        former = profiles.ensure(session, "discord", user_id)
        note = session.get_one(Note, uuid.UUID(note_id))
        ratings.rate(session, SYSTEM, note, former, HelpfulnessLevel.HELPFUL, rater_ref=user_id)
        return str(former.id)


def test_a_rating_of_before_is_the_persons_own(api: Api, wiring: Wiring) -> None:
    note = made(api)
    given_before(wiring, note)
    assert found(api, rater_id="7") == {note}
    assert found(api, rater_id__not_in="7") == set()
    (listed,) = api.get(f"/notes/{note}/ratings").json["data"]
    assert change(api, listed["id"], headers=acting("8")).status_code == 403
    assert change(api, listed["id"], headers=SEVEN).status_code == 200
    assert rate(api, note, rater_id="7").status_code == 200
    assert raters_of(wiring, note) == [("discourse", "forum-1", "7")]


def test_somebody_who_had_rated_both_ways_keeps_the_newer_rating(api: Api, wiring: Wiring) -> None:
    twice, once = made(api), made(api, author_id="writer-2")
    assert rate(api, twice, "NOT_HELPFUL", headers=SEVEN).status_code == 201
    given_before(wiring, twice)
    given_before(wiring, once)
    assert rate(api, made(api, author_id="writer-3"), rater_id="7").status_code == 201
    (kept,) = api.get(f"/notes/{twice}/ratings").json["data"]
    assert kept["attributes"]["helpfulness_level"] == "HELPFUL"
    assert api.get(f"/notes/{twice}").json["data"]["attributes"]["ratings_count"] == 1
    assert raters_of(wiring, once) == [("discourse", "forum-1", "7")]


def test_what_one_number_did_in_two_forums_goes_to_two_people(wide: Api, wiring: Wiring) -> None:
    here, there = made(wide), made(wide, community_server_id="forum-2")
    for note in (here, there):
        given_before(wiring, note)
    assert rate(wide, here, headers=SEVEN).status_code == 200
    assert raters_of(wiring, there) == [("discord", "", "7")], "until that person comes again"
    assert rate(wide, there, rater_id="7").status_code == 200
    assert raters_of(wiring, here) == [("discourse", "forum-1", "7")]
    assert raters_of(wiring, there) == [("discourse", "forum-2", "7")]


def test_a_person_of_another_forum_gets_nothing_of_the_same_number(wide: Api, wiring: Wiring) -> None:
    here, there = made(wide), made(wide, community_server_id="forum-2")
    assert rate(wide, here, rater_id="7").status_code == 201
    given_before(wiring, there)
    with wiring.database.reading() as session:
        guest = session.scalars(
            sa.select(Profile.id).where(Profile.provider_scope == "forum-1", Profile.platform_user_id == "7")
        ).one()
    other = made(wide, author_id="9", community_server_id="forum-2")
    assert rate(wide, other, rater_id=str(guest)).status_code == 201
    assert raters_of(wiring, other) == [("discourse", "forum-1", "7")]
    assert raters_of(wiring, there) == [("discord", "", "7")]


def test_a_note_of_before_is_edited_by_its_author(api: Api, wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        former = profiles.ensure(session, "discord", "7")
        written = notes.write(
            session, SYSTEM, cast.community_id, former, "Words", Classification.MISLEADING, author_ref="7"
        )
        note = str(written.id)
    body = edit_body(note, summary="Better words")
    assert found(api, author_id="7") == {note}
    assert api.patch(f"/notes/{note}", json=body, headers=SEVEN).status_code == 200
    assert rate(api, note, rater_id="7").status_code == 403


def test_a_person_of_discord_who_has_an_account_stays_one(api: Api, wiring: Wiring, cast: Cast) -> None:
    note = made(api)
    former = given_before(wiring, note)
    with wiring.database.writing() as session:
        session.get_one(Profile, uuid.UUID(former)).account_id = cast.rater.account_id
    assert found(api, rater_id="7") == set()
    assert rate(api, note, headers=SEVEN).status_code == 201
    assert len(raters_of(wiring, note)) == 2
    assert found(api, rater_id="7") == {note}


def test_on_discord_nothing_changes(wide: Api, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        communities.open_community(session, SYSTEM, "discord", "guild-1")
    note = made(wide, community_server_id="guild-1")
    assert rate(wide, note, rater_id="7").status_code == 201
    assert (
        rate(wide, note, headers={"X-Adapter-Platform": "discord", "X-Adapter-User-Id": "7"}).status_code
        == 200
    )
    assert raters_of(wiring, note) == [("discord", "", "7")]
