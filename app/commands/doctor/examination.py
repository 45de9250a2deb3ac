"""``doctor``: whether what the service stands on is there, and what to do where it is not.

Every check is made, whatever the others found. ``fail``: the service does not work, or not safely; ``warn``: somebody
should look.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.commands.doctor import database, environment, work
from app.commands.doctor.findings import Finding, State
from app.settings import Settings
from app.wiring import Wiring, wire

__all__ = ["Finding", "State", "examine"]

_ADVICE = {
    "database": "PostgreSQL: start it, or correct BRIDGENOTE_DATABASE_URL; SQLite: see the data folder above",
}
"""What to do where a check could not be made at all."""

Check = Callable[[Wiring], Iterator[Finding]]

_STANDING_ALONE: tuple[tuple[str, Check], ...] = (
    ("settings", environment.settings),
    ("secrets", environment.secrets),
    ("data folder", environment.data_folder),
    ("port", environment.port),
    ("proxies", environment.proxies),
    ("rate limits", environment.rate_limits),
    ("mail server", environment.mail_server),
    ("database", database.reachable),
)
_ON_A_DATABASE: tuple[tuple[str, Check], ...] = (
    ("clock", database.clock),
    ("sealed secrets", database.sealed),
    ("job engine", work.engine),
    ("jobs", work.jobs),
    ("scoring", work.scoring),
    ("deliveries", work.deliveries),
    ("webhooks", work.endpoints),
)


def examine(settings: Settings) -> list[Finding]:
    """Look at everything; the order is that of the checks."""
    with _wired(settings) as wiring:
        findings = [one for what, check in _STANDING_ALONE for one in _made(what, check, wiring)]
        # Without its tables nothing below can be asked.
        if not any(one.what == "database" and one.state is State.FAIL for one in findings):
            findings += [one for what, check in _ON_A_DATABASE for one in _made(what, check, wiring)]
    return findings


def _made(what: str, check: Check, wiring: Wiring) -> list[Finding]:
    found: list[Finding] = []
    try:
        found.extend(check(wiring))
    except Exception as error:
        reason = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
        advice = _ADVICE.get(what, "mend this first; the log of `serve` says more")
        found.append(Finding(what, State.FAIL, reason.splitlines()[0], advice))
    # After "one does not open" a closing "all open" would be a lie.
    failed = any(one.state is State.FAIL for one in found)
    return [one for one in found if not (failed and one.state is State.OK)]


@contextmanager
def _wired(settings: Settings) -> Iterator[Wiring]:
    wiring = wire(settings)
    try:
        yield wiring
    finally:
        wiring.database.dispose()
