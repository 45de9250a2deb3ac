"""The signature at the end of a backup: an HMAC of all before it, with a key derived from the encryption key.

Without it, anybody who can write into the folder of backups could have a restore put their database in place of ours.
SQLite, ``pg_restore`` and ``tar`` pass over it: they read a file only as far as its content says.
"""

import hashlib
import hmac
from collections.abc import Iterable
from pathlib import Path

from app.core import sealing
from app.core.errors import Invalid

_MARK = b"\nbridgenote backup hmac-sha256 1\n"
_LENGTH = len(_MARK) + hashlib.sha256().digest_size
_CHUNK = 1024 * 1024


def sign(path: Path, secret: str) -> None:
    """Add the signature with the key of this encryption key's text."""
    (digest,) = _digests(path, path.stat().st_size, [secret])
    with path.open("ab") as file:
        file.write(_MARK + digest)


def check(path: Path, secrets: Iterable[str]) -> None:
    """Raise Invalid unless one of these encryption keys signed the file, and nothing changed since."""
    size = content_size(path)
    with path.open("rb") as file:
        file.seek(size)
        signature = file.read()
    if not signature:
        raise Invalid.field("file", f"has no signature: it was cut off or made by an older version. {_GO_ON}")
    written = signature.removeprefix(_MARK)
    if not any(hmac.compare_digest(written, digest) for digest in _digests(path, size, secrets)):
        raise Invalid.field(
            "file", f"was changed, or not signed with this encryption key: set the key of its time. {_GO_ON}"
        )


_GO_ON = "If you know where it comes from, --unsigned goes on"


def content_size(path: Path) -> int:
    """How many bytes of a backup come before its signature: all, if it has none."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - _LENGTH))
        return size - _LENGTH if file.read(len(_MARK)) == _MARK else size


def _digests(path: Path, size: int, secrets: Iterable[str]) -> list[bytes]:
    """The HMAC of the first ``size`` bytes with each key."""
    macs = [hmac.new(sealing.backup_key(secret), digestmod=hashlib.sha256) for secret in secrets]
    left = size
    with path.open("rb") as file:
        while left and (part := file.read(min(left, _CHUNK))):
            left -= len(part)
            for mac in macs:
                mac.update(part)
    return [mac.digest() for mac in macs]
