"""Stores files of attachments in a folder: the first two characters of the name are a folder each."""

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from app.core.attachments.files import MissingFile, StoreFailed

NAME = re.compile(r"[0-9a-f]{64}")
PIECE = 256 * 1024


class FolderStore:
    """A ``MediaStore`` in ``folder``. Several processes use it at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """Return where a file is. Raises ValueError for anything but a SHA-256."""
        if not NAME.fullmatch(name):
            raise ValueError("not the name of a stored file")
        return self.folder / name[:2] / name

    def put(self, name: str, content: IO[bytes], size: int) -> None:
        path = self.path(name)
        if path.exists() and path.stat().st_size == size:
            return
        unfinished = path.with_name(f".{name}.{secrets.token_hex(4)}")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            content.seek(0)
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                shutil.copyfileobj(content, file, PIECE)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        except OSError as error:
            raise StoreFailed(f"{self.folder}: {error.strerror}") from error
        finally:
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)

    def read(self, name: str, start: int, length: int) -> Iterator[bytes]:
        try:
            file = self.path(name).open("rb")
        except FileNotFoundError as error:
            raise MissingFile(name) from error
        except OSError as error:
            raise StoreFailed(f"{self.folder}: {error.strerror}") from error
        return Pieces(_pieces(file, start, length), file.close)

    def remove(self, name: str) -> None:
        try:
            self.path(name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreFailed(f"{self.folder}: {error.strerror}") from error

    def names(self) -> Iterator[str]:
        for path in sorted(self.folder.glob("??/*")):
            if NAME.fullmatch(path.name):
                yield path.name

    def where(self) -> str:
        return str(self.folder)


class Pieces(Iterator[bytes]):
    """The pieces of a file that is being read. ``close`` works also before the first piece, as a generator's does not:
    a browser may leave, or ask for the headers alone.
    """

    def __init__(self, pieces: Iterator[bytes], close: Callable[[], object]) -> None:
        self._pieces, self._close = pieces, close

    def __next__(self) -> bytes:
        try:
            return next(self._pieces)
        except BaseException:
            self._close()
            raise

    def close(self) -> None:
        self._close()


def _pieces(file: IO[bytes], start: int, length: int) -> Iterator[bytes]:
    file.seek(start)
    while length > 0 and (piece := file.read(min(PIECE, length))):
        length -= len(piece)
        yield piece
