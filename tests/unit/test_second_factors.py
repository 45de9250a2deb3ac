"""Codes of an app and recovery codes: each works once, whoever asks and wherever (RFC 6238; ASVS 6.5)."""

import uuid
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pyotp
import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.db import Database
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.models import Account, HistoryEntry, RecoveryCode
from app.core.people import accounts, second_factors
from app.core.people.second_factors import Factors
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance, at
from tests.factories import actor_of
from tests.racing import at_once


def code_at(secret: str, offset: int = 0) -> str:
    return pyotp.TOTP(secret).at(clock.now() + timedelta(seconds=30 * offset))


def set_up(wiring: Wiring, account_id: uuid.UUID) -> str:
    """Set codes up and return their secret. The clock stops, at a later step than that of the code used."""
    at(clock.now())
    with wiring.database.writing() as session:
        secret = second_factors.begin_codes(session, wiring.sealer, accounts.get(session, account_id))
    with wiring.database.writing() as session:
        account = accounts.get(session, account_id)
        assert second_factors.confirm_codes(session, wiring.sealer, account, code_at(secret))
    advance(minutes=5)
    return secret


def verify(wiring: Wiring, account_id: uuid.UUID, code: str) -> bool:
    with wiring.database.writing() as session:
        account = session.get_one(Account, account_id)
        return second_factors.verify_code(session, wiring.sealer, account, code)


def factors(wiring: Wiring, account_id: uuid.UUID) -> Factors:
    with wiring.database.reading() as session:
        return second_factors.of_account(session, session.get_one(Account, account_id))


def test_codes_count_once_one_of_them_confirms_the_secret(wiring: Wiring, cast: Cast) -> None:
    account_id = cast.moderator.account_id
    with wiring.database.writing() as session:
        secret = second_factors.begin_codes(session, wiring.sealer, accounts.get(session, account_id))
    assert not factors(wiring, account_id).strong
    assert not verify(wiring, account_id, code_at(secret))
    with wiring.database.writing() as session:
        account = accounts.get(session, account_id)
        assert not second_factors.confirm_codes(session, wiring.sealer, account, "000000x")
        assert second_factors.pending_secret(wiring.sealer, account) == secret
        assert second_factors.confirm_codes(session, wiring.sealer, account, code_at(secret))
        assert second_factors.pending_secret(wiring.sealer, account) is None
        with pytest.raises(Conflict, match="already"):
            second_factors.begin_codes(session, wiring.sealer, account)
    assert factors(wiring, account_id) == Factors(0, True, 0)
    assert not verify(wiring, account_id, code_at(secret)), "the code that confirmed is used up"


def test_the_secret_is_sealed_for_its_account(wiring: Wiring, cast: Cast) -> None:
    secret = set_up(wiring, cast.moderator.account_id)
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.moderator.account_id)
        assert account.totp_secret is not None
        assert secret.encode() not in account.totp_secret
        other = session.get_one(Account, cast.operator.account_id)
        other.totp_secret, other.totp_since = account.totp_secret, account.totp_since
    assert not verify(wiring, cast.operator.account_id, code_at(secret))


def test_a_code_works_once_and_no_earlier_one_after_it(wiring: Wiring, cast: Cast) -> None:
    account_id, secret = cast.moderator.account_id, set_up(wiring, cast.moderator.account_id)
    spaced = f"{code_at(secret)[:3]} {code_at(secret)[3:]}"
    assert [verify(wiring, account_id, code) for code in (spaced, spaced, code_at(secret, -1))] == [
        True,
        False,
        False,
    ]
    advance(seconds=30)
    assert verify(wiring, account_id, code_at(secret))


@pytest.mark.parametrize(("offset", "works"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_clock_may_be_wrong_by_one_step(wiring: Wiring, cast: Cast, offset: int, works: bool) -> None:
    secret = set_up(wiring, cast.moderator.account_id)
    assert verify(wiring, cast.moderator.account_id, code_at(secret, offset)) is works


@pytest.mark.parametrize(
    "code", ["", "12345", "1234567", "١٢٣٤٥٦", "abcdef", "x" * 10_000, "\ud800", "0000 0\x00"]
)
def test_what_is_no_code_is_none(wiring: Wiring, cast: Cast, code: str) -> None:
    set_up(wiring, cast.moderator.account_id)
    assert not verify(wiring, cast.moderator.account_id, code)


@pytest.mark.both_databases
def test_of_two_servers_with_one_code_one_wins(wiring: Wiring, cast: Cast) -> None:
    account_id, secret = cast.moderator.account_id, set_up(wiring, cast.moderator.account_id)
    with wiring.database.writing() as session:
        recovery = second_factors.new_recovery_codes(session, session.get_one(Account, account_id))[0]
    servers = [Database(wiring.settings.sqlalchemy_url, **wiring.settings.database_options) for _ in range(2)]
    for server in servers:
        server.enqueue = wiring.database.enqueue

    def entered(server: Database, code: str) -> bool:
        with server.writing() as session:
            account = session.get_one(Account, account_id)
            return second_factors.verify_code(session, wiring.sealer, account, code)

    for code in (code_at(secret), recovery):
        came = at_once(*(partial(entered, server, code) for server in servers))
        assert sorted(came) == [False, True]
    for server in servers:
        server.dispose()


def test_recovery_codes_work_once_and_are_counted(wiring: Wiring, cast: Cast) -> None:
    account_id = cast.moderator.account_id
    set_up(wiring, account_id)
    with wiring.database.writing() as session:
        account = session.get_one(Account, account_id)
        former = second_factors.new_recovery_codes(session, account)
        codes = second_factors.new_recovery_codes(session, account)
    assert len(set(codes)) == 10
    with wiring.database.reading() as session:
        stored = set(session.scalars(sa.select(RecoveryCode.code_hash)))
    assert not stored & set(codes)
    assert not verify(wiring, account_id, former[0])
    assert not verify(wiring, cast.operator.account_id, codes[0])
    typed = codes[0].upper().replace("-", " ").replace("1", "I").replace("0", "O")
    assert verify(wiring, account_id, typed)
    assert not verify(wiring, account_id, codes[0])
    assert factors(wiring, account_id) == Factors(0, True, 9)


def test_switching_off_ends_the_recovery_codes_too(wiring: Wiring, cast: Cast) -> None:
    account_id, secret = cast.moderator.account_id, set_up(wiring, cast.moderator.account_id)
    with wiring.database.writing() as session:
        account = session.get_one(Account, account_id)
        second_factors.new_recovery_codes(session, account)
        second_factors.end_codes(session, account)
    assert factors(wiring, account_id) == Factors(0, False, 0)
    assert not verify(wiring, account_id, code_at(secret))


def test_a_service_admin_removes_the_factors_of_who_lost_them(wiring: Wiring, cast: Cast) -> None:
    account_id, actor = cast.moderator.account_id, actor_of(wiring, cast.admin)
    set_up(wiring, account_id)
    with wiring.database.writing() as session, pytest.raises(Forbidden, match="Only a service admin"):
        second_factors.reset(session, actor, account_id, "Saw them in person")
    actor = replace(actor, service_admin=True)
    with wiring.database.writing() as session, pytest.raises(Invalid, match="reason"):
        second_factors.reset(session, actor, account_id, " ")
    with wiring.database.writing() as session:
        second_factors.reset(session, actor, account_id, "Saw them in person")
    assert factors(wiring, account_id) == Factors(0, False, 0)
    with wiring.database.reading() as session:
        entries = sa.select(HistoryEntry).where(HistoryEntry.what == "account.factors_removed")
        assert [entry.community_id for entry in session.scalars(entries)] == [cast.community_id]
    with wiring.database.writing() as session, pytest.raises(Conflict, match="no second factor"):
        second_factors.reset(session, actor, account_id, "Again")


def test_who_lacks_a_factor_can_be_asked_of_the_database(wiring: Wiring, cast: Cast) -> None:
    set_up(wiring, cast.moderator.account_id)
    with wiring.database.reading() as session:
        lacking = set(session.scalars(sa.select(Account.id).where(second_factors.lacking())))
    people = {
        cast.rater.account_id,
        cast.operator.account_id,
        cast.admin.account_id,
        cast.outsider.account_id,
    }
    assert lacking == people
