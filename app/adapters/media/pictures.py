"""Pictures are decoded and re-encoded: no metadata, no second file behind the first, a size that pages can bear."""

import hashlib
import threading
from io import BytesIO

from PIL import Image, ImageOps, UnidentifiedImageError

from app.core import limits
from app.core.attachments.fetching import FetchFailed, Obtained, PreparedFile
from app.core.vocabulary import AttachmentRefusal

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "AVIF")
KEPT_PIXELS = 8_000_000
"""A larger picture is made smaller before it is stored."""
KEPT_SIDE = 16_000
PREVIEW_SIDES = (640, 480, 320, 200)
"""The longest side of a preview, in pixels: the first that needs few enough bytes."""
_JPEG_QUALITY, _WEBP_QUALITY = 85, 75

# Sizes are checked here before anything is decoded. Pillow's own limit would only warn, once for each process.
Image.MAX_IMAGE_PIXELS = None
_decoding = threading.Lock()
"""A decoded picture may take 160 MB, so a process decodes one at a time."""


def rewrite(content: bytes) -> Obtained:
    """Decode a picture, of an animation the first frame, and re-encode it with its preview.

    Raises:
        FetchFailed: it has too many pixels, or it cannot be decoded.
    """
    with _decoding:
        try:
            return _rewritten(content)
        except FetchFailed:
            raise
        except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError, MemoryError) as error:
            raise FetchFailed(AttachmentRefusal.DAMAGED) from error
        except Exception as error:  # decoders of hostile files may raise anything, such as struct.error
            raise FetchFailed(AttachmentRefusal.DAMAGED) from error


def _rewritten(content: bytes) -> Obtained:
    with Image.open(BytesIO(content), formats=FORMATS) as opened:
        width, height = opened.size
        if width * height > limits.PIXELS_MAX:
            raise FetchFailed(AttachmentRefusal.TOO_MANY_PIXELS)
        # A JPEG can be decoded at half its size and less, which saves most of the time.
        opened.draft("RGB", _bounded(width, height))
        opened.load()
        upright = ImageOps.exif_transpose(opened)
        has_alpha = upright.has_transparency_data
        picture = upright.convert("RGBA" if has_alpha else "RGB")
    size = _bounded(*picture.size)
    if size != picture.size:
        picture = picture.resize(size, Image.Resampling.LANCZOS)
    # A new picture of the pixels alone: converting keeps what the old one knew of itself.
    bare = Image.new(picture.mode, picture.size)
    bare.paste(picture)
    if has_alpha:
        main = _written(bare, "WEBP", quality=_WEBP_QUALITY, method=2)
    else:
        main = _written(bare, "JPEG", quality=_JPEG_QUALITY)
    return Obtained(main, _preview(bare), bare.width, bare.height)


def _bounded(width: int, height: int) -> tuple[int, int]:
    scale = min(1.0, (KEPT_PIXELS / (width * height)) ** 0.5, KEPT_SIDE / max(width, height))
    return max(1, int(width * scale)), max(1, int(height * scale))


def _preview(picture: Image.Image) -> PreparedFile:
    for side in PREVIEW_SIDES:
        small = picture.copy()
        small.thumbnail((side, side))
        for quality in (70, 40):
            preview = _written(small, "WEBP", quality=quality, method=2)
            if preview.size <= limits.PREVIEW_BYTES:
                return preview
    raise FetchFailed(AttachmentRefusal.UNSUPPORTED)


def _written(picture: Image.Image, kind: str, **options: int) -> PreparedFile:
    target = BytesIO()
    picture.save(target, kind, **options)
    content = target.getvalue()
    target.seek(0)
    name = hashlib.sha256(content).hexdigest()
    return PreparedFile(name, len(content), f"image/{kind.lower()}", target)
