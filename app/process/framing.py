"""Strict checks of a request's head and chunked body, against request smuggling (RFC 9112).

If a proxy and this server disagree about where a request ends, a client can hide a second request inside the first
(RFC 9112: 11.2). So the server answers an ambiguous head with 400 before routing, and closes the connection: see
docs/run/operations.md.
"""

import re
from typing import Protocol

LENGTH_DIGITS = 18
"""Maximum number of digits of a ``Content-Length``. Real lengths are far shorter."""
CHUNK_LINE = 1024
"""Maximum bytes of the line with a chunk's size and extensions."""
TRAILERS = 8 * 1024
"""Maximum bytes of all fields after the last chunk. Their values are ignored."""

_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_LONE_BREAK = re.compile(rb"\r(?!\n)|(?<!\r)\n")
_REQUEST_LINE = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Z]+) ([\x21-\x7e\x80-\xff]+) HTTP/1\.([01])")
_ABSOLUTE = re.compile(rb"https?://([^/?#]*)", re.IGNORECASE)
_HOST = re.compile(rb"(?:[0-9A-Za-z._~-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?")


LONE_BREAK = "A line of the request does not end with CR LF"


class Ambiguous(Exception):
    """The request can be read in more than one way. The message is one sentence for the client."""


def has_lone_break(head: bytes) -> bool:
    """Whether this part of a head contains CR without LF, or LF without CR. A CR at the end may still get its LF."""
    return _LONE_BREAK.search(head.removesuffix(b"\r")) is not None


def check_head(head: bytes) -> None:
    """Check a request line and its header fields, up to the empty line.

    Raises:
        Ambiguous: two programs could read the head differently, or disagree about where the request ends.
    """
    if has_lone_break(head):
        raise Ambiguous(LONE_BREAK)
    lines = head.rstrip(b"\r\n").split(b"\r\n")
    request = _REQUEST_LINE.fullmatch(lines[0])
    if request is None:
        raise Ambiguous("The first line must be a method, a target and a version that is spoken here")
    fields = [_field(line) for line in lines[1:]]
    is_1_0 = request[3] == b"0"
    _check_length(fields, is_1_0)
    _check_repeats(fields)
    _check_target(request[1], request[2], _host(fields, is_1_0))


def _field(line: bytes) -> tuple[bytes, bytes]:
    if line[:1] in {b" ", b"\t"}:
        raise Ambiguous("A header must stand on one line")
    name, colon, value = line.partition(b":")
    if not colon or _TOKEN.fullmatch(name) is None:
        raise Ambiguous("A header must be a name, a colon and a value, without a space before the colon")
    if _CONTROL.search(value):
        raise Ambiguous("A header holds a control character")
    return name.lower(), value.strip(b" \t")


def _check_length(fields: list[tuple[bytes, bytes]], is_1_0: bool) -> None:
    # Some servers read an underscore in a name as a hyphen, so framing headers with an underscore are refused too.
    framing = [(name, value) for name, value in fields if name.replace(b"_", b"-") in _FRAMING]
    if not framing:
        return
    if len(framing) > 1:
        raise Ambiguous(
            "A request has one Content-Length or one Transfer-Encoding, not both and neither twice"
        )
    ((name, value),) = framing
    if name not in _FRAMING:
        raise Ambiguous("Content-Length and Transfer-Encoding are written with a hyphen")
    if name == b"content-length":
        if not (value.isdigit() and len(value) <= LENGTH_DIGITS):
            raise Ambiguous(f"Content-Length must be one number of at most {LENGTH_DIGITS} digits")
    elif is_1_0:
        raise Ambiguous("This version of HTTP has no Transfer-Encoding")
    elif value != b"chunked":
        raise Ambiguous("Transfer-Encoding must be chunked")


_FRAMING = frozenset({b"content-length", b"transfer-encoding"})


def _check_repeats(fields: list[tuple[bytes, bytes]]) -> None:
    """Refuse a repeated header about the acting user: joined with a comma, two names could not be told from one."""
    seen = set()
    for name, _ in fields:
        if name in seen and name.startswith(b"x-adapter-"):
            raise Ambiguous(f"{name.decode().title()} is repeated")
        seen.add(name)


def _host(fields: list[tuple[bytes, bytes]], is_1_0: bool) -> bytes | None:
    hosts = [value for name, value in fields if name == b"host"]
    if len(hosts) > 1 or not (hosts or is_1_0):
        raise Ambiguous("A request has one Host header")
    if not hosts:
        return None
    if _HOST.fullmatch(hosts[0]) is None:
        raise Ambiguous("Host must be a name or an address, with a port or without")
    return hosts[0].lower()


def _check_target(method: bytes, target: bytes, host: bytes | None) -> None:
    if target.startswith(b"/") or (target == b"*" and method == b"OPTIONS"):
        return
    absolute = _ABSOLUTE.match(target)
    if absolute is None:
        raise Ambiguous("The target must be a path")
    if host is not None and absolute[1].lower() != host:
        raise Ambiguous("The target and the Host header name two hosts")


class Buffer(Protocol):
    """Where the bytes of a body are written."""

    def append(self, data: bytes) -> None: ...

    def __len__(self) -> int: ...


class ChunkedBody:
    """Decodes a chunked body (RFC 9112: 7.1). Checks every line, so that nothing can be hidden between chunks.

    ``completed`` becomes true when the last chunk and its trailer fields have arrived.
    """

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._line = b""
        self._left = 0
        self._reads = self._size
        self._trailers = 0
        self.completed = False

    def __len__(self) -> int:
        return len(self._buffer)

    def take(self, data: bytes) -> int:
        """Read the part of ``data`` that belongs to this body. Return how many bytes that is.

        Raises:
            Ambiguous: a line between the chunks is malformed.
        """
        position = 0
        while position < len(data) and not self.completed:
            if self._left:
                part = data[position : position + self._left]
                self._buffer.append(part)
                self._left -= len(part)
                position += len(part)
                if not self._left:
                    self._reads = self._end_of_chunk
            else:
                position += self._read_line(data[position:])
        return position

    def _read_line(self, data: bytes) -> int:
        end = data.find(b"\n") + 1 or len(data)
        self._line += data[:end]
        if has_lone_break(self._line):
            raise Ambiguous(LONE_BREAK)
        if self._reads == self._end_of_chunk and not b"\r\n".startswith(self._line):
            raise Ambiguous("A chunk is longer than its size says")
        if len(self._line) > (TRAILERS if self._reads == self._trailer else CHUNK_LINE):
            raise Ambiguous("A line between chunks is too long")
        if self._line.endswith(b"\n"):
            line, self._line = self._line.removesuffix(b"\r\n"), b""
            self._reads(line)
        return end

    def _size(self, line: bytes) -> None:
        match = _SIZE.fullmatch(line)
        if match is None:
            raise Ambiguous("The size of a chunk must be a hexadecimal number")
        self._left = int(match[1], 16)
        if not self._left:
            self._reads = self._trailer

    def _end_of_chunk(self, line: bytes) -> None:
        self._reads = self._size

    def _trailer(self, line: bytes) -> None:
        if not line:
            self.completed = True
            return
        self._trailers += len(line)
        if self._trailers > TRAILERS:
            raise Ambiguous("The fields after the last chunk are too long")
        _field(line)
