"""Publishers' ratings in more forms than ``words`` knows: other languages, terms with reasons, numbers of a scale.

What a term means is decided carefully: a rating that we do not know stays unknown, and the publisher's words are kept.
"""

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from app.core.factcheck import words
from app.core.vocabulary import ClaimRating as R

_OTHER_LANGUAGES: Mapping[R, str] = {
    R.FALSE: (
        "falsch|frei erfunden|fälschung|unwahr|faux|infox|intox|falso|bulo|mentira|boato|fake news|bufala|onwaar|"
        "fałsz|fałszywe|nieprawda|falsk|feil|yanlış|salah|hoaks|ложь|неправда|фейк|хибно|"
        "خطأ|زائف|كاذب|झूठ|असत्य|फ़र्ज़ी|फर्जी|虚假|虛假|谣言|錯誤|错误|誤り|거짓|사실 아님|ψευδές|เท็จ|ข่าวปลอม"
    ),
    R.MOSTLY_FALSE: (
        "größtenteils falsch|überwiegend falsch|weitgehend falsch|plutôt faux|en grande partie faux|"
        "mayormente falso|mayoritariamente falso|in gran parte falso|maiormente falso|grotendeels onwaar|"
        "w większości fałsz|大部分錯誤|ほぼ誤り|대체로 거짓"
    ),
    R.MIXTURE: (
        "teilweise falsch|teils falsch|teilweise wahr|halbwahr|partiellement faux|partiellement vrai|mi vrai mi faux|"
        "parcialmente falso|parcialmente cierto|verdad a medias|parzialmente falso|deels onwaar|deels waar|"
        "częściowy fałsz|部分錯誤|部分错误|半真半假|절반의 사실"
    ),
    R.MOSTLY_TRUE: (
        "größtenteils richtig|größtenteils wahr|weitgehend richtig|plutôt vrai|mayormente cierto|"
        "mayoritariamente cierto|in gran parte vero|maiormente verdadeiro|grotendeels waar|대체로 사실"
    ),
    R.TRUE: (
        "wahr|richtig|stimmt|vrai|cierto|verdadero|verdad|vero|verdadeiro|waar|prawda|sant|doğru|benar|правда|صحيح|"
        "सच|सत्य|真实|真實|正确|正確|正しい|사실|αληθές|จริง"
    ),
    R.MISLEADING: (
        "irreführend|fehlender kontext|trompeur|hors contexte|manque de contexte|engañoso|fuera de contexto|"
        "fuorviante|manca contesto|enganoso|fora de contexto|sem contexto|misleidend|manipulacja|wprowadza w błąd|"
        "misvisende|vilseledande|yanıltıcı|menyesatkan|вводит в заблуждение|مضلل|भ्रामक|误导|誤導|ミスリード"
    ),
    R.UNPROVEN: (
        "unbelegt|unbewiesen|keine belege|non prouvé|sans preuve|sin pruebas|no verificado|non verificato|"
        "sem provas|insustentável|onbewezen|nieweryfikowalne|kanıtsız|не доказано|根拠不明"
    ),
    R.SATIRE: "parodie|sátira|satira|satyra|hiciv|сатира|سخرية|व्यंग्य|讽刺|諷刺",
    R.LEGEND: "mythos|moderne sage|légende urbaine|leyenda urbana|leggenda metropolitana|mito|lenda urbana",
    R.OUTDATED: "veraltet|überholt|périmé|obsolète|desactualizado|obsoleto|superato|verouderd|nieaktualne",
}
_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0e31-\u0e4e]+[^\W_]*)*")
_REASONS = re.compile(r"\s*[.:;(–—!?\n]|\s+-\s+")
_NEEDS_ALL_WORDS = frozenset({R.TRUE, R.MOSTLY_TRUE})
_NUMBER = re.compile(r"\s*([+-]?\d{1,9}(?:[.,]\d{1,9})?)\s*")


def _plain(term: str) -> str:
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", term).casefold()))


_BY_TERM = {_plain(term): rating for rating, terms in _OTHER_LANGUAGES.items() for term in terms.split("|")}


def by_words(term: str) -> R | None:
    """What a publisher's term means, or None. Reasons after it are passed over: "False. The photo is from 2015"."""
    known = _known(term)
    if known is not None:
        return known
    first = _REASONS.split(term.strip(), maxsplit=1)[0]
    meaning = _known(first) if first and first != term.strip() else None
    # "True. But it leaves out why": what follows may take back what a good rating says.
    return None if meaning in _NEEDS_ALL_WORDS else meaning


def _known(term: str) -> R | None:
    known = words.read_rating(term)
    return known if known is not None else _BY_TERM.get(_plain(term))


def by_number(value: Any, worst: Any = None, best: Any = None) -> R | None:
    """What a number of a scale means, or None when it means nothing.

    As in schema.org, a scale without ends goes from 1 (false) to 5 (true). Some publishers send -1 or 0 for all three
    numbers: then there is no scale.
    """
    number, low, high = _number(value), _number(worst, 1.0), _number(best, 5.0)
    if number is None or low is None or high is None or low == high:
        return None
    share = (number - low) / (high - low)
    if not -0.001 <= share <= 1.001:
        return None
    for end, rating in (
        (0.125, R.FALSE),
        (0.375, R.MOSTLY_FALSE),
        (0.625, R.MIXTURE),
        (0.875, R.MOSTLY_TRUE),
    ):
        if share < end:
            return rating
    return R.TRUE


def _number(value: Any, missing: float | None = None) -> float | None:
    if value is None or value == "":
        return missing
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        # A JSON number may have thousands of digits.
        return float(value) if abs(value) < 1e9 and math.isfinite(value) else None
    found = _NUMBER.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    return float(found[1].replace(",", ".")) if found else None
