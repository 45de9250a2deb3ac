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
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(100))), (b"IEND", b""))
    )


MP4 = struct.pack(">I", 24) + b"ftypisom" + b"\x00\x00\x02\x00isomavc1" + b"\x00" * 40
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
