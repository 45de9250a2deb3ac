"""URLs of static files, with a digest of their content, and of the icons in the sprite."""

import hashlib
import re
from functools import cache
from pathlib import Path

from flask import Flask, Response, current_app, g, send_from_directory, url_for
from markupsafe import Markup

File = tuple[Path, int]
"""A file and its modification time in ns, which is part of cache keys, so that edits take effect at once."""


def register(app: Flask) -> None:
    app.add_url_rule("/static/js/<version>/<path:filename>", "static_module", _script_module)


@cache
def _digest(*files: File) -> str:
    """Return the first 10 hex digits of the SHA-256 of the files, one after the other."""
    return hashlib.sha256(b"".join(path.read_bytes() for path, _ in files)).hexdigest()[:10]


@cache
def _names(sprite: Path, changed: int) -> frozenset[str]:
    return frozenset(re.findall(r'<symbol id="([^"]+)"', sprite.read_text()))


def _folder() -> Path:
    return Path(current_app.static_folder or "static")


def _static(filename: str) -> File:
    path = _folder() / filename
    return path, path.stat().st_mtime_ns


def script_version() -> str:
    """Digest of all script modules. They import each other by relative URLs, so one version names them all."""
    if "script_version" not in g:
        files = sorted((_folder() / "js").rglob("*.js"))
        g.script_version = _digest(*((path, path.stat().st_mtime_ns) for path in files))
    return str(g.script_version)


def script_modules() -> list[str]:
    """URLs of the modules that every page uses."""
    return [asset(f"js/{path.name}") for path in sorted((_folder() / "js").glob("*.js"))]


def _script_module(version: str, filename: str) -> Response:
    """Serve a script module. Pages of another version of the service get the current content, kept only briefly."""
    return send_from_directory(_folder() / "js", filename)


def asset(filename: str) -> str:
    """Return the URL of a static file. It changes with the content, so browsers may cache the file forever.

    Raises FileNotFoundError if there is no such file, so a wrong name fails in the first test.
    """
    # A page asks for the sprite some thirty times: once a request is enough.
    known: dict[str, str] = g.setdefault("assets", {})
    if filename not in known:
        file = _static(filename)
        folder, _, name = filename.partition("/")
        if folder == "js":
            known[filename] = url_for("static_module", version=script_version(), filename=name)
        else:
            known[filename] = url_for("static", filename=filename, v=_digest(file))
    return known[filename]


def drawing(name: str) -> Markup:
    """Return the shapes of a drawing in `static/pictures`, for an `<svg>` of the page."""
    return _shapes(*_static(f"pictures/{name}.svg"))


@cache
def _shapes(path: Path, changed: int) -> Markup:
    text = path.read_text()
    return Markup(text[text.index("<g") : text.index("</svg>")])  # noqa: S704 - a file of ours


def icon_address(name: str) -> str:
    """Return the URL of an icon in `icons.svg`. Raises LookupError if the sprite has no icon of this name."""
    if "icons" not in g:
        g.icons = _names(*_static("icons.svg"))
    if name not in g.icons:
        raise LookupError(
            f"No icon named {name!r}: add it to ICONS in scripts/vendor.sh and run that script."
        )
    return f"{asset('icons.svg')}#{name}"
