"""Groups by SCIM: their members, the roles that they give, and that large ones cost little."""

import time
import uuid

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import ids
from app.core.models import Account, Identity, Membership
from app.core.people import group_maps
from app.core.permissions import SYSTEM
from app.core.vocabulary import Role
from app.wiring import Wiring
from tests.api.scim import GROUP, Scim, add_provider
from tests.api.test_scim import refusal
from tests.cast import Cast
from tests.inline_engine import InlineEngine

MANY = 2_000
"""More than are applied at once; 10,000 were measured (docs/run/scim.md)."""


@pytest.fixture
def scim(app: Flask, wiring: Wiring, cast: Cast) -> Scim:
    """A provider whose group "moderators" makes moderators of the home community."""
    client = add_provider(app, wiring)
    with wiring.database.writing() as session:
        roles = {"moderators": Role.MODERATOR}
        group_maps.set_map(session, SYSTEM, client.provider_id, cast.community_id, roles)
    return client


def moderators(wiring: Wiring, cast: Cast) -> set[str]:
    """The names of the people whom a provider made moderators of the home community."""
    with wiring.database.reading() as session:
        rows = sa.select(Account.display_name).join(Membership, Membership.account_id == Account.id)
        here = Membership.community_id == cast.community_id, Membership.provider_id.is_not(None)
        return set(session.scalars(rows.where(*here)))


def test_roles_follow_the_members_of_a_group(scim: Scim, wiring: Wiring, cast: Cast) -> None:
    dana, kim = (scim.user(name)["id"] for name in ("dana", "kim"))
    group_id = scim.group("moderators", dana)
    assert moderators(wiring, cast) == {"Dana"}
    path = f"/Groups/{group_id}"
    assert scim.patch(path, {"op": "add", "path": "members", "value": [{"value": kim}]}).status_code == 204
    assert moderators(wiring, cast) == {"Dana", "Kim"}
    assert scim.patch(path, {"op": "remove", "path": f'members[value eq "{dana}"]'}).status_code == 204
    assert moderators(wiring, cast) == {"Kim"}
    assert scim.get(f"/Users/{kim}").json["groups"][0]["display"] == "moderators"
    renamed = scim.patch(path, {"op": "replace", "path": "displayName", "value": "Night shift"})
    assert renamed.status_code == 204
    assert moderators(wiring, cast) == set()
    scim.patch(path, {"op": "replace", "value": {"displayName": "moderators"}})
    assert moderators(wiring, cast) == {"Kim"}
    whole = {"schemas": [GROUP], "displayName": "moderators", "members": [{"value": dana}, {"value": dana}]}
    assert scim.call("PUT", path, whole).json["members"] == [
        {"value": dana, "$ref": scim.get(f"/Users/{dana}").json["meta"]["location"], "type": "User"}
    ]
    assert moderators(wiring, cast) == {"Dana"}
    assert scim.call("DELETE", path).status_code == 204
    assert moderators(wiring, cast) == set()
    assert refusal(scim.get(path)) == (404, None)


def test_groups_that_give_no_role_change_none(scim: Scim, wiring: Wiring, cast: Cast) -> None:
    dana = scim.user("dana")["id"]
    scim.group("Moderators", dana)
    scim.group("everyone", dana)
    assert moderators(wiring, cast) == set()


def test_groups_are_found_by_filters_and_without_their_members(scim: Scim) -> None:
    dana, kim = (scim.user(name)["id"] for name in ("dana", "kim"))
    first = scim.group("staff", dana, externalId="g-1")
    second = scim.group("press", dana, kim)
    for text, expected in (
        ('displayName eq "STAFF"', [first]),
        ('externalId eq "g-1"', [first]),
        (f'members eq "{kim}"', [second]),
        (f'id eq "{first}" and members[value eq "{dana}"]', [first]),
        (f'id eq "{first}" and members.value eq "{kim}"', []),
    ):
        found = scim.get("/Groups", query_string={"filter": text, "excludedAttributes": "members"}).json
        assert [one["id"] for one in found["Resources"]] == expected, text
        assert all("members" not in one for one in found["Resources"])
    assert refusal(scim.get('/Groups?filter=userName eq "a"')) == (400, "invalidFilter")
    only = scim.get(f"/Groups/{second}?attributes=members.value").json
    assert {one["value"] for one in only["members"]} == {dana, kim}
    assert all(one.keys() == {"value"} for one in only["members"])


@pytest.mark.parametrize(
    ("operation", "status", "word"),
    [
        ({"op": "add", "path": "members", "value": [{"value": str(uuid.uuid4())}]}, 400, "invalidValue"),
        ({"op": "add", "path": "members", "value": [{"value": "no id"}]}, 400, "invalidValue"),
        ({"op": "add", "path": "members", "value": [{"display": "no value"}]}, 400, "invalidValue"),
        ({"op": "add", "path": "members", "value": [[]]}, 400, "invalidValue"),
        ({"op": "replace", "path": "members", "value": 7}, 400, "invalidValue"),
        ({"op": "remove", "path": 'members[type eq "User"]'}, 400, "invalidFilter"),
        ({"op": "remove", "path": 'members[value co "a"]'}, 400, "invalidFilter"),
        ({"op": "remove", "path": "members["}, 400, "invalidPath"),
        ({"op": "remove", "path": "members" + "[" * 20}, 400, "invalidPath"),
        ({"op": "remove"}, 400, "noTarget"),
        ({"op": "remove", "path": "displayName"}, 400, "mutability"),
        ({"op": "replace", "path": "displayName", "value": "press"}, 409, "uniqueness"),
        ({"op": "replace", "path": "displayName", "value": " "}, 400, "invalidValue"),
        ({"op": "replace", "path": "displayName", "value": "x" * 256}, 400, "invalidValue"),
        ({"op": "burn", "path": "members"}, 400, "invalidValue"),
        ("add", 400, "invalidValue"),
    ],
)
def test_what_a_group_cannot_be_is_refused_and_changes_nothing(
    scim: Scim, operation: dict[str, object], status: int, word: str
) -> None:
    dana = scim.user("dana")["id"]
    scim.group("press")
    group_id = scim.group("staff", dana)
    assert refusal(scim.patch(f"/Groups/{group_id}", operation)) == (status, word)
    answer = scim.get(f"/Groups/{group_id}").json
    assert (answer["displayName"], [one["value"] for one in answer["members"]]) == ("staff", [dana])


@pytest.mark.parametrize("member", ["\ud800", "\x00"])
def test_members_whose_id_cannot_be_answered_are_refused(scim: Scim, member: str) -> None:
    group_id = scim.group("staff")
    refused = scim.patch(
        f"/Groups/{group_id}", {"op": "add", "path": "members", "value": [{"value": member}]}
    )
    assert refusal(refused)[0] == 400
    assert scim.members(group_id) == set()


def test_too_many_operations_are_refused(scim: Scim) -> None:
    group_id = scim.group("staff")
    answer = scim.patch(f"/Groups/{group_id}", *[{"op": "remove", "path": "members"}] * 1_001)
    assert refusal(answer) == (400, "tooMany")


def test_two_groups_of_one_name_are_refused(scim: Scim) -> None:
    scim.group("staff")
    body = {"schemas": [GROUP], "displayName": "staff"}
    assert refusal(scim.call("POST", "/Groups", body)) == (409, "uniqueness")
    assert refusal(scim.call("POST", "/Groups", body | {"displayName": None})) == (400, "invalidValue")


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_thousands_of_members_cost_seconds_and_are_applied_by_a_job(
    scim: Scim, wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    members = _crowd(wiring, scim, MANY)
    group_id = scim.group("moderators")
    began = time.monotonic()
    for first in range(0, MANY, MANY // 2):
        part = [{"value": str(one)} for one in members[first : first + MANY // 2]]
        added = scim.patch(f"/Groups/{group_id}", {"op": "add", "path": "members", "value": part})
        assert added.status_code == 204
    took = time.monotonic() - began
    assert len(scim.members(group_id)) == MANY
    assert moderators(wiring, cast) == set()
    jobs.run_all()
    assert len(moderators(wiring, cast)) == MANY
    # Some hundredths of a second on an idle machine.
    assert took < 20
    listed = scim.get("/Groups?excludedAttributes=members").json["Resources"]
    assert listed[0].keys() & {"members"} == set()


def test_a_page_of_groups_ends_where_its_members_are_too_many(
    scim: Scim, wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.api import scim_answers

    monkeypatch.setattr(scim_answers, "LISTED_MEMBERS", 3)
    people = [str(one) for one in _crowd(wiring, scim, 2)]
    for name in ("a", "b", "c"):
        scim.group(name, *people)
    page = scim.get("/Groups").json
    assert (page["totalResults"], page["itemsPerPage"]) == (3, 1)
    rest = scim.get("/Groups?startIndex=2&attributes=displayName").json
    assert [one["displayName"] for one in rest["Resources"]] == ["b", "c"]


def _crowd(wiring: Wiring, scim: Scim, number: int) -> list[uuid.UUID]:
    """Insert this many people of the provider; return their ids."""
    from app.core import bulk, clock

    now = clock.now()
    accounts = [(ids.new_id(), ids.new_id()) for _ in range(number)]
    with wiring.database.writing() as session:
        bulk.insert(
            session.connection(),
            Account.metadata.tables["accounts"],
            [
                {
                    "id": account_id,
                    "email": f"{account_id}@example.com",
                    "display_name": str(account_id),
                    "password_hash": "",
                    "confirmed_at": now,
                    "created_at": now,
                    "updated_at": now,
                    "service_admin": False,
                    "theme": "system",
                    "shortcuts": True,
                    "content_warnings": True,
                    "timezone": "UTC",
                }
                for account_id, _ in accounts
            ],
        )
        bulk.insert(
            session.connection(),
            Identity.metadata.tables["identities"],
            [
                {
                    "id": identity_id,
                    "account_id": account_id,
                    "provider_id": scim.provider_id,
                    "subject": str(account_id),
                    "user_name": str(account_id),
                    "claimed_groups": [],
                    "created_at": now,
                    "updated_at": now,
                }
                for account_id, identity_id in accounts
            ],
        )
    return [identity_id for _, identity_id in accounts]
