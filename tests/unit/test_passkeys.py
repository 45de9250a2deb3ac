"""Passkeys: what is accepted, and each lie that is refused (WebAuthn level 3, 7.1 and 7.2)."""

import json
import uuid
from collections.abc import Callable

import pytest
import sqlalchemy as sa
import webauthn
from hypothesis import given
from hypothesis import strategies as st
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, encode_cbor

from app.core import clock, limits
from app.core.errors import Invalid, NotFound
from app.core.models import Account, Passkey, SignInStep
from app.core.people import accounts, passkeys, second_factors, sign_in_steps
from app.core.people.passkeys import NOT_VALID, REFUSED, Proof, RelyingParty
from app.core.vocabulary import SignInStepPurpose
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.clocks import advance
from tests.soft_authenticator import SoftPasskey

PARTY = RelyingParty("localhost", "http://localhost")


def add(wiring: Wiring, person: Person, passkey: SoftPasskey, name: str = "Key") -> uuid.UUID | None:
    with wiring.database.writing() as session:
        account = accounts.get(session, person.account_id)
        begun = passkeys.begin_adding(session, PARTY, account)
    with wiring.database.writing() as session:
        account = accounts.get(session, person.account_id)
        added = passkeys.finish_adding(
            session, PARTY, account, begun.token, passkey.create(begun.options), name
        )
        return added.id if added is not None else None


def prove(
    wiring: Wiring,
    passkey: SoftPasskey,
    person: Person | None = None,
    change: Callable[[str], str] = lambda credential: credential,
) -> Proof:
    with wiring.database.writing() as session:
        account = accounts.get(session, person.account_id) if person is not None else None
        begun = passkeys.begin_proof(session, PARTY, account)
    with wiring.database.writing() as session:
        return passkeys.finish_proof(session, PARTY, begun.token, change(passkey.get(begun.options)), account)


def test_a_passkey_says_who_it_is_and_when_it_was_used(wiring: Wiring, cast: Cast) -> None:
    passkey = SoftPasskey()
    passkey_id = add(wiring, cast.moderator, passkey, " My phone ")
    proof = prove(wiring, passkey)
    assert proof.account is not None
    assert proof.account.id == cast.moderator.account_id
    with wiring.database.reading() as session:
        stored = session.get_one(Passkey, passkey_id)
        assert (stored.name, stored.sign_count, stored.transports) == ("My phone", 1, ["internal"])
        assert stored.last_used_at is not None
        assert second_factors.has_strong(session, proof.account)
        assert session.scalar(sa.select(sa.func.count()).select_from(SignInStep)) == 0


def test_an_authenticator_that_does_not_count_can_be_used_again(wiring: Wiring, cast: Cast) -> None:
    passkey = SoftPasskey(count=None)
    add(wiring, cast.rater, passkey)
    assert all(prove(wiring, passkey).account for _ in range(3))


@pytest.mark.parametrize(
    "lie",
    [
        {"origin": "http://localhost.evil.example"},
        {"origin": "https://localhost"},
        {"rp_id": "evil.example"},
        {"verifies": False},
    ],
)
def test_a_wrong_origin_host_or_missing_verification_is_refused(
    wiring: Wiring, cast: Cast, lie: dict[str, object]
) -> None:
    honest = SoftPasskey()
    add(wiring, cast.moderator, honest)
    for key, value in lie.items():
        setattr(honest, key, value)
    assert prove(wiring, honest) == Proof(None, NOT_VALID)
    assert prove(wiring, honest, cast.moderator) == Proof(None, NOT_VALID)
    assert add(wiring, cast.operator, SoftPasskey(**lie)) is None  # type: ignore[arg-type]


def test_verification_is_only_preferred_where_a_rater_gave_a_password_first(
    wiring: Wiring, cast: Cast
) -> None:
    passkey = SoftPasskey(verifies=False)
    assert add(wiring, cast.rater, passkey) is not None
    assert prove(wiring, passkey, cast.rater).account is not None
    assert prove(wiring, passkey).refusal == NOT_VALID


@pytest.mark.both_databases
def test_a_counter_that_goes_back_ends_the_passkey(
    wiring: Wiring, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    passkey = SoftPasskey(count=5)
    add(wiring, cast.moderator, passkey)
    assert prove(wiring, passkey).account is not None
    passkey.count = 3
    assert prove(wiring, passkey) == Proof(None, REFUSED)
    assert "passkey.refused" in caplog.text
    passkey.count = 100
    assert prove(wiring, passkey) == Proof(None, REFUSED)
    with wiring.database.reading() as session:
        account = session.get_one(Account, cast.moderator.account_id)
        assert not second_factors.has_strong(session, account)
        assert session.scalars(sa.select(Passkey)).one().refused_at is not None


def test_a_lower_counter_without_a_valid_signature_refuses_nothing(wiring: Wiring, cast: Cast) -> None:
    passkey = SoftPasskey(count=5)
    add(wiring, cast.moderator, passkey)
    prove(wiring, passkey)
    stranger = SoftPasskey(
        credential_id=passkey.credential_id, user_handle=passkey.user_handle
    )  # another key, counter 1
    assert prove(wiring, stranger) == Proof(None, NOT_VALID)
    assert prove(wiring, passkey).account is not None


def test_a_challenge_is_used_once_and_for_five_minutes(wiring: Wiring, cast: Cast) -> None:
    passkey = SoftPasskey()
    add(wiring, cast.moderator, passkey)
    with wiring.database.writing() as session:
        first = passkeys.begin_proof(session, PARTY, None)
        second = passkeys.begin_proof(session, PARTY, None)
    answer = passkey.get(first.options)
    outcomes = []
    for token in (second.token, first.token, first.token):
        with wiring.database.writing() as session:
            outcomes.append(passkeys.finish_proof(session, PARTY, token, answer).account is not None)
    assert outcomes == [False, True, False]
    with wiring.database.writing() as session:
        late = passkeys.begin_proof(session, PARTY, None)
    advance(minutes=limits.PASSKEY_MINUTES, seconds=1)
    with wiring.database.writing() as session:
        assert passkeys.finish_proof(session, PARTY, late.token, passkey.get(late.options)).account is None


def test_a_challenge_is_for_one_purpose_and_one_person(wiring: Wiring, cast: Cast) -> None:
    passkey = SoftPasskey()
    add(wiring, cast.moderator, passkey)
    with wiring.database.writing() as session:
        account = accounts.get(session, cast.moderator.account_id)
        other = accounts.get(session, cast.operator.account_id)
        adding = passkeys.begin_adding(session, PARTY, account)
        open_to_all = passkeys.begin_proof(session, PARTY, None)
        of_other = passkeys.begin_proof(session, PARTY, other)
    with wiring.database.writing() as session:
        assert not passkeys.finish_proof(session, PARTY, adding.token, passkey.get(adding.options)).account
        answer = passkey.get(open_to_all.options)
        assert not passkeys.finish_proof(session, PARTY, open_to_all.token, answer, account).account
        assert not passkeys.finish_proof(
            session, PARTY, of_other.token, passkey.get(of_other.options)
        ).account
        assert not passkeys.finish_adding(
            session, PARTY, other, adding.token, SoftPasskey().create(adding.options), "Key"
        )


def test_a_passkey_of_another_account_proves_nothing(wiring: Wiring, cast: Cast) -> None:
    passkey, other = SoftPasskey(), SoftPasskey()
    add(wiring, cast.moderator, passkey)
    add(wiring, cast.operator, other)
    assert prove(wiring, other, cast.moderator) == Proof(None, NOT_VALID)
    passkey.user_handle = other.user_handle
    assert prove(wiring, passkey) == Proof(None, NOT_VALID)


def test_a_credential_belongs_to_one_account(wiring: Wiring, cast: Cast) -> None:
    passkey = SoftPasskey()
    assert add(wiring, cast.moderator, passkey) is not None
    assert add(wiring, cast.operator, passkey) is None
    assert add(wiring, cast.moderator, passkey) is None


def test_the_browser_hears_which_passkeys_there_are(wiring: Wiring, cast: Cast) -> None:
    passkey = SoftPasskey()
    add(wiring, cast.moderator, passkey)
    with wiring.database.writing() as session:
        account = accounts.get(session, cast.moderator.account_id)
        adding = json.loads(passkeys.begin_adding(session, PARTY, account).options)
        proving = json.loads(passkeys.begin_proof(session, PARTY, account).options)
        anyone = json.loads(passkeys.begin_proof(session, PARTY, None).options)
    assert len(adding["excludeCredentials"]) == len(proving["allowCredentials"]) == 1
    assert adding["attestation"] == "none"
    assert adding["authenticatorSelection"]["residentKey"] == "required"
    assert adding["authenticatorSelection"]["userVerification"] == proving["userVerification"] == "required"
    assert not anyone.get("allowCredentials")
    assert anyone["userVerification"] == "required"


def test_a_disabled_account_has_no_use_of_its_passkeys(wiring: Wiring, cast: Cast) -> None:
    passkey = SoftPasskey()
    add(wiring, cast.moderator, passkey)
    with wiring.database.writing() as session:
        session.get_one(Account, cast.moderator.account_id).disabled_at = clock.now()
    assert prove(wiring, passkey) == Proof(None, NOT_VALID)


def test_there_are_at_most_so_many(wiring: Wiring, cast: Cast) -> None:
    for _ in range(limits.PASSKEYS.number):
        assert add(wiring, cast.rater, SoftPasskey()) is not None
    with pytest.raises(Invalid, match="at most 20 passkeys"):
        add(wiring, cast.rater, SoftPasskey())


def test_passkeys_are_renamed_and_removed_by_their_owner_alone(wiring: Wiring, cast: Cast) -> None:
    passkey_id = add(wiring, cast.moderator, SoftPasskey())
    assert passkey_id is not None
    with wiring.database.writing() as session:
        owner = accounts.get(session, cast.moderator.account_id)
        other = accounts.get(session, cast.operator.account_id)
        with pytest.raises(NotFound):
            passkeys.remove(session, other, passkey_id)
        with pytest.raises(NotFound):
            passkeys.rename(session, other, passkey_id, "Mine")
        with pytest.raises(Invalid, match="blank"):
            passkeys.rename(session, owner, passkey_id, "  ")
        assert passkeys.rename(session, owner, passkey_id, "Blue key").name == "Blue key"
        second_factors.new_recovery_codes(session, owner)
        passkeys.remove(session, owner, passkey_id)
        assert second_factors.of_account(session, owner) == second_factors.Factors(0, False, 0)


json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


OPTIONS = json.dumps({"challenge": "AAAA", "user": {"id": "AAAA"}})
CREATED, PROVED = SoftPasskey().create(OPTIONS), SoftPasskey().get(OPTIONS)


@given(st.data())
def test_what_no_browser_sends_raises_nothing_unforeseen(data: st.DataObject) -> None:
    """One part of a credential is another value, or other bytes; what the library raises is what we catch."""
    creates = data.draw(st.booleans())
    answer = json.loads(CREATED if creates else PROVED)
    place = answer if data.draw(st.booleans()) else answer["response"]
    part = data.draw(st.sampled_from(sorted(place)))
    place[part] = data.draw(json_values | _altered(str(place[part])))
    try:
        if creates:
            _register(json.dumps(answer))
        else:
            _authenticate(json.dumps(answer), data.draw(st.sampled_from(KEYS)))
    except passkeys.MALFORMED:
        pass


def _altered(encoded: str) -> st.SearchStrategy[str]:
    """The same bytes with some cut out and others put in their place."""
    whole = base64url_to_bytes(encoded)

    def splice(begin: int, length: int, put: bytes) -> str:
        return bytes_to_base64url(whole[:begin] + put + whole[begin + length :])

    return st.builds(splice, st.integers(0, len(whole)), st.integers(0, 80), st.binary(max_size=80))


KEYS = (
    b"",
    b"\xa0",
    encode_cbor({1: 2, 3: -7, -1: 1, -2: b"", -3: b""}),
    encode_cbor({1: 2, 3: -7, -1: 1, -2: b"\1" * 32, -3: b"\2" * 32}),
    encode_cbor({1: 3, 3: -257, -1: b"\0", -2: b"\0"}),
    encode_cbor({1: 1, 3: -8, -1: 6, -2: b"\1" * 31}),
)


def _register(credential: str) -> None:
    webauthn.verify_registration_response(
        credential=credential,
        expected_challenge=b"\0" * 3,
        expected_rp_id=PARTY.id,
        expected_origin=PARTY.origin,
    )


def _authenticate(credential: str, key: bytes) -> None:
    webauthn.verify_authentication_response(
        credential=credential,
        expected_challenge=b"\0" * 3,
        expected_rp_id=PARTY.id,
        expected_origin=PARTY.origin,
        credential_public_key=key,
        credential_current_sign_count=0,
    )


@pytest.mark.parametrize("sent", ["", "null", "[]", "{}", "[" * 10_000, '{"id": 1}', "x" * 30_000, "\ud800"])
def test_a_credential_that_cannot_be_read_is_refused(wiring: Wiring, cast: Cast, sent: str) -> None:
    assert prove(wiring, SoftPasskey(), None, lambda _: sent) == Proof(None, NOT_VALID)
    with wiring.database.writing() as session:
        account = accounts.get(session, cast.rater.account_id)
        begun = passkeys.begin_adding(session, PARTY, account)
        assert passkeys.finish_adding(session, PARTY, account, begun.token, sent, "Key") is None


@pytest.mark.both_databases
def test_old_steps_are_removed_and_a_browser_keeps_one(wiring: Wiring, cast: Cast) -> None:
    def steps() -> int:
        with wiring.database.reading() as session:
            return session.scalar(sa.select(sa.func.count()).select_from(SignInStep)) or 0

    token = None
    for _ in range(3):
        with wiring.database.writing() as session:
            token = passkeys.begin_proof(session, PARTY, None, token).token
    assert steps() == 1
    advance(minutes=limits.PASSKEY_MINUTES)
    with wiring.database.writing() as session:
        assert sign_in_steps.find(session, token, SignInStepPurpose.PASSKEY) is None
        assert sign_in_steps.prune(session) == 1
    assert steps() == 0
