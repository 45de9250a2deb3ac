"""Pictures of the tests' own making."""

import random
import struct
import zlib
from io import BytesIO

from PIL import Image


def png(width: int = 8, height: int = 6, colour: str = "teal") -> bytes:
    return written(Image.new("RGB", (width, height), colour), "PNG")


def noise(width: int, height: int) -> bytes:
    """A picture that no format makes small."""
    pixels = random.Random(1).randbytes(width * height * 3)  # noqa: S311 - no secret
    return written(Image.frombytes("RGB", (width, height), pixels), "PNG")


def written(picture: Image.Image, kind: str, **options: object) -> bytes:
    target = BytesIO()
    picture.save(target, kind, **options)
    return target.getvalue()


def claiming(width: int, height: int) -> bytes:
    """A PNG of some bytes that says it has this size."""
    return _png(width, height, zlib.compress(bytes(100)))


def blank_png(width: int, height: int, *chunks: tuple[bytes, bytes]) -> bytes:
    """A complete black PNG, small for its size; ``chunks`` come before its pixels."""
    packer = zlib.compressobj(9)
    rows = [packer.compress(bytes(1 + width * 3)) for _ in range(height)]
    return _png(width, height, b"".join(rows) + packer.flush(), *chunks)


def progressive_jpeg(width: int, height: int, scans: int) -> bytes:
    """A picture whose last scan comes ``scans`` times."""
    content = written(Image.new("RGB", (width, height), "red"), "JPEG", progressive=True)
    start = content.rindex(b"\xff\xda")
    return content[:start] + content[start:-2] * scans + content[-2:]


def _png(width: int, height: int, data: bytes, *chunks: tuple[bytes, bytes]) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in ((b"IHDR", header), *chunks, (b"IDAT", data), (b"IEND", b""))
    )


MP4 = struct.pack(">I", 24) + b"ftypisom" + b"\x00\x00\x02\x00isomavc1" + b"\x00" * 40
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
