"""Roles follow a provider's groups: at each sign-in, and every 15 minutes while it answers (docs/run/sign-in.md)."""

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.models import (
    Account,
    GroupRole,
    HistoryEntry,
    HistoryText,
    Identity,
    IdentityProvider,
    Membership,
)
from app.core.people import passwords
from app.core.vocabulary import Role
from app.jobs import sign_in as jobs
from app.wiring import Wiring
from tests import stub_services
from tests.cast import PASSWORD, Cast
from tests.lying_provider import LyingProvider
from tests.web.conftest import Visit, Visitor
from tests.web.providers.visits import identity_of, open_sessions, sign_in

PassTime = Callable[[timedelta], None]
QUARTER = timedelta(minutes=16)


@pytest.fixture
def mapped(wiring: Wiring, cast: Cast, provider_id: uuid.UUID) -> None:
    """Staff of the provider moderate in the community."""
    with wiring.database.writing() as session:
        session.add(
            GroupRole(
                provider_id=provider_id,
                community_id=cast.community_id,
                value="staff",
                role=Role.MODERATOR,
            )
        )


def _role(wiring: Wiring, subject: str = "Person-1") -> Role | None:
    with wiring.database.reading() as session:
        return session.scalar(
            sa.select(Membership.role)
            .join(Identity, Identity.account_id == Membership.account_id)
            .where(Identity.subject == subject)
        )


@pytest.fixture
def signed_in(visit: Visit, provider: LyingProvider, provider_id: uuid.UUID, mapped: None) -> Visitor:
    visitor = visit(None)
    assert sign_in(visitor, provider, provider_id).status_code == 303
    assert visitor.get("/review").status_code == 200
    return visitor


def test_a_group_removed_is_rights_gone_by_the_next_request_and_the_history_names_the_provider(
    signed_in: Visitor, wiring: Wiring, provider: LyingProvider, pass_time: PassTime
) -> None:
    assert _role(wiring) is Role.MODERATOR
    provider.claims["groups"] = []
    jobs.refresh(wiring)
    assert _role(wiring) is Role.MODERATOR, "not asked yet: 15 minutes are not over"
    pass_time(QUARTER)
    jobs.refresh(wiring)
    assert _role(wiring) is None
    assert signed_in.get("/review").status_code == 303
    assert "your roles changed" in signed_in.get("/sign-in").text
    with wiring.database.reading() as session:
        names = session.execute(
            sa.select(HistoryEntry.what, HistoryText.actor_name)
            .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
            .where(HistoryEntry.what.startswith("role."), HistoryText.actor_name == "Example")
            .order_by(HistoryEntry.at, HistoryEntry.id)
        ).all()
    assert [tuple(row) for row in names] == [("role.given", "Example"), ("role.taken", "Example")]


def test_groups_that_stay_change_nothing_and_the_refresh_token_goes_on(
    signed_in: Visitor, wiring: Wiring, provider: LyingProvider, pass_time: PassTime
) -> None:
    for _ in range(3):
        pass_time(QUARTER)
        signed_in.get("/review")
        jobs.refresh(wiring)
        jobs.refresh(wiring)
    refreshes = [form for path, form in provider.seen if "grant_type=refresh_token" in form]
    assert len(refreshes) == len(set(refreshes)) == 3, "each token is used once, once in 15 minutes"
    assert _role(wiring) is Role.MODERATOR
    assert signed_in.get("/review").status_code == 200
    # A provider that does not rotate sends none: the same one goes on.
    provider.gives_refresh_token = False
    provider.refresh_tokens.append(provider.refresh_tokens[-1])
    pass_time(QUARTER)
    jobs.refresh(wiring)
    identity = identity_of(wiring)
    assert identity is not None
    assert identity.refresh_token is not None


def test_a_person_whom_the_provider_no_longer_knows_is_out(
    signed_in: Visitor, wiring: Wiring, provider: LyingProvider, pass_time: PassTime
) -> None:
    provider.refresh_tokens.clear()
    pass_time(QUARTER)
    jobs.refresh(wiring)
    assert _role(wiring) is None
    identity = identity_of(wiring)
    assert identity is not None
    assert (identity.claimed_groups, identity.refresh_token) == ([], None)
    assert open_sessions(wiring, identity.account_id) == []
    assert signed_in.get("/review").status_code == 303
    seen = len(provider.seen)
    pass_time(QUARTER)
    jobs.refresh(wiring)
    assert len(provider.seen) == seen, "there is nothing to ask with"


@pytest.mark.parametrize("status", [500, 429, 401])
def test_a_provider_that_is_down_changes_nothing_for_a_day(
    signed_in: Visitor, wiring: Wiring, provider: LyingProvider, pass_time: PassTime, status: int
) -> None:
    provider.refusal = (status, {"error": "invalid_client"} if status == 401 else {})
    for _ in range(4):
        pass_time(QUARTER)
        signed_in.get("/review")
        jobs.refresh(wiring)
    assert signed_in.get("/review").status_code == 200
    assert _role(wiring) is Role.MODERATOR
    pass_time(timedelta(hours=24))
    jobs.refresh(wiring)
    assert _role(wiring) is None


def test_another_person_in_the_answer_changes_nothing(
    signed_in: Visitor, wiring: Wiring, provider: LyingProvider, pass_time: PassTime
) -> None:
    provider.claims |= {"sub": "Person-2", "groups": []}
    pass_time(QUARTER)
    jobs.refresh(wiring)
    assert _role(wiring) is Role.MODERATOR


def test_a_provider_that_fails_is_not_asked_about_everybody(
    visit: Visit,
    wiring: Wiring,
    provider: LyingProvider,
    provider_id: uuid.UUID,
    pass_time: PassTime,
) -> None:
    for number in range(6):
        claims = {"sub": f"Person-{number}", "email": f"person{number}@example.org"}
        assert sign_in(visit(None), provider, provider_id, **claims).status_code == 303
    provider.refusal = (500, {})
    pass_time(QUARTER)
    seen = len(provider.seen)
    jobs.refresh(wiring)
    assert len(provider.seen) - seen == jobs.FAILURES_MOST


def test_who_signs_in_meanwhile_keeps_what_is_newer(
    signed_in: Visitor,
    visit: Visit,
    wiring: Wiring,
    provider: LyingProvider,
    provider_id: uuid.UUID,
    pass_time: PassTime,
) -> None:
    pass_time(QUARTER)

    def fault(handler: object) -> None:
        provider.fault = None
        provider.claims["groups"] = ["staff", "new"]
        sign_in(visit(None), provider, provider_id)
        stub_services.answering_with(400, {"error": "invalid_grant"})(handler)

    provider.fault = fault
    jobs.refresh(wiring)
    identity = identity_of(wiring)
    assert identity is not None
    assert identity.claimed_groups == ["new", "staff"]
    assert identity.refresh_token is not None


def test_a_discovery_document_is_read_again_each_day(
    wiring: Wiring, provider: LyingProvider, provider_id: uuid.UUID, pass_time: PassTime
) -> None:
    seen = len(provider.seen)
    jobs.discover(wiring)
    assert len(provider.seen) == seen
    provider.document = {"token_endpoint": f"{provider.issuer}/other-token"}
    pass_time(timedelta(hours=25))
    jobs.discover(wiring)
    with wiring.database.reading() as session:
        row = session.get_one(IdentityProvider, provider_id)
        read_at = row.discovered_at
        assert row.discovered is not None
        assert row.discovered["token_endpoint"] == f"{provider.issuer}/other-token"
    provider.document = {"issuer": "https://evil.example"}
    pass_time(timedelta(hours=25))
    jobs.discover(wiring)
    with wiring.database.reading() as session:
        assert session.get_one(IdentityProvider, provider_id).discovered_at == read_at


@pytest.mark.parametrize("has_refresh_token", [False, True])
def test_who_signs_in_another_way_keeps_no_role_that_the_provider_cannot_confirm_any_more(
    signed_in: Visitor, visit: Visit, wiring: Wiring, pass_time: PassTime, has_refresh_token: bool
) -> None:
    with wiring.database.writing() as session:
        identity = session.scalars(sa.select(Identity)).one()
        if not has_refresh_token:
            identity.refresh_token = None
        account = session.get_one(Account, identity.account_id)
        account.password_hash = passwords.hash_password(PASSWORD, account.email)

    def sign_in_with_password() -> None:
        assert visit(None).post("/sign-in", email="person@example.org", password=PASSWORD).status_code == 303

    longest = timedelta(hours=wiring.settings.session_hours)
    pass_time(longest - timedelta(minutes=1))
    sign_in_with_password()
    assert _role(wiring) is Role.MODERATOR
    pass_time(timedelta(minutes=2))
    assert _role(wiring) is Role.MODERATOR
    sign_in_with_password()
    assert _role(wiring) is (Role.MODERATOR if has_refresh_token else None)
