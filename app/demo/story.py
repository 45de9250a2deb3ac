"""The demonstration's story: thirty days of a forum's life, told through the real verbs.

Everything is submitted, scored, routed, rated and decided as it would be, under a clock that is moved along, so each
page has something true to show. The same database content comes out each time, but for ids, passwords and the moment
it starts from.
"""

import heapq
import itertools
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import (
    accounts,
    acknowledgements,
    actions,
    clock,
    communities,
    keys,
    notes,
    policies,
    profiles,
    ratings,
    reason_templates,
    request_scoring,
    requests,
    review_queue,
    verdicts,
)
from app.core.classify import Classifier
from app.core.models import Account, Action, Note, Profile, Request
from app.core.permissions import SYSTEM, Actor
from app.core.sealing import Sealer
from app.core.vocabulary import ActionState, Classification, HelpfulnessLevel, KeyTemplate, Role
from app.demo.posts import Post, posts
from app.demo.sign_ins import COMMUNITY, PLATFORM, Demo, SignIn
from app.demo.surroundings import REASONS, surroundings
from app.demo.webhook import DemoWebhook

NAME = "Harbour forum"
RATERS = 20
DAYS = 30

_CONTROVERSY = "misinformation"
_HELPFUL, _SOMEWHAT, _NOT = (
    HelpfulnessLevel.HELPFUL,
    HelpfulnessLevel.SOMEWHAT_HELPFUL,
    HelpfulnessLevel.NOT_HELPFUL,
)
_CHANNELS = ("general", "harbour-walks", "market", "engine-room")

Step = Callable[[], None]


class Story:
    """A queue of steps in time. Each runs with the clock at its moment, so ids and history are in order.

    It moves the clock (``clock.set_source``): whoever tells it gives the clock back afterwards.
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
        self._answered = itertools.cycle(range(3))
        clock.set_source(lambda: self._now)

    def tell(self) -> Demo:
        demo = self._open()
        for number, post in enumerate(sorted(posts(), key=lambda post: -post.days_ago)):
            self._at(self._ago(post.days_ago), partial(self._submit, number, post))
        self._at(
            self._ago(21), lambda: self._revise("toxicity", 0.5, "Insults slipped through in the market")
        )
        self._at(
            self._ago(7), lambda: self._revise("misinformation", 0.6, "Too many plain opinions in the queue")
        )
        self._at(self._ago(28), self._write_reasons)
        webhook = DemoWebhook(self._session, self._sealer, self._people[Role.OPERATOR], self._community_id)
        for days, step in webhook.days():
            self._at(self._ago(days), step)
        while self._steps:
            moment, _, step = heapq.heappop(self._steps)
            self._now = moment
            step()
        return demo

    def _at(self, moment: datetime, step: Step) -> None:
        if moment <= self._until:
            heapq.heappush(self._steps, (max(moment, self._now), next(self._order), step))

    def _after(self, minutes: float, step: Step) -> None:
        self._at(self._now + timedelta(minutes=minutes), step)

    def _ago(self, days: float) -> datetime:
        return self._until - timedelta(days=days)

    # The people and what they may do.

    def _open(self) -> Demo:
        session = self._session
        community = communities.open_community(
            session,
            SYSTEM,
            PLATFORM,
            COMMUNITY,
            name=NAME,
            description="Ships, quays and what the town says about them.",
            policy_text="Be kind, stay with the subject, sell nothing, and leave other people's private lives alone.",
        )
        self._community_id = community.id
        self._people: dict[Role, Actor] = {}
        sign_ins = []
        for role in Role:
            email, password = f"{role}@demo.example", secrets.token_urlsafe(9)
            account = accounts.create(
                session,
                email,
                password,
                display_name=f"Demo {role}",
                confirmed=True,
                service_admin=role is Role.ADMIN,
            )
            membership = accounts.give_role(session, SYSTEM, account, community.id, role)
            membership.welcomed_at = self._now
            self._people[role] = self._actor(account)
            sign_ins.append(SignIn(role.value, email, password))
        self._camps = tuple(
            [
                profiles.ensure(session, PLATFORM, f"rater-{number}", display_name=f"Demo rater {number}")
                for number in range(1 + half, RATERS + 1, 2)
            ]
            for half in (0, 1)
        )
        # Opening further communities lets one try the whole interface with the one key.
        minted = keys.mint(
            session, SYSTEM, "Demo forum", KeyTemplate.ADAPTER, [community.id], may_open_communities=True
        )
        self._integration = Actor(
            kind="key",
            name=minted.key.name,
            key_id=minted.key.id,
            communities=frozenset({community.id}),
            staff=True,
        )
        return Demo(tuple(sign_ins), minted.text)

    def _actor(self, account: Account) -> Actor:
        profile = profiles.of_account(self._session, account)
        return accounts.actor_for(accounts.get(self._session, account.id), profile.id)

    def _revise(self, category: str, tier2: float, reason: str) -> None:
        policy = policies.current(self._session, self._community_id)
        found = next((one for one in policy.categories if one.name == category), None)
        if found is not None:
            draft = replace(policies.draft_of(found), tier2=tier2)
            operator = self._people[Role.OPERATOR]
            policies.set_category(self._session, operator, self._community_id, draft, reason)

    def _write_reasons(self) -> None:
        for draft in REASONS:
            reason_templates.add(self._session, self._people[Role.OPERATOR], self._community_id, draft)

    # A post's life.

    def _submit(self, number: int, post: Post) -> None:
        session = self._session
        receipt = requests.submit(
            session,
            self._integration,
            self._community_id,
            requests.Submission(
                request_id=f"post-{number + 1}",
                requested_by="harbour-forum",
                content=post.text,
                platform_message_id=f"{1000 + number}",
                platform_channel_id=post.name or _CHANNELS[number % len(_CHANNELS)],
                platform_author_id=post.name or f"member-{1 + number % 17}",
                platform_timestamp=self._now - timedelta(minutes=1),
                extra=None if post.name else surroundings(number, self._now),
            ),
        )
        request = receipt.request
        if post.fate == "failed":
            request_scoring.start(session, request.id)
            request_scoring.fail(session, request.id, "The classifier did not answer")
            return
        if request_scoring.start(session, request.id) is None:
            return
        scorings = request_scoring.classify(self._classifiers, request)
        self._after(0.1, lambda: self._route(request, post, scorings))

    def _route(self, request: Request, post: Post, scorings: Sequence[request_scoring.Scoring]) -> None:
        action = request_scoring.record_scores(self._session, request.id, scorings)
        if post.fate == "escalated" and action is not None:
            self._after(15, lambda: self._escalate(request))
        if action is None or action.note_id is None:
            return
        if post.fate.startswith("auto") and post.fate != "auto":
            self._after(2, lambda: self._acknowledge(action))
        note = self._session.get_one(Note, action.note_id)
        spacing = 25.0 + 7.0 * (len(post.text) % 5)
        for turn, letter in enumerate(post.camps):
            self._after(10 + turn * spacing, partial(self._rate, note, turn, letter))
        end = 20 + len(post.camps) * spacing
        self._after(end, lambda: self._conclude(action, note, post))
        if action.category == _CONTROVERSY and post.fate != "open":
            self._after(30, lambda: self._write_note(request))
        if post.note:
            self._after(45, lambda: self._write_hard_note(request, post.note))

    def _rate(self, note: Note, turn: int, letter: str) -> None:
        camp = self._camps[0 if letter.isupper() else 1]
        rater = camp[(turn + len(note.summary)) % len(camp)]
        if note.locked or note.author_id == rater.id:
            return
        level = {"h": _HELPFUL, "s": _SOMEWHAT, "n": _NOT}[letter.lower()]
        actor = replace(self._integration, profile_id=rater.id, staff=False)
        ratings.rate(self._session, actor, note, rater, level, rater_ref=rater.platform_user_id)

    def _rate_as_demo_rater(self, note: Note, level: HelpfulnessLevel) -> None:
        actor = self._people[Role.RATER]
        rater = self._session.get_one(Profile, actor.profile_id)
        if not note.locked and note.author_id != rater.id:
            ratings.rate(self._session, actor, note, rater, level)

    def _conclude(self, action: Action, note: Note, post: Post) -> None:
        session, moderator = self._session, self._people[Role.MODERATOR]
        state = action.action_state
        if post.fate in {"applied", "rejected", "overturned"} and next(self._answered) == 0:
            self._rate_as_demo_rater(note, _NOT if post.fate == "rejected" else _HELPFUL)
        if post.fate == "forced" and state is ActionState.UNDER_REVIEW:
            review_queue.comment(
                session, moderator, action, "Reported by three members; not waiting for more answers."
            )
            verdicts.force_publish(session, moderator, note, reason="Clear breach of the forum's rules")
        elif post.fate == "dismissed" and state is ActionState.UNDER_REVIEW:
            verdicts.dismiss(session, moderator, note, reason="A joke between friends, both say so")
        if post.fate in {"applied", "forced", "overturned"}:
            self._after(3, lambda: self._acknowledge(action))
        if post.fate == "overturned":
            self._after(60 * 20, lambda: self._overturn(action, "The author explained; it was a quotation"))
        if post.fate == "auto restored":
            self._after(30, lambda: self._acknowledge_restoration(action))

    def _acknowledge(self, action: Action) -> None:
        if action.action_state is ActionState.PROPOSED:
            number = f"{action.action_type}-{action.request_id.hex[-8:]}"
            acknowledgements.acknowledge(self._session, self._integration, action, number)

    def _overturn(self, action: Action, reason: str) -> None:
        if action.action_state in {ActionState.APPLIED, ActionState.RETRO_REVIEW}:
            actions.overturn(self._session, self._people[Role.MODERATOR], action, reason)
            self._after(5, lambda: self._acknowledge_restoration(action))

    def _acknowledge_restoration(self, action: Action) -> None:
        restoration = self._session.scalars(sa.select(Action).where(Action.restores_id == action.id)).first()
        if restoration is not None:
            self._acknowledge(restoration)

    def _escalate(self, request: Request) -> None:
        requests.escalate(self._session, self._integration, request)

    # What people write themselves.

    def _write_note(self, request: Request) -> None:
        number = next(self._order)
        by_demo_rater = number % 2 == 0
        writer = self._people[Role.RATER]
        author = self._session.get_one(Profile, writer.profile_id) if by_demo_rater else self._camps[0][-1]
        actor = writer if by_demo_rater else replace(self._integration, profile_id=author.id, staff=False)
        note = notes.write(
            self._session,
            actor,
            self._community_id,
            author,
            "This claim has been examined many times and does not hold. The linked page lists the studies "
            "and what they measured.",
            Classification.MISLEADING,
            request=request,
            reasons=["factual_error"],
            sources=["https://example.org/fact-check"],
        )
        for turn, letter in enumerate("HhHshH" if number % 3 else "Hn"):
            self._after(15 + 20 * turn, partial(self._rate, note, turn, letter))

    def _write_hard_note(self, request: Request, text: str) -> None:
        author = self._camps[1][-1]
        actor = replace(self._integration, profile_id=author.id, staff=False)
        classification = Classification.NOT_MISLEADING
        notes.write(self._session, actor, self._community_id, author, text, classification, request=request)
