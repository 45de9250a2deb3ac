"""What a disguised token stands for: ``fo11ow``, ``kiiiill``, ``killyourself``, ``FreeMoney``.

Disguises are ambiguous (``fo11ow`` or ``foiiow``? ``MP3`` or ``mpe``?), so a token becomes another word only if the
`Vocabulary` has it; a Russian word, a product number or a name stays as written. The readings tried for each token
are capped, so that the time is linear.

Source: UTS 39 (confusables).
"""

import itertools
import re
import unicodedata
from collections.abc import Iterable

from app.core.classify.lookalikes import LEET, LOOKALIKES
from app.core.classify.vocabulary import Vocabulary

TOKEN_MAX = 40
"""Characters of a token that may be a single disguised word."""
READINGS_MAX = 32
"""Readings tried for one token."""
MISSPELT_MAX = 16
"""Letters of a token that may be a misspelt word."""
JOINED_MAX = 200
"""Letters of a token that may be several words written together."""

Characters = list[tuple[str, int, int]]
"""The letters of a new reading, each with the span of the old text that it comes from."""

# A letter three times or more: the key was held down.
HELD_LETTER = re.compile(r"([^\W\d_])\1{2,}")
# What plain words in English do not have: such a token may be disguised.
ODD_LETTER = re.compile(r"[0-9@$!]|[^\x00-\x7f]|([^\W\d_])\1\1")


def _unaccented(word: str) -> str:
    """The word without accents, with the same number of characters."""
    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in word)


def _same_length_readings(token: str) -> Iterable[str]:
    """Possible meanings of the token, of the same length, the more likely first; at most a few dozen."""
    latin = token.translate(LOOKALIKES)
    if not latin.isascii():
        latin = _unaccented(latin)
    yield latin
    signs = [(n, LEET[sign]) for n, sign in enumerate(latin) if sign in LEET]
    if not signs or not any(map(str.isalpha, latin)):
        return
    for letters in itertools.product(*(choice for _, choice in signs)):
        reading = list(latin)
        for (n, _), letter in zip(signs, letters, strict=True):
            reading[n] = letter
        yield "".join(reading)


def _with_repeats_shortened(word: str) -> Iterable[Characters]:
    """The word with each repeated letter (three or more times) written twice or once; twice everywhere comes first."""
    runs = [(m.start(), m.end()) for m in HELD_LETTER.finditer(word)]
    for kept in itertools.product((2, 1), repeat=min(len(runs), 5)):
        characters: Characters = []
        at = 0
        for n, (start, end) in enumerate(runs):
            keep = kept[n] if n < len(kept) else 2
            characters.extend((word[i], i, i + 1) for i in range(at, start))
            characters.extend((word[start], start + i, start + i + 1) for i in range(keep - 1))
            characters.append((word[start], start + keep - 1, end))
            at = end
        characters.extend((word[i], i, i + 1) for i in range(at, len(word)))
        yield characters


def _text_of(characters: Characters) -> str:
    return "".join(character for character, _, _ in characters)


def _in_latin_if_mixed(token: str) -> str:
    """Replace lookalikes by Latin letters in a token that also has Latin letters: no language mixes the two."""
    if any(letter in "abcdefghijklmnopqrstuvwxyz" for letter in token):
        return token.translate(LOOKALIKES)
    return token


_NEVER_CHANGED = frozenset({"www"})


def meaning_of(token: str, vocabulary: Vocabulary) -> Characters | None:
    """The token as a person reads it, with spans within the token; None when it should stay as written."""
    if token in _NEVER_CHANGED or token in vocabulary:
        return None
    if len(token) == 1 and not token.isascii() and vocabulary.shipped is not None:
        # "á complete waste": a letter with an accent alone is a word in few languages.
        bare = _unaccented(token)
        return [(bare, 0, 1)] if bare.isascii() and bare.isalpha() else None
    latin = token
    if ODD_LETTER.search(token):
        if len(token) <= TOKEN_MAX and vocabulary.longest:
            readings = (
                shortened
                for reading in _same_length_readings(token)
                for shortened in _with_repeats_shortened(reading)
            )
            tried = list(itertools.islice(readings, READINGS_MAX))
            for among in (vocabulary.words, vocabulary):  # What rules look for goes before other words.
                for characters in tried:
                    if _text_of(characters) in among:
                        return characters
            # Those with a letter held down, once before twice: other signs are part of too many names.
            if vocabulary.shipped is not None and token.isalpha() and HELD_LETTER.search(token):
                word = vocabulary.with_letters_once(token)
                if word is not None:
                    return [(letter, 0, len(token)) for letter in word]
                for characters in reversed(tried):
                    if vocabulary.knows(_text_of(characters)):
                        return characters
        latin = _in_latin_if_mixed(token)
    if not vocabulary.is_usual(token):
        latin = latin if latin.isascii() else _unaccented(latin)
        meant = _meaning_of_unknown(latin, vocabulary) if latin.isascii() and latin.isalpha() else None
        if meant is not None:
            return meant
    characters = next(iter(_with_repeats_shortened(_in_latin_if_mixed(token))))
    return None if _text_of(characters) == token else characters


def _meaning_of_unknown(token: str, vocabulary: Vocabulary) -> Characters | None:
    """What a token of Latin letters stands for once its accents are gone; None where nothing fits.

    A known word is itself. Otherwise its letters are doubled, it is misspelt, or it is several words joined.
    """
    if vocabulary.knows(token):
        return [(letter, n, n + 1) for n, letter in enumerate(token)]
    if 2 <= len(token) <= TOKEN_MAX:
        word = vocabulary.with_letters_once(token)
        if word is None and 3 <= len(token) <= MISSPELT_MAX:
            word = vocabulary.misspelt(token)
        if word is not None:
            return [(letter, 0, len(token)) for letter in word]
    words = vocabulary.joined(token) if 6 <= len(token) <= JOINED_MAX else None
    return _parted(token, words) if words is not None else None


def _parted(token: str, words: Iterable[str]) -> Characters:
    """The token with spaces between these words, which it consists of."""
    characters: Characters = []
    at = 0
    for word in words:
        if at:
            characters.append((" ", at - 1, at))
        characters.extend((token[n], n, n + 1) for n in range(at, at + len(word)))
        at += len(word)
    return characters


_CASE_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def camel_case_words(token: str, written: str, vocabulary: Vocabulary) -> Characters | None:
    """The words of a token that is ``written`` as ``OneWordThatIsSeveral``; None if it is not or one is unknown."""
    words = _CASE_CHANGE.split(written) if len(written) == len(token) and not written.islower() else []
    if len(words) < 2 or not all(vocabulary.knows(word.lower()) for word in words):
        return None
    return _parted(token, words)
