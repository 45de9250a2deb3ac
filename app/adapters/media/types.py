"""What a file is, by its first bytes. Names and headers are not asked: both may lie."""

import re

from app.core.vocabulary import AttachmentKind

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


def media_type(head: bytes) -> tuple[str, AttachmentKind]:
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
