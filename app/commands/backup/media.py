"""Stored files of attachments in a backup: a tar archive with the database first, then each file under its name.

A backup without attachments is the database alone. Files in a bucket (BRIDGENOTE_MEDIA_URL) are not in a backup: the
bucket keeps them.
"""

import contextlib
import hashlib
import secrets
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from app.adapters.media.folder_store import NAME, FolderStore
from app.commands.backup import signature
from app.core.attachments.files import MediaStore
from app.core.errors import Invalid

DATABASE = "database"
FOLDER = "media/"
FIRST_CONTENT = 512
"""Where the content of an archive's first member begins."""
_END = 2 * tarfile.BLOCKSIZE
"""An archive ends with this many zero bytes; more follow up to a whole record."""
_MARK, _MARK_AT = b"ustar", 257


def is_archive(path: Path) -> bool:
    """Whether this backup has files beside the database."""
    with path.open("rb") as file:
        return file.read(_MARK_AT + len(_MARK))[_MARK_AT:] == _MARK


def bundle(database: Path, folder: Path) -> None:
    """Replace the backup of a database by an archive of it and of the files in ``folder``, if there are any."""
    store = FolderStore(folder)
    names = list(store.names())
    if not names:
        return
    archive = database.with_name(f"{database.name}.{secrets.token_hex(4)}")
    try:
        with tarfile.open(archive, "x", format=tarfile.GNU_FORMAT) as tar:
            tar.add(database, DATABASE, filter=_bare)
            for name in names:
                # A file that is deleted meanwhile belonged to a post whose content is removed.
                with contextlib.suppress(FileNotFoundError):
                    tar.add(store.path(name), FOLDER + name, filter=_bare)
        archive.replace(database)
    finally:
        archive.unlink(missing_ok=True)


@contextlib.contextmanager
def database_of(path: Path, folder: Path) -> Iterator[Path]:
    """Yield the database of a backup: the file itself, or a copy in ``folder`` of the archive's first member."""
    if not is_archive(path):
        yield path
        return
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".restoring-") as copy:
        with _opened(path) as tar:
            member = tar.next()
            content = tar.extractfile(member) if member is not None and member.name == DATABASE else None
            if content is None:
                raise Invalid.field("file", "is no backup of this service")
            shutil.copyfileobj(content, copy)
            copy.flush()
        yield Path(copy.name)


def check_files(path: Path) -> None:
    """Read the files of a backup without storing them.

    Raises:
        Invalid: the archive is cut off, or a file's content is not what its name says.
    """
    for _name, _content, _size in _files(path):
        pass


def restore_files(path: Path, store: MediaStore) -> int:
    """Put the files of a backup into the store; return how many. Raises as ``check_files``."""
    restored = 0
    for name, content, size in _files(path):
        store.put(name, content, size)
        restored += 1
    return restored


def _files(path: Path) -> Iterator[tuple[str, IO[bytes], int]]:
    """The name, content and size of each stored file in a backup, checked, one after the other."""
    if not is_archive(path):
        return
    with _opened(path) as tar:
        for member in tar:
            name = member.name.removeprefix(FOLDER)
            content = tar.extractfile(member)
            if content is None or not NAME.fullmatch(name):
                continue
            if hashlib.file_digest(content, "sha256").hexdigest() != name:  # type: ignore[arg-type]  # it can seek
                raise Invalid.field("file", f"is damaged: {member.name}")
            content.seek(0)
            yield name, content, member.size
        _check_end(tar, signature.content_size(path))


def _check_end(tar: tarfile.TarFile, size: int) -> None:
    """Refuse an archive that does not end where its reader stopped: for it, a damaged header is an end, too."""
    assert tar.fileobj is not None  # noqa: S101 - it is open; narrows the type
    tar.fileobj.seek(tar.offset)
    rest = tar.fileobj.read(min(_END + tarfile.RECORDSIZE, max(0, size - tar.offset)))
    if not _END <= len(rest) < _END + tarfile.RECORDSIZE or any(rest):
        raise Invalid.field("file", f"is damaged at byte {tar.offset}, or cut off")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, "r:") as tar:
            yield tar
    except tarfile.TarError as error:
        raise Invalid.field("file", f"is damaged: {error}") from error


def _bare(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without the names of this machine's users."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member
