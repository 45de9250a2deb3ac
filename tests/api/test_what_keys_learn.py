"""What a key learns of communities and people that are not its own: nothing (docs/integrate/api.md).

Each test asks for something foreign and for something that does not exist, and compares the two answers.
"""

import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import sqlalchemy as sa
from werkzeug.test import TestResponse

from app.core.communities import communities
from app.core.models import Account, Community, Membership, Note, Profile
from app.core.people import accounts, keys, profiles
from app.core.permissions import SYSTEM
from app.core.vocabulary import KeyTemplate
from app.wiring import Wiring
from tests.api.conftest import Api, acting, submission
from tests.api.test_notes import made
from tests.api.test_numbered_users import AT_HOME
from tests.api.test_ratings import rate
from tests.cast import PASSWORD, Cast

PROFILE = "/user-profiles/lookup"
COMMUNITY = "/community-servers/lookup"
OPEN = "/api/v1/community-servers"
SEVEN = {"platform": "discourse", "platform_user_id": "7"}


def said(answer: TestResponse) -> tuple[int, str, Mapping[str, str]]:
    """What an answer tells: without what differs from one request to the next anyway."""
    changing = {"X-Request-Id", "Date", "Content-Length", "RateLimit"}
    return answer.status_code, answer.text, {k: v for k, v in answer.headers if k not in changing}


def profile_ids(wiring: Wiring) -> set[uuid.UUID]:
    with wiring.database.reading() as session:
        return set(session.scalars(sa.select(Profile.id)))


def minted(api: Api, wiring: Wiring, where: list[uuid.UUID] | None, **rights: Any) -> Api:
    with wiring.database.writing() as session:
        text = keys.mint(session, SYSTEM, "Another adapter", KeyTemplate.ADAPTER, where, **rights).text
    return Api(api.client, {"Authorization": f"Bearer {text}"})


@pytest.fixture
def strangers(wiring: Wiring, cast: Cast) -> dict[str, Profile]:
    """Somebody of the other forum, and an account that belongs only there."""
    with wiring.database.writing() as session:
        numbered = profiles.ensure(session, "discourse", "7", "forum-2", display_name="Secret name")
        account = session.get_one(Account, cast.outsider.account_id)
        return {"numbered": numbered, "web": profiles.of_account(session, account)}


def test_a_profile_of_anothers_forum_is_not_found_and_none_is_made(
    api: Api, strangers: dict[str, Profile], wiring: Wiring, cast: Cast
) -> None:
    before = profile_ids(wiring)
    readers = [api, Api(api.client, cast.read_only_headers)]
    for reader in readers:
        answers = [
            reader.get(PROFILE, query_string=SEVEN | {"provider_scope": scope} | more)
            for scope in ("forum-2", str(cast.other_community_id), "mountain-forum", "nowhere", "*")
            for more in ({}, {"platform_user_id": "never-seen"}, {"platform": "discord"})
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert len({str(said(answer)) for answer in answers}) == 1
        assert "Secret name" not in "".join(answer.text for answer in answers)
    assert profile_ids(wiring) == before


def test_a_key_for_every_community_makes_nobody_of_a_forum_that_is_not_there(
    api: Api, wiring: Wiring
) -> None:
    everywhere, before = minted(api, wiring, None), profile_ids(wiring)
    answer = everywhere.get(PROFILE, query_string=SEVEN | {"provider_scope": "nowhere"})
    assert answer.status_code == 404
    assert profile_ids(wiring) == before
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Community.id))) == 2


def test_a_forums_id_on_another_platform_is_not_that_forum(api: Api, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        communities.open_community(session, SYSTEM, "vbulletin", "forum-1")
        profiles.ensure(session, "vbulletin", "7", "forum-1", display_name="Secret name")
    before = profile_ids(wiring)
    answer = api.get(PROFILE, query_string=SEVEN | {"platform": "vbulletin", "provider_scope": "forum-1"})
    assert answer.status_code == 404
    assert profile_ids(wiring) == before


def test_ones_own_forum_is_named_by_any_of_its_names(api: Api, cast: Cast) -> None:
    shown = [
        api.get(PROFILE, query_string=SEVEN | {"provider_scope": scope}).json["data"]
        for scope in ("forum-1", str(cast.community_id), "harbour-forum", "")
    ]
    assert all(one == shown[0] for one in shown)
    assert shown[0]["attributes"]["provider_scope"] == "forum-1"
    everywhere = SEVEN | {"platform": "discord"}
    named, bare = (
        api.get(PROFILE, query_string=everywhere | more).json["data"]
        for more in ({"provider_scope": "forum-1"}, {})
    )
    assert named == bare, "where ids mean one person everywhere a server changes nothing"


def test_an_account_is_found_by_the_keys_of_its_communities_alone(
    api: Api, foreign_api: Api, wiring: Wiring, cast: Cast
) -> None:
    def ask(who: Api, account_id: object, **more: str) -> TestResponse:
        query = {"platform": "web", "platform_user_id": str(account_id)} | more
        return who.get(PROFILE, query_string=query)

    member, stranger = cast.rater.account_id, cast.outsider.account_id
    found = ask(api, member)
    assert (found.status_code, found.json["data"]["id"]) == (200, str(cast.rater.profile_id))
    assert ask(foreign_api, stranger).status_code == 200
    before = profile_ids(wiring)
    hidden = [ask(api, stranger), ask(api, stranger, provider_scope="forum-1"), ask(foreign_api, member)]
    unknown = [ask(api, uuid.uuid4()), ask(api, "x"), ask(api, member, provider_scope="forum-2")]
    assert {one.status_code for one in hidden} == {404}
    assert len({str(said(one)) for one in hidden + unknown}) == 1
    everywhere = minted(api, wiring, None)
    assert ask(everywhere, stranger).status_code == 200
    with wiring.database.writing() as session:
        alone = accounts.create(session, "alone@example.org", PASSWORD, display_name="Alone", confirmed=True)
        own_profile = profiles.of_account(session, alone)
        session.execute(sa.delete(Membership).where(Membership.account_id == member))
    assert ask(everywhere, alone.id).status_code == 404, "a member of no community"
    assert ask(api, member).status_code == 404, "who left is not theirs any more"
    assert profile_ids(wiring) == before | {own_profile.id}


def test_the_service_itself_is_found_and_nobody_else_of_its_platform(api: Api, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        service = profiles.of_service(session)
    answer = api.get(PROFILE, query_string={"platform": "bridgenote", "platform_user_id": "service"})
    assert (answer.status_code, answer.json["data"]["id"]) == (200, str(service.id))
    for platform in ("bridgenote", "web"):
        query = {"platform": platform, "platform_user_id": "somebody"}
        assert api.get(PROFILE, query_string=query).status_code == 404


def test_who_is_numbered_by_no_server_is_told_nothing_about(api: Api, wiring: Wiring, cast: Cast) -> None:
    wide = minted(api, wiring, [cast.community_id, cast.other_community_id])
    assert wide.get("/notes", headers=acting("7", Username="Secret name", Trust_Level="4")).status_code == 200
    shown = wide.get(PROFILE, query_string=SEVEN).json["data"]["attributes"]
    assert "provider_scope" not in shown
    assert shown["display_name"] is None
    assert "trust_level" not in shown


@pytest.mark.parametrize("who", ["numbered", "web"])
def test_a_foreign_profiles_id_names_nobody_in_a_note_or_a_rating(
    api: Api, strangers: dict[str, Profile], wiring: Wiring, who: str
) -> None:
    foreign, unknown = str(strangers[who].id), str(uuid.uuid4())
    attributes = {"summary": "Words", "classification": "NOT_MISLEADING"} | AT_HOME
    for person in (foreign, unknown):
        body = {"data": {"type": "notes", "attributes": attributes | {"author_id": person}}}
        answer = api.post("/notes", json=body, headers={"X-Adapter-Platform": "discourse"})
        assert answer.status_code == 201, person
        assert rate(api, made(api), rater_id=person).status_code == 201, person
        refused = api.post("/notes", json=body, headers=acting("9"))
        assert (refused.status_code, refused.json) == (403, {"detail": "author_id must be the acting user"})
    with wiring.database.reading() as session:
        authors = set(session.scalars(sa.select(Note.author_id)))
        assert strangers[who].id not in authors, "it is a user id of the platform like any other text"
        for person in (foreign, unknown):
            named = profiles.find(session, "discourse", person, "forum-1")
            assert named is not None
            assert named.id in authors


def test_no_headers_make_a_call_speak_for_an_account(api: Api, wiring: Wiring, cast: Cast) -> None:
    before = profile_ids(wiring)
    answers = [
        api.get("/notes", headers={"X-Adapter-Platform": "web", "X-Adapter-User-Id": str(account_id)})
        for account_id in (cast.rater.account_id, cast.outsider.account_id, uuid.uuid4())
    ]
    assert len({str(said(answer)) for answer in answers}) == 1
    assert answers[0].status_code == 403
    assert profile_ids(wiring) == before


def test_a_filter_does_not_tell_who_a_person_is_elsewhere(
    api: Api, strangers: dict[str, Profile], wiring: Wiring, cast: Cast
) -> None:
    """User 7 of the other forum is linked to an account that writes here; here user 7 is somebody else."""
    note = made(api, author_id="author")
    with wiring.database.writing() as session:
        rater = session.get_one(Account, cast.rater.account_id)
        session.get_one(Profile, strangers["numbered"].id).account_id = rater.id
        session.get_one(Note, uuid.UUID(note)).author_id = cast.rater.profile_id
    for filtered in ("filter[author_id]", "filter[rater_id]"):
        for person in ("7", str(strangers["numbered"].id), "never-seen", str(uuid.uuid4())):
            answer = api.get("/notes", query_string={filtered: person})
            assert (answer.status_code, answer.json["data"]) == (200, []), (filtered, person)
    for person in (str(cast.rater.profile_id), str(cast.rater.account_id)):
        found = api.get("/notes", query_string={"filter[author_id]": person}).json["data"]
        assert [row["id"] for row in found] == [note]
    with wiring.database.writing() as session:
        mine = profiles.ensure(session, "discourse", "7", "forum-1")
        mine.account_id = cast.rater.account_id
    found = api.get("/notes", query_string={"filter[author_id]": "7"}).json["data"]
    assert [row["id"] for row in found] == [note], "linked here, the person is found by either name"


# Communities


def everywhere_a_community_is_named(api: Api, reference: str) -> Iterator[tuple[str, TestResponse]]:
    """Every call that names a community, made about this one."""
    query = {"platform": "discourse", "platform_community_server_id": reference}
    where = {"community_server_id": reference}
    yield "lookup", api.get(COMMUNITY, query_string=query)
    yield "read", api.get(f"/community-servers/{reference}")
    yield "analysis", api.get(f"/api/v2/community-servers/{reference}/scoring-analysis")
    for path in (f"{OPEN}/{reference}/name", f"{OPEN}/{reference}/name?platform=discourse"):
        yield path.replace(reference, "…"), api.patch(path, json={"name": "Mine now"})
    yield "open", api.post(OPEN, json=query | {"name": "Mine"})
    registration = {"url": "https://h.example/x", "secret": "a-secret-of-mine"}
    registration["platform_community_server_id"] = reference
    yield "register", api.post("/webhooks/register", json=registration)
    yield "submit", api.submit("post-1", community_server_id=reference)
    note = {"summary": "Words", "classification": "NOT_MISLEADING", "author_id": "1"} | where
    yield "note", api.post("/notes", json={"data": {"type": "notes", "attributes": note}})
    action = {"action_type": "hide", "request_id": "post-1"} | where
    yield "action", api.post("/moderation-actions", json=action)
    yield "scope", api.get("/notes", headers={"X-Adapter-Scope": reference})
    scoped = {"X-Adapter-Scope": reference}
    yield "scope that may be new", api.post("/requests", json=submission("post-1"), headers=scoped)


@pytest.mark.parametrize("name", ["platform_id", "uuid", "slug"])
def test_a_bound_key_cannot_tell_a_foreign_community_from_none(
    api: Api, wiring: Wiring, cast: Cast, name: str
) -> None:
    foreign, unknown = {
        "platform_id": ("forum-2", "forum-9"),
        "uuid": (str(cast.other_community_id), str(uuid.uuid4())),
        "slug": ("mountain-forum", "nowhere-forum"),
    }[name]
    told = dict(everywhere_a_community_is_named(api, foreign))
    untold = dict(everywhere_a_community_is_named(api, unknown))
    for call, answer in told.items():
        assert said(answer) == said(untold[call]), call
        assert answer.status_code in {403, 404}, call
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Community.id))) == 2


def test_asking_for_a_foreign_community_takes_the_same_work_as_for_none(api: Api, counting: Any) -> None:
    for path, query in (
        (COMMUNITY, {"platform": "discourse", "platform_community_server_id": "{}"}),
        (PROFILE, SEVEN | {"provider_scope": "{}"}),
    ):
        ran = []
        for reference in ("forum-1", "forum-2", "forum-9"):
            asked = {name: value.format(reference) for name, value in query.items()}
            api.get(path, query_string=asked)
            with counting() as queries:
                api.get(path, query_string=asked)
            ran.append(queries.statements)
        assert ran[1] == ran[2], path


def test_opening_asks_for_the_right_before_it_looks(api: Api, wiring: Wiring, cast: Cast) -> None:
    def opened(who: Api, platform_id: str) -> TestResponse:
        body = {"platform": "discourse", "platform_community_server_id": platform_id, "name": "Mine"}
        return who.post(OPEN, json=body)

    assert [opened(api, one).status_code for one in ("forum-2", "forum-9")] == [403, 403]
    assert opened(api, "forum-1").status_code == 409, "its own community, which it may know of"
    opener = minted(api, wiring, [cast.community_id], may_open_communities=True)
    assert opened(opener, "forum-9").status_code == 201
    taken = opened(opener, "forum-2")
    assert (taken.status_code, str(cast.other_community_id) in taken.text) == (409, False)
