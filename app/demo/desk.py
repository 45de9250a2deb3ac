"""What the demo's staff set up: thresholds, reasons, saved filters, fact-checks, an invitation."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlalchemy.orm import Session

from app.core.factcheck import datasets
from app.core.factcheck.items import Item
from app.core.models import Note, Request
from app.core.notes import ai_notes
from app.core.notes.ai_notes import Draft
from app.core.people import invitations, mailed_links
from app.core.policies import policies
from app.core.policies.drafts import draft_of
from app.core.review import reason_templates, saved_filters
from app.core.review.reason_templates import ReasonDraft
from app.core.vocabulary import Classification, Role
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
        yield 7.0, lambda: self._lower_tier2("misinformation", 0.6, "Too many plain opinions in the queue")
        yield 1.6, self._invite

    def _lower_tier2(self, category: str, tier2: float, reason: str) -> None:
        thresholds = policies.current(self._session, self._community_id)
        match = next((item for item in thresholds.categories if item.name == category), None)
        if match is not None:
            draft = replace(draft_of(match), tier2=tier2)
            operator = self._people[Role.OPERATOR]
            policies.set_category(self._session, operator, self._community_id, draft, reason)

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
        imported = datasets.keep(self._session, operator, self._community_id, items)
        datasets.record(self._session, operator, self._community_id, ["coast-facts"], imported)

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
