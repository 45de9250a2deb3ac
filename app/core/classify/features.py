"""Turns a text into the numbers that the learned models read: hashed words and pieces of words.

A text becomes a sparse vector of 2^18 buckets with two blocks, each of length 1: its words and pairs of neighbouring
words, and the pieces of 3 to 5 characters within its words. The bucket is a CRC-32 of the word, the pair or the piece,
so it is the same in every process and no list of words is stored. Names of groups of people become one token
(``packs/groups.toml``), so that no model can learn to distrust one group; addresses, links and numbers become
their shape.

Everything here is pure and its time is linear in the text.
"""

import math
import re
import tomllib
import zlib
from array import array
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from importlib import resources
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from app.core.classify.normalise import LOOKALIKES
from app.core.classify.reading import Seen, see
from app.core.classify.rulepack import shared_vocabulary

FEATURES_VERSION = 3
"""Increase it with any change that could change the vector of a text: weights only fit vectors of one version."""

BUCKETS = 1 << 18
MAX_CHARS = 50_000
"""The characters of a text that are read, in code points; the rest is ignored."""
CHUNK = 2_000
OVERLAP = 200

Vector = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Buckets in increasing order, each once, and their values."""

GROUP, LINK, MAIL, USER, NUMBER, SHOUT = "xgroupx", "xlinkx", "xmailx", "xuserx", "xnumberx", "xshoutx"
_WHOLE = frozenset({GROUP, LINK, MAIL, USER, NUMBER, SHOUT})
WORD_MAX = 40
_PIECES = (3, 4, 5)

_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_LINK = re.compile(
    r"(?:https?://|www\.)\S+|\b[\w-]+\.(?:com|net|org|info|biz|ru|cn|co|io|ly|xyz|top|de|uk)\b(?:/\S*)?"
)
_USER = re.compile(r"(?<!\w)@\w+|\bu/\w+")
# Seven or more digits, perhaps grouped: telephone numbers, cards, accounts.
_NUMBER = re.compile(r"(?<!\w)[+(]{0,2}\d(?:[ ().-]{0,2}\d){6,30}(?!\w)")
_SPACED = re.compile(r"(?<!\w)[^\W\d_](?:([ .\-_*])[^\W\d_])(?:\1[^\W\d_]){1,30}(?!\w)")
_MIXED = re.compile(r"(?<![a-z0-9])[a-z]++(?:[@$!013457]{1,3}[a-z]++)+")
_LEET = str.maketrans("013457@$!", "oieastasi")
# Groups that people name with several words, none of which names a group alone.
_PHRASE = re.compile(
    r"\b(?:(?:people|persons?|women|men|woman|man) (?:of colou?r|(?:with|who have) (?:a |an )?disabilit(?:y|ies))"
    r"|(?:old|older|young|younger) (?:people|persons?|women|men|woman|man)|wheelchair users?)\b"
)
_TOKEN = re.compile(r"[^\W_]+(?:['*]+[^\W_]+)*|[^\w\s]+|_+")
_REPEATED = re.compile(r"(.)\1{2,}")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")


def vectorise(text: str) -> Vector:
    """The vector of one text, as (buckets, values): see the top of this module. Empty for a text without words.

    Only the first `MAX_CHARS` characters count. A model scores a long text by its `chunks`: in one vector of the
    whole, a short attack is lost among the rest.
    """
    return vector_of(_tokens(text[:MAX_CHARS]))


def vectors_of(text: str) -> list[Vector]:
    """The vectors of a text's `chunks`, as they are written and, where it differs, with disguises undone."""
    vectors = []
    for chunk in chunks(text):
        vectors.append(vectorise(chunk))
        seen = see(chunk)
        undisguised = seen.undisguised(shared_vocabulary())
        if undisguised is not seen.plain:
            vectors.append(vector_of(tokens_of(undisguised.text)))
    return vectors


def vector_of(tokens: Sequence[str]) -> Vector:
    """The vector of a text that is already in `tokens_of`."""
    words, pieces = buckets_of(tokens)
    found = sorted(words | pieces)
    of_word, of_piece = share(words), share(pieces)
    of_both = of_word + of_piece
    # For some hundred numbers this takes half as long as numpy's ways.
    values = [
        of_piece if bucket not in words else of_both if bucket in pieces else of_word for bucket in found
    ]
    return np.array(found, np.int64), np.array(values, np.float64)


def buckets_of(tokens: Sequence[str]) -> tuple[set[int], set[int]]:
    """The buckets of the words and pairs of words, and those of the pieces of words."""
    words = set(map(bucket_of, _word_names(tokens)))
    pieces: set[int] = set()
    for token in set(tokens):
        pieces.update(piece_buckets(token))
    return words, pieces


def named_features(text: str) -> dict[int, str]:
    """By bucket of `vectorise(text)`, the words or the piece of a word behind it, as a person may read it.

    Names come from this text alone. Where several share a bucket, words win over pieces and the first wins. Pairs
    read "word word"; pieces of words begin or end with "·" where the word goes on.
    """
    names: dict[int, str] = {}
    tokens = _tokens(text[:MAX_CHARS])
    for name in _word_names(tokens):
        bucket = bucket_of(name)
        if bucket not in names:
            names[bucket] = _SHOWN.sub(lambda token: _NAMES[token[0]], name[2:])
    for token in dict.fromkeys(tokens):
        for piece in _pieces(token):
            bucket = bucket_of(piece)
            if bucket not in names:
                shown = ("" if piece[0] == " " else "·") + piece.strip() + ("" if piece[-1] == " " else "·")
                names[bucket] = shown
    return names


_NAMES = {
    GROUP: "[a group]",
    LINK: "[a link]",
    MAIL: "[an address]",
    USER: "[a user]",
    NUMBER: "[a number]",
    SHOUT: "[capitals]",
}
_SHOWN = re.compile("|".join(_NAMES))


def chunks(text: str) -> list[str]:
    """The text itself, or overlapping parts of a long one: at most 28 of `CHUNK` characters, cut at white space."""
    text = text[:MAX_CHARS]
    if len(text) <= CHUNK:
        return [text]
    parts = []
    start = 0
    while start < len(text):
        end = start + CHUNK
        if end < len(text):
            cut = max(text.rfind(" ", end - OVERLAP // 2, end), text.rfind("\n", end - OVERLAP // 2, end))
            end = cut if cut > 0 else end
        parts.append(text[start:end])
        if end >= len(text):
            break
        start = end - OVERLAP
    return parts


def bucket_of(name: str) -> int:
    return zlib.crc32(name.encode()) % BUCKETS


def share(buckets: Collection[int]) -> float:
    """What each bucket of a block counts, so that the block has length one."""
    return 1.0 / math.sqrt(max(1, len(buckets)))


def is_shouted(text: str) -> bool:
    """Whether a text of some length is in capitals for the most part."""
    letters = _LETTER.findall(text)
    return len(letters) >= 12 and sum(map(str.isupper, letters)) > 0.6 * len(letters)


def _tokens(text: str) -> list[str]:
    seen = see(text)
    tokens = tokens_of(seen.plain.text)
    return [*tokens, SHOUT] if tokens and is_shouted(seen.shown.text) else tokens


def sentences_of(seen: Seen, slices: Sequence[str]) -> list[list[str]]:
    """The tokens of each sentence of a post, from its `Seen.slices`; a shouted sentence ends with `SHOUT`."""
    sentences = []
    for text, (start, end) in zip(slices, seen.sentences, strict=True):
        tokens = tokens_of(text)
        if tokens and is_shouted(seen.shown.text[start:end]):
            tokens.append(SHOUT)
        sentences.append(tokens)
    return sentences


def tokens_of(plain: str) -> list[str]:
    """The words and signs of a plain reading; addresses, links, numbers and groups are one token each."""
    if "@" in plain:
        plain = _USER.sub(f" {USER} ", _MAIL.sub(f" {MAIL} ", plain))
    if "." in plain:
        plain = _LINK.sub(f" {LINK} ", plain)
    plain = _PHRASE.sub(GROUP, plain)
    plain = _NUMBER.sub(f" {NUMBER} ", plain)
    plain = _SPACED.sub(lambda run: run[0][::2], plain)
    plain = _MIXED.sub(lambda word: word[0].translate(_LEET), plain)
    plain = _DIGIT.sub("0", _REPEATED.sub(r"\1\1", plain))
    tokens: list[str] = []
    after_group = False
    for match in _TOKEN.finditer(plain):
        word = match[0][:WORD_MAX]
        if not word.isascii():
            latin = word.translate(LOOKALIKES)
            # No language mixes Latin letters with their lookalikes in one word.
            word = latin if latin.isascii() else word
        is_group = word in IDENTITIES or word == GROUP or (word.endswith("'s") and word[:-2] in IDENTITIES)
        if after_group and (is_group or word in PEOPLE or word == "-"):
            continue
        tokens.append(GROUP if is_group else word)
        after_group = is_group
    return tokens


def _word_names(tokens: Sequence[str]) -> Iterator[str]:
    for token in tokens:
        yield f"w {token}"
    for first, second in pairwise(tokens):
        yield f"b {first} {second}"


def _pieces(token: str) -> Iterator[str]:
    if token in _WHOLE:
        return
    padded = f" {token} "
    for size in _PIECES:
        for start in range(len(padded) - size + 1):
            yield padded[start : start + size]


@lru_cache(maxsize=4096)
def piece_buckets(token: str) -> "array[int]":
    """The buckets of the pieces of a token, each once."""
    return array("I", set(map(bucket_of, _pieces(token))))


_GROUPS = tomllib.loads(
    resources.files("app.core.classify").joinpath("packs", "groups.toml").read_text(encoding="utf-8")
)
IDENTITIES: frozenset[str] = frozenset(_GROUPS["identities"].casefold().split())
"""Neutral names of groups of people, casefolded, in English and German."""
PEOPLE: frozenset[str] = frozenset(_GROUPS["people"].casefold().split())
"""Words that add nothing after a name of a group."""
