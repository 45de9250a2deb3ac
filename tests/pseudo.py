"""A language for tests: each text that can be translated is accented and longer, so that all others stand out."""

import re
from datetime import datetime

from app.core.texts import English

TAG = "eo"
"""Babel has to know it, and there is no such catalogue."""
_ACCENTS = str.maketrans("aeiouncsyAEIOUNCSY", "áéíóúñçšýÁÉÍÓÚÑÇŠÝ")
_KEPT = re.compile(r"(%\(\w+\)s|%%|<[^>]*>|&\w+;)")
"""Values, percent signs and markup."""


def pseudo(text: str) -> str:
    """Return a text in the pseudo-language: "Saved" becomes "[Šávéd··]"."""
    parts = _KEPT.split(text)
    accented = "".join(part if place % 2 else part.translate(_ACCENTS) for place, part in enumerate(parts))
    letters = sum(len(part) for part in parts[::2])
    return f"[{accented}{'·' * max(1, letters * 2 // 5)}]"


class PseudoLanguage(English):
    """English in accents."""

    tag = TAG

    def message(self, text: str, context: str | None = None) -> str:
        return pseudo(text)

    def plural(self, one: str, many: str, number: int) -> str:
        return pseudo(super().plural(one, many, number))

    def day(self, moment: datetime) -> str:
        return f"{moment:%d/%m/%Y}"
