"""CSV files that the dashboard exports, as spreadsheets open them (docs/run/reliability.md; OWASP CSV Injection)."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from flask import Response, stream_with_context

_BYTE_ORDER_MARK = "\ufeff"
"""Without it, Excel reads the file in the encoding of its country."""
_CHUNK = 32_768


def attachment(rows: Iterable[Iterable[object]], name: str) -> Response:
    """Return ``rows``, the first of them the header, as a file of this name; an iterator is read while it is sent."""
    written = _written(rows)
    body = "".join(written) if isinstance(rows, Sequence) else stream_with_context(written)
    response = Response(body, mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def cell(value: object) -> str:
    """Return a value as a cell that spreadsheets do not run as a formula: with an apostrophe before it.

    What begins with apostrophes and would be a formula without them gets another one, so that no two values are the
    same cell: without the first apostrophe, a cell that had one added is the value again.
    """
    text = str(value)
    return f"'{text}" if _is_formula(text.lstrip("'")) else text


def _written(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    buffer = io.StringIO(newline="")
    buffer.write(_BYTE_ORDER_MARK)
    writer = csv.writer(buffer)
    for row in rows:
        writer.writerow([cell(value) for value in row])
        if buffer.tell() > _CHUNK:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _is_formula(text: str) -> bool:
    if text.startswith(("\t", "\r", "\n", "\0")):
        return True
    first = next(
        (one for one in text if not (one.isspace() or unicodedata.category(one) in {"Cc", "Cf"})), ""
    )
    return unicodedata.normalize("NFKC", first).startswith(("=", "+", "-", "@"))
