"""Passwords that are tried first, refused when somebody chooses one (NIST SP 800-63B, 5.1.1.2; ASVS 6.2.4).

People make them of a word, a name or a walk over the keyboard, said twice or with an ending that meets a rule. The
words and names are those of a public list (``common_words.txt.gz``). They are compared without case and with the usual
signs for letters undone, so "P@ssw0rd1" is "password" with an ending.
"""

import gzip
import re
import unicodedata
from functools import cache
from importlib.resources import files

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


def normalised(password: str) -> str:
    """The form that is hashed (NFKC): keyboards send the same letters in different forms (NIST SP 800-63B)."""
    return unicodedata.normalize("NFKC", password)


def spellings(password: str) -> tuple[str, ...]:
    """The forms that a stored hash may be of, the normalised one first. Earlier versions hashed what was sent."""
    return tuple(dict.fromkeys((normalised(password), password, unicodedata.normalize("NFD", password))))


def length(password: str) -> int:
    """How many characters it has: an accent is none of its own, and a ligature is one."""
    return min(len(normalised(password)), len(unicodedata.normalize("NFC", password)))


def is_common(password: str) -> bool:
    """Whether it is among those that are tried first, in whatever case and with signs for letters."""
    folded = normalised(password).casefold()
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
