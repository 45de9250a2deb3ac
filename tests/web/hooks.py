"""Webhooks and deliveries for tests: registered, told, attempted, through the verbs that the service uses."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from app.core import clock
from app.core.models import Community, Delivery, Webhook
from app.core.permissions import SYSTEM
from app.core.vocabulary import DeliveryState
from app.core.webhooks import events, queue
from app.core.webhooks import registrations as webhooks
from app.core.webhooks.sending import Outcome, Slots
from app.wiring import Wiring

URL = "https://forum.example.org/hook?token=not-for-eyes"
SECRET = "a secret of two machines"
OK, MISSING, GONE = (
    Outcome(200, 40, "thanks"),
    Outcome(404, 120, "<script>alert(1)</script>"),
    Outcome(410, 5),
)


@dataclass
class Hooks:
    """What a community's integration would have done."""

    wiring: Wiring
    community_id: uuid.UUID

    def register(self, url: str = URL) -> uuid.UUID:
        with self.wiring.database.writing() as session:
            community = session.get_one(Community, self.community_id)
            sealer, allow = self.wiring.sealer, self.wiring.allow
            return webhooks.register(session, SYSTEM, sealer, allow, community, url, SECRET)[0].id

    def tell(self, webhook_id: uuid.UUID, count: int = 1) -> list[uuid.UUID]:
        """So many events for it; the ids of their deliveries, oldest first."""
        with self.wiring.database.writing() as session:
            webhook = session.get_one(Webhook, webhook_id)
            told = [events.emit_test(session, webhook).id for _ in range(count)]
            found = sa.select(Delivery.id).where(Delivery.event_id.in_(told)).order_by(Delivery.id)
            return list(session.scalars(found))

    def attempt(self, *outcomes: Outcome, delays: Sequence[float] = ()) -> list[uuid.UUID]:
        """Whatever is due is tried, and ends as told in turn; the ids of what was sent."""
        sent = []
        with self.wiring.database.writing() as session:
            claimed = queue.claim_due(
                session, self.wiring.sealer, "test", clock.now(), Slots(2_001, 1_000), limit=1_000
            )
        for number, one in enumerate(claimed):
            with self.wiring.database.writing() as session:
                outcome = outcomes[number % len(outcomes)]
                queue.record_attempt(session, one.delivery_id, "test", outcome, clock.now(), delays)
            sent.append(one.delivery_id)
        return sent

    def states(self, ids: Sequence[uuid.UUID]) -> list[DeliveryState]:
        with self.wiring.database.reading() as session:
            return [session.get_one(Delivery, one).state for one in ids]

    def webhook(self, webhook_id: uuid.UUID) -> Webhook:
        with self.wiring.database.reading() as session:
            return session.get_one(Webhook, webhook_id)
