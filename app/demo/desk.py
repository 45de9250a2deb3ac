"""What the demo's staff set up: thresholds, reasons, saved filters, fact-checks, an invitation, and a webhook.

The webhook has a local URL, is disabled at the end of the story, and has deliveries of its last days. Its "responses"
are recorded with the dispatcher's own verbs. Nothing is ever sent.
"""

import itertools
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial

from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import strikes
from app.core.factcheck import datasets
from app.core.factcheck.items import Item
from app.core.history.reason import Reason
from app.core.models import Community, Note, Request
from app.core.notes import ai_notes
from app.core.notes.ai_notes import Draft
from app.core.outbound import AllowList
from app.core.people import invitations, mailed_links
from app.core.permissions import Actor
from app.core.review import reason_templates, saved_filters
from app.core.review.reason_templates import ReasonDraft
from app.core.sealing import Sealer
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import draft_of
from app.core.vocabulary import Classification, DeliveryState, EventName, Role
from app.core.webhooks import queue, replays, signing
from app.core.webhooks import registrations as webhooks
from app.core.webhooks.deliveries import Filters
from app.core.webhooks.sending import Outcome, Slots
from app.demo.people import People

REASONS = (
    ReasonDraft("Advertising", "This advertises something. Shops have no place on this forum.", "spam"),
    ReasonDraft(
        "Looks like a scam", "This promises money for nothing. Please do not send anybody anything.", "spam"
    ),
    ReasonDraft("Attack on a person", "This attacks a person instead of what they said.", "toxicity"),
    ReasonDraft("Threat", "This threatens somebody. Take a day off before you answer, please.", "threat"),
    ReasonDraft("Private details", "This gives private details of somebody who did not agree to it.", "pii"),
    ReasonDraft("Banter", "The people concerned know each other and read it as a joke."),
    ReasonDraft("Within the rules", "This is sharp, but it stays with the subject and attacks nobody."),
)
_FACT_CHECKS = (
    ("5g-gulls", "The 5G mast makes gulls sick", "False", "mast"),
    ("lemon-soda", "Lemon water with baking soda cures arthritis", "False", "lemon-water"),
    ("seeding", "Cloud seeding caused the October storm", "False", "october-storm"),
    ("sea-level", "The sea level in the harbour rose by 11 cm in fifty years", "True", "sea-level"),
    ("dredging", "Dredging doubled the current at the old light", "Mostly false", "dredging"),
    ("eelgrass", "Copper antifouling does not harm eelgrass", "Misleading", "eelgrass"),
)
_PUBLISHER = "Coast Fact Desk"
_CHECKED = "https://facts.example.org"


class Desk:
    """Steps of the staff. ``days`` yields each step with the time at which it runs, in days ago."""

    def __init__(self, session: Session, people: People, community_id: uuid.UUID) -> None:
        self._session = session
        self._people = people
        self._community_id = community_id

    def days(self) -> Iterator[tuple[float, Callable[[], object]]]:
        yield 40.5, self._write_reasons
        yield 34.0, self._save_filters
        yield 30.0, self._import_fact_checks
        yield 21.0, lambda: self._lower_tier2("toxicity", 0.5, "Insults slipped through in the market")
        yield 16.0, self._add_strike
        yield 7.0, lambda: self._lower_tier2("misinformation", 0.6, "Too many plain opinions in the queue")
        yield 1.6, self._invite

    def _lower_tier2(self, category: str, tier2: float, reason: str) -> None:
        thresholds = threshold_sets.current(self._session, self._community_id)
        match = next((item for item in thresholds.categories if item.name == category), None)
        if match is not None:
            draft = replace(draft_of(match), tier2=tier2)
            operator = self._people[Role.OPERATOR]
            threshold_sets.set_category(self._session, operator, self._community_id, draft, reason)

    def _add_strike(self) -> None:
        reason = Reason("Threatened to break arms. The second post hidden in two weeks.")
        strikes.add(
            self._session,
            self._people[Role.MODERATOR],
            self._community_id,
            "lobster_lou",
            2,
            reason=reason,
            category="threat",
        )

    def _write_reasons(self) -> None:
        for draft in REASONS:
            reason_templates.add(self._session, self._people[Role.OPERATOR], self._community_id, draft)

    def _save_filters(self) -> None:
        moderator = self._people[Role.MODERATOR]
        for name, query, shared in (
            ("Threats first", {"category": "threat", "sort": "score"}, True),
            ("Spam, night shift", {"category": "spam", "sort": "newest"}, True),
            ("Nearly decided", {"sort": "ratings"}, False),
        ):
            saved_filters.save(self._session, moderator, self._community_id, name, query, shared=shared)

    def _import_fact_checks(self) -> None:
        operator = self._people[Role.OPERATOR]
        items = [
            Item("coast-facts", item_id, claim, rating, f"{_CHECKED}/{page}", _PUBLISHER)
            for item_id, claim, rating, page in _FACT_CHECKS
        ]
        datasets.keep(self._session, operator, self._community_id, items)

    def _invite(self) -> None:
        link = invitations.invite(
            self._session,
            self._people[Role.ADMIN],
            self._community_id,
            "night.watch@demo.example",
            Role.MODERATOR,
            "For the hours between midnight and six",
        )
        mailed_links.record_sent(self._session, link.id)

    def draft_note(self, request: Request) -> Note | None:
        """Write the builtin writer's AI note that quotes the post's fact-check; return None if none matches."""
        _, item = ai_notes.prepare(self._session, self._people.integration, request)
        if item is None:
            return None
        draft = Draft(
            f"{item.publisher} rated a closely matching claim “{item.claim}” {item.rating_given}. {item.url}",
            Classification.MISLEADING,
            (item.url,),
            provider="builtin",
            model="extractive-1",
            prompt_version="none",
        )
        return ai_notes.keep(self._session, self._people.integration, request, draft, item)


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
        failed = Filters(states=(DeliveryState.DEAD,))
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
