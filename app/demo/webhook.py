"""The demo's webhook: a local URL, disabled at the end of the story, with deliveries of its last days.

Its "responses" are recorded with the dispatcher's own verbs. Nothing is ever sent.
"""

import itertools
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

from sqlalchemy.orm import Session

from app.core import clock
from app.core.models import Community
from app.core.outbound import AllowList
from app.core.permissions import Actor
from app.core.sealing import Sealer
from app.core.vocabulary import DeliveryState, EventName
from app.core.webhooks import queue, replays, signing
from app.core.webhooks import registrations as webhooks
from app.core.webhooks.deliveries import Filters
from app.core.webhooks.sending import Outcome
from app.core.webhooks.slots import Slots

URL = "http://localhost:8099/demo-forum/hook"
OWNER = "demonstration"
DELAYS = (10.0, 30.0)
BEGINS, REPLAYS, AWAY, ENDS = 20.0, 6.8, 0.75, 0.25
"""Days ago: registered; failed deliveries replayed; no more responses, so deliveries wait; disabled."""
EVERY = 0.5
OUTAGES = (
    (9.6, 7.6, Outcome(503, 912, "The forum is being updated. Back in a minute.")),
    (2.1, 1.3, Outcome(404, 38, "<h1>No such topic</h1>")),
)
"""In this period, in days ago, every attempt gets this response, so deliveries fail permanently."""
EVENTS = (EventName.DECISION, EventName.ACTION_CREATED, EventName.ACTION_OVERTURNED, EventName.NOTE_STATUS)

_ANSWERS = (
    Outcome(200, 84, '{"ok": true}'),
    Outcome(200, 61, '{"ok": true}'),
    Outcome(404, 38, "<h1>No such topic</h1>"),
    Outcome(200, 143, '{"ok": true}'),
    Outcome(503, 912, "The forum is being updated. Back in a minute."),
    Outcome(200, 97, '{"ok": true}'),
    Outcome(200, 70, '{"ok": true}'),
    Outcome(None, 10_000, error="timeout after 10 s"),
    Outcome(200, 2_310, '{"ok": true, "slow": true}'),
)


class DemoWebhook:
    """The steps of the webhook. ``days`` yields each step with the time at which it runs, in days ago."""

    def __init__(self, session: Session, sealer: Sealer, operator: Actor, community_id: uuid.UUID) -> None:
        self._session = session
        self._sealer = sealer
        self._operator = operator
        self._community_id = community_id
        self._webhook_id: uuid.UUID | None = None
        self._answers = itertools.cycle(_ANSWERS)

    def days(self) -> Iterator[tuple[float, Callable[[], object]]]:
        yield BEGINS, self._register
        count = int((BEGINS - AWAY) / EVERY)
        for number in range(1, count):
            days_ago = BEGINS - number * EVERY
            answers = [answer for begin, end, answer in OUTAGES if begin >= days_ago > end]
            yield days_ago, partial(self._answer, *answers)
        yield REPLAYS, self._replay
        yield ENDS, self._disable

    def _register(self) -> None:
        webhook, _ = webhooks.register(
            self._session,
            self._operator,
            self._sealer,
            AllowList.parse("localhost"),
            self._session.get_one(Community, self._community_id),
            URL,
            signing.new_secret(),
            [name.value for name in EVENTS],
        )
        self._webhook_id = webhook.id

    def _answer(self, always: Outcome | None = None) -> None:
        """Record attempts and retries of the due deliveries. ``always``: the response to every attempt."""
        moment = clock.now()
        for seconds in (0, 11, 43):
            at = moment + timedelta(seconds=seconds)
            due = queue.claim_due(self._session, self._sealer, OWNER, at, Slots())
            if not due:
                return
            for claimed in due:
                answer = always or next(self._answers)
                queue.record_attempt(self._session, claimed.delivery_id, OWNER, answer, at, DELAYS)

    def _replay(self) -> None:
        """Replay the failed deliveries; later steps record their responses."""
        failed = Filters(state=DeliveryState.DEAD)
        replays.begin(self._session, self._operator, self._community_id, failed)

    def _disable(self) -> None:
        if self._webhook_id is not None:
            webhooks.change(
                self._session,
                self._operator,
                self._sealer,
                AllowList(),
                self._webhook_id,
                is_active=False,
            )
