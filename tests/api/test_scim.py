"""People by SCIM: created, changed, deactivated and deleted by the provider that they belong to, and by it alone."""

import io
import json
import logging
import uuid
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import clock
from app.core.models import (
    Account,
    ApiKey,
    HistoryEntry,
    HistoryText,
    Identity,
    IdentityProvider,
    Passkey,
    SignIn,
)
from app.core.people import accounts, group_maps, keys, members, scim_keys, sessions
from app.core.people.passwords import NO_PASSWORD
from app.core.permissions import SYSTEM
from app.core.upkeep import erasure, own_data
from app.core.vocabulary import KeyTemplate, Role, SessionEnd
from app.wiring import Wiring
from tests.api.scim import ERROR, USER, Scim, add_provider
from tests.cast import Cast
from tests.factories import actor_of


@pytest.fixture
def scim(app: Flask, wiring: Wiring, cast: Cast) -> Scim:
    return add_provider(app, wiring)


def account_of(wiring: Wiring, user_id: str) -> Account:
    with wiring.database.reading() as session:
        identity = session.get_one(Identity, uuid.UUID(user_id))
        return accounts.get(session, identity.account_id)


def connect(wiring: Wiring, scim: Scim, account_id: uuid.UUID, subject: str, **columns: Any) -> str:
    """Make the identity of somebody who signed in at the provider; return its id."""
    with wiring.database.writing() as session:
        identity = Identity(
            account_id=account_id,
            provider_id=scim.provider_id,
            subject=subject,
            last_used_at=clock.now(),
            **columns,
        )
        session.add(identity)
        session.flush()
        return str(identity.id)


def refusal(answer: Any) -> tuple[int, str | None]:
    """The status and SCIM's word of an error in SCIM's form."""
    assert answer.content_type == "application/scim+json", answer.text
    assert answer.json["schemas"] == [ERROR]
    assert answer.json["status"] == str(answer.status_code)
    return answer.status_code, answer.json.get("scimType")


def test_a_person_gets_an_account_without_a_password_that_is_confirmed(scim: Scim, wiring: Wiring) -> None:
    answer = scim.user("dana")
    assert answer["userName"] == "dana@example.com"
    assert answer["externalId"] == "id-dana"
    assert answer["emails"] == [{"value": "dana@example.com", "type": "work"}]
    assert answer["meta"]["location"].endswith(f"/scim/v2/Users/{answer['id']}")
    assert scim.get(f"/Users/{answer['id']}").json == answer
    account = account_of(wiring, answer["id"])
    assert (account.email, account.display_name) == ("dana@example.com", "Dana")
    assert account.password_hash == NO_PASSWORD
    assert account.confirmed_at is not None
    assert not account.service_admin
    with wiring.database.reading() as session, pytest.raises(accounts.WrongCredentials):
        accounts.verify_credentials(session, account.email, "")


def test_what_is_missing_follows_from_the_user_name(scim: Scim) -> None:
    body = {"schemas": [USER], "userName": "Kim@Example.com"}
    answer = scim.call("POST", "/Users", body).json
    assert answer["displayName"] == "Kim"
    assert answer["emails"] == [{"value": "kim@example.com", "type": "work"}]
    assert answer["active"] is True
    assert "externalId" not in answer
    named = {
        "schemas": [USER],
        "userName": "lee@example.com",
        "name": {"givenName": "Lee", "familyName": "Ray"},
    }
    assert scim.call("POST", "/Users", named).json["displayName"] == "Lee Ray"


@pytest.mark.parametrize(
    ("attributes", "status", "word"),
    [
        ({"userName": "no address", "emails": []}, 400, "invalidValue"),
        ({"userName": ""}, 400, "invalidValue"),
        ({"userName": None}, 400, "invalidValue"),
        ({"userName": 7}, 400, "invalidValue"),
        ({"userName": "x" * 256}, 400, "invalidValue"),
        ({"externalId": "x" * 256}, 400, "invalidValue"),
        ({"displayName": "a\0b"}, 400, "invalidValue"),
        ({"displayName": "\ud800"}, 400, "invalidValue"),
        ({"emails": "kim@example.com"}, 400, "invalidValue"),
        ({"emails": [{"value": "kim@example.com"}] * 101}, 400, "invalidSyntax"),
        ({"active": "perhaps"}, 400, "invalidValue"),
        ({"schemas": ["urn:example:other"]}, 400, "invalidSyntax"),
        ({"userName": "DANA@example.com", "externalId": "another"}, 409, "uniqueness"),
        ({"externalId": "id-dana"}, 409, "uniqueness"),
    ],
)
def test_what_is_no_person_is_refused_with_scims_word(
    scim: Scim, attributes: dict[str, Any], status: int, word: str
) -> None:
    scim.user("dana")
    body = {
        "schemas": [USER],
        "userName": "kim@example.com",
        "emails": [{"value": "kim@example.com"}],
        **attributes,
    }
    assert refusal(scim.call("POST", "/Users", body)) == (status, word)


@pytest.mark.parametrize(
    ("body", "kind", "status", "word"),
    [
        (b"{", "application/scim+json", 400, "invalidSyntax"),
        (b"[]", "application/scim+json", 400, "invalidSyntax"),
        (b'{"a": ' * 65 + b"1" + b"}" * 65, "application/scim+json", 400, "invalidSyntax"),
        (b'{"userName": "a", "userName": "b"}', "application/json", 400, "invalidSyntax"),
        (b'{"userName": "' + b"x" * 1_100_000 + b'"}', "application/json", 413, None),
        (b"{}", "text/plain", 415, None),
    ],
)
def test_what_is_no_body_is_refused(
    scim: Scim, body: bytes, kind: str, status: int, word: str | None
) -> None:
    answer = scim.call("POST", "/Users", data=body, headers={"Content-Type": kind})
    assert refusal(answer) == (status, word)


def test_an_address_that_has_an_account_is_not_taken_over(scim: Scim, wiring: Wiring, cast: Cast) -> None:
    body = {"schemas": [USER], "userName": "RATER@example.org", "externalId": "x"}
    answer = scim.call("POST", "/Users", body)
    assert refusal(answer) == (409, "uniqueness")
    assert "connects this provider" in answer.json["detail"]
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Identity.id))) == 0


def test_a_sign_up_that_nobody_confirmed_does_not_keep_the_owner_out(scim: Scim, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        squatter = accounts.create(session, "dana@example.com", "correct horse battery")
    answer = scim.user("dana")
    account = account_of(wiring, answer["id"])
    assert account.id == squatter.id
    assert account.password_hash == NO_PASSWORD
    assert account.confirmed_at is not None


def test_who_signed_in_at_the_provider_before_keeps_their_account(
    scim: Scim, wiring: Wiring, cast: Cast
) -> None:
    identity_id = connect(wiring, scim, cast.rater.account_id, "id-dana")
    assert scim.get("/Users").json["totalResults"] == 0
    answer = scim.user("dana")
    assert answer["id"] == identity_id
    # An account with a password keeps its name and address.
    assert (answer["displayName"], answer["emails"][0]["value"]) == ("Rater", "rater@example.org")
    assert scim.call("PUT", f"/Users/{identity_id}", answer | {"displayName": "Other"}).status_code == 200
    assert account_of(wiring, identity_id).display_name == "Rater"


def test_the_provider_changes_the_name_and_address_of_those_it_created(scim: Scim, wiring: Wiring) -> None:
    answer = scim.user("dana")
    changed = answer | {"displayName": "Dana Ray", "emails": [{"value": "dana.ray@example.com"}]}
    replaced = scim.call("PUT", f"/Users/{answer['id']}", changed).json
    assert replaced["displayName"] == "Dana Ray"
    account = account_of(wiring, answer["id"])
    assert account.email == "dana.ray@example.com"
    taken = answer | {"emails": [{"value": "rater@example.org"}]}
    assert refusal(scim.call("PUT", f"/Users/{answer['id']}", taken)) == (409, "uniqueness")


def test_an_external_id_stays_once_it_was_signed_in_with(scim: Scim, wiring: Wiring, cast: Cast) -> None:
    identity_id = connect(wiring, scim, cast.rater.account_id, "id-dana")
    answer = scim.user("dana")
    other = answer | {"externalId": "mine"}
    assert refusal(scim.call("PUT", f"/Users/{identity_id}", other)) == (400, "mutability")
    # Also of somebody who connected the provider and has not signed in with it yet: they have a password.
    with wiring.database.writing() as session:
        session.get_one(Identity, uuid.UUID(identity_id)).last_used_at = None
    assert refusal(scim.call("PUT", f"/Users/{identity_id}", other)) == (400, "mutability")
    without = {key: value for key, value in answer.items() if key != "externalId"}
    renamed = scim.call("PUT", f"/Users/{identity_id}", without | {"userName": "ray@example.com"}).json
    assert (renamed["userName"], renamed["externalId"]) == ("ray@example.com", "id-dana")


def test_who_has_a_passkey_keeps_their_account_name_and_address(scim: Scim, wiring: Wiring) -> None:
    answer = scim.user("dana")
    with wiring.database.writing() as session:
        session.add(
            Passkey(
                account_id=account_of(wiring, answer["id"]).id,
                credential_id=b"one",
                public_key=b"key",
                sign_count=0,
                name="Laptop",
                transports=[],
                backed_up=False,
            )
        )
    other = answer | {"externalId": "id-another"}
    assert refusal(scim.call("PUT", f"/Users/{answer['id']}", other)) == (400, "mutability")
    moved = answer | {"displayName": "Another", "emails": [{"value": "another@example.com"}]}
    assert scim.call("PUT", f"/Users/{answer['id']}", moved).status_code == 200
    account = account_of(wiring, answer["id"])
    assert (account.email, account.display_name) == ("dana@example.com", "Dana")


def test_deactivation_ends_an_open_session_and_the_keys_at_their_next_call(
    scim: Scim, app: Flask, wiring: Wiring, cast: Cast
) -> None:
    answer = scim.user("dana")
    account = account_of(wiring, answer["id"])
    with wiring.database.writing() as session:
        accounts.give_role(
            session, SYSTEM, session.get_one(Account, account.id), cast.community_id, Role.ADMIN
        )
    with wiring.database.writing() as session:
        actor = accounts.actor_for(accounts.get(session, account.id))
        minted = keys.mint(session, actor, "Dana's forum", KeyTemplate.ADAPTER, [cast.community_id])
        token = sessions.begin(session, session.get_one(Account, account.id), "Firefox")
    call = {"Authorization": f"Bearer {minted.text}"}
    path = "/api/public/v1/requests"
    assert app.test_client().get(path, headers=call).status_code == 200
    off = scim.patch(f"/Users/{answer['id']}", {"op": "replace", "path": "active", "value": False})
    assert off.json["active"] is False
    assert app.test_client().get(path, headers=call).status_code == 401
    with wiring.database.reading() as session:
        sign_in = session.scalars(sa.select(SignIn).where(SignIn.account_id == account.id)).one()
        assert sign_in.ended_at is not None
        assert sign_in.end_reason is SessionEnd.PROVIDER
        idle = clock.now() - sign_in.created_at + (clock.now() - sign_in.created_at)
        assert sessions.signed_in(session, token, idle=idle, longest=idle) is None
        rows = session.execute(
            sa.select(HistoryEntry.what, HistoryText.actor_name, HistoryText.reason)
            .join(HistoryText)
            .where(HistoryEntry.what.in_(("account.disabled", "key.revoked")))
        ).all()
    assert sorted(tuple(row) for row in rows) == [
        ("account.disabled", "Harbour SSO", "Deactivated by Harbour SSO"),
        ("key.revoked", "Harbour SSO", "Its creator was deactivated by Harbour SSO"),
    ]
    on = scim.patch(f"/Users/{answer['id']}", {"op": "replace", "path": "active", "value": True})
    assert on.json["active"] is True
    assert account_of(wiring, answer["id"]).disabled_at is None
    with wiring.database.reading() as session:
        assert session.get_one(ApiKey, minted.key.id).revoked_at is not None


def test_a_person_can_be_created_inactive(scim: Scim, wiring: Wiring) -> None:
    answer = scim.user("dana", active=False)
    assert answer["active"] is False
    assert account_of(wiring, answer["id"]).disabled_at is not None


def test_the_provider_does_not_enable_whom_people_disabled(scim: Scim, wiring: Wiring) -> None:
    answer = scim.user("dana")
    account = account_of(wiring, answer["id"])
    with wiring.database.writing() as session:
        members.set_disabled(session, SYSTEM, account.id, True, "Abuse")
    for active in (True, False, True):
        scim.patch(f"/Users/{answer['id']}", {"op": "replace", "path": "active", "value": active})
        assert account_of(wiring, answer["id"]).disabled_at is not None
    assert scim.get(f"/Users/{answer['id']}").json["active"] is False


def test_the_last_service_admin_is_never_deactivated(scim: Scim, wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        accounts.make_service_admin(session, session.get_one(Account, cast.admin.account_id))
    identity_id = connect(wiring, scim, cast.admin.account_id, "id-dana")
    scim.user("dana")
    off = {"op": "replace", "path": "active", "value": False}
    assert refusal(scim.patch(f"/Users/{identity_id}", off)) == (409, None)
    assert refusal(scim.call("DELETE", f"/Users/{identity_id}")) == (409, None)
    with wiring.database.reading() as session:
        assert session.get_one(Account, cast.admin.account_id).disabled_at is None
    with wiring.database.writing() as session:
        accounts.make_service_admin(session, session.get_one(Account, cast.operator.account_id))
    assert scim.patch(f"/Users/{identity_id}", off).json["active"] is False


def test_a_deleted_person_is_disabled_loses_roles_and_can_be_created_again(
    scim: Scim, wiring: Wiring, cast: Cast
) -> None:
    with wiring.database.writing() as session:
        roles = {"moderators": Role.MODERATOR}
        group_maps.set_map(session, SYSTEM, scim.provider_id, cast.community_id, roles)
    answer = scim.user("dana")
    group_id = scim.group("moderators", answer["id"])
    assert [one.role for one in account_of(wiring, answer["id"]).memberships] == [Role.MODERATOR]
    assert scim.call("DELETE", f"/Users/{answer['id']}").status_code == 204
    off = {"op": "replace", "path": "active", "value": False}
    assert refusal(scim.patch(f"/Users/{answer['id']}", off)) == (404, None)
    assert refusal(scim.call("PUT", f"/Users/{answer['id']}", answer)) == (404, None)
    assert refusal(scim.call("DELETE", f"/Users/{answer['id']}")) == (404, None)
    assert refusal(scim.get(f"/Users/{answer['id']}")) == (404, None)
    assert scim.members(group_id) == set()
    account = account_of(wiring, answer["id"])
    assert account.disabled_at is not None
    assert account.memberships == []
    again = scim.user("dana")
    assert again["id"] == answer["id"]
    assert again["active"] is True
    assert account_of(wiring, again["id"]).disabled_at is None


def test_a_provider_sees_and_changes_its_own_people_alone(scim: Scim, app: Flask, wiring: Wiring) -> None:
    other = add_provider(app, wiring, "Mountain SSO")
    mine, theirs = scim.user("dana"), other.user("kim")
    group_id = other.group("staff", theirs["id"])
    assert [one["id"] for one in scim.get("/Users").json["Resources"]] == [mine["id"]]
    assert scim.get("/Groups").json["totalResults"] == 0
    off = {"op": "replace", "path": "active", "value": False}
    for path in (f"/Users/{theirs['id']}", f"/Groups/{group_id}"):
        assert refusal(scim.get(path))[0] == 404
        assert refusal(scim.patch(path, off))[0] == 404
        assert refusal(scim.call("DELETE", path))[0] == 404
    stolen = {"op": "add", "path": "members", "value": [{"value": theirs["id"]}]}
    own_group = scim.group("staff", mine["id"])
    assert refusal(scim.patch(f"/Groups/{own_group}", stolen)) == (400, "invalidValue")
    # The same externalId at two providers is two people.
    assert other.user("ray", externalId="id-dana")["id"] != mine["id"]


def test_people_are_listed_in_pages_and_found_by_filters(scim: Scim) -> None:
    made = [scim.user(name) for name in ("dana", "kim", "lee")]
    ids = [one["id"] for one in made]
    page = scim.get("/Users?startIndex=2&count=1").json
    assert (page["totalResults"], page["startIndex"], page["itemsPerPage"]) == (3, 2, 1)
    assert [one["id"] for one in page["Resources"]] == ids[1:2]
    assert scim.get("/Users?count=0").json["Resources"] == []
    assert scim.get("/Users?startIndex=99").json["Resources"] == []
    assert scim.get("/Users?startIndex=-5&count=-1").json["totalResults"] == 3
    scim.patch(f"/Users/{ids[2]}", {"op": "replace", "path": "active", "value": False})
    for text, expected in (
        ('userName eq "KIM@example.com"', [ids[1]]),
        ('externalId eq "id-lee"', [ids[2]]),
        ('externalId eq "ID-LEE"', []),
        ('displayName eq "dana"', [ids[0]]),
        ('emails.value eq "dana@example.com"', [ids[0]]),
        ('emails[type eq "work" and value eq "kim@example.com"]', [ids[1]]),
        ('emails eq "kim@example.com"', [ids[1]]),
        ("active eq false", [ids[2]]),
        (f'id eq "{ids[0]}" and active eq true', [ids[0]]),
        ('id eq "no id"', []),
        ('urn:ietf:params:scim:schemas:core:2.0:User:userName eq "lee@example.com"', [ids[2]]),
    ):
        found = scim.get("/Users", query_string={"filter": text})
        assert [one["id"] for one in found.json["Resources"]] == expected, text


@pytest.mark.parametrize(
    "text",
    [
        'userName sw "d"',
        'userName eq "a" or userName eq "b"',
        'not (userName eq "a")',
        "title pr",
        'title eq "Boss"',
        "userName eq",
        'userName eq "\ud83d',
        "active eq 7",
        "userName eq 7",
        'emails[type eq "home" and value eq "x"]',
        "(" * 11 + 'userName eq "a"' + ")" * 11,
        'userName eq "' + "x" * 2_000 + '"',
    ],
)
def test_other_filters_are_refused(scim: Scim, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    assert refusal(scim.get("/Users", query_string={"filter": text})) == (400, "invalidFilter")


@pytest.mark.parametrize(
    "query", ["count=x", "startIndex=1e3", "count=99999999999", 'filter=userName eq "a%00b"']
)
def test_bad_parameters_are_refused(scim: Scim, query: str) -> None:
    assert refusal(scim.get(f"/Users?{query}")) == (400, "invalidValue")


def test_attributes_are_chosen(scim: Scim) -> None:
    user_id = scim.user("dana")["id"]
    chosen = scim.get(f"/Users/{user_id}?attributes=userName").json
    assert chosen.keys() == {"schemas", "id", "userName"}
    assert "emails" not in scim.get(f"/Users/{user_id}?excludedAttributes=emails").json
    assert refusal(scim.get(f"/Users/{user_id}?attributes={'a,' * 2_000}")) == (400, "invalidPath")


def test_a_key_is_one_providers_and_works_until_it_is_replaced_or_removed(
    scim: Scim, wiring: Wiring, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "bridgenote.security"):
        for key in ("", "bns_" + "x" * 43, cast.adapter_key, scim.key + "x", scim.key[:-1], scim.key.upper()):
            answer = Scim(scim.app, scim.provider_id, key).get("/Users")
            assert refusal(answer) == (401, None)
            assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert [record.message for record in caplog.records].count("key.refused") == 5
    assert scim.app.test_client().get("/scim/v2/Users").status_code == 401
    assert (
        scim.app.test_client().get("/api/public/v1/requests", headers={"X-API-Key": scim.key}).status_code
        == 401
    )
    with wiring.database.writing() as session:
        text = scim_keys.make(session, SYSTEM, scim.provider_id)
    assert scim.get("/Users").status_code == 401
    renewed = Scim(scim.app, scim.provider_id, text)
    assert renewed.get("/Users").status_code == 200
    with wiring.database.reading() as session:
        assert text not in str(session.get_one(IdentityProvider, scim.provider_id).__dict__)
    with wiring.database.writing() as session:
        scim_keys.remove(session, SYSTEM, scim.provider_id)
    assert renewed.get("/Users").status_code == 401


def test_a_removed_providers_key_is_refused(scim: Scim, wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        session.get_one(IdentityProvider, scim.provider_id).removed_at = clock.now()
    assert scim.get("/Users").status_code == 401


def test_only_service_admins_make_and_remove_keys(scim: Scim, wiring: Wiring, cast: Cast) -> None:
    admin = actor_of(wiring, cast.admin)
    for verb in (scim_keys.make, scim_keys.remove):
        with wiring.database.writing() as session, pytest.raises(Exception, match="Only a service admin"):
            verb(session, admin, scim.provider_id)


def test_unknown_paths_and_methods_are_refused_in_scims_form(scim: Scim) -> None:
    assert refusal(scim.get("/Cars"))[0] == 404
    assert refusal(scim.get("/Users/none"))[0] == 404
    assert refusal(scim.get("/Schemas/none"))[0] == 404
    assert refusal(scim.call("DELETE", "/Users"))[0] == 405
    assert refusal(scim.call("POST", "/Bulk", {}))[0] == 501
    assert refusal(scim.call("POST", "/.search", {}))[0] == 501


def test_own_data_has_the_groups_that_the_provider_sent(scim: Scim, wiring: Wiring) -> None:
    dana, kim = scim.user("dana")["id"], scim.user("kim")["id"]
    scim.group("staff", dana, kim)
    scim.group("press", kim)
    file = io.StringIO()
    with wiring.database.reading() as session:
        counts = own_data.write(session, account_of(wiring, dana).id, file)
    assert (counts["identities"], counts["provider_groups"]) == (1, 1)
    kept = json.loads(file.getvalue())
    assert kept["provider_groups"] == [{"subject": "id-dana", "group": "staff"}]
    assert kept["identities"][0]["user_name"] == "dana@example.com"


def test_erasing_a_person_leaves_nothing_that_scim_finds(scim: Scim, wiring: Wiring) -> None:
    answer = scim.user("dana")
    group_id = scim.group("staff", answer["id"])
    account = account_of(wiring, answer["id"])
    erasure.erase(wiring.database, SYSTEM, account.id)
    assert scim.get(f"/Users/{answer['id']}").status_code == 404
    assert scim.members(group_id) == set()
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(Identity.id))) == 0
