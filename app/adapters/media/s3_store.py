"""Stores files of attachments in a bucket of an S3-compatible service.

Requests are signed with AWS Signature Version 4, in the Authorization header
(https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html); its examples are our test vectors.
"""

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import IO
from urllib.parse import quote, unquote, urlsplit

import httpx

from app.adapters.media.folder_store import NAME, PIECE, Pieces
from app.core import clock
from app.core.attachments.files import MissingFile, StoreFailed

EMPTY = hashlib.sha256(b"").hexdigest()
"""The hash of an empty body."""


def signed(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body_sha256: str,
    *,
    key_id: str,
    secret: str,
    region: str,
    at: datetime,
) -> dict[str, str]:
    """Return ``headers`` with what the signature adds. ``url`` is percent-encoded; ``at`` is in UTC."""
    parts = urlsplit(url)
    stamp, day = at.strftime("%Y%m%dT%H%M%SZ"), at.strftime("%Y%m%d")
    sent = {
        **headers,
        "Host": parts.netloc,
        "x-amz-content-sha256": body_sha256,
        "x-amz-date": stamp,
    }
    named = {name.lower(): " ".join(value.split()) for name, value in sent.items()}
    names = ";".join(sorted(named))
    canonical = "\n".join(
        (
            method,
            parts.path or "/",
            _query(parts.query),
            *(f"{name}:{named[name]}" for name in sorted(named)),
            "",
            names,
            body_sha256,
        )
    )
    scope = f"{day}/{region}/s3/aws4_request"
    to_sign = "\n".join(("AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    authorization = (
        f"AWS4-HMAC-SHA256 Credential={key_id}/{scope},SignedHeaders={names},Signature={signature}"
    )
    return {**sent, "Authorization": authorization}


def _query(query: str) -> str:
    """The query in the order and form that is signed. Its values are percent-encoded already."""
    pairs = [part.partition("=") for part in query.split("&") if part]
    return "&".join(f"{name}={value}" for name, _, value in sorted(pairs))


def encoded(text: str) -> str:
    """A path percent-encoded as signatures need it; slashes stay."""
    return quote(text, safe="/-._~")


TIMEOUT = httpx.Timeout(20.0, connect=5.0)


class S3Store:
    """A ``MediaStore`` in a bucket. ``url`` names the bucket by path, and perhaps a prefix of its keys:
    ``https://s3.example.org/bucket/prefix``.
    """

    def __init__(self, url: str, region: str, key_id: str, secret: str) -> None:
        self._url = url.rstrip("/")
        self._region, self._key_id, self._secret = region, key_id, secret
        self._client = httpx.Client(timeout=TIMEOUT, trust_env=False, follow_redirects=False)

    def put(self, name: str, content: IO[bytes], size: int) -> None:
        content.seek(0)
        digest = hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]  # any readable file
        content.seek(0)
        headers = {"Content-Length": str(size), "Content-Type": "application/octet-stream"}
        self._done("PUT", self._of(name), headers, digest, content=_whole(content))

    def read(self, name: str, start: int, length: int) -> Iterator[bytes]:
        headers = {"Range": f"bytes={start}-{start + length - 1}"}
        response = self._sent("GET", self._of(name), headers, EMPTY, stream=True)
        if response.status_code == 404:
            response.close()
            raise MissingFile(name)
        if response.status_code not in (200, 206) or (response.status_code == 200 and start > 0):
            response.close()
            raise StoreFailed(f"{self.where()} answered {response.status_code}")
        return Pieces(_pieces(response, length), response.close)

    def remove(self, name: str) -> None:
        self._done("DELETE", self._of(name), {}, EMPTY, also=(404,))

    def names(self) -> Iterator[str]:
        # Another service may share the bucket, and its files would look unused here.
        return iter(())

    def where(self) -> str:
        return self._url

    def _of(self, name: str) -> str:
        if not NAME.fullmatch(name):
            raise ValueError("not the name of a stored file")
        parts = urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc}{encoded(unquote(parts.path))}/{name}"

    def _done(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        body_sha256: str,
        *,
        content: Iterator[bytes] | None = None,
        also: tuple[int, ...] = (),
    ) -> httpx.Response:
        response = self._sent(method, url, headers, body_sha256, content=content)
        if not response.is_success and response.status_code not in also:
            raise StoreFailed(f"{self.where()} answered {response.status_code}")
        return response

    def _sent(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        body_sha256: str,
        *,
        content: Iterator[bytes] | None = None,
        stream: bool = False,
    ) -> httpx.Response:
        signature = signed(
            method,
            url,
            {name: value for name, value in headers.items() if name != "Content-Length"},
            body_sha256,
            key_id=self._key_id,
            secret=self._secret,
            region=self._region,
            at=clock.now(),
        )
        sent = {**headers, **signature}
        try:
            request = self._client.build_request(method, url, headers=sent, content=content)
            return self._client.send(request, stream=stream)
        except httpx.HTTPError as error:
            raise StoreFailed(f"{self.where()}: {str(error) or type(error).__name__}") from error


def _whole(content: IO[bytes]) -> Iterator[bytes]:
    while piece := content.read(PIECE):
        yield piece


def _pieces(response: httpx.Response, length: int) -> Iterator[bytes]:
    try:
        for piece in response.iter_bytes(PIECE):
            yield piece[:length]
            length -= len(piece)
            if length <= 0:
                return
    except httpx.HTTPError as error:
        raise StoreFailed(str(error) or type(error).__name__) from error
