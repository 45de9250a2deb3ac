"""In a language whose texts are accented and two fifths longer no page has an English word or a line too wide.

The language is that of tests/pseudo.py: a browser that asks for it gets it from any service of a checkout.
"""

import re
from collections.abc import Iterable
from urllib.parse import parse_qs, urlsplit

import pytest
import sqlalchemy as sa
from babel import Locale

from app.core.models import Account, ApiKey, Community, ConnectedService, Note, Profile, Request, SignIn
from app.core.people import dashboard
from app.web.languages import OFFERED
from tests import pseudo
from tests.browser import layout, site
from tests.browser.conftest import DESKTOP, Visit, Visitor
from tests.browser.live import Service
from tests.browser.place import Place

_TEXTS = """() => {
  const data = "code, kbd, pre, time, bdi, [dir=auto], script, style, template, svg:not([role=img])"
    + ", body [lang], option[value*='/'], textarea[readonly]";
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (!node.parentElement.closest(data)) found.push(node.data);
  for (const one of document.querySelectorAll("body [title], body [aria-label], body [placeholder], body [alt]"))
    for (const name of ["title", "aria-label", "placeholder", "alt"])
      if (one.hasAttribute(name) && !one.closest("time, [dir=auto]")) found.push(one.getAttribute(name));
  return found.map((text) => text.trim()).filter(Boolean);
}"""
"""What people read or hear on a page, without what is to copy, and what others wrote: that has its own direction."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_TOKEN = re.compile(r"\S*[/_@=&\d]\S*|\w+(?:[.-]\w+)+")
"""An address, an id, a name of a field."""
_PLAIN = re.compile(r"[aeiouncsy]", re.IGNORECASE)
NAMES = {
    "Bridgenote",
    "JSON",
    "CSV",
    "UTC",
    "API",
    "URL",
    "Ctrl",
    "Enter",
    "Shift",
    "Tab",
    "Esc",
    "English",
    "Deutsch",
}
"""Words that are the same in each language."""
PRODUCTS = re.compile("Azure AI Content Safety|Perspective")


def untranslated(visitor: Visitor, data: Iterable[str]) -> list[str]:
    """The texts of the open page with words that are neither translated nor anybody's data."""
    known = NAMES.union(*(_WORD.findall(text) for text in data))

    def is_english(text: str) -> bool:
        words = _WORD.findall(_TOKEN.sub(" ", PRODUCTS.sub(" ", text)))
        return any(word.isascii() and _PLAIN.search(word) and word not in known for word in words)

    found: list[str] = visitor.page.evaluate(_TEXTS)
    return sorted({" ".join(text.split()) for text in found if is_english(text)})


def _data(service: Service) -> list[str]:
    columns = (
        Account.display_name,
        Account.email,
        Community.name,
        Community.slug,
        Community.platform,
        ApiKey.name,
    )
    columns += (
        Profile.display_name,
        Request.content,
        Request.platform_author_id,
        Request.platform_channel_id,
    )
    columns += (Note.summary, ConnectedService.name, SignIn.user_agent)
    with service.wiring.database.reading() as session:
        stored = [str(value) for column in columns for value in session.scalars(sa.select(column)) if value]
    languages = Locale.parse(pseudo.TAG).languages
    return [*stored, *dashboard.KEYS, *(languages[tag] for tag in OFFERED if tag in languages)]


@pytest.mark.parametrize("role", ["nobody", "rater", "admin"])
def test_each_text_is_translated_and_fits(service: Service, place: Place, visit: Visit, role: str) -> None:
    filled = site.fill(service, place)
    person = None if role == "nobody" else getattr(place, role)
    addresses = site.OPEN_PAGES if person is None else site.pages(visit(person), filled)
    visitor = visit(person, own=True, locale=pseudo.TAG)
    visitor.wants(401, 403, 404)
    searched = [text for path in addresses.values() for text in parse_qs(urlsplit(path).query).get("q", [])]
    data, found = [*_data(service), *searched], list[str]()
    for page, path in addresses.items():
        visitor.open(path)
        found += [f"{page}: {text}" for text in untranslated(visitor, data)]
        found += [f"{page}: {line}" for line in layout.too_wide(visitor, layout.NARROW, DESKTOP)]
    assert not found, "\n".join(found)
