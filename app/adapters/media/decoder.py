"""Decodes one picture: a program of its own, so that a hostile file can cost no more than its process.

``pictures.py`` starts it with the file on standard input and ``Limits`` as a JSON argument, and reads the result from
standard output: a line of JSON, then the picture and its preview. The line is ``{"refused": reason}`` for a file that
must not be shown. Every other exit code than 0 means that something around the file failed.

It imports only the standard library and Pillow, and nothing of the service: no secret is in its memory.
"""

import json
import re
import resource
import sys
from io import BytesIO
from typing import TypedDict

from PIL import AvifImagePlugin, Image, ImageOps

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "AVIF")
KEPT_PIXELS = 8_000_000
"""A larger picture is made smaller before it is stored."""
KEPT_SIDE = 16_000
PREVIEW_SIDES = (640, 480, 320, 200)
"""The longest side of a preview, in pixels: the first that needs few enough bytes."""
SCANS = 100
"""A JPEG may repeat its whole size in every scan, at a few bytes each; encoders write ten or so."""
_JPEG_QUALITY, _WEBP_QUALITY = 85, 75
_JPEG_MARKER = re.compile(rb"\xff+([^\x00\xff])")
_WITHOUT_LENGTH = {0x01, 0xD8, *range(0xD0, 0xD8)}
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9


class Limits(TypedDict):
    """Bytes of memory and of output, seconds of processor time; the most pixels, side and ratio; bytes of a preview."""

    memory: int
    seconds: int
    output: int
    pixels: int
    side: int
    ratio: int
    preview: int


class Refused(Exception):
    """The picture must not be shown. The message is a value of ``AttachmentRefusal``."""


class Result(TypedDict):
    """The first line of an answer: sizes in pixels, then how many bytes of picture and preview follow."""

    kind: str
    width: int
    height: int
    main: int
    preview: int


def bound(memory: int, seconds: int, output: int) -> None:
    """Limit this process, before it reads anything. The system ends it when it needs more processor time."""
    for what, most, beyond in (
        (resource.RLIMIT_AS, memory, 0),
        (resource.RLIMIT_CPU, seconds, 1),  # SIGXCPU, and SIGKILL a second later
        (resource.RLIMIT_FSIZE, output, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        hard = resource.getrlimit(what)[1]
        allowed = [most, most + beyond] if hard == resource.RLIM_INFINITY else [min(most, hard), hard]
        resource.setrlimit(what, (allowed[0], allowed[1]))


def rewritten(content: bytes, limits: Limits) -> tuple[Result, bytes, bytes]:
    """Decode a picture, of an animation the first frame, and encode it again, with its preview.

    Raises:
        Refused: it has too many pixels or scans, or no preview of it is small enough.
    """
    with Image.open(BytesIO(content), formats=FORMATS) as opened:
        width, height = opened.size
        if (
            width * height > limits["pixels"]
            or max(width, height) > limits["side"]
            or max(width, height) > min(width, height) * limits["ratio"]
        ):
            raise Refused("too_many_pixels")
        if content.startswith(b"\xff\xd8") and count_scans(content) > SCANS:
            raise Refused("unsupported")
        size = _reduced(width, height)
        # A JPEG can be decoded at half its size and less, which saves most of the time.
        opened.draft("RGB", size)
        opened.load()
        mode = "RGBA" if opened.has_transparency_data else "RGB"
        picture = opened if opened.mode == mode else opened.convert(mode)
        if size != picture.size:
            picture = picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=1.0)
        picture = ImageOps.exif_transpose(picture)
    # A new picture of the pixels alone: converting keeps what the old one knew of itself.
    bare = Image.new(picture.mode, picture.size)
    bare.paste(picture)
    if mode == "RGBA":
        kind, main = "WEBP", _encoded(bare, "WEBP", quality=_WEBP_QUALITY, method=2)
    else:
        kind, main = "JPEG", _encoded(bare, "JPEG", quality=_JPEG_QUALITY)
    preview = _preview(bare, limits["preview"])
    return (
        Result(kind=kind, width=bare.width, height=bare.height, main=len(main), preview=len(preview)),
        main,
        preview,
    )


def count_scans(content: bytes) -> int:
    """Count the scans of a JPEG without decoding any. What follows the end of the picture does not count."""
    scans, position = 0, 0
    while match := _JPEG_MARKER.search(content, position):
        marker, position = match[1][0], match.end()
        if marker == _END_OF_IMAGE:
            break
        scans += marker == _START_OF_SCAN
        if marker not in _WITHOUT_LENGTH:
            position += int.from_bytes(content[position : position + 2], "big")
    return scans


def _reduced(width: int, height: int) -> tuple[int, int]:
    scale = min(1.0, (KEPT_PIXELS / (width * height)) ** 0.5, KEPT_SIDE / max(width, height))
    return max(1, int(width * scale)), max(1, int(height * scale))


def _preview(picture: Image.Image, most: int) -> bytes:
    for side in PREVIEW_SIDES:
        small = picture.copy()
        small.thumbnail((side, side))
        for quality in (70, 40):
            preview = _encoded(small, "WEBP", quality=quality, method=2)
            if len(preview) <= most:
                return preview
    raise Refused("unsupported")


def _encoded(picture: Image.Image, kind: str, **options: int) -> bytes:
    target = BytesIO()
    picture.save(target, kind, **options)
    return target.getvalue()


def main() -> None:
    """Decode the picture on standard input and write the result to standard output."""
    limits: Limits = json.loads(sys.argv[1])
    bound(limits["memory"], limits["seconds"], limits["output"])
    # The sizes are checked here before anything is decoded. Pillow's own limit would only warn.
    Image.MAX_IMAGE_PIXELS = None
    AvifImagePlugin.DEFAULT_MAX_THREADS = 1  # each thread would reserve memory that counts
    content = sys.stdin.buffer.read()
    answer: Result | dict[str, str]
    picture = preview = b""
    try:
        answer, picture, preview = rewritten(content, limits)
    except Refused as refused:
        answer = {"refused": str(refused)}
    except MemoryError:
        answer = {"refused": "too_many_pixels"}
    except Exception:  # decoders of hostile files may raise anything, such as struct.error
        answer = {"refused": "damaged"}
    for part in (json.dumps(answer).encode(), b"\n", picture, preview):
        sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
