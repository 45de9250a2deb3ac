"""Groups to roles, and the SCIM key, on a provider's page; roles by groups in the list of people."""

import re
import uuid

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core import limits
from app.core.models import Account, GroupRole, IdentityProvider, Membership
from app.core.people import group_maps
from app.core.permissions import SYSTEM
from app.core.vocabulary import Role
from app.wiring import Wiring
from tests.api.scim import Scim, add_provider
from tests.cast import Cast
from tests.web.conftest import Visit, Visitor


@pytest.fixture
def scim(app: Flask, wiring: Wiring, cast: Cast) -> Scim:
    return add_provider(app, wiring)


@pytest.fixture
def admin(visit: Visit, wiring: Wiring, cast: Cast) -> Visitor:
    """A service admin's browser."""
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    return visit(cast.admin)


def mapped(wiring: Wiring) -> dict[str, Role]:
    with wiring.database.reading() as session:
        return {row.value: row.role for row in session.scalars(sa.select(GroupRole))}


def rows(*pairs: tuple[str, str]) -> dict[str, str]:
    """The fields of the form with these groups and roles."""
    fields = {}
    for number, (group, role) in enumerate(pairs):
        fields |= {f"rows-{number}-group": group, f"rows-{number}-role": role}
    return fields


def test_groups_are_mapped_for_a_community(admin: Visitor, scim: Scim, wiring: Wiring, cast: Cast) -> None:
    scim.group("night-shift", scim.user("dana")["id"])
    page = f"/sign-in-methods/{scim.provider_id}"
    assert "No group gives a role yet" in admin.get(page).text
    chosen = admin.get(f"{page}/groups").text
    assert "Harbour forum" in chosen
    assert "Mountain forum" in chosen
    assert "Mountain forum" not in admin.get(f"{page}/groups?q=harb").text
    assert "No community has this name" in admin.get(f"{page}/groups?q=nothing").text
    url = f"{page}/groups/{cast.community_id}"
    assert '<option value="night-shift">' in admin.get(url).text
    pairs = (("night-shift", "moderator"), ("", "admin"), (" admins ", "admin"))
    saved = admin.post(url, reason="New team", **rows(*pairs))
    assert saved.status_code == 303
    assert mapped(wiring) == {"night-shift": Role.MODERATOR, "admins": Role.ADMIN}
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    people = admin.get("/people?community=harbour-forum").text
    assert re.search(r"Moderator.{0,80}by <bdi>Harbour SSO", people)
    assert "Roles of groups changed" in people
    history = admin.get("/history/settings?community=harbour-forum&area=people").text
    assert "Roles of groups changed" in history
    assert "night-shift: moderator" in history
    assert "2 give a role" in admin.get(page).text
    assert 'value="night-shift"' in admin.get(url).text
    admin.post(url, **rows(("admins", "operator"), ("", "rater")))
    assert mapped(wiring) == {"admins": Role.OPERATOR}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        (rows(("a", "moderator"), ("a", "admin")), "Row 2: This group is named twice."),
        (rows(("x" * 256, "moderator")), "Row 1: Group must be at most 255 characters; it has 256."),
        (rows(("a", "emperor")), "Not a valid choice"),
        (rows(("a\0b", "rater")), "NUL"),
        (rows(*[(f"g{number}", "rater") for number in range(101)]), "at most 100"),
        (rows(("a", "rater")) | {"reason": "x" * (limits.REASON_MAX + 1)}, "at most"),
    ],
)
def test_a_bad_row_is_explained_and_nothing_typed_is_lost(
    admin: Visitor, scim: Scim, wiring: Wiring, cast: Cast, fields: dict[str, str], why: str
) -> None:
    url = f"/sign-in-methods/{scim.provider_id}/groups/{cast.community_id}"
    answer = admin.post(url, **fields)
    assert answer.status_code == 422
    assert why in answer.text
    assert fields["rows-0-group"].partition("\0")[0] in answer.text
    assert mapped(wiring) == {}


def test_unknown_providers_and_communities_are_404(admin: Visitor, scim: Scim, cast: Cast) -> None:
    unknown = uuid.uuid4()
    for path in (
        f"{unknown}/groups",
        f"{unknown}/groups/{cast.community_id}",
        f"{scim.provider_id}/groups/{unknown}",
    ):
        assert admin.get(f"/sign-in-methods/{path}").status_code == 404
    assert admin.post(f"/sign-in-methods/{scim.provider_id}/groups/{unknown}").status_code == 404
    assert admin.post(f"/sign-in-methods/{unknown}/scim-key").status_code == 404


def test_a_scim_key_is_shown_once_replaced_and_removed(admin: Visitor, scim: Scim, wiring: Wiring) -> None:
    page = f"/sign-in-methods/{scim.provider_id}"
    shown = admin.post(f"{page}/scim-key")
    assert shown.status_code == 200
    assert shown.headers["Cache-Control"] == "no-store"
    (text,) = set(re.findall(r"bns_[A-Za-z0-9_-]{43}", shown.text))
    assert scim.get("/Users").status_code == 401
    scim.key = text
    assert scim.get("/Users").status_code == 200
    again = admin.get(page).text
    assert text not in again
    assert "/scim/v2" in again
    assert "0 people and 0 groups" in again
    assert admin.post(f"{page}/scim-key/remove").status_code == 303
    assert scim.get("/Users").status_code == 401
    with wiring.database.reading() as session:
        assert session.get_one(IdentityProvider, scim.provider_id).scim_token_hash is None
    assert "Create a key" in admin.get(page).text


def test_a_role_by_a_group_is_not_lowered_on_the_members_page(
    admin: Visitor, scim: Scim, wiring: Wiring, cast: Cast
) -> None:
    with wiring.database.writing() as session:
        roles = {"crew": Role.MODERATOR}
        group_maps.set_map(session, SYSTEM, scim.provider_id, cast.community_id, roles)
    scim.group("crew", scim.user("dana")["id"])
    with wiring.database.reading() as session:
        by_group = sa.select(Membership.id).where(Membership.provider_id == scim.provider_id)
        url = f"/people/{session.scalars(by_group).one()}"
    assert "by a group of" in admin.get(url).text
    refused = admin.post(f"{url}/role", role="rater", reason="Too harsh")
    assert refused.status_code == 409
    assert "The groups of Harbour SSO give this role" in refused.text
    assert admin.post(f"{url}/role", role="operator", reason="Knows webhooks").status_code == 303
    assert "by a group of" not in admin.get(url).text


def test_deactivation_by_scim_ends_an_open_session_at_its_next_page_and_says_why(
    visit: Visit, app: Flask, wiring: Wiring, cast: Cast
) -> None:
    scim = add_provider(app, wiring, "Mountain SSO")
    answer = scim.user("dana", externalId="x")
    with wiring.database.writing() as session:
        found = session.scalars(sa.select(Account).where(Account.email == "dana@example.com")).one()
        person = type(cast.rater)("dana@example.com", found.id, cast.rater.profile_id)
    browser = visit(person)
    assert browser.get("/communities").status_code == 200
    scim.patch(f"/Users/{answer['id']}", {"op": "replace", "path": "active", "value": False})
    gone = browser.get("/communities")
    assert (gone.status_code, gone.location.partition("?")[0]) == (303, "/sign-in")
    assert "the provider that you sign in with ended your session" in browser.get(gone.location).text
