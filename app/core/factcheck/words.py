"""Words of fact-checking: publishers' rating terms, and whether a post makes a claim.

Matching is lexical and prefers no match to a wrong match (decision 0019): a post makes a claim when a short window
of the post covers enough of the claim's words, and both or neither are negated.
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
"""Fewer common words are a coincidence, whatever their share."""
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
_NEGATIONS = _listed(
    "not no never none nobody cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt couldnt without "
    "false fake hoax myth debunked untrue wrong lie lies"
)
"""Words that negate a claim. A post that denies a claim repeats its words, and must not be marked as false."""

_LOOK_AHEAD = 8
"""Words after the window that may still negate it: "… is what they say, and it is not true"."""

_APOSTROPHES = re.compile("['’ʼ]")
_WORD = re.compile(r"[^\W_]+")


def read_rating(rating_text: str) -> R | None:
    """The rating that a publisher's term means, or None when we do not know the term."""
    plain = " ".join(_WORD.findall(_folded(rating_text)))
    return _BY_WORD.get(plain)


def significant(text: str) -> list[str]:
    """The words of a text that say what it is about, in order, including negations."""
    all_words = _WORD.findall(_folded(text))
    kept = (word for word in all_words if word in _NEGATIONS or (len(word) > 2 and word not in _COMMON))
    return [word[:WORD_MAX] for word in kept]


def index_words(claim: str) -> frozenset[str]:
    """The distinct words by which a claim is indexed; negations are not part of its subject."""
    return frozenset(significant(claim)) - _NEGATIONS


def coverage(claim: str, post: Sequence[str]) -> float:
    """The largest share of a claim's words in one window of a post, 0.0 to 1.0.

    ``post`` are the post's ``significant`` words.

    A window is at most twice as long as the claim, so that a long post does not match every claim by chance. 0.0
    when only one of the two is negated: it denies what the other says.
    """
    claim_words = index_words(claim)
    if not claim_words:
        return 0.0
    is_negated = bool(_NEGATIONS & set(significant(claim)))
    length = max(12, 2 * len(claim_words))
    negations = list(accumulate((word in _NEGATIONS for word in post), initial=0))
    best = 0.0
    inside: Counter[str] = Counter()
    common = 0
    for position, word in enumerate(post):
        inside[word] += 1
        common += word in claim_words and inside[word] == 1
        if position >= length:
            dropped = post[position - length]
            inside[dropped] -= 1
            common -= dropped in claim_words and inside[dropped] == 0
        if common / len(claim_words) > best and common >= FEWEST_WORDS:
            start = max(0, position - length + 1)
            end = min(len(post), position + 1 + _LOOK_AHEAD)
            if (negations[end] > negations[start]) == is_negated:
                best = common / len(claim_words)
    return best


def _folded(text: str) -> str:
    return _APOSTROPHES.sub("", unicodedata.normalize("NFKC", text)).casefold()
