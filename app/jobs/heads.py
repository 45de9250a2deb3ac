"""Exports the heads of the history once a day: to the log, and to the file and the webhook that are set."""

import logging
import os

from app.core import clock
from app.core.history import heads
from app.core.webhooks.signing import USER_AGENT
from app.wiring import Wiring

log = logging.getLogger("bridgenote.history")

DEADLINE = 10.0
EXPORT_JOB = "export_history_heads"
EXPORT_SECONDS = 86_400.0


class NotSent(Exception):
    """The webhook did not take the heads; the engine tries again. The text never contains the URL."""


def export(wiring: Wiring) -> None:
    """Export today's heads. A repetition appends them once more, which changes nothing for a comparison.

    Raises:
        OSError: the file cannot be written.
        NotSent: the webhook did not answer with 2xx.
    """
    settings, day = wiring.settings, clock.now().date()
    with wiring.database.reading() as session:
        found = heads.on_day(session, day)
    for head in found:
        log.info(
            "History of community %s on %s: entry %d, hash %s", head.community_id, day, head.number, head.hash
        )
    line = heads.as_line(day, found)
    if settings.history_heads_file:
        descriptor = os.open(settings.history_heads_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(line)
    url = settings.history_heads_url.get_secret_value()
    if url:
        headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
        outcome = wiring.sender.send(url, line, headers, DEADLINE)
        if not outcome.delivered:
            raise NotSent(f"the webhook for heads of the history failed: {outcome.error or outcome.status}")
