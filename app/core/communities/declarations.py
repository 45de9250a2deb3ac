"""What is said of a setting where it is declared (``settings``), and the checks that follow from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from app.core import limits, texts
from app.core.errors import Invalid
from app.core.texts import LazyText
from app.core.texts import gettext as _


class Section(StrEnum):
    """The sections of Community that have settings, in their order; each is a page with an address of its own."""

    BASICS = "basics"
    DECIDES = "decides"
    NOTES = "notes"
    AI_NOTES = "ai-notes"
    BURSTS = "bursts"
    REPORTS = "reports"
    STRIKES = "strikes"
    ALERTS = "alerts"
    KEEPING = "keeping"
    SIGN_IN = "sign-in"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The declaration of one setting: a number if it has ``bounds``, a text if ``most``, else a choice or a switch.

    ``bounds``: least and most of a number; ``decimals``: it need not be whole; ``optional``: it may be None.
    ``choices``: the words for each value. ``least`` and ``most``: characters of a text, ``rows`` of its field;
    ``parse`` raises Invalid for a text that cannot be used. ``rescores``: a change requires scoring the community's
    notes again. ``admins_only``: operators cannot change it.
    """

    name: str = ""
    label: str
    hint: str = ""
    default: Any = None
    section: Section = Section.BASICS
    bounds: tuple[float, float] | None = None
    decimals: bool = False
    optional: bool = False
    choices: Mapping[str, str] | None = None
    least: int = 0
    most: int | None = None
    rows: int | None = None
    parse: Callable[[str], object] | None = None
    rescores: bool = False
    admins_only: bool = False

    def fault(self, value: Any) -> str | None:
        """Why this value cannot be stored, as "must be …"; None if it can. The content of a text is not looked at."""
        if value is None and self.optional:
            return None
        if self.bounds is not None:
            least, most = self.bounds
            is_number = isinstance(value, int | float if self.decimals else int) and not isinstance(
                value, bool
            )
            if is_number and least <= value <= most:
                return None
            bounds = {"least": texts.short(least), "most": texts.short(most)}
            if self.decimals:
                return _("must be a number from %(least)s to %(most)s", **bounds)
            return _("must be a whole number from %(least)s to %(most)s", **bounds)
        if self.choices is not None:
            known = isinstance(value, str) and value in self.choices
            return None if known else _("must be one of %(choices)s", choices=", ".join(self.choices))
        if self.most is not None:
            return None if isinstance(value, str) else _("must be a text")
        return None if isinstance(value, bool) else _("must be true or false")

    def check(self, value: Any) -> None:
        """Raise Invalid for a value that is of the wrong type, out of bounds, or a text that cannot be used."""
        fault = self.fault(value)
        if fault is not None:
            raise Invalid.field(self.name, fault, value)
        if self.most is not None and value is not None:
            limits.text(value, self.name, self.most, self.least)
            if self.parse is not None:
                self.parse(value)


def declare(default: Any, section: Section, label: str, hint: str, **more: Any) -> Any:
    """A field of ``CommunitySettings`` with its declaration; ``more`` are other values of ``Setting``."""
    setting = Setting(default=default, section=section, label=label, hint=hint, **more)
    value = default.english if isinstance(default, LazyText) else default
    return field(default=value, metadata={"setting": setting})


def declared(settings: type[Any]) -> dict[str, Setting]:
    """The declarations of this class's fields by name, in their order."""
    return {one.name: replace(one.metadata["setting"], name=one.name) for one in fields(settings)}
