"""Community servers and user profiles: looked up by platform identity (docs/integrate/api.md)."""

import uuid

import pytest
import sqlalchemy as sa

from app.core.models import Community, Profile
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.vocabulary import KeyTemplate
from app.wiring import Wiring
from tests.api.conftest import Api, problem_of
from tests.cast import Cast

LOOKUP = "/community-servers/lookup"
PROFILE = "/user-profiles/lookup"


def test_a_community_is_found_by_platform_id_with_its_configuration_in_force(api: Api, cast: Cast) -> None:
    answer = api.get(
        LOOKUP, query_string={"platform": "discourse", "platform_community_server_id": "forum-1"}
    )
    assert answer.status_code == 200
    shown = answer.json["data"]
    assert shown["id"] == str(cast.community_id)
    assert shown["attributes"]["slug"] == "harbour-forum"
    spam = next(one for one in shown["attributes"]["categories"] if one["name"] == "spam")
    assert (spam["tier1_threshold"], spam["tier2_threshold"], spam["tier1_action"]) == (0.95, 0.55, "hide")
    for reference in (shown["id"], "forum-1", "harbour-forum"):
        assert api.get(f"/community-servers/{reference}").json["data"] == shown


def test_a_platform_may_number_its_communities_by_uuids(api: Api, cast: Cast, wiring: Wiring) -> None:
    theirs = str(uuid.uuid4())
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).platform_community_server_id = theirs
    assert api.get(f"/community-servers/{theirs}").json["data"]["id"] == str(cast.community_id)


def test_the_platform_falls_back_to_the_header_and_then_to_discord(api: Api) -> None:
    query = {"platform_community_server_id": "forum-1"}
    assert api.get(LOOKUP, query_string=query).status_code == 404
    assert api.get(LOOKUP, query_string=query, headers={"X-Adapter-Platform": "discourse"}).status_code == 200


def test_foreign_and_unknown_communities_look_the_same(api: Api, cast: Cast) -> None:
    answers = [
        api.get(LOOKUP, query_string={"platform": "discourse", "platform_community_server_id": reference})
        for reference in ("forum-2", "never-seen")
    ] + [
        api.get(f"/community-servers/{reference}")
        for reference in (cast.other_community_id, uuid.uuid4(), "forum-2", "never-seen", "%00", "x" * 300)
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1


@pytest.mark.both_databases
def test_a_key_that_may_opens_an_unknown_community_once(api: Api, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        text = keys.mint(session, SYSTEM, "Everywhere", KeyTemplate.ADAPTER, None).text
    opener = Api(
        api.client, {"X-API-Key": text, "X-Adapter-Platform": "discourse", "X-Adapter-Scope": "brand-new"}
    )
    query = {"platform_community_server_id": "brand-new"}
    assert opener.get("/requests").status_code == 403, (
        "only a call that may open one may name an unknown scope"
    )
    first = opener.get(LOOKUP, query_string=query)
    assert first.status_code == 200
    assert opener.get(LOOKUP, query_string=query).json == first.json
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Community.id))) == 3


def test_lookups_name_the_parameter_that_is_wrong(api: Api) -> None:
    table = [
        (LOOKUP, {}, "platform_community_server_id"),
        (LOOKUP, {"platform_community_server_id": ""}, "platform_community_server_id"),
        (LOOKUP, {"platform_community_server_id": "x" * 256}, "platform_community_server_id"),
        (LOOKUP, {"platform_community_server_id": "a\x00"}, "platform_community_server_id"),
        (LOOKUP, {"platform_community_server_id": "a", "platform": "Big"}, "platform"),
        (LOOKUP, {"platform_community_server_id": "a", "platform": "x\n"}, "platform"),
        (PROFILE, {}, "platform_user_id"),
        (PROFILE, {"platform_user_id": "a", "platform": ""}, "platform"),
        (PROFILE, {"platform_user_id": "a", "provider_scope": "x" * 256}, "provider_scope"),
    ]
    for path, query, name in table:
        answer = api.get(path, query_string=query)
        assert problem_of(answer)["loc"] == ["query", name], query


@pytest.mark.both_databases
def test_a_profile_is_found_or_made_by_its_platform_identity(api: Api, wiring: Wiring) -> None:
    query = {"platform": "matrix", "platform_user_id": " @ada:example.org "}
    made = api.get(PROFILE, query_string=query)
    assert made.status_code == 200
    assert made.json["data"]["attributes"]["platform_user_id"] == " @ada:example.org "
    assert api.get(PROFILE, query_string=query).json == made.json
    elsewhere = api.get(PROFILE, query_string=query | {"provider_scope": "server-2"})
    assert elsewhere.status_code == 404, "no community of the key's"
    with wiring.database.writing() as session:
        session.execute(
            sa.update(Profile)
            .where(Profile.provider_scope == "")
            .values(trust_level=3, extra={"badge": "gold"})
        )
    known = api.get(PROFILE, query_string=query).json["data"]["attributes"]
    assert (known["trust_level"], known["metadata"]) == (3, {"badge": "gold"})


def test_no_integration_makes_people_of_the_dashboard(api: Api) -> None:
    assert api.get(PROFILE, query_string={"platform": "web", "platform_user_id": "x"}).status_code == 404
