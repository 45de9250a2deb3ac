"""Encryption of stored secrets: AES-256-GCM with the key from settings, bound to the row that holds the secret.

A sealed blob is ``version (1 byte) | key id (4) | nonce (12) | ciphertext and tag``. Version and key id are
authenticated together with the context, so a blob that was copied to another row, or relabelled, cannot be
decrypted. (ASVS 5.0: 11.3.2, 11.3.3, 13.3.1.)
"""

import base64
import binascii
import hashlib
import os
from collections.abc import Callable, Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_VERSION = b"\x01"
_KEY_BYTES = 32
_KEY_ID_BYTES = 4
_NONCE_BYTES = 12
_HEADER_BYTES = len(_VERSION) + _KEY_ID_BYTES
_SHORTEST = _HEADER_BYTES + _NONCE_BYTES + 16  # GCM's tag is 16 bytes, also for an empty text


class SealBroken(Exception):
    """The blob cannot be decrypted: altered, moved from another row, or sealed with a key that we do not hold.

    The message never contains any of the sealed text.
    """


class Sealer:
    """Encrypts with ``key`` (32 bytes); decrypts with it or any ``former`` key, chosen by the blob's key id.

    The nonce is random: one key may seal about four thousand million texts before a repeated nonce becomes a risk
    (NIST SP 800-38D, 8.3), far more than there are secrets here.
    """

    def __init__(
        self, key: bytes, former: Sequence[bytes] = (), find: Callable[[], Sequence[str]] | None = None
    ) -> None:
        for sealing_key in (key, *former):
            if len(sealing_key) != _KEY_BYTES:
                raise ValueError(f"a sealing key is {_KEY_BYTES} bytes, not {len(sealing_key)}")
        self._key_id = _key_id(key)
        self._ciphers = {_key_id(sealing_key): AESGCM(sealing_key) for sealing_key in (*former, key)}
        self._find = find

    @classmethod
    def from_secret(
        cls, secret: str, former: Sequence[str] = (), find: Callable[[], Sequence[str]] | None = None
    ) -> "Sealer":
        """Build a sealer from settings text: base64 of 32 bytes is the key itself, other text goes through HKDF.

        ``find`` returns more such texts; it is called when a blob names an unknown key id, because another process
        may have created a key since. Raises ValueError for an empty secret.
        """
        return cls(
            _key_from(secret), [_key_from(former_secret) for former_secret in former if former_secret], find
        )

    def __repr__(self) -> str:
        return f"Sealer(key_id={self._key_id.hex()})"

    def seal(self, text: str, context: str) -> bytes:
        """Encrypt ``text`` for ``context``, the id of the row that will hold it."""
        header = _VERSION + self._key_id
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._ciphers[self._key_id].encrypt(nonce, text.encode(), header + context.encode())
        return header + nonce + sealed

    def is_current(self, blob: bytes) -> bool:
        """Whether the current key sealed this blob."""
        return blob[:_HEADER_BYTES] == _VERSION + self._key_id

    def _found(self, key_id: bytes) -> AESGCM | None:
        """The cipher for this key id, after asking ``find`` for keys created meanwhile; None when still unknown."""
        for text in self._find() if self._find is not None else ():
            key = _key_from(text)
            self._ciphers.setdefault(_key_id(key), AESGCM(key))
        return self._ciphers.get(key_id)

    def open(self, blob: bytes, context: str) -> str:
        """Decrypt ``blob``. Raises SealBroken unless it was sealed for ``context`` with a known key."""
        if len(blob) < _SHORTEST or blob[:1] != _VERSION:
            raise SealBroken("not a sealed text")
        header, nonce = blob[:_HEADER_BYTES], blob[_HEADER_BYTES : _HEADER_BYTES + _NONCE_BYTES]
        cipher = self._ciphers.get(header[1:]) or self._found(header[1:])
        if cipher is None:
            raise SealBroken(f"sealed with another key (id {header[1:].hex()})")
        try:
            opened = cipher.decrypt(nonce, blob[_HEADER_BYTES + _NONCE_BYTES :], header + context.encode())
        except InvalidTag as error:
            raise SealBroken("altered, or sealed for another row") from error
        return opened.decode()


def backup_key(secret: str) -> bytes:
    """The key that signs backups, derived from the settings text of an encryption key."""
    derivation = HKDF(algorithm=hashes.SHA256(), length=_KEY_BYTES, salt=None, info=b"bridgenote backup 1")
    return derivation.derive(_key_from(secret))


def _key_from(secret: str) -> bytes:
    if not secret:
        raise ValueError("the sealing secret is empty")
    try:
        raw = base64.b64decode(secret.translate(str.maketrans("-_", "+/")), validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) == _KEY_BYTES:
        return raw
    # HKDF adds no strength to a short secret; settings refuse short ones outside development.
    derivation = HKDF(algorithm=hashes.SHA256(), length=_KEY_BYTES, salt=None, info=b"bridgenote sealing 1")
    return derivation.derive(secret.encode())


def _key_id(key: bytes) -> bytes:
    return hashlib.sha256(b"bridgenote sealing key id" + key).digest()[:_KEY_ID_BYTES]
