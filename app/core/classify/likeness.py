"""Which texts are alike, and which sites a text links to: marks by which an index finds them (docs/moderate/waves.md).

A long text has a MinHash of its character 5-grams. Two texts that share a band of it may be alike; the share of equal
numbers in both signatures estimates how alike they are (Jaccard index). A short text is alike only to an equal one.
Letter case, accents that are stacked, invisible characters and white space make no difference.

Source: Broder 1997, "On the resemblance and containment of documents"; Leskovec et al., "Mining of Massive
Datasets", 3.4.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rensa import RMinHash  # type: ignore[attr-defined]  # an extension module without stubs

from app.core.classify.normalise import plain_text

ALIKE = 0.45
"""Texts whose estimated Jaccard index is at least this are alike: about every fifth word differs."""
SHORT = 32
"""Shorter texts are compared as a whole."""
READ = 10_000
"""Characters of a text that are read for its signature; the whole text is read for links."""
HOSTS_MAX = 20
"""Sites of one post that are counted, in their order."""
_GRAM, _NUMBERS, _BANDS, _ROWS, _SEED = 5, 128, 8, 3, 1
_NUMBER = np.dtype("<u2")
_LINK = re.compile(
    r"\bhttps?://([^\s/?#<>\"'|\[\]()`]{1,255})|(?<![\w@.-])((?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24})(?=/)|\b(www\.[\w.-]{1,250})",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://\S+|\bwww\.\S+")
"""Left out of a long text: each post of a wave has a link of its own."""
_SECOND_LEVEL = frozenset({"ac", "co", "com", "edu", "gov", "go", "ne", "net", "or", "org"})


@dataclass(frozen=True, slots=True)
class Likeness:
    """``marks``: 64-bit numbers, one of which texts alike most likely share. ``signature``: None for a short text."""

    marks: Sequence[int]
    signature: bytes | None


NOTHING = Likeness((), None)


def likeness_of(text: str) -> Likeness:
    """The marks of a text. One without visible characters is like no other."""
    # A character can become many: U+FDFA is four words.
    plain = " ".join(plain_text(text[:READ])[:READ].split())
    if not plain:
        return NOTHING
    whole, plain = plain, " ".join(_ADDRESS.sub(" ", plain).split())
    if len(plain) < SHORT:
        return Likeness((mark("text", whole),), None)
    hashed = RMinHash(num_perm=_NUMBERS, seed=_SEED)
    hashed.update([plain[start : start + _GRAM] for start in range(len(plain) - _GRAM + 1)])
    numbers = hashed.digest()
    bands = [numbers[band * _ROWS : (band + 1) * _ROWS] for band in range(_BANDS)]
    marks = tuple(mark("band", f"{place}:{band}") for place, band in enumerate(bands))
    return Likeness(marks, (np.array(numbers, np.uint64) & 0xFFFF).astype(_NUMBER).tobytes())


def are_alike(signature: bytes | None, others: Sequence[bytes | None], least: float = ALIKE) -> list[bool]:
    """Which of these texts, found by a shared mark, are alike; short texts with the same mark are."""
    if signature is None or not others:
        return [other is None for other in others]
    known = [other is not None and len(other) == len(signature) for other in others]
    blank = b"\0" * len(signature)
    rows = [
        other if other is not None and is_known else blank
        for other, is_known in zip(others, known, strict=True)
    ]
    table = np.frombuffer(b"".join(rows), _NUMBER).reshape(len(others), -1)
    shares = (table == np.frombuffer(signature, _NUMBER)).mean(axis=1)
    return [is_known and bool(share >= least) for is_known, share in zip(known, shares.tolist(), strict=True)]


def sites_of(text: str) -> Sequence[str]:
    """The registrable domains that a text links to, each once, at most ``HOSTS_MAX``.

    Without the public suffix list: the last two labels of a host, three below such as "co.uk". An IP address is whole.
    """
    sites: dict[str, None] = {}
    for found in _LINK.finditer(text):
        site = _site_of(found[1] or found[2] or found[3])
        if site:
            sites[site] = None
            if len(sites) == HOSTS_MAX:
                break
    return tuple(sites)


def _site_of(authority: str) -> str:
    host = authority.rpartition("@")[2].partition(":")[0].lower().strip(".")
    labels = host.split(".")
    if len(labels) < 2 or not all(labels) or labels[-1].isdigit():
        return host if len(labels) == 4 and all(label.isdigit() for label in labels) else ""
    is_below_second_level = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    return ".".join(labels[-3 if is_below_second_level else -2 :])


def mark(kind: str, value: str) -> int:
    """64 bits that stand for a value of this kind, as a signed number."""
    digest = hashlib.blake2b(f"{kind}\0{value}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
