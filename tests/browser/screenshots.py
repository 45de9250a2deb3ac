"""The pictures that README.md and docs/ show: ``make screenshots``.

From the demonstration community, with the clock held still and ids given in order, so that the same pages make the same
pictures. The service runs in this process, because only here can its clock be held.
"""

import base64
import re
import struct
import sys
import tempfile
import threading
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright
from waitress.server import create_server

from app import create_app, migrations
from app.core import clock, ids
from app.core.models import Account, Action, Membership
from app.core.people import sessions
from app.core.vocabulary import ActionState
from app.demo import seed
from app.jobs.registry import register_all
from app.process import startup
from app.settings import Settings
from app.wiring import Wiring, wire
from tests.browser.conftest import CHROMIUM, DESKTOP, PHONE, chromium_arguments
from tests.inline_engine import InlineEngine

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "screenshots"
NOW = datetime(2026, 5, 20, 16, 40, tzinfo=UTC)
SCREENS: dict[str, ViewportSize] = {str(screen["width"]): screen for screen in (PHONE, DESKTOP)}
PAGES = {
    "help-needed": ("rater", "/help-needed"),
    "item": ("rater", "/review/{open}"),
    "my-impact": ("rater", "/me"),
    "review-queue": ("moderator", "/review"),
    "item-moderator": ("moderator", "/review/{open}"),
    "second-look": ("moderator", "/second-look"),
    "action-history": ("moderator", "/history"),
    "insights": ("moderator", "/insights"),
    "thresholds-what-if": ("operator", "/thresholds?category=spam"),
    "classifiers": ("operator", "/classifiers"),
    "webhooks": ("operator", "/endpoints"),
    "people": ("admin", "/people"),
    "keys": ("admin", "/keys"),
}
"""Role and address of each picture, by name."""
_PICTURE = re.compile(r"screenshots/([a-z-]+)-(390|1280)-(light|dark)\.png")
WHAT_IF = ("Spam, Asks people (Tier 2)", "0.5"), ("Spam, Acts by itself (Tier 1)", "0.6")
"""What an operator types before the picture of the what-if: fields by label."""


def shown() -> dict[str, tuple[str, str, str]]:
    """The pictures that a page of the documentation shows: file name to page, width and theme."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = (match for page in pages for match in _PICTURE.finditer(page.read_text()))
    return {match[0].removeprefix("screenshots/"): (match[1], match[2], match[3]) for match in found}


def main() -> None:
    """Take every picture that a page shows, and remove all others."""
    pictures = shown()
    with (
        tempfile.TemporaryDirectory() as folder,
        _served(Path(folder)) as (url, wiring),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=chromium_arguments())
        _take(pictures, browser, url, wiring)
        browser.close()
    for path in FOLDER.glob("*.png"):
        if path.name not in pictures:
            path.unlink()
    size = sum((FOLDER / name).stat().st_size for name in pictures)
    sys.stdout.write(f"{len(pictures)} pictures, {size / 1024:.0f} KB, in {FOLDER}\n")


@contextmanager
def _served(folder: Path) -> Iterator[tuple[str, Wiring]]:
    """The service over a freshly seeded database, at one moment: its address, and what it is made of."""
    numbers = count(1)
    ids.uuid7 = lambda: uuid.UUID(int=(0x70008 << 60) + (1 << 127) + next(numbers))  # type: ignore[attr-defined]
    settings = Settings(_env_file=None, environment="test", data_dir=folder, rate_limit_enabled=False).ready()
    wiring = wire(settings)
    migrations.upgrade(wiring.database.engine)
    clock.set_source(lambda: NOW)
    seed.seed(wiring.database, wiring.classifiers, wiring.sealer, folder, startup.keep_picture(wiring))
    clock.set_source(lambda: NOW)
    jobs = InlineEngine(wiring.database.engine)
    jobs.prepare()
    register_all(jobs, wiring)
    wiring.attach(jobs)
    server = create_server(create_app(wiring), host="127.0.0.1", port=0, threads=16)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}", wiring
    finally:
        server.close()
        clock.set_source(None)
        wiring.database.dispose()


def _take(pictures: dict[str, tuple[str, str, str]], browser: Browser, url: str, wiring: Wiring) -> None:
    """Write each picture that differs from the one that is there.

    Raises:
        KeyError: a page shows a picture that is not in ``PAGES``.
        RuntimeError: a page of the service does not answer.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    places, desk = _places(wiring), browser.new_page()
    for file, (name, width, theme) in pictures.items():
        role, address = PAGES[name]
        screen = SCREENS[width]
        context = browser.new_context(
            base_url=url,
            viewport=screen,
            color_scheme=theme,  # type: ignore[arg-type]  # one of the two words
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="UTC",
            has_touch=screen is PHONE,
            is_mobile=screen is PHONE,
        )
        context.add_cookies([{"name": "bridgenote", "value": _token(wiring, role), "url": url}])
        page = context.new_page()
        answer = page.goto(address.format(**places), wait_until="networkidle")
        if answer is None or not answer.ok:
            raise RuntimeError(f"{name}: {address} does not answer")
        if name == "thresholds-what-if":
            _preview(page)
        path = FOLDER / file
        picture = reduced(desk, page.screenshot())
        if not (path.exists() and alike(desk, path.read_bytes(), picture)):
            path.write_bytes(picture)
        context.close()


def _preview(page: Page) -> None:
    """Type other thresholds and wait for the verdict on them."""
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        for label, value in WHAT_IF:
            page.get_by_label(label, exact=True).fill(value)
    page.wait_for_load_state("networkidle")
    page.evaluate("scrollTo(0, 0)")


def _places(wiring: Wiring) -> dict[str, str]:
    """The post that is shown under review."""
    with wiring.database.reading() as session:
        open_item = session.scalars(
            sa.select(Action)
            .where(Action.action_state == ActionState.UNDER_REVIEW, Action.category == "toxicity")
            .order_by(Action.created_at.desc())
        ).first()
        return {"open": str(open_item.id if open_item else "")}


def _token(wiring: Wiring, role: str) -> str:
    with wiring.database.writing() as session:
        account = session.scalars(
            sa.select(Account)
            .join(Membership, Membership.account_id == Account.id)
            .where(Membership.role == role)
        ).first()
        assert account is not None
        return sessions.begin(session, account, "Screenshots")


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


if __name__ == "__main__":
    main()
