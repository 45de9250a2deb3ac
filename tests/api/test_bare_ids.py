"""Ids of authors and raters that are sent without X-Adapter-Platform: whom they mean (docs/integrate/api.md)."""

import uuid

import pytest
import sqlalchemy as sa

from app.core.communities import communities
from app.core.models import Profile, Rating
from app.core.permissions import SYSTEM
from app.wiring import Wiring
from tests.api.conftest import Api, acting
from tests.api.test_notes import edit_body, made
from tests.api.test_ratings import rate

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
