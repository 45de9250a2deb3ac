"""The stores of attachments: a folder, and a bucket that is spoken to over real HTTP on loopback."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from app.adapters.media import s3_store as sigv4
from app.adapters.media.folder_store import FolderStore
from app.adapters.media.s3_store import S3Store
from app.core.attachments.files import MediaStore, MissingFile, StoreFailed

KEY_ID, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
DAY = datetime(2013, 5, 24, tzinfo=UTC)
NAME, OTHER = "ab" * 32, "cd" * 32
VECTORS = "https://examplebucket.s3.amazonaws.com"
PUT_BODY = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "signature"),
    [
        (
            "GET",
            "/test.txt",
            {"Range": "bytes=0-9"},
            sigv4.EMPTY,
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            "PUT",
            "/test%24file.text",
            {"Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"},
            PUT_BODY,
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        (
            "GET",
            "/?lifecycle",
            {},
            sigv4.EMPTY,
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        ),
        (
            "GET",
            "/?max-keys=2&prefix=J",
            {},
            sigv4.EMPTY,
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ],
)
def test_signatures_are_those_of_the_published_examples(
    method: str, path: str, headers: dict[str, str], body: str, signature: str
) -> None:
    signed = sigv4.signed(
        method,
        VECTORS + path,
        headers,
        body,
        key_id=KEY_ID,
        secret=SECRET,
        region="us-east-1",
        at=DAY,
    )
    assert signed["Authorization"].rpartition("Signature=")[2] == signature


class Bucket(BaseHTTPRequestHandler):
    """A bucket that checks every signature with what it received."""

    files: dict[str, bytes]

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _is_signed(self, body: bytes) -> bool:
        given = self.headers["Authorization"]
        names = given.partition("SignedHeaders=")[2].partition(",")[0].split(";")
        own = {"host", "x-amz-date", "x-amz-content-sha256"}
        expected = sigv4.signed(
            self.command,
            f"http://{self.headers['Host']}{self.path}",
            {name: self.headers[name] for name in names if name not in own},
            hashlib.sha256(body).hexdigest(),
            key_id=KEY_ID,
            secret=SECRET,
            region="eu-test-1",
            at=datetime.strptime(self.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC),
        )
        return expected["Authorization"] == given

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        body = b""
        if "Content-Length" in self.headers:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        key = unquote(parts.path).removeprefix("/bucket/")
        if not self._is_signed(body):
            self._answer(403)
        elif self.command == "PUT":
            self.files[key] = body
            self._answer(200)
        elif self.command == "DELETE":
            self._answer(204 if self.files.pop(key, None) is not None else 404)
        elif key not in self.files:
            self._answer(404)
        else:
            first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
            self._answer(206, self.files[key][first : last + 1])

    do_GET = do_PUT = do_DELETE = _serve

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


@contextmanager
def bucket() -> Iterator[str]:
    handler = type("Own", (Bucket,), {"files": {"somebody-elses": b"x"}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/bucket/media of ours"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(params=["folder", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MediaStore]:
    if request.param == "folder":
        yield FolderStore(tmp_path / "media")
        return
    with bucket() as url:
        yield S3Store(url, "eu-test-1", KEY_ID, SECRET)


def _put(store: MediaStore, name: str, content: bytes) -> None:
    store.put(name, BytesIO(content), len(content))


def test_a_store_gives_back_any_part_of_what_was_put_and_forgets_what_is_removed(store: MediaStore) -> None:
    for _ in range(2):
        _put(store, NAME, b"0123456789")
    _put(store, OTHER, b"other")
    assert b"".join(store.read(NAME, 0, 10)) == b"0123456789"
    assert b"".join(store.read(NAME, 3, 4)) == b"3456"
    for _ in range(2):
        store.remove(NAME)
    assert list(store.names()) == ([OTHER] if isinstance(store, FolderStore) else [])
    assert b"".join(store.read(OTHER, 0, 5)) == b"other"
    with pytest.raises(MissingFile):
        store.read(NAME, 0, 10)
    for name in ("../../etc/passwd", NAME.upper(), ""):
        with pytest.raises(ValueError, match="name"):
            store.read(name, 0, 1)


def test_a_store_that_refuses_says_so() -> None:
    with bucket() as url:
        wrong = S3Store(url, "eu-test-1", KEY_ID, "another secret")
        for call in (
            lambda: _put(wrong, NAME, b"x"),
            lambda: wrong.read(NAME, 0, 1),
        ):
            with pytest.raises(StoreFailed, match="403"):
                call()
    with pytest.raises(StoreFailed):
        wrong.remove(NAME)


def test_a_file_that_is_half_written_is_never_seen(tmp_path: Path) -> None:
    class Breaking(BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError(28, "No space left on device")

    store = FolderStore(tmp_path / "media")
    with pytest.raises(StoreFailed, match="No space left"):
        store.put(NAME, Breaking(b"x"), 1)
    assert [path for path in (tmp_path / "media").rglob("*") if path.is_file()] == []
