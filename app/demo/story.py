"""The demo's story: six weeks of a harbour town's forum, created with the real verbs.

Posts are submitted, scored, routed, rated and decided by the core, with a clock that the story moves forward, so each
page shows realistic data. Each run creates the same content, except for ids, passwords and the start time.
"""

import heapq
import itertools
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import acknowledgements, actions
from app.core.classify import Classifier
from app.core.classify.language import detect
from app.core.communities import communities
from app.core.history.reason import Reason
from app.core.models import Action, Community, Note, Request
from app.core.notes import notes, ratings, verdicts
from app.core.permissions import SYSTEM
from app.core.reports import outcomes, reporting
from app.core.requests import post_facts, scoring, submitting
from app.core.requests.post_facts import ReadFacts
from app.core.requests.scorings import Scoring
from app.core.review import claims, queue
from app.core.sealing import Sealer
from app.core.vocabulary import ActionState, Classification, HelpfulnessLevel, Role
from app.demo.desk import DemoWebhook, Desk
from app.demo.people import People
from app.demo.sign_ins import COMMUNITY, PLATFORM, Demo
from app.demo.threads import MemberNote, MemberReport, Post, TimedPost, timed_posts

NAME = "Harbour forum"
DAYS = 42
POLICY_TEXT = (
    "Be kind, also about moorings. Stay with the subject. Private sales are welcome in the market, shops are not. "
    "Leave other people's addresses, numbers and private lives alone. Whoever is wrong about a tide says so."
)

_LEVELS = {
    "h": HelpfulnessLevel.HELPFUL,
    "s": HelpfulnessLevel.SOMEWHAT_HELPFUL,
    "n": HelpfulnessLevel.NOT_HELPFUL,
}
_TAGS = {"h": ("clear", "good_sources"), "s": ("clear", "not_needed"), "n": ("misses_point",)}
"""The tags that raters choose for a member's note, by their answer."""

_SPACING = (25.0, 95.0, 41.0, 230.0, 64.0)
"""Minutes between two answers about a post, used in turn: some reviews take an hour, some most of a day."""
_AS_THE_OTHERS = (True, True, True, False)
"""Whether the demo rater answers like the other raters, used in turn."""

Step = Callable[[], object]


class Story:
    """A queue of timed steps. Each step runs with the clock set to its time, so ids and history are in order.

    ``tell`` moves the clock (``clock.set_source``); the caller must reset it afterwards.
    """

    def __init__(
        self, session: Session, classifiers: Sequence[Classifier], sealer: Sealer, until: datetime
    ) -> None:
        self._session = session
        self._classifiers = classifiers
        self._sealer = sealer
        self._until = until
        self._now = until - timedelta(days=DAYS + 10)
        self._steps: list[tuple[datetime, int, Step]] = []
        self._order = itertools.count()
        self._answered = itertools.cycle(range(2))
        self._agrees = itertools.cycle(_AS_THE_OTHERS)
        clock.set_source(lambda: self._now)

    def tell(self) -> Demo:
        community = communities.open_community(
            self._session,
            SYSTEM,
            PLATFORM,
            COMMUNITY,
            name=NAME,
            description="Ferries, moorings, mackerel, and what the town says about them.",
            policy_text=POLICY_TEXT,
        )
        self._community_id = community.id
        self._people = People(self._session, community)
        self._desk = Desk(self._session, self._people, community.id)
        opened = self._now
        for days, address in self._people.arrivals():
            self._at(opened + timedelta(days=days), partial(self._people.arrive, address))
        for number, post in enumerate(timed_posts(self._until)):
            self._at(post.at, partial(self._submit, number, post))
        webhook = DemoWebhook(self._session, self._sealer, self._people[Role.OPERATOR], community.id)
        for days_ago, step in itertools.chain(self._desk.days(), webhook.days()):
            self._at(self._until - timedelta(days=days_ago), step)
        while self._steps:
            moment, _, step = heapq.heappop(self._steps)
            self._now = moment
            step()
        return self._people.demo

    def _at(self, moment: datetime, step: Step) -> None:
        if moment <= self._until:
            heapq.heappush(self._steps, (max(moment, self._now), next(self._order), step))

    def _after(self, minutes: float, step: Step) -> None:
        self._at(self._now + timedelta(minutes=minutes), step)

    # The steps of a post.

    def _submit(self, number: int, timed: TimedPost) -> None:
        session = self._session
        receipt = submitting.submit(
            session,
            self._people.integration,
            self._community_id,
            submitting.Submission(
                request_id=f"post-{number + 1}",
                requested_by="harbour-forum",
                content=timed.post.text,
                platform_message_id=f"{1000 + number}",
                platform_channel_id=timed.channel,
                platform_author_id=timed.post.author,
                platform_timestamp=self._now - timedelta(minutes=1),
                extra=timed.metadata,
            ),
        )
        request = receipt.request
        if scoring.start(session, request.id) is None:
            return
        if timed.post.fate == "failed":
            scoring.fail(session, request.id, "The classifier did not answer")
            return
        facts = post_facts.read(session, [request.id]).get(request.id)
        scorings = scoring.classify(self._classifiers, request, detect(request.content))
        self._after(0.1, lambda: self._route(number, request, timed.post, scorings, facts))

    def _route(
        self,
        number: int,
        request: Request,
        post: Post,
        scorings: Sequence[Scoring],
        facts: ReadFacts | None,
    ) -> None:
        language = detect(request.content)
        action = scoring.record_scores(self._session, request.id, scorings, language, facts)
        for place, report in enumerate(post.reports):
            self._after(
                report.after, partial(self._report, f"report-{number + 1}-{place + 1}", request, report)
            )
        for place, note in enumerate(post.notes):
            self._after(30 + 10 * place, partial(self._write_note, number, request, note))
        if post.fate == "escalated":
            self._after(15, lambda: submitting.escalate(self._session, self._people.integration, request))
        if post.fate == "checked":
            self._after(20, lambda: self._desk.draft_note(request))
        if action is None or action.note_id is None:
            return
        if post.fate.startswith("auto "):
            self._after(2, lambda: self._acknowledge(action))
        if post.fate == "claimed":
            at = self._until - timedelta(minutes=3)
            self._at(at, lambda: claims.claim(self._session, self._people.moderators[-1], action))
        rationale = self._session.get_one(Note, action.note_id)
        spacing = _SPACING[number % len(_SPACING)]
        if post.fate in {"applied", "rejected", "overturned"} and next(self._answered) == 0:
            # The demo rater answers first: once the outcome is visible, nobody can answer any more.
            # With few answers, a disagreeing one would leave the post undecided.
            agrees = next(self._agrees) or len(post.camps) < 6
            is_no = (post.fate == "rejected") is agrees
            self._after(9, partial(self._rate_as_demo_rater, rationale, "n" if is_no else "h"))
        for turn, letter in enumerate(post.camps):
            self._after(
                10 + turn * spacing, partial(self._rate, rationale, number + turn, letter, post.author)
            )
        self._after(20 + len(post.camps) * spacing, lambda: self._conclude(number, action, rationale, post))

    def _rate(self, note: Note, turn: int, letter: str, poster: str, tags: Sequence[str] = ()) -> None:
        camp = self._people.camps[0 if letter.isupper() else 1]
        if note.locked:
            return
        raters = [
            profile for profile in camp if profile.platform_user_id != poster and profile.id != note.author_id
        ]
        actor, rater = self._people.member(raters[turn % len(raters)].platform_user_id)
        level, handle = _LEVELS[letter.lower()], rater.platform_user_id
        ratings.rate(self._session, actor, note, rater, level, rater_ref=handle, reasons=tags)

    def _rate_as_demo_rater(self, note: Note, letter: str) -> None:
        actor, rater = self._people.member("")
        if not note.locked and note.author_id != rater.id:
            ratings.rate(self._session, actor, note, rater, _LEVELS[letter])

    def _conclude(self, number: int, action: Action, note: Note, post: Post) -> None:
        session, state = self._session, action.action_state
        moderator = self._people.moderators[number % len(self._people.moderators)]
        if post.fate == "split":
            queue.comment(session, moderator, action, post.reason)
        elif post.fate == "forced" and state is ActionState.UNDER_REVIEW:
            queue.comment(
                session, moderator, action, "Three members reported it; not waiting for more answers."
            )
            verdicts.force_publish(session, moderator, note, reason=Reason(post.reason))
        elif post.fate == "dismissed" and state is ActionState.UNDER_REVIEW:
            verdicts.dismiss(session, moderator, note, reason=Reason(post.reason))
        if post.fate in {"applied", "forced", "overturned", "taken back", "appealed"}:
            self._after(3, lambda: self._acknowledge(action))
        if post.reports:
            self._after(5, lambda: outcomes.resolve_post(session, action.request_id))
        if post.fate == "overturned":
            self._after(60 * 20, lambda: self._overturn(action, post.reason, is_restored=True))
        elif post.fate == "taken back":
            self._after(60 * 6, lambda: self._overturn(action, post.reason, is_restored=False))
        elif post.fate == "appealed":
            self._after(60 * 9, lambda: self._appeal(action, post.reason))
        elif post.fate == "auto restored":
            self._after(30, lambda: self._acknowledge_restoration(action))

    def _acknowledge(self, action: Action) -> None:
        if action.action_state is ActionState.PROPOSED:
            number = f"{action.action_type}-{action.request_id.hex[-8:]}"
            acknowledgements.acknowledge(self._session, self._people.integration, action, number)

    def _overturn(self, action: Action, reason: str, *, is_restored: bool) -> None:
        if action.action_state in {ActionState.APPLIED, ActionState.RETRO_REVIEW}:
            actions.overturn(self._session, self._people[Role.MODERATOR], action, reason=Reason(reason))
            if is_restored:
                self._after(5, lambda: self._acknowledge_restoration(action))

    def _appeal(self, action: Action, reason: str) -> None:
        if action.action_state is ActionState.APPLIED:
            actions.open_second_look(self._session, self._people.integration, action, reason=Reason(reason))

    def _acknowledge_restoration(self, action: Action) -> None:
        restoration = self._session.scalars(sa.select(Action).where(Action.restores_id == action.id)).first()
        if restoration is not None:
            self._acknowledge(restoration)

    def _report(self, report_id: str, request: Request, report: MemberReport) -> None:
        actor, reporter = self._people.member(report.reporter)
        community = self._session.get_one(Community, self._community_id)
        handle = reporter.platform_user_id
        new = reporting.NewReport(
            report_id, handle, str(request.id), category=report.category, text=report.text
        )
        reporting.file(self._session, actor, community, reporter, new)

    def _write_note(self, number: int, request: Request, note: MemberNote) -> None:
        actor, author = self._people.member(note.author)
        written = notes.write(
            self._session,
            actor,
            self._community_id,
            author,
            note.text,
            Classification.MISLEADING if note.misleading else Classification.NOT_MISLEADING,
            request=request,
            reasons=note.reasons,
            sources=note.sources,
        )
        for turn, letter in enumerate(note.camps):
            tags, poster = _TAGS[letter.lower()], request.platform_author_id or ""
            self._after(15 + 20 * turn, partial(self._rate, written, number + turn + 3, letter, poster, tags))
