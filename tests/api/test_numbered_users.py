"""Platforms whose servers each count their own users: "1" of one forum is not "1" of another (Decision 0015)."""

import uuid

import pytest
import sqlalchemy as sa

from app.core import limits
from app.core.communities import communities
from app.core.models import Account, ApiKey, Community, KeyCommunity, Note, Profile, Rating
from app.core.people import mailed_links, profiles
from app.core.permissions import SYSTEM
from app.core.vocabulary import HelpfulnessLevel
from app.wiring import Wiring
from tests.api.conftest import Api, acting
from tests.api.test_notes import edit_body, made
from tests.api.test_ratings import change, rate
from tests.cast import Cast

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

LOOKUP = "/user-profiles/lookup"
ONE = acting("1")
QUERY = {"platform": "discourse", "platform_user_id": "1"}
AT_HOME = {"community_server_id": "forum-1"}
AWAY = {"community_server_id": "forum-2"}


def raters(wiring: Wiring) -> list[tuple[str, str]]:
    with wiring.database.reading() as session:
        rows = session.execute(
            sa.select(Profile.platform, Profile.provider_scope).join(Rating, Rating.rater_id == Profile.id)
        )
        return sorted((platform, scope) for platform, scope in rows)


def test_each_forums_key_meets_its_own_people(api: Api, foreign_api: Api) -> None:
    mine = api.get(LOOKUP, query_string=QUERY).json["data"]
    theirs = foreign_api.get(LOOKUP, query_string=QUERY).json["data"]
    assert mine["attributes"]["provider_scope"] == "forum-1"
    assert theirs["attributes"]["provider_scope"] == "forum-2"
    assert mine["id"] != theirs["id"]
    named = api.get(LOOKUP, query_string=QUERY | {"provider_scope": "forum-1"})
    assert named.json["data"]["id"] == mine["id"]
    assert foreign_api.get(LOOKUP, query_string=QUERY | {"provider_scope": "forum-1"}).status_code == 404
    on_discord = QUERY | {"platform": "discord"}
    assert (
        api.get(LOOKUP, query_string=on_discord).json == foreign_api.get(LOOKUP, query_string=on_discord).json
    )


def test_one_key_for_several_forums_keeps_their_people_apart_with_and_without_the_scope_header(
    wide: Api, wiring: Wiring
) -> None:
    notes = [made(wide, author_id="author", **where) for where in (AT_HOME, AWAY)]
    for scope in ({}, {"X-Adapter-Scope": "forum-1"}, {"X-Adapter-Scope": "forum-2"}):
        for note in notes:
            assert rate(wide, note, headers=ONE | scope, rater_id="1").status_code in {200, 201}
    assert raters(wiring) == [("discourse", "forum-1"), ("discourse", "forum-2")]
    for note in notes:
        (given,) = wide.get(f"/notes/{note}/ratings").json["data"]
        assert change(wide, given["id"], headers=ONE).status_code == 200
        assert change(wide, given["id"], headers=acting("2")).status_code == 403


def test_ones_own_note_is_ones_own_in_its_forum_only(wide: Api) -> None:
    mine, theirs = (made(wide, ONE, author_id="1", **where) for where in (AT_HOME, AWAY))
    for note in (mine, theirs):
        body = edit_body(note, summary="Better words")
        assert wide.patch(f"/notes/{note}", json=body, headers=ONE).status_code == 200
        assert wide.patch(f"/notes/{note}", json=body, headers=acting("2")).status_code == 403
        assert rate(wide, note, headers=ONE).status_code == 403
        assert wide.delete(f"/notes/{note}", headers=ONE).status_code == 204


def test_a_profile_looked_up_without_a_forum_means_the_person_of_each(wide: Api, wiring: Wiring) -> None:
    anybody = wide.get(LOOKUP, query_string=QUERY).json["data"]
    assert "provider_scope" not in anybody["attributes"]
    for where in (AT_HOME, AWAY):
        note = made(wide, author_id="author", **where)
        assert rate(wide, note, headers=ONE, rater_id=anybody["id"]).status_code == 201
    assert raters(wiring) == [("discourse", "forum-1"), ("discourse", "forum-2")]


def test_a_key_that_gains_a_forum_still_speaks_for_the_same_people(
    api: Api, wiring: Wiring, cast: Cast
) -> None:
    note = made(api)
    first = rate(api, note, headers=ONE)
    assert first.status_code == 201
    with wiring.database.writing() as session:
        key = session.scalars(sa.select(ApiKey).where(ApiKey.name == "Forum adapter")).one()
        session.add(KeyCommunity(key_id=key.id, community_id=cast.other_community_id))
    again = rate(api, note, headers=ONE)
    assert (again.status_code, again.json["data"]["id"]) == (200, first.json["data"]["id"])


def test_a_profile_of_before_is_taken_over_where_all_it_did_was_done(api: Api, wiring: Wiring) -> None:
    note = made(api)
    with wiring.database.writing() as session:
        old = profiles.ensure(session, "discourse", "1")
        row = session.get_one(Note, uuid.UUID(note))
        session.add(
            Rating(
                community_id=row.community_id,
                note_id=row.id,
                rater_id=old.id,
                rater_ref="1",
                helpfulness_level=HelpfulnessLevel.HELPFUL,
            )
        )
        old_id = str(old.id)
        profiles.ensure(session, "discourse", "2")
    assert api.get(LOOKUP, query_string=QUERY).json["data"]["id"] == old_id
    assert rate(api, note, headers=ONE).status_code == 200
    assert raters(wiring) == [("discourse", "forum-1")]
    idle = api.get(LOOKUP, query_string=QUERY | {"platform_user_id": "2"}).json["data"]
    assert idle["attributes"]["provider_scope"] == "forum-1", "one that did nothing may be anybody's"


def code_of(wiring: Wiring, cast: Cast) -> str:
    with wiring.database.writing() as session:
        return mailed_links.show_code(session, session.get_one(Account, cast.rater.account_id)).text


def test_a_link_holds_for_the_forum_it_was_made_in(
    api: Api, foreign_api: Api, wide: Api, wiring: Wiring, cast: Cast
) -> None:
    code = {"code": code_of(wiring, cast)}
    unclear = wide.post("/user-profiles/link", json=code, headers=ONE)
    assert unclear.status_code == 422
    assert [item["loc"] for item in unclear.json["detail"]] == [["header", "X-Adapter-Scope"]]
    here = ONE | {"X-Adapter-Scope": "forum-1"}
    assert wide.post("/user-profiles/link", json=code, headers=here).status_code == 200
    linked = [
        each.get(LOOKUP, query_string=QUERY).json["data"]["attributes"]["is_linked"]
        for each in (api, foreign_api)
    ]
    assert linked == [True, False]


def test_no_key_links_a_profile_that_votes_where_the_key_may_not_act(
    api: Api, foreign_api: Api, wiring: Wiring, cast: Cast
) -> None:
    on_discord = {"X-Adapter-Platform": "discord", "X-Adapter-User-Id": "80351110224678912"}
    assert rate(foreign_api, made(foreign_api, **AWAY), headers=on_discord).status_code == 201
    code = {"code": code_of(wiring, cast)}
    assert api.post("/user-profiles/link", json=code, headers=on_discord).status_code == 403
    with wiring.database.writing() as session:
        chat = communities.open_community(session, SYSTEM, "discord", "guild-1")
    refused = foreign_api.post("/user-profiles/link", json=code, headers=on_discord)
    assert (refused.status_code, "of this profile's platform" in refused.text) == (403, True), (
        "that is its to say"
    )
    with wiring.database.writing() as session:
        session.get_one(Community, chat.id).platform = "irc"
    assert foreign_api.post("/user-profiles/link", json=code, headers=on_discord).status_code == 200


def test_one_account_gathers_only_so_many_profiles(
    api: Api, wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LINKED_PROFILES", limits.LINKED_PROFILES._replace(number=2))
    statuses = [
        api.post(
            "/user-profiles/link", json={"code": code_of(wiring, cast)}, headers=acting(str(number))
        ).status_code
        for number in range(3)
    ]
    assert statuses == [200, 200, 409]
