"""Pictures with at most 256 colours: a third of the bytes, for pages that hardly have more."""

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page

COLOURS = 256
_PIXELS = """async (png) => {
  const picture = await createImageBitmap(await (await fetch("data:image/png;base64," + png)).blob());
  const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
  canvas.drawImage(picture, 0, 0);
  const bytes = canvas.getImageData(0, 0, picture.width, picture.height).data;
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return [picture.width, picture.height, btoa(text)];
}"""


SAME = 24
"""Between two colours, summed over their channels: less than what an eye sees, more than how browsers draw the edge of
the same rounded corner twice."""


def alike(page: Page, one: bytes, other: bytes) -> bool:
    """Whether two pictures show the same, so that the older may stay."""
    (size, before), (new_size, after) = _read(page, one), _read(page, other)
    return size == new_size and bool((np.abs(before.astype(int) - after).sum(axis=1) <= SAME).all())


def reduced(page: Page, png: bytes) -> bytes:
    """The same picture as an indexed PNG. ``page`` is any page, whose browser reads the picture.

    Colours beyond the 256 most frequent, which are shades at the edges of letters, become their nearest neighbour.
    """
    (width, height), rgba = _read(page, png)
    packed = rgba[:, 0].astype(np.uint32) << 16 | rgba[:, 1].astype(np.uint32) << 8 | rgba[:, 2]
    colours, which, counts = np.unique(packed, return_inverse=True, return_counts=True)
    # A stable order, so that the same picture is the same file.
    kept = np.sort(np.argsort(-counts, kind="stable")[:COLOURS])
    channels = np.stack([colours >> 16 & 255, colours >> 8 & 255, colours & 255], axis=1).astype(np.int32)
    palette = channels[kept]
    nearest = np.array([((palette - colour) ** 2).sum(axis=1).argmin() for colour in channels], np.uint8)
    rows = nearest[which].reshape(height, width)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
        + _chunk(b"PLTE", palette.astype(np.uint8).tobytes())
        + _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9))
        + _chunk(b"IEND", b"")
    )


def _read(page: Page, png: bytes) -> tuple[tuple[int, int], NDArray[np.uint8]]:
    """Width and height, and the colours: one row a pixel, red, green, blue, alpha."""
    width, height, pixels = page.evaluate(_PIXELS, base64.b64encode(png).decode())
    return (width, height), np.frombuffer(base64.b64decode(pixels), np.uint8).reshape(-1, 4)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
