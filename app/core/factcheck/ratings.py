"""What publishers' ratings mean: terms in English and other languages, terms with reasons, numbers of a scale.

What a term means is decided carefully: a rating that we do not know stays unknown, and the publisher's words are kept.
"""

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from app.core.vocabulary import ClaimRating as R

_ENGLISH: Mapping[R, str] = {
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
_BY_WORD = {written: rating for rating, words in _ENGLISH.items() for written in words.split("|")}
_OTHER_LANGUAGES: Mapping[R, str] = {
    R.FALSE: (
        "falsch|frei erfunden|erfunden|fälschung|gefälscht|falschmeldung|unwahr|unzutreffend|manipuliert|lüge|"
        "faux|fausse|c’est faux|infox|intox|mensonge|erroné|inexact|falso|falsa|es falso|bulo|mentira|incorrecto|"
        "erróneo|manipulado|alterado|é falso|boato|fake news|errado|incorreto|bufala|notizia falsa|errato|sbagliato|"
        "inventato|onwaar|fałsz|fałszywe|fałszywy|fałszywa|nieprawda|fejk|zmyślone|falsk|feil|"
        "yanlış|yalan|sahte|uydurma|doğru değil|salah|hoaks|palsu|bohong|keliru|tidak benar|"
        "ложь|неправда|фейк|хибно|خطأ|خاطئ|زائف|زائفة|كاذب|كذب|غير صحيح|مزيف|مفبرك|ملفق|"
        "झूठ|झूठा|झूठी|असत्य|ग़लत|गलत|फ़र्ज़ी|फर्जी|फ़ेक|फेक|"
        "假|假的|假消息|假新闻|假新聞|虚假|虛假|不实|不實|谣言|謠言|錯誤|错误|不正确|不正確|伪造|偽造|捏造|"
        "誤り|偽|虚偽|偽情報|誤情報|嘘|ウソ|デマ|거짓|거짓말|허위|가짜|가짜뉴스|가짜 뉴스|"
        "사실 아님|사실이 아님|전혀 사실 아님|ψευδές|เท็จ|ข่าวปลอม"
    ),
    R.MOSTLY_FALSE: (
        "größtenteils falsch|überwiegend falsch|weitgehend falsch|plutôt faux|en grande partie faux|"
        "mayormente falso|mayoritariamente falso|in gran parte falso|maiormente falso|grotendeels onwaar|"
        "w większości fałsz|çoğunlukla yanlış|sebagian besar salah|大部分錯誤|大部分错误|ほぼ誤り|대체로 거짓|"
        "대체로 사실 아님"
    ),
    R.MIXTURE: (
        "teilweise falsch|teils falsch|teilweise wahr|teilweise richtig|teils richtig|halbwahr|halb wahr|"
        "partiellement faux|partiellement vrai|mi vrai mi faux|parcialmente falso|parcialmente cierto|"
        "parcialmente verdadero|verdad a medias|parcialmente verdadeiro|meia verdade|parzialmente falso|"
        "parzialmente vero|mezza verità|deels onwaar|deels waar|częściowy fałsz|częściowo fałsz|częściowo prawda|"
        "półprawda|kısmen doğru|kısmen yanlış|karma|sebagian benar|sebagian salah|setengah benar|"
        "نصف حقيقة|صحيح جزئيا|صحيح جزئيًا|خطأ جزئيا|زائف جزئيا|زائف جزئيًا|अर्धसत्य|आधा सच|आंशिक सत्य|"
        "部分錯誤|部分错误|部分真实|部分真實|部分属实|部分屬實|半真半假|一部誤り|절반의 사실|일부 사실"
    ),
    R.MOSTLY_TRUE: (
        "größtenteils richtig|größtenteils wahr|weitgehend richtig|plutôt vrai|mayormente cierto|"
        "mayoritariamente cierto|in gran parte vero|maiormente verdadeiro|verdadeiro mas|grotendeels waar|"
        "w większości prawda|çoğunlukla doğru|sebagian besar benar|大部分正確|大部分正确|大部分真实|ほぼ正確|"
        "대체로 사실"
    ),
    R.TRUE: (
        "wahr|richtig|stimmt|korrekt|zutreffend|vrai|vraie|exact|authentique|cierto|cierta|verdadero|verdadera|"
        "verdad|correcto|vero|vera|corretto|verdadeiro|verdadeira|verdade|correto|fato|comprovado|waar|"
        "prawda|prawdziwe|prawdziwy|sant|doğru|gerçek|benar|fakta|правда|صحيح|صحيحة|حقيقي|حقيقة|"
        "सच|सत्य|सही|真|真的|真实|真實|属实|屬實|正确|正確|正しい|真実|事実|本当|사실|진실|참|αληθές|จริง"
    ),
    R.MISLEADING: (
        "irreführend|fehlender kontext|aus dem kontext gerissen|übertrieben|trompeur|trompeuse|hors contexte|"
        "manque de contexte|exagéré|engañoso|engañosa|fuera de contexto|sacado de contexto|descontextualizado|"
        "fuorviante|ingannevole|manca contesto|fuori contesto|enganoso|enganosa|fora de contexto|sem contexto|"
        "distorcido|exagerado|misleidend|manipulacja|wprowadza w błąd|wprowadzające w błąd|misvisende|vilseledande|"
        "yanıltıcı|çarpıtma|bağlamından koparılmış|menyesatkan|di luar konteks|вводит в заблуждение|"
        "مضلل|مضللة|خارج السياق|भ्रामक|误导|誤導|误导性|誤導性|断章取义|斷章取義|"
        "ミスリード|ミスリーディング|誤解を招く|오해의 소지|왜곡"
    ),
    R.UNPROVEN: (
        "unbelegt|nicht belegt|unbewiesen|unbestätigt|keine belege|non prouvé|non vérifié|invérifiable|infondé|"
        "sans preuve|sin pruebas|sin evidencia|no verificado|no comprobado|infundado|non verificato|non provato|"
        "senza prove|infondato|sem provas|não comprovado|não verificado|insustentável|infundado|onbewezen|"
        "nieweryfikowalne|niezweryfikowane|niepotwierdzone|brak dowodów|kanıtsız|asılsız|doğrulanmamış|"
        "belum terbukti|tidak terbukti|belum terverifikasi|не доказано|غير مؤكد|غير مثبت|अप्रमाणित|अपुष्ट|"
        "存疑|未证实|未證實|证据不足|證據不足|无法证实|無法證實|根拠不明|根拠なし|判定留保|"
        "판단 유보|근거 없음|확인 불가"
    ),
    R.SATIRE: "parodie|sátira|satira|satyra|hiciv|parodi|satir|сатира|سخرية|ساخر|व्यंग्य|讽刺|諷刺|風刺|パロディ|풍자",
    R.LEGEND: "mythos|moderne sage|légende urbaine|leyenda urbana|leggenda metropolitana|mito|lenda urbana|都市伝説",
    R.OUTDATED: (
        "veraltet|überholt|périmé|obsolète|dépassé|desactualizado|desatualizado|obsoleto|superato|verouderd|"
        "nieaktualne|przestarzałe|kedaluwarsa|قديم|पुराना|पुरानी|过时|過時|旧闻|舊聞"
    ),
}
_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0e31-\u0e4e]+[^\W_]*)*")
_REASONS = re.compile(r"\s*[.:;(–—!?\n]|\s+-\s+")
_NEEDS_ALL_WORDS = frozenset({R.TRUE, R.MOSTLY_TRUE})
_NUMBER = re.compile(r"\s*([+-]?\d{1,9}(?:[.,]\d{1,9})?)\s*")


_APOSTROPHES = re.compile("['’ʼ]")
_PLAIN_WORD = re.compile(r"[^\W_]+")


def read_rating(rating_text: str) -> R | None:
    """The rating that a publisher's term means, or None when we do not know the term."""
    plain = " ".join(_PLAIN_WORD.findall(_folded(rating_text)))
    return _BY_WORD.get(plain)


def _folded(text: str) -> str:
    return _APOSTROPHES.sub("", unicodedata.normalize("NFKC", text)).casefold()


def _plain(term: str) -> str:
    # The capitals of Turkish i and ı are read as one letter: "YANLIŞ" is "yanlış".
    folded = unicodedata.normalize("NFKC", term).casefold().replace("i\u0307", "i").replace("ı", "i")
    return " ".join(_WORD.findall(folded))


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
    known = read_rating(term)
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
