"""Fetches attachments over HTTP and checks what came: the ``Obtainer`` used in production.

Addresses are checked and pinned as those of webhooks are (`app.adapters.net`), and again at every redirect. Nothing of
the service or its readers is sent along: no cookie, no referrer, no credentials. What a file is, its first bytes say:
its name and headers may lie.
"""

import hashlib
import re
import tempfile
import time
from typing import IO
from urllib.parse import quote, urldefrag, urljoin

import httpx

from app.adapters.media import pictures
from app.adapters.net import Deadline, Guarded, chunks, coding
from app.core import limits
from app.core.attachments.fetching import FetchFailed, Obtained, PreparedFile
from app.core.outbound import AllowList, BadAddress, check_url
from app.core.vocabulary import AttachmentKind, AttachmentRefusal

HEAD_BYTES = 512
"""How much of a file is looked at."""
OTHER = "application/octet-stream"

_AUDIO_BRANDS = (b"M4A ", b"M4B ")
_VIDEO_BRANDS = (
    b"isom",
    b"iso2",
    b"iso4",
    b"iso5",
    b"iso6",
    b"mp41",
    b"mp42",
    b"avc1",
    b"M4V ",
    b"dash",
    b"MSNV",
    b"qt  ",
)
_MARKUP = re.compile(
    rb"\s*(?:\xef\xbb\xbf)?\s*<(?:\?xml|!doctype|svg|html|!--|head|body|script)", re.IGNORECASE
)


def _type_of(head: bytes) -> tuple[str, AttachmentKind]:
    """Return the media type of a file that begins with ``head``, and the kind of attachment that it is.

    Pictures that this service cannot decode, SVG, pages and everything unknown are files of no particular type: they
    are only offered for download.
    """
    for start, name in (
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
    ):
        if head.startswith(start):
            return name, AttachmentKind.IMAGE
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp", AttachmentKind.IMAGE
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return "audio/wav", AttachmentKind.AUDIO
    if head[4:8] == b"ftyp":
        return _of_brand(head[8:12])
    if head.startswith(b"\x1aE\xdf\xa3"):
        return ("video/webm", AttachmentKind.VIDEO) if b"webm" in head[:64] else (OTHER, AttachmentKind.FILE)
    if head.startswith(b"OggS"):
        is_video = b"\x80theora" in head
        return ("video/ogg", AttachmentKind.VIDEO) if is_video else ("audio/ogg", AttachmentKind.AUDIO)
    if head.startswith(b"fLaC"):
        return "audio/flac", AttachmentKind.AUDIO
    if head.startswith(b"%PDF-"):
        return "application/pdf", AttachmentKind.FILE
    if head.startswith(b"ID3") or (head[:1] == b"\xff" and head[1:2] in (b"\xfb", b"\xf3", b"\xf2", b"\xfa")):
        return "audio/mpeg", AttachmentKind.AUDIO
    return OTHER, AttachmentKind.FILE


def _of_brand(brand: bytes) -> tuple[str, AttachmentKind]:
    """The type of a file in the ISO base media format, by its major brand."""
    if brand in (b"avif", b"avis"):
        return "image/avif", AttachmentKind.IMAGE
    if brand in _AUDIO_BRANDS:
        return "audio/mp4", AttachmentKind.AUDIO
    if brand in _VIDEO_BRANDS:
        return "video/mp4", AttachmentKind.VIDEO
    return OTHER, AttachmentKind.FILE


def is_markup(head: bytes) -> bool:
    """Whether this is SVG, XML or a page, which may carry scripts."""
    return _MARKUP.match(head) is not None


def is_unknown_picture(head: bytes) -> bool:
    """Whether this is a picture in a format that this service does not decode: HEIC, TIFF, BMP, JPEG XL."""
    brand = head[8:12] if head[4:8] == b"ftyp" else b""
    starts = (b"II*\x00", b"MM\x00*", b"BM", b"\xff\x0a", b"\x00\x00\x00\x0cJXL ")
    return brand in (b"heic", b"heix", b"mif1", b"msf1") or head.startswith(starts)


REDIRECTS = 3
SECONDS = {AttachmentKind.VIDEO: 120.0, AttachmentKind.AUDIO: 120.0}
OTHER_SECONDS = 30.0
"""How long one fetch may take in all, with its redirects."""
LEAST_SPEED = 16_384
"""Bytes per second that a server must send on average, after ``FIRST_SECONDS``."""
FIRST_SECONDS = 8.0
MOST_BYTES = {AttachmentKind.VIDEO: limits.VIDEO_BYTES, AttachmentKind.AUDIO: limits.VIDEO_BYTES}
IN_MEMORY = 1024 * 1024
"""Larger files wait on disk."""
_URL_SAFE = "!#$%&'()*+,-./:;=?@[]_~"
_GONE = frozenset({401, 403, 404, 410, 451})
_LATER = frozenset({408, 425, 429})
_HEADERS = {
    "Accept": "image/avif,image/webp,image/*,video/*,audio/*,*/*;q=0.5",
    "Accept-Encoding": "identity",
    "Connection": "close",
    "User-Agent": "Bridgenote",
}


class HttpObtainer:
    """Fetches from public https URLs and from the hosts in ``allow``. Threads share one instance.

    ``first_seconds`` is as ``FIRST_SECONDS``.
    """

    def __init__(
        self,
        allow: AllowList,
        guarded: Guarded | None = None,
        first_seconds: float = FIRST_SECONDS,
    ) -> None:
        self._allow = allow
        self._guarded = guarded or Guarded()
        self._first_seconds = first_seconds

    def obtain(self, url: str, kind: AttachmentKind) -> Obtained:
        """Fetch an attachment and check it (see ``Obtainer.obtain``)."""
        content, size, sha256 = self._fetched(url, kind)
        try:
            return checked(content, size, sha256, kind)
        except BaseException:
            content.close()
            raise

    def _fetched(self, url: str, kind: AttachmentKind) -> tuple[IO[bytes], int, str]:
        end = time.monotonic() + SECONDS.get(kind, OTHER_SECONDS)
        for _ in range(REDIRECTS + 1):
            content: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - the caller closes it
            try:
                result = self._exchange(url, kind, content, end)
            except BaseException:
                content.close()
                raise
            if isinstance(result, tuple):
                return content, *result
            content.close()
            url = result
        raise FetchFailed(AttachmentRefusal.UNREACHABLE)

    def _exchange(
        self, url: str, kind: AttachmentKind, content: IO[bytes], end: float
    ) -> tuple[int, str] | str:
        """GET one address: write the answer to ``content`` and return its size and hash, or where it redirects to."""
        address = quote(urldefrag(url).url, safe=_URL_SAFE)
        try:
            target = check_url(address, self._allow)
            request = httpx.Request("GET", address, headers=_HEADERS)
        except (BadAddress, httpx.InvalidURL, ValueError) as error:
            raise FetchFailed(AttachmentRefusal.BAD_ADDRESS) from error
        deadline = Deadline(min(self._first_seconds, end - time.monotonic()))
        try:
            with self._guarded.exchange(target, request, deadline) as response:
                status = response.status_code
                if 300 <= status < 400 and status != 304 and "Location" in response.headers:
                    return urljoin(address, response.headers["Location"])
                _check_status(status)
                most = MOST_BYTES.get(kind, limits.IMAGE_BYTES)
                return self._copied(response, content, most, deadline, end)
        except (httpx.TimeoutException, TimeoutError) as error:
            raise FetchFailed(AttachmentRefusal.TOO_SLOW, retry=True) from error
        except httpx.TransportError as error:
            is_forbidden = str(error).startswith("address not allowed")
            reason = AttachmentRefusal.BAD_ADDRESS if is_forbidden else AttachmentRefusal.UNREACHABLE
            raise FetchFailed(reason, retry=not is_forbidden) from error

    def _copied(
        self, response: httpx.Response, content: IO[bytes], most: int, deadline: Deadline, end: float
    ) -> tuple[int, str]:
        if coding(response):
            # It was not accepted, and a small answer could unpack to any size.
            raise FetchFailed(AttachmentRefusal.UNSUPPORTED)
        announced = response.headers.get("Content-Length", "")
        if announced.isascii() and announced.isdigit() and int(announced[:18]) > most:
            raise FetchFailed(AttachmentRefusal.TOO_LARGE)
        began, size, digest = time.monotonic(), 0, hashlib.sha256()
        for chunk in chunks(response):
            size += len(chunk)
            if size > most:
                raise FetchFailed(AttachmentRefusal.TOO_LARGE)
            digest.update(chunk)
            content.write(chunk)
            # A server that sends a byte now and then gets no more time for it.
            until = min(end, began + self._first_seconds + size / LEAST_SPEED)
            deadline.restart(until - time.monotonic())
        content.seek(0)
        return size, digest.hexdigest()


def checked(content: IO[bytes], size: int, sha256: str, kind: AttachmentKind) -> Obtained:
    """Return what can be stored of a fetched file, if its content is what the integration said.

    A sound may be called a video and the other way round: both have the same containers. What is called a file is
    whatever it is.

    Raises:
        FetchFailed: it is something else, or it is a picture that must not be shown.
    """
    head = content.read(HEAD_BYTES)
    content.seek(0)
    if not head:
        raise FetchFailed(AttachmentRefusal.DAMAGED)
    media_type, found = _type_of(head)
    if kind is AttachmentKind.IMAGE and found is not AttachmentKind.IMAGE:
        # SVG is a picture, but one that runs scripts.
        is_other_picture = is_markup(head) or is_unknown_picture(head)
        raise FetchFailed(AttachmentRefusal.UNSUPPORTED if is_other_picture else AttachmentRefusal.WRONG_TYPE)
    plays = (AttachmentKind.VIDEO, AttachmentKind.AUDIO)
    if kind in plays and found not in plays:
        raise FetchFailed(AttachmentRefusal.WRONG_TYPE)
    if found is AttachmentKind.IMAGE:
        if size > limits.IMAGE_BYTES:
            raise FetchFailed(AttachmentRefusal.TOO_LARGE)
        obtained = pictures.rewrite(content.read())
        content.close()
        return obtained
    return Obtained(PreparedFile(sha256, size, media_type, content))


def _check_status(status: int) -> None:
    if 200 <= status < 300:
        return
    if status in _GONE:
        raise FetchFailed(AttachmentRefusal.NOT_FOUND)
    raise FetchFailed(AttachmentRefusal.UNREACHABLE, retry=status >= 500 or status in _LATER)
