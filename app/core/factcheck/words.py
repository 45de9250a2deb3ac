"""Words of fact-checking: what publishers call their findings, and whether a post makes a claim.

Matching is lexical and prefers silence to a wrong match (decision 0019): a claim counts as made when a short
stretch of the post covers enough of its words, and both sides say it the same way round.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

from app.core.vocabulary import ClaimRating as R

MATCH_AT = 0.6
"""Share of a claim's words, 0.0 to 1.0, that a post must cover."""
FEWEST_WORDS = 3
"""Fewer words in common are a coincidence, whatever their share."""
WORD_MAX = 64

_RATINGS: Mapping[R, str] = {
    R.FALSE: (
        "false|pants on fire|fake|fabricated|hoax|wrong|incorrect|inaccurate|not true|untrue|debunked|scam|altered|"
        "doctored|manipulated|four pinocchios|digitally altered|totally false"
    ),
    R.MOSTLY_FALSE: "mostly false|largely false|mainly false|barely true|mostly inaccurate|three pinocchios",
    R.MIXTURE: (
        "mixture|mixed|half true|half false|partly true|partly false|partially true|partially false|"
        "two pinocchios|true and false"
    ),
    R.MOSTLY_TRUE: "mostly true|largely true|mainly true|mostly correct|mostly accurate|one pinocchio",
    R.TRUE: "true|correct|accurate|verified|confirmed|authentic|geppetto checkmark",
    R.MISLEADING: (
        "misleading|missing context|lacks context|needs context|out of context|miscaptioned|misattributed|"
        "cherry picks|cherry picked|distorts the facts|spins the facts|exaggerated|exaggerates|deceptive"
    ),
    R.UNPROVEN: (
        "unproven|unverified|unsupported|unfounded|unsubstantiated|no evidence|lacks evidence|inconclusive|"
        "undetermined|not proven|unconfirmed"
    ),
    R.SATIRE: "satire|labeled satire|labelled satire|originated as satire|parody|joke",
    R.LEGEND: "legend|urban legend|lost legend|myth|folklore",
    R.OUTDATED: "outdated|no longer true|old news|old",
}
_BY_WORD = {written: rating for rating, words in _RATINGS.items() for written in words.split("|")}


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_COMMON = _listed(
    "the and for that this with was are were has have had from but you your they their them his her she its our "
    "will would can could been being about into over than then there these those what when who which all any more "
    "says said because also just only very some such"
)
_TURNS = _listed(
    "not no never none nobody cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt couldnt without "
    "false fake hoax myth debunked untrue wrong lie lies"
)
"""Words that turn a claim around. Who denies a claim repeats its words, and must not be told that it is false."""

_LOOK_AHEAD = 8
"""Words after a stretch that may still turn it around: "… is what they say, and it is not true"."""

_APOSTROPHES = re.compile("['’ʼ]")
_WORD = re.compile(r"[^\W_]+")


def read_rating(given: str) -> R | None:
    """The finding that a publisher's words mean, or None when we do not know them."""
    plain = " ".join(_WORD.findall(_folded(given)))
    return _BY_WORD.get(plain)


def significant(text: str) -> list[str]:
    """The words of a text that say what it is about, in their order, with those that turn it around."""
    found = _WORD.findall(_folded(text))
    kept = (word for word in found if word in _TURNS or (len(word) > 2 and word not in _COMMON))
    return [word[:WORD_MAX] for word in kept]


def index_words(claim: str) -> frozenset[str]:
    """The distinct words under which a claim is found; those that turn it around are no part of its subject."""
    return frozenset(significant(claim)) - _TURNS


def coverage(claim: str, post: Sequence[str]) -> float:
    """How much of a claim the best stretch of a post makes, 0.0 to 1.0; ``post`` are its ``significant`` words.

    A stretch is at most twice as long as the claim, so that a long post does not make every claim word by word. 0.0
    when the two are turned around differently: one of them denies what the other says.
    """
    wanted = index_words(claim)
    if not wanted:
        return 0.0
    is_turned = bool(_TURNS & set(significant(claim)))
    length = max(12, 2 * len(wanted))
    turns = list(accumulate((word in _TURNS for word in post), initial=0))
    best = 0.0
    inside: Counter[str] = Counter()
    common = 0
    for position, word in enumerate(post):
        inside[word] += 1
        common += word in wanted and inside[word] == 1
        if position >= length:
            left = post[position - length]
            inside[left] -= 1
            common -= left in wanted and inside[left] == 0
        if common / len(wanted) > best and common >= FEWEST_WORDS:
            start = max(0, position - length + 1)
            end = min(len(post), position + 1 + _LOOK_AHEAD)
            if (turns[end] > turns[start]) == is_turned:
                best = common / len(wanted)
    return best


def _folded(text: str) -> str:
    return _APOSTROPHES.sub("", unicodedata.normalize("NFKC", text)).casefold()
