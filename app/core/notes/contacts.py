"""Addresses and telephone numbers in a drafted note, also as people write them to get past a filter.

The text is read as the rules read it (``classify.normalise``): other forms of dots, dashes, digits and letters are the
plain ones. What is left are brackets and words: ``hxxp://``, ``example[.]com``, ``example dot com``.
"""

import re

from app.core.classify.normalise import plain_text

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


def found(text: str) -> list[str]:
    """The kinds of contact details in the text, one short sentence each; empty if there are none."""
    plain = plain_text(_SENTENCE_END.sub("。 ", text))
    plain = _SPOKEN_DOT.sub(".", _BRACKETED_DOT.sub(".", plain))
    faults = []
    if LINK.search(plain) or _DOMAIN.search(plain):
        faults.append("it contains an address")
    if _PHONE.search(plain):
        faults.append("it contains a telephone number")
    return faults
