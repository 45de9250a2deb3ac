"""The language of the reader: the one they chose, else the first that the browser asks for and we have, else that of
the community."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from babel import Locale
from flask import current_app, g, request

from app.core import texts
from app.wiring import wired

MOST_READ = 20
"""How many languages of a request are read; people have fewer."""


def choose(community: str | None = None) -> None:
    """Set the language of this request; ``community`` is that of its community, if it has chosen one."""
    known = wired().languages
    asked = (one for tag in asked_for() for one in (tag, tag.partition("-")[0].lower()))
    wanted = (g.get("language"), *asked, community)
    texts.choose(next((known[tag] for tag in wanted if tag in known), None))


def locale() -> Locale:
    """Return what Babel formats dates and numbers by. English is that of day, month, year."""
    tag = texts.current().tag
    return Locale.parse("en_GB" if tag == texts.SOURCE else tag, sep="-" if "-" in tag else "_")


def tag() -> str:
    """Return the BCP 47 tag, for ``lang`` attributes."""
    return texts.current().tag


def script_texts() -> dict[str, str]:
    """Return the texts of scripts in the reader's language by the English ones; empty in English."""
    language = texts.current()
    if language.tag == texts.SOURCE:
        return {}
    return {
        text: language.message(text)
        for text in _of_scripts(Path(current_app.static_folder or "static") / "js")
    }


@cache
def _of_scripts(folder: Path) -> tuple[str, ...]:
    sources = [path.read_text() for path in sorted(folder.rglob("*.js"))]
    return tuple(dict.fromkeys(re.findall(r'\b_\("([^"\\]+)"', "\n".join(sources))))


def direction() -> str:
    """Return the direction of the text: ``ltr`` or ``rtl``."""
    return locale().text_direction


def asked_for() -> Sequence[str]:
    """Return the first languages of ``Accept-Language``, without those that it refuses ("de;q=0")."""
    return [tag for tag, quality in request.accept_languages[:MOST_READ] if quality > 0]
