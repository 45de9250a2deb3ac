"""Pages that AI notes of a community may cite beside fact-checks: an operator lists them with what they say.

A model sees only the text of a page and names it by an id; our code adds the address (docs/run/datasets.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core import limits, texts
from app.core.errors import Invalid
from app.core.texts import gettext as _

URL_MAX = 500
"""Short enough that a note can cite a fact-check and several pages."""
SAYS_MAX = 300
TEXT_MAX = 10_000
_JOINERS = str.maketrans("", "", "\u200c\u200d")
"""Invisible, but part of words in Persian and languages of India."""


@dataclass(frozen=True)
class Page:
    """A page with what it says, in the operator's words."""

    url: str
    says: str


def parse(text: str, field: str = "note_pages") -> tuple[Page, ...]:
    """The pages of a list: one a line, its address and after a space what it says. Empty lines are left out.

    Raises:
        Invalid: a line has no https address or a long one, does not say what the page says, or has invisible
            characters, among them those that turn the direction of a text; an address stands twice, or there are
            too many.
    """
    pages: list[Page] = []
    for number, line in enumerate(text.splitlines(), 1):
        url, _space, says = line.strip().partition(" ")
        if not url:
            continue
        if len(url) > URL_MAX:
            problem = _(
                "must have addresses of at most %(most)s characters; that in line %(line)s has %(count)s",
                most=URL_MAX,
                line=number,
                count=texts.number(len(url)),
            )
            raise Invalid.field(field, problem, url[:50])
        try:
            limits.source(url, field)
        except Invalid:
            problem = _(
                "must begin each line with an address that begins with https://; line %(line)s does not",
                line=number,
            )
            raise Invalid.field(field, problem, url[:50]) from None
        says = " ".join(says.split())
        if not 1 <= len(says) <= SAYS_MAX:
            raise Invalid.field(
                field,
                _(
                    "must say after each address what the page says, in at most %(most)s characters",
                    most=SAYS_MAX,
                ),
                url,
            )
        if not (url.isprintable() and says.translate(_JOINERS).isprintable()):
            raise Invalid.field(
                field, _("must not contain invisible characters; line %(line)s does", line=number)
            )
        if any(page.url == url for page in pages):
            raise Invalid.field(field, _("must name each address once"), url)
        pages.append(Page(url, says))
    limits.room(limits.CITED_PAGES, len(pages) - 1, field)
    return tuple(pages)


def cut(text: str, pages: Sequence[str]) -> str:
    """A text without these addresses; the longest go first, since one may begin with another."""
    for url in sorted(pages, key=len, reverse=True):
        text = text.replace(url, "")
    return text
