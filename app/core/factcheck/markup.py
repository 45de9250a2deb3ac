"""Texts that publishers copied from HTML: entities and tags in the members of a fact-check."""

import html
import re

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_INLINE = "a|abbr|b|bdi|bdo|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|small|span|strike|strong|sub|sup|time|u|wbr"
_BLOCK = (
    "article|aside|blockquote|br|caption|center|dd|div|dl|dt|figcaption|figure|footer|form|h[1-6]|header|hr|iframe|"
    "img|li|main|nav|ol|p|pre|script|section|style|table|tbody|td|tfoot|th|thead|tr|ul|video"
)
_ATTRIBUTES = r"""(?:\s++[\w:-]++\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'<>]++))*+\s*+/?+"""
_LONGEST = 50_000
"""Longer texts are too long for every member of a fact-check, and stay as they are."""
_TAG = re.compile(rf"</?(?:(?:{_INLINE})|({_BLOCK})){_ATTRIBUTES}>", re.IGNORECASE)


def plain(text: str) -> str:
    """The text without markup: entities decoded once, then tags taken away.

    "<" and "&" stay as they are where they are no markup, as in "5 < 6", "AT&T" and "<b and c>".
    """
    if len(text) > _LONGEST or ("&" not in text and "<" not in text):
        return text
    decoded = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    # What blocks keep apart stays apart: "one<br>two".
    bare = _TAG.sub(lambda found: " " if found[1] else "", decoded)
    return text if bare == text else " ".join(bare.split())
