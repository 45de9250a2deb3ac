"""Secrets at rest open only whole, only in their own row, and only with their key."""

import base64
import os

import pytest

from app.core.sealing import SealBroken, Sealer

ROW = "0199d6a0-7c1e-7a3b-9c55-3f1e5f7c2a10"
OTHER_ROW = "0199d6a0-7c1e-7a3b-9c55-3f1e5f7c2a11"


@pytest.fixture
def sealer():
    return Sealer(os.urandom(32))


@pytest.mark.parametrize("text", ["whsec_abc", "", "κόσμος 🙂", "x" * 10_000])
def test_what_is_sealed_opens_in_its_row(sealer, text):
    assert sealer.open(sealer.seal(text, ROW), ROW) == text


def test_the_blob_shows_nothing_of_the_text_and_never_repeats(sealer):
    first, second = sealer.seal("a secret value", ROW), sealer.seal("a secret value", ROW)
    assert b"secret" not in first
    assert first != second


def test_a_blob_moved_to_another_row_does_not_open(sealer):
    with pytest.raises(SealBroken, match="another row"):
        sealer.open(sealer.seal("a secret value", ROW), OTHER_ROW)


def test_a_blob_altered_in_any_byte_does_not_open(sealer):
    blob = sealer.seal("a secret value", ROW)
    for position in range(len(blob)):
        altered = blob[:position] + bytes([blob[position] ^ 1]) + blob[position + 1 :]
        with pytest.raises(SealBroken):
            sealer.open(altered, ROW)


def test_a_blob_cut_short_does_not_open(sealer):
    blob = sealer.seal("a secret value", ROW)
    for length in range(len(blob)):
        with pytest.raises(SealBroken):
            sealer.open(blob[:length], ROW)


def test_another_key_is_named_as_the_cause(sealer):
    with pytest.raises(SealBroken, match="another key"):
        Sealer(os.urandom(32)).open(sealer.seal("a secret value", ROW), ROW)


def test_a_former_key_opens_what_it_sealed_and_seals_nothing_new():
    old_key, new_key = os.urandom(32), os.urandom(32)
    old, both = Sealer(old_key), Sealer(new_key, former=[old_key])
    assert both.open(old.seal("a secret value", ROW), ROW) == "a secret value"
    with pytest.raises(SealBroken):
        old.open(both.seal("a secret value", ROW), ROW)


def test_thirty_two_bytes_in_base64_are_the_key_itself():
    key = os.urandom(32)
    blob = Sealer(key).seal("a secret value", ROW)
    for written in (base64.b64encode(key), base64.urlsafe_b64encode(key)):
        assert Sealer.from_secret(written.decode()).open(blob, ROW) == "a secret value"


def test_any_other_secret_always_derives_the_same_key_of_its_own():
    blob = Sealer.from_secret("correct horse battery staple").seal("a secret value", ROW)
    assert Sealer.from_secret("correct horse battery staple").open(blob, ROW) == "a secret value"
    with pytest.raises(SealBroken):
        Sealer.from_secret("correct horse battery stapler").open(blob, ROW)


def test_no_key_and_short_keys_are_refused():
    with pytest.raises(ValueError, match="empty"):
        Sealer.from_secret("")
    with pytest.raises(ValueError, match="32 bytes"):
        Sealer(b"short")


def test_a_sealer_does_not_print_its_key():
    key = os.urandom(32)
    shown = repr(Sealer(key))
    assert key.hex() not in shown
    assert base64.b64encode(key).decode() not in shown
