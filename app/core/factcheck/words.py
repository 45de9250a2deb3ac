"""Publishers' rating terms and what they mean."""

import re
import unicodedata
from collections.abc import Mapping

from app.core.vocabulary import ClaimRating as R

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


_APOSTROPHES = re.compile("['’ʼ]")
_WORD = re.compile(r"[^\W_]+")


def read_rating(rating_text: str) -> R | None:
    """The rating that a publisher's term means, or None when we do not know the term."""
    plain = " ".join(_WORD.findall(_folded(rating_text)))
    return _BY_WORD.get(plain)


def _folded(text: str) -> str:
    return _APOSTROPHES.sub("", unicodedata.normalize("NFKC", text)).casefold()
