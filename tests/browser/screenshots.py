"""The main pages as pictures, light and dark, for a phone and for a desk: ``make screenshots``.

From the demonstration community, with the clock held still and ids given in order, so that the same pages make the same
pictures. The service runs in this process, because only here can its clock be held.
"""

import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import sqlalchemy as sa
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright
from waitress.server import create_server

from app import create_app, migrations
from app.core import clock, ids
from app.core.models import Account, Action, Membership, Note
from app.core.people import sessions
from app.core.vocabulary import ActionState, NoteStatus
from app.demo import seed
from app.jobs.registry import register_all
from app.process import startup
from app.settings import Settings
from app.wiring import Wiring, wire
from tests.browser import palette
from tests.browser.conftest import CHROMIUM, DESKTOP, PHONE, chromium_arguments
from tests.inline_engine import InlineEngine

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"
NOW = datetime(2026, 5, 20, 16, 40, tzinfo=UTC)
SCREENS: tuple[ViewportSize, ...] = (PHONE, DESKTOP)
PAGES = (
    ("welcome", "rater", "/welcome"),
    ("help-needed", "rater", "/help-needed"),
    ("item", "rater", "/review/{open}"),
    ("my-impact", "rater", "/me"),
    ("note", "rater", "/notes/{note}"),
    ("review-queue", "moderator", "/review"),
    ("item-moderator", "moderator", "/review/{open}"),
    ("second-look", "moderator", "/second-look"),
    ("action-history", "moderator", "/history"),
    ("insights", "moderator", "/insights"),
    ("thresholds", "operator", "/thresholds"),
    ("thresholds-what-if", "operator", "/thresholds"),
    ("classifiers", "operator", "/classifiers"),
    ("webhooks", "operator", "/endpoints"),
    ("deliveries", "operator", "/deliveries"),
    ("community", "operator", "/community"),
    ("people", "admin", "/people"),
    ("keys", "admin", "/keys"),
    ("settings", "rater", "/settings"),
)
"""Name, role, address; a page that is not there is left out."""
WHAT_IF = ("Spam, Asks people (Tier 2)", "0.5"), ("Spam, Acts by itself (Tier 1)", "0.6")
"""What an operator types before the picture of the what-if: fields by label."""


def main() -> None:
    """Take every picture, in place of those that were there."""
    with (
        tempfile.TemporaryDirectory() as folder,
        _served(Path(folder)) as (url, wiring),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=chromium_arguments())
        written = list(_pictures(browser, url, wiring))
        browser.close()
    for path in set(FOLDER.glob("*.png")) - set(written):
        path.unlink()
    size = sum(path.stat().st_size for path in written)
    sys.stdout.write(f"{len(written)} pictures, {size / 1024:.0f} KB, in {FOLDER}\n")


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


def _pictures(browser: Browser, url: str, wiring: Wiring) -> Iterator[Path]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    places, desk = _places(wiring), browser.new_page()
    for screen in SCREENS:
        for theme in ("light", "dark"):
            for role in dict.fromkeys(role for _, role, _ in PAGES):
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
                for name, whose, address in PAGES:
                    if whose != role:
                        continue
                    answer = page.goto(address.format(**places), wait_until="networkidle")
                    if answer is None or not answer.ok:
                        sys.stdout.write(f"left out: {name}\n")
                        continue
                    if name == "thresholds-what-if":
                        _preview(page)
                    path = FOLDER / f"{name}-{screen['width']}-{theme}.png"
                    picture = palette.reduced(desk, page.screenshot())
                    if not (path.exists() and palette.alike(desk, path.read_bytes(), picture)):
                        path.write_bytes(picture)
                    yield path
                context.close()


def _preview(page: Page) -> None:
    """Type other thresholds and wait for the verdict on them."""
    for label, value in WHAT_IF:
        page.get_by_label(label, exact=True).fill(value)
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.get_by_label("Reason", exact=True).focus()
    page.wait_for_load_state("networkidle")
    page.evaluate("scrollTo(0, 0)")


def _places(wiring: Wiring) -> dict[str, str]:
    """An open item with a person's note beside its post, and a note that has a status."""
    with wiring.database.reading() as session:
        by_people = sa.select(Note).where(Note.rationale.is_(False)).order_by(Note.created_at)
        rated = session.scalars(by_people.where(Note.status == NoteStatus.CURRENTLY_RATED_HELPFUL)).first()
        open_item = session.scalars(
            sa.select(Action)
            .where(Action.action_state == ActionState.UNDER_REVIEW, Action.category == "toxicity")
            .order_by(Action.created_at.desc())
        ).first()
        return {"open": str(open_item.id if open_item else ""), "note": str(rated.id if rated else "")}


def _token(wiring: Wiring, role: str) -> str:
    with wiring.database.writing() as session:
        account = session.scalars(
            sa.select(Account)
            .join(Membership, Membership.account_id == Account.id)
            .where(Membership.role == role)
        ).first()
        assert account is not None
        return sessions.begin(session, account, "Screenshots")


if __name__ == "__main__":
    main()
