"""What the text of a drafted note must not contain: contact details, markup, emoji, a copy of the post.

Contact details are found also as people write them to get past a filter. The text is read as the rules read it
(``classify.normalise``): other forms of dots, dashes, digits and letters are the plain ones. What is left are brackets
and words: ``hxxp://``, ``example[.]com``, ``example dot com``.
"""

import re
import unicodedata

from app.core.actions import exemptions
from app.core.classify.normalise import plain_text

SUMMARY_MAX = 280
"""Most characters of an AI note, without its source URLs."""
COPY_AT = 0.8
"""Similarity to the post, 0.0 to 1.0, from which a draft counts as a copy of it."""
LINK = re.compile(r": ?/ ?/|\bwww\b|\bhxxps?\b|\b(?:javascript|data|mailto|tel):")
"""In a plain reading: the beginning of an address that a program would follow."""

# A full stop of East Asian text ends a sentence there, but is a dot after Latin letters.
_SENTENCE_END = re.compile(r"(?<=[^\x00-\x7f])[。｡]")
# Of scripts with a space after a full stop: Latin; Greek, Cyrillic, Hebrew and Arabic.
_DOMAIN = re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.[a-z\u0370-\u06ff]{2,}\b(?!\.)")
_BRACKETED_DOT = re.compile(r" ?[\[({<] ?(?:\.|dot|punkt|point|punto) ?[\])}>] ?")
# Only before endings that are no common words: "a blue dot on the map" is no address.
_SPOKEN_DOT = re.compile(
    r"(?<=\w) (?:(?:dot|punkt|point|punto) (?=(?:com|org|net|info|biz|io|gov|edu|app|dev|xyz)\b)"
    r"|dot (?=(?:co|de|uk|fr|eu|nl|pl|ru|ch|cz|cn|jp|br|tv|link|shop|site|club|online)\b))"
)
_PHONE = re.compile(
    # International: +44 20 7946 0958.
    r"\+ ?\(?\d(?:[ ()./-]{0,3}\d){6,}"
    # After a zero, but no date such as 01.02.2026: 030 / 123 45 67, (020) 7946 0958, 0800123456.
    r"|(?<![\w.,/-])(?!\d{1,2}([ ./-])\d{1,2}\1\d{2,4}\b(?!\1\d))(?=(?:\D{0,3}\d){7})\(?0\d{1,4}\)?[ ./-]{0,3}\d{2,}"
    # In groups of three, three and four, perhaps after a 1: (202) 555-0143, 1-800-273-8255.
    r"|(?<![\w.,])(?<!\d )(?:1[ .-])?\(?[2-9]\d{2}\)?[ .-]{1,2}\d{3}[ .-]\d{4}\b"
    # Without groups, longer than a year or a count: 2025550143.
    r"|(?<![\w.,/-])\d{10,15}\b(?![.,]\d)"
    # After a word for it: tel. 116 123.
    r"|\b(?:tel|phone|telephone|telefon|teléfono|téléphone|call|dial|ring|text|sms|fax|whatsapp|telegram|signal)\b"
    r"(?: (?:us|me|him|her|them|on|at|number|no))?[ .:]{1,3}\d{2,}(?:[ ./-]{1,2}\d{2,}){1,5}\b(?![.,]\d)"
)


def contacts(text: str) -> list[str]:
    """The kinds of contact details in the text, one short sentence each; empty if there are none."""
    plain = plain_text(_SENTENCE_END.sub("。 ", text))
    plain = _SPOKEN_DOT.sub(".", _BRACKETED_DOT.sub(".", plain))
    faults = []
    if LINK.search(plain) or _DOMAIN.search(plain):
        faults.append("it contains an address")
    if _PHONE.search(plain):
        faults.append("it contains a telephone number")
    return faults


_MARKS = re.compile(r"(?<!\w)([#@])\w")
_HTML = re.compile(r"</?[a-z!]|&(?:[a-z]+|#\w+);|\]\(", re.IGNORECASE)
_PREFIX = re.compile(
    r"\W*(?:community |ai |ai[- ]generated )?(?:note|context|fact[- ]?check|summary|answer|readers added context)"
    r"\W*[:\-–—]",
    re.IGNORECASE,
)
_PLAIN_SYMBOLS = frozenset("°©®™№§¶")


def faults(text: str, content: str) -> list[str]:
    """Reasons why a model's text cannot be a note, one short sentence each; empty when it can.

    ``text`` comes without sources: we add their URLs, so any URL in ``text`` was invented by the model.
    """
    faulty = []
    if not text.strip():
        return ["it is empty"]
    if len(text) > SUMMARY_MAX:
        # The other checks are written for short texts: on a huge one they would take minutes.
        return [f"it is longer than {SUMMARY_MAX} characters"]
    faulty += contacts(text)
    if _MARKS.search(text):
        faulty.append("it contains a hashtag or a mention")
    if _HTML.search(text):
        faulty.append("it contains markup")
    if any(is_odd(character) for character in text):
        faulty.append("it contains emoji or invisible characters")
    if _PREFIX.match(text):
        faulty.append("it begins with a label")
    if _is_copy(text, content):
        faulty.append("it only repeats the post")
    return faulty


def quotable(text: str) -> str:
    """A text of others on one line, without what a note may not contain: addresses, invisible characters, emoji."""
    plain = "".join(" " if character.isspace() else character for character in text)
    plain = "".join(character for character in plain if not is_odd(character))
    return " ".join("…" if has_link(word) else word for word in plain.split())


def has_link(text: str) -> bool:
    # Fact-checks may name a site ("Example.com reports"), so less is refused than in what a model writes.
    return LINK.search(plain_text(text)) is not None


def is_odd(character: str) -> bool:
    return unicodedata.category(character) in {"So", "Cc", "Cf", "Cs", "Co", "Cn"} and (
        character not in _PLAIN_SYMBOLS
    )


def _is_copy(text: str, content: str) -> bool:
    drafted, posted = " ".join(text.split()).casefold(), " ".join(content.split()).casefold()
    is_quotation = len(drafted) > 40 and drafted in posted
    return drafted == posted or is_quotation or exemptions.similarity(drafted, posted) >= COPY_AT
