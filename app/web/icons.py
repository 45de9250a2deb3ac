"""Static files with a digest in the address, and the names the icon sprite knows."""

import hashlib
import re
from functools import cache
from pathlib import Path

from flask import current_app, url_for


@cache
def _digest(path: Path, changed: int) -> str:
    """First 10 hex digits of the file's SHA-256; `changed` (ns) is part of the key, so edits show at once."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:10]


@cache
def _names(sprite: Path, changed: int) -> frozenset[str]:
    return frozenset(re.findall(r'<symbol id="([^"]+)"', sprite.read_text()))


def _static(filename: str) -> tuple[Path, int]:
    path = Path(current_app.static_folder or "static") / filename
    return path, path.stat().st_mtime_ns


def asset(filename: str) -> str:
    """The address of a static file; it changes with the content, so browsers may keep what they fetched.

    Raises FileNotFoundError for a file that is not shipped: a wrong name fails in the first test.
    """
    return url_for("static", filename=filename, v=_digest(*_static(filename)))


def icon_address(name: str) -> str:
    """The address of one icon in `icons.svg`. Raises LookupError for a name the sprite does not have."""
    if name not in _names(*_static("icons.svg")):
        raise LookupError(
            f"No icon named {name!r}: add it to ICONS in scripts/vendor.sh and run that script."
        )
    return f"{asset('icons.svg')}#{name}"
