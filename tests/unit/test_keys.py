"""API keys: their form, what is kept of them, when they stop to count (docs/integrate/api.md)."""

import re
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.errors import Forbidden, Invalid
from app.core.models import ApiKey
from app.core.people import key_admin, keys
from app.core.permissions import SYSTEM, Actor
from app.core.vocabulary import KeyTemplate, Role
from app.wiring import Wiring
from tests.cast import Cast


def _mint(wiring: Wiring, cast: Cast, **options: object) -> keys.Minted:
    with wiring.database.writing() as session:
        return keys.mint(session, SYSTEM, "Adapter", KeyTemplate.ADAPTER, [cast.community_id], **options)  # type: ignore[arg-type]


def _counts(wiring: Wiring, text: str) -> bool:
    with wiring.database.reading() as session:
        return keys.authenticate(session, text) is not None


def test_a_key_has_the_form_and_only_a_digest_is_kept(wiring: Wiring, cast: Cast) -> None:
    minted = _mint(wiring, cast)
    assert re.fullmatch(r"bnk_[0-9a-f]{12}_[A-Za-z0-9_-]{43}", minted.text)
    secret = minted.text.split("_", 2)[2]
    with wiring.database.reading() as session:
        rows = session.execute(sa.text("SELECT * FROM api_keys")).all()
    assert secret not in repr(rows)
    assert _counts(wiring, minted.text)


def test_wrong_malformed_expired_and_revoked_keys_are_all_nothing(wiring: Wiring, cast: Cast) -> None:
    minted = _mint(wiring, cast, days=1)
    other = minted.text[:-1] + ("A" if minted.text[-1] != "A" else "B")
    for text in (
        other,
        minted.text[:-1],
        minted.text + "x",
        "bnk_",
        "",
        "bnk_" + "é" * 56,
        minted.text.upper(),
    ):
        assert not _counts(wiring, text), text
    then = clock.now() + timedelta(days=1, seconds=1)
    clock.set_source(lambda: then)
    assert not _counts(wiring, minted.text)
    clock.set_source(None)
    with wiring.database.writing() as session:
        key_admin.revoke(session, SYSTEM, minted.key.id)
    assert not _counts(wiring, minted.text)


def test_last_used_is_written_once_a_minute(wiring: Wiring, cast: Cast) -> None:
    minted, now = _mint(wiring, cast), clock.now()
    seen = []
    for seconds in (0, 30, 61):
        with wiring.database.writing() as session:
            keys.record_use(session, minted.key.id, now + timedelta(seconds=seconds))
        with wiring.database.reading() as session:
            seen.append(session.get_one(ApiKey, minted.key.id).last_used_at)
    assert seen == [now, now, now + timedelta(seconds=61)]


def test_an_admin_of_one_community_cannot_mint_for_all(wiring: Wiring, cast: Cast) -> None:
    admin = Actor(
        kind="account",
        name="Admin",
        account_id=cast.admin.account_id,
        roles={cast.community_id: Role.ADMIN},
        communities=frozenset({cast.community_id}),
    )
    with wiring.database.writing() as session, pytest.raises(Forbidden):
        keys.mint(session, admin, "All", KeyTemplate.ADAPTER, None)


@pytest.mark.parametrize("days", [0, 366, -1])
def test_expiry_is_one_day_to_a_year(wiring: Wiring, cast: Cast, days: int) -> None:
    if days == 0:
        with pytest.raises(Invalid, match="days"):
            _mint(wiring, cast, days=-5)
        return
    with pytest.raises(Invalid, match="days"):
        _mint(wiring, cast, days=days)
