"""CSV files of fact-checks: which column is what, guessed from the headers and chosen by people."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, TextIO

from app.core import texts
from app.core.errors import Invalid
from app.core.factcheck import published
from app.core.factcheck.published import Defaults, Fault, Found
from app.core.factcheck.reading import EMPTY_MAX, LINE_BYTES, BadFile
from app.core.texts import gettext as _

MEMBERS = (
    "claim",
    "rating",
    "url",
    "publisher",
    "item_id",
    "dataset_name",
    "title",
    "language",
    "reviewed_on",
)
NEEDED = ("claim", "rating", "url")
"""The members that every file must have a column for; the others have defaults or may be missing."""
SAMPLES = 3
COLUMNS_MAX = 200
HEADER_MAX = 500
CELLS_MAX = 20_000
"""How many delimiters a row may have, those within its texts too."""

_HEADERS: Mapping[str, str] = {
    "claim": "claim|claim_reviewed|claimreviewed|claim_text|statement|text|behauptung|aussage|afirmación|affirmation",
    "rating": (
        "rating|verdict|textual_rating|textualrating|rating_name|alternate_name|alternatename|label|conclusion|"
        "truth_rating|review_rating|bewertung|urteil|veredicto|verdict_text|note"
    ),
    "url": "url|link|review_url|article_url|fact_check_url|source_url|href|permalink|adresse|address|source",
    "publisher": (
        "publisher|publisher_name|author|author_name|organization|organisation|fact_checker|factchecker|site|"
        "herausgeber"
    ),
    "item_id": "item_id|id|dataset_item_id|claim_id|review_id|identifier|guid|uuid|key",
    "dataset_name": "dataset_name|dataset",
    "title": "title|headline|review_title|article_title|titel|titre|título",
    "language": "language|lang|language_code|languagecode|inlanguage|sprache|langue|idioma",
    "reviewed_on": (
        "reviewed_on|date|review_date|reviewdate|date_published|datepublished|published|published_at|datum|fecha"
    ),
}


@dataclass(frozen=True)
class Head:
    """The headers of a CSV file and its first rows, for people to choose from."""

    headers: tuple[str, ...]
    samples: tuple[tuple[str, ...], ...]
    delimiter: str


def guess(headers: Sequence[str]) -> dict[str, str]:
    """Which header gives which member, by its name; members without one are absent."""
    plain = {
        re.sub(r"[^\w]+|_+", "_", header.strip().casefold()).strip("_"): header
        for header in reversed(headers)
    }
    chosen: dict[str, str] = {}
    for member in MEMBERS:
        for name in _HEADERS[member].split("|"):
            if name in plain and plain[name] not in chosen.values():
                chosen[member] = plain[name]
                break
    return chosen


def head(file: BinaryIO) -> Head:
    """Read the headers and the first rows. Raises BadFile."""
    first = file.read(65_536)
    file.seek(0)
    delimiter = _delimiter(first)
    rows = _rows(file, delimiter)
    headers: tuple[str, ...] = ()
    samples: list[tuple[str, ...]] = []
    for _line, row in rows:
        if not headers:
            headers = tuple(cell.strip() for cell in row)
            continue
        samples.append(tuple(cell[:120] for cell in row[: len(headers)]))
        if len(samples) == SAMPLES:
            break
    if len(headers) < len(NEEDED):
        raise BadFile(
            _("It is not a CSV file: its first line must name at least a claim, a rating and an address")
        )
    if len(headers) > COLUMNS_MAX:
        raise BadFile(_("It has more than %(most)s columns", most=COLUMNS_MAX))
    if any(len(name) > HEADER_MAX for name in headers):
        raise BadFile(_("One of its columns has a name of more than %(most)s characters", most=HEADER_MAX))
    doubled = sorted({name for name in headers if name and headers.count(name) > 1})
    if doubled:
        raise BadFile(
            _(
                "Two of its columns are called “%(name)s”; give each a name of its own",
                name=doubled[0][:40],
            )
        )
    return Head(headers, tuple(samples), delimiter)


def read(file: BinaryIO, columns: Mapping[str, str], defaults: Defaults) -> Iterator[Found | Fault]:
    """The rows of a CSV file; ``columns`` maps members to headers. Raises BadFile where it cannot be read on."""
    known = head(file)
    file.seek(0)
    missing = [header for header in columns.values() if header not in known.headers]
    if missing:
        raise BadFile(_("It has no column “%(name)s”", name=missing[0][:40]))
    places = {member: known.headers.index(header) for member, header in columns.items()}
    is_first = True
    for line, row in _rows(file, known.delimiter):
        if is_first:
            is_first = False
            continue
        place = _("line %(number)s", number=line)
        if len(row) > len(known.headers):
            yield Fault(
                place,
                (
                    _(
                        "it has %(cells)s cells, but there are %(columns)s columns",
                        cells=len(row),
                        columns=len(known.headers),
                    ),
                ),
            )
            continue
        values = {member: row[at].strip() or None for member, at in places.items() if at < len(row)}
        try:
            yield Found(place, published.read(values, defaults))
        except Invalid as refused:
            yield Fault(place, published.reasons(refused))


def _rows(file: BinaryIO, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the row's first line, cells) of every row that is not empty."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    lines = _Lines(text, delimiter)
    reader = csv.reader(lines, delimiter=delimiter, strict=False)
    line, empty = 1, 0
    try:
        for row in reader:
            if any(cell and not cell.isspace() for cell in row):
                yield line, row
            else:
                empty += 1
                if empty > EMPTY_MAX:
                    raise BadFile(_("It has more than %(most)s empty rows", most=texts.number(EMPTY_MAX)))
            lines.begin_row()
            line = reader.line_num + 1
    except UnicodeDecodeError:
        raise BadFile(_("It is not UTF-8. Save it as “CSV UTF-8”")) from None
    except csv.Error as error:
        raise BadFile(
            _("It cannot be read as CSV after line %(line)s: %(why)s", line=line, why=error)
        ) from None
    finally:
        # Otherwise the wrapper would close the file when it is collected.
        with suppress(ValueError):
            text.detach()


class _Lines:
    """The lines of a CSV file. A row, which may go over several, is refused before it is cut into cells."""

    def __init__(self, text: TextIO, delimiter: str) -> None:
        self._text = text
        self._delimiter = delimiter
        self._read = 0
        self.begin_row()

    def begin_row(self) -> None:
        self._size = self._delimiters = 0

    def __iter__(self) -> Iterator[str]:
        while line := self._text.readline(LINE_BYTES + 1):
            self._read += 1
            self._size += len(line)
            self._delimiters += line.count(self._delimiter)
            if self._size > LINE_BYTES or self._delimiters > CELLS_MAX:
                raise BadFile(
                    _(
                        "The row at its line %(line)s has more than %(most)s cells or 1 million characters",
                        line=self._read,
                        most=texts.number(CELLS_MAX),
                    )
                )
            yield line


def _delimiter(first: bytes) -> str:
    line = first.split(b"\n", 1)[0].decode("utf-8", "replace")
    return max(",;\t|", key=line.count)
