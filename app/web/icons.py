"""URLs of static files, with a digest of their content, and of the icons in the sprite."""

import hashlib
import re
from functools import cache
from pathlib import Path

from flask import current_app, g, url_for


@cache
def _digest(path: Path, changed: int) -> str:
    """Return the first 10 hex digits of the file's SHA-256.

    `changed` (modification time, ns) is part of the cache key, so edits take effect at once.
    """
    return hashlib.sha256(path.read_bytes()).hexdigest()[:10]


@cache
def _names(sprite: Path, changed: int) -> frozenset[str]:
    return frozenset(re.findall(r'<symbol id="([^"]+)"', sprite.read_text()))


def _static(filename: str) -> tuple[Path, int]:
    path = Path(current_app.static_folder or "static") / filename
    return path, path.stat().st_mtime_ns


def asset(filename: str) -> str:
    """Return the URL of a static file. It changes with the content, so browsers may cache the file forever.

    Raises FileNotFoundError if there is no such file, so a wrong name fails in the first test.
    """
    # A page asks for the sprite some thirty times: once a request is enough.
    known: dict[str, str] = g.setdefault("assets", {})
    if filename not in known:
        known[filename] = url_for("static", filename=filename, v=_digest(*_static(filename)))
    return known[filename]


def icon_address(name: str) -> str:
    """Return the URL of an icon in `icons.svg`. Raises LookupError if the sprite has no icon of this name."""
    if "icons" not in g:
        g.icons = _names(*_static("icons.svg"))
    if name not in g.icons:
        raise LookupError(
            f"No icon named {name!r}: add it to ICONS in scripts/vendor.sh and run that script."
        )
    return f"{asset('icons.svg')}#{name}"
