"""What people read, in their language: gettext's functions, and the language of this thread (docs/translating.md).

The English text is its own key. Edges choose the language: the dashboard that of its reader, mails that of their
recipient. The API, the command line and logs are English, which is also what a thread has that chose nothing. What is
stored is English too, and translated where it is shown; with values in it, it is in the language of its community.
"""

import html
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Protocol

SOURCE = "en"
"""The language in which texts are written here."""
NAMES: Mapping[str, str] = {"en": "English", "de": "Deutsch"}
"""The languages that can be chosen, by BCP 47 tag, each in its own name."""


class Language(Protocol):
    """A language and how it writes numbers and times; ``adapters.languages`` has those with a catalogue."""

    tag: str

    def message(self, text: str, context: str | None = None) -> str:
        """Return the translation of a text, or the text."""

    def plural(self, one: str, many: str, number: int) -> str:
        """Return the translation in the form for ``number``, or the English form."""

    def number(self, value: float, digits: int = 0) -> str:
        """Return a number with its groups of digits and ``digits`` decimals."""

    def day(self, moment: datetime) -> str:
        """Return the date of a moment, in the zone it has: "26 Nov 2026"."""

    def time(self, moment: datetime) -> str:
        """Return hours and minutes of a moment, in the zone it has."""


class English:
    """The language of the source: what is written is shown."""

    tag = SOURCE

    def message(self, text: str, context: str | None = None) -> str:
        return text

    def plural(self, one: str, many: str, number: int) -> str:
        return one if number == 1 else many

    def number(self, value: float, digits: int = 0) -> str:
        return f"{value:,.{digits}f}"

    def day(self, moment: datetime) -> str:
        return f"{moment.day} {moment:%b %Y}"

    def time(self, moment: datetime) -> str:
        return f"{moment:%H:%M}"


_ENGLISH = English()
_known: dict[str, Language] = {SOURCE: _ENGLISH}
_current: ContextVar[Language] = ContextVar("language", default=_ENGLISH)


def current() -> Language:
    """Return the language of this thread."""
    return _current.get()


def choose(language: Language | None) -> None:
    """Set the language of this thread from now on; None is English."""
    _current.set(language or _ENGLISH)


@contextmanager
def chosen(language: Language | None) -> Iterator[None]:
    """Use a language inside the ``with``; None is English."""
    token = _current.set(language or _ENGLISH)
    try:
        yield
    finally:
        _current.reset(token)


def register(languages: Mapping[str, Language]) -> None:
    """Make languages known to `named`, once at start-up."""
    _known.update(languages)


def named(tag: str) -> Language:
    """Return the language with this tag; English if there is none."""
    return _known.get(tag, _ENGLISH)


def in_language(tag: str, text: str) -> str:
    """Return a marked text in a language that is not the reader's: that of a community, for people of its platform."""
    context = text.context if isinstance(text, LazyText) else None
    return named(tag).message(str.__str__(text), context)


def stored(text: str) -> str:
    """Return what the service stored in English as the current language says it; any other text as it is."""
    return _current.get().message(str.__str__(text))


def gettext(text: str, /, **values: Any) -> str:
    """Return a text in the current language with ``%(name)s`` replaced by values. A percent sign is written ``%%``."""
    return filled(_current.get().message(text), values)


def pgettext(context: str, text: str, /, **values: Any) -> str:
    """Return `gettext` of a text that means several things: ``context`` says which."""
    return filled(_current.get().message(text, context), values)


def ngettext(one: str, many: str, number: int, /, **values: Any) -> str:
    """Return the form for ``number``; ``%(num)s`` is the number as the language writes it."""
    language = _current.get()
    return filled(language.plural(one, many, number), {"num": language.number(number), **values})


def moment(local: datetime) -> str:
    """Return date and time: "26 Nov 2026, 16:34"."""
    language = _current.get()
    return f"{language.day(local)}, {language.time(local)}"


def number(value: float, digits: int = 0) -> str:
    """Return a number as the current language writes it."""
    return _current.get().number(value, digits)


def short(value: float) -> str:
    """Return a number with as many decimals as it needs, at most six digits: a threshold, a bound."""
    return number(value, len(f"{value:g}".partition(".")[2]))


def short_number(value: float) -> str:
    """Return a number with the decimals that it has, six digits at most: "0.55", "0,55"."""
    plain = f"{value:g}"
    return plain if "e" in plain else number(value, len(plain.partition(".")[2]))


def in_sentence(label: str) -> str:
    """Return a label as it stands inside a sentence: in lower case in English, in other languages as it is."""
    return str(label).lower() if _current.get().tag == SOURCE else str(label)


def filled(text: str, values: Mapping[str, Any]) -> str:
    """Return a message with its values."""
    return text % values if "%" in text else text


class LazyText(str):
    """The English text of a constant; wherever it is formatted or shown on a page it is in the current language.

    Comparing, joining, storing and JSON use the English.
    """

    __slots__ = ("context",)
    context: str | None

    def __str__(self) -> str:
        return filled(_current.get().message(self.english, self.context), {})

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __html__(self) -> str:
        return html.escape(str(self))

    @property
    def english(self) -> str:
        return str.__str__(self)


def lazy_gettext(text: str, context: str | None = None) -> LazyText:
    """Mark the text of a constant; see `LazyText`."""
    lazy = LazyText(text)
    lazy.context = context
    return lazy
