"""Passwords: checked when chosen, hashed, and compared with their hash.

Those that are tried first are refused (NIST SP 800-63B, 5.1.1.2; ASVS 6.2.4). People make them of a word, a name or a
walk over the keyboard, said twice or with an ending that meets a rule. The words and names are those of a public list
(``common_words.txt.gz``). They are compared without case and with the usual signs for letters undone, so "P@ssw0rd1" is
"password" with an ending.
"""

import gzip
import re
import secrets
import unicodedata
from functools import cache
from importlib.resources import files

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy.orm import Session

from app.core import bulk, limits
from app.core.errors import Invalid
from app.core.models import Account
from app.core.texts import gettext as _

hasher = PasswordHasher()
"""Argon2id with the library's parameters (RFC 9106, low-memory); tests replace it with a cheap one."""
NO_PASSWORD = ""
"""The ``password_hash`` of an account that has no password, such as one that a provider made."""
_OURS = frozenset(
    {"bridgenote", "moderator", "rater", "fortnite", "instagram", "linkedin", "passphrase", "youtube"}
)
_WALKS = (
    "01234567890123456789",
    "09876543210987654321",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
    "poiuytrewqlkjhgfdsamnbvcxz",
    "asdfghjklqwertyuiopzxcvbnm",
    "abcdefghijklmnopqrstuvwxyz",
    "zyxwvutsrqponmlkjihgfedcba",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "qazwsxedcrfvtgbyhnujm",
    "zaq1xsw2cde3vfr4bgt5",
    "147258369147258369",
    "123qweasdzxc123",
)
_SIGNS = str.maketrans({"@": "a", "4": "a", "3": "e", "1": "i", "0": "o", "$": "s", "5": "s", "7": "t"})
_ENDING = re.compile(r"(?:[0-9]{0,4}|123456?)!{0,2}")
"""What is put behind a word to meet a rule: a year, a short count, an exclamation mark."""


def hash_password(password: str, email: str = "", field: str = "password") -> str:
    """Validate a password and return its Argon2id hash. This is slow: call it outside of transactions.

    Raises:
        Invalid: too short, too long, too common, or equal to the e-mail address.
    """
    check_password(password, email, field)
    return hasher.hash(_normalised(password))


def has_password(account: Account | None, password: str) -> bool:
    """Whether ``password`` is the account's password.

    Without an account, or for one that has none, the answer no takes the same time.
    """
    return any(_is_hash_of(account, spelling) for spelling in _spellings(password))


def renewed_hash(account: Account, password: str) -> str | None:
    """A hash of the password's normalised form, if the account's is one of another form; else None.

    The caller has just checked the password. This is slow: call it outside of transactions.
    """
    first, *others = _spellings(password)
    return hasher.hash(first[: limits.PASSWORD_MAX]) if others and not _is_hash_of(account, first) else None


def renew_hash(session: Session, account: Account, password_hash: str) -> None:
    """Store the hash from ``renewed_hash``, unless the password was changed meanwhile."""
    bulk.change(
        session,
        sa.update(Account)
        .where(Account.id == account.id, Account.password_hash == account.password_hash)
        .values(password_hash=password_hash),
    )


def _is_hash_of(account: Account | None, spelling: str) -> bool:
    password_hash = (account.password_hash if account is not None else "") or _unmatchable_hash()
    try:
        return hasher.verify(password_hash, spelling[: limits.PASSWORD_MAX])
    except (VerificationError, InvalidHashError, UnicodeEncodeError):
        return False


def check_password(password: str, email: str = "", field: str = "password") -> None:
    """Check that a password has at least 8 characters and is not a common one; no composition rules (ASVS 6.2)."""
    if _length(password) < limits.PASSWORD_MIN:
        raise Invalid.field(field, _("must have at least %(least)s characters", least=limits.PASSWORD_MIN))
    if len(_normalised(password)) > limits.PASSWORD_MAX:
        raise Invalid.field(field, _("must have at most %(most)s characters", most=limits.PASSWORD_MAX))
    limits.storable(password, field)
    if _is_common(password) or (email and _normalised(password).casefold() == _normalised(email).casefold()):
        raise Invalid.field(field, _("is too easy to guess; choose another"))


@cache
def _unmatchable_hash() -> str:
    """A hash that no password matches, so that an unknown address takes as long as a wrong password."""
    return hasher.hash(secrets.token_urlsafe(16))


def _normalised(password: str) -> str:
    """The form that is hashed (NFKC): keyboards send the same letters in different forms (NIST SP 800-63B)."""
    return unicodedata.normalize("NFKC", password)


def _spellings(password: str) -> tuple[str, ...]:
    """The forms that a stored hash may be of, the normalised one first. Earlier versions hashed what was sent."""
    return tuple(dict.fromkeys((_normalised(password), password, unicodedata.normalize("NFD", password))))


def _length(password: str) -> int:
    """How many characters it has: an accent is none of its own, and a ligature is one."""
    return min(len(_normalised(password)), len(unicodedata.normalize("NFC", password)))


def _is_common(password: str) -> bool:
    """Whether it is among those that are tried first, in whatever case and with signs for letters."""
    folded = _normalised(password).casefold()
    return len(set(folded)) <= 2 or any(
        _is_known(folded[begin:end]) and _ENDING.fullmatch(folded[end:])
        for begin in ((0, 3) if folded.startswith("123") else (0,))
        for end in range(max(begin + 1, len(folded) - 8), len(folded) + 1)
    )


def _is_known(stem: str) -> bool:
    half = stem[: len(stem) // 2]
    if half and half + half == stem:
        stem = half
    return (
        stem in _words()
        or stem.translate(_SIGNS) in _words()
        or (len(stem) >= 3 and any(stem in walk for walk in _WALKS))
    )


@cache
def _words() -> frozenset[str]:
    packed = (files("app.core.people") / "common_words.txt.gz").read_bytes()
    return _OURS | frozenset(gzip.decompress(packed).decode().split())
