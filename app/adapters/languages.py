"""The languages that have a catalogue: ``app/locales/<tag>/bridgenote.po``, read with Babel (docs/translating.md)."""

import logging
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

from babel import Locale
from babel.dates import format_skeleton
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal

from app.core.texts import English, Language

log = logging.getLogger("bridgenote.languages")

FOLDER = Path(__file__).parents[1] / "locales"
NAME = "bridgenote.po"


class TranslatedLanguage:
    """A language with a catalogue, which is read when the first text is asked for.

    What it lacks is English, and so is all of it if it cannot be read.
    """

    def __init__(self, tag: str, folder: Path = FOLDER) -> None:
        self.tag = tag
        self._locale = Locale.parse(tag, sep="-")
        self._path = folder / tag / NAME

    def message(self, text: str, context: str | None = None) -> str:
        if not text:  # the key of the catalogue's header
            return text
        if context is None:
            return self._translations.gettext(text)
        return self._translations.pgettext(context, text)

    def plural(self, one: str, many: str, number: int) -> str:
        return self._translations.ngettext(one, many, number)

    def number(self, value: float, digits: int = 0) -> str:
        return format_decimal(
            value, format=f"#,##0.{'0' * digits}" if digits else "#,##0", locale=self._locale
        )

    def day(self, moment: datetime) -> str:
        return format_skeleton("yMMMd", moment, locale=self._locale)

    def time(self, moment: datetime) -> str:
        return format_skeleton("Hm", moment, locale=self._locale)

    @cached_property
    def _translations(self) -> NullTranslations:
        packed = BytesIO()
        try:
            with self._path.open("rb") as file:
                catalogue = read_po(file, locale=str(self._locale))
            write_mo(packed, catalogue)  # without what is marked as fuzzy
            packed.seek(0)
            return GNUTranslations(packed)
        except (OSError, ValueError):
            log.exception("The catalogue %s cannot be read: its language is shown in English", self._path)
            return NullTranslations()


def known_languages(folder: Path = FOLDER) -> Mapping[str, Language]:
    """Return English and each language that has a catalogue, by BCP 47 tag."""
    tags = sorted(path.parent.name for path in folder.glob(f"*/{NAME}"))
    return {English.tag: English(), **{tag: TranslatedLanguage(tag, folder) for tag in tags}}
