"""Dates as publishers write them: "2024-03-12T10:00:00Z", "12 March 2024", "March 12, 2024", "12.03.2024"."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date, datetime

_LONGEST = 64
_MONTHS = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari января",
    "february feb februar février févr fevr febrero febbraio fevereiro fev februari февраля",
    "march mar märz mrz mars marzo março marco maart mrt марта",
    "april apr avril avr abril abr aprile апреля",
    "may mai mayo maggio mag maio mei мая",
    "june jun juni juin junio giugno giu junho июня",
    "july jul juli juillet juil julio luglio lug julho июля",
    "august aug août aout agosto ago augustus августа",
    "september sep sept septembre septiembre settembre set setembro сентября",
    "october oct oktober okt octobre octubre ottobre ott outubro out октября",
    "november nov novembre noviembre novembro ноября",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro desember декабря",
)
_MONTH = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}
_BEFORE = r"(?:[^\W\d_]{2,12}+[.,]{0,2}\s+)??"
"""A day of the week, or a word such as "Published"."""
_ORDINAL = r"(?:st|nd|rd|th|er|º|ª|\.)?"
_YEAR_FIRST = re.compile(r"(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})(?!\d)")
_DAY_FIRST = re.compile(_BEFORE + r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)")
_EITHER_FIRST = re.compile(_BEFORE + r"(\d{1,2})[-/](\d{1,2})[-/](\d{4})(?!\d)")
_DAY_AND_NAME = re.compile(
    _BEFORE
    + rf"(\d{{1,2}}){_ORDINAL}[\s-]*(?:(?:of|de)\s+)?([^\W\d_]{{3,12}})[.,]{{0,2}}[\s-]*(?:del?\s+)?(\d{{4}})(?!\d)",
    re.IGNORECASE,
)
_NAME_AND_DAY = re.compile(
    rf"{_BEFORE}([^\W\d_]{{3,12}})\.?\s+(\d{{1,2}}){_ORDINAL},?\s+(\d{{4}})(?!\d)", re.IGNORECASE
)


def read(given: str) -> date | None:
    """The day that a text names, or None. "03/04/2024" is not read: either number may be the month."""
    plain = unicodedata.normalize("NFC", " ".join(given.split()))[:_LONGEST]
    for parse in (datetime.fromisoformat, date.fromisoformat):
        for text in (plain[:32], plain[:10]):
            try:
                found = parse(text)
            except ValueError:
                continue
            return found.date() if isinstance(found, datetime) else found
    for year, month, day in _candidates(plain):
        try:
            return date(year, month, day)
        except ValueError:
            continue
    return None


def _candidates(plain: str) -> Iterator[tuple[int, int, int]]:
    if found := _YEAR_FIRST.match(plain):
        yield int(found[1]), int(found[2]), int(found[3])
    if found := _DAY_FIRST.match(plain):
        yield int(found[3]), int(found[2]), int(found[1])
    if found := _EITHER_FIRST.match(plain):
        first, second, year = int(found[1]), int(found[2]), int(found[3])
        if first > 12 or first == second:
            yield year, second, first
        elif second > 12:
            yield year, first, second
    if found := _DAY_AND_NAME.match(plain):
        yield int(found[3]), _MONTH.get(found[2].casefold(), 0), int(found[1])
    if found := _NAME_AND_DAY.match(plain):
        yield int(found[3]), _MONTH.get(found[1].casefold(), 0), int(found[2])
