"""Files that commands read: plain or compressed with gzip, stored or piped."""

import gzip
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, cast

import click

from app.core.factcheck import reading

_GZIP = b"\x1f\x8b"


class DamagedFile(click.ClickException):
    """A file cannot be unpacked or read to its end; the text is one sentence without its full stop."""

    exit_code = 2


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The content of a file, unpacked if it is compressed. It is opened once, so it may be a pipe; ``-`` is the
    standard input, as it comes.

    Raises:
        DamagedFile: from the block, when the rest of the file cannot be unpacked.
    """
    if str(path) == "-":
        source: AbstractContextManager[Any] = nullcontext(sys.stdin.buffer)
    else:
        source = path.open("rb")
    with source as plain:
        # Peeking reads nothing away: the bytes of a pipe come only once.
        is_packed = path.suffix == ".gz" or (str(path) != "-" and plain.peek(2)[:2] == _GZIP)
        try:
            yield cast("BinaryIO", gzip.GzipFile(fileobj=plain)) if is_packed else plain
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise DamagedFile(f"{path.name} is a damaged gzip file") from None
        except reading.BadFile as bad:
            raise DamagedFile(str(bad)) from None


@contextmanager
def stored(path: Path) -> Iterator[Path]:
    """The path itself, or that of a temporary copy if it is a pipe: for a file that is read more than once."""
    if path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        with path.open("rb") as piped, copy.open("wb") as file:
            shutil.copyfileobj(piped, file)
        yield copy


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The number and content of every line that is not empty. Raises DamagedFile."""
    with opened(path) as file:
        yield from reading.numbered(file)
