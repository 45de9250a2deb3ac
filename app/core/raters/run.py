"""A rater's run: items and notes in one order, what the rater did today, and what they prefer to be asked.

Items (``help_needed``) and notes (``notes_needed``) are ranked together by what one more rating helps; those that the
rater was drawn for come first.
"""

import uuid
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.errors import Invalid
from app.core.models import Account, Action, Note
from app.core.notes import blindness
from app.core.panels import seats
from app.core.periods import Period
from app.core.permissions import Actor
from app.core.raters import answers, help_needed, help_order, notes_needed, samples
from app.core.raters.answers import What
from app.core.raters.samples import Asked
from app.core.texts import gettext as _
from app.core.thresholds import threshold_sets


@dataclass(frozen=True)
class Today:
    """What a rater did in one community since the day began: answers by category, ratings of notes, skips."""

    by_category: Mapping[str | None, int]
    notes: int
    skipped: int

    @property
    def answered(self) -> int:
        return sum(self.by_category.values()) + self.notes

    @property
    def severe(self) -> int:
        """The answers about posts of sensitive categories."""
        return sum(count for name, count in self.by_category.items() if name in threshold_sets.SENSITIVE)


def next_cards(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    profile_id: uuid.UUID,
    *,
    limit: int,
    languages: Collection[str] = (),
    without: Collection[uuid.UUID] = (),
) -> Sequence[Asked | Note]:
    """The items and notes that this rater is asked about next; ``without`` those that are on the page already.

    Items that the rater was drawn for come first, then posts in a language that they read, then those where one more
    rating helps most.
    """
    drawn = [
        action_id for action_id in drawn_items(session, community_id, profile_id) if action_id not in without
    ]
    items, factor = help_needed.candidates_for(
        session, actor, community_id, profile_id, languages=languages, without=without
    )
    notes, _ = notes_needed.candidates_for(
        session, actor, community_id, profile_id, languages=languages, without=without
    )
    ordered = help_order.order([*items, *notes], profile_id, factor, clock.now())
    first = [*drawn, *(card_id for card_id in ordered if card_id not in drawn)][:limit]
    loaded: dict[uuid.UUID, Asked | Note] = {
        **samples.load(session, first),
        **notes_needed.load(session, first),
    }
    return [loaded[card_id] for card_id in first]


def left(session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID) -> int:
    """How many items and notes wait for this rater; of each kind at most ``MOST_COUNTED`` are counted."""
    return sum(kind.count(session, actor, community_id, profile_id) for kind in (help_needed, notes_needed))


def today(session: Session, actor: Actor, community_id: uuid.UUID, day: Period) -> Today:
    """What the reader did here on ``day``, in one query."""
    done = answers.of_actor(session, actor, community_id, day)
    counts: Counter[str | None] = Counter()
    notes = skipped = 0
    for what, category, count in session.execute(
        sa.select(done.c.what, done.c.category, sa.func.count()).group_by(done.c.what, done.c.category)
    ):
        if what in answers.SKIPS:
            skipped += count
        elif what == What.NOTE:
            notes += count
        else:
            counts[category] += count
    return Today(counts, notes, skipped)


def break_due(account: Account, done: Today, category: str | None) -> bool:
    """Whether to offer a break after an answer about a post of this category; ``done`` counts that answer too."""
    if done.answered and done.answered % limits.BREAK_AFTER == 0:
        return True
    every = account.break_after_severe
    every = limits.BREAK_AFTER_SEVERE if every is None else every
    return bool(every and category in threshold_sets.SENSITIVE and done.severe % every == 0)


def drawn_items(session: Session, community_id: uuid.UUID, profile_id: uuid.UUID) -> Sequence[uuid.UUID]:
    """The items for which this rater has an open seat, first the one that ends first.

    Without those that take no ratings now, and those of a category that the rater prefers not to see: they may have
    chosen it after the draw.
    """
    drawn = [seat.action_id for seat in seats.open_for(session, profile_id, community_id)]
    if not drawn:
        return []
    avoided = help_needed.reader(session, profile_id).avoided
    open_to_them = session.scalars(
        sa.select(Action.id)
        .join(Note, Note.id == Action.note_id)
        .where(
            Action.id.in_(drawn),
            blindness.open_clause(),
            sa.or_(Action.category.is_(None), Action.category.not_in(avoided)),
        )
    ).all()
    return [action_id for action_id in drawn if action_id in open_to_them]


def choose_preferences(
    account: Account,
    *,
    languages: Sequence[str],
    avoided_categories: Sequence[str],
    break_after_severe: int | None,
) -> None:
    """Set what this account is asked in its run. ``break_after_severe`` None: the usual number; 0: no such break.

    Raises:
        Invalid: too many languages, or a number out of range.
    """
    if len(languages) > limits.LANGUAGES_MAX:
        raise Invalid.field("languages", _("must be at most %(most)s", most=limits.LANGUAGES_MAX))
    most = limits.BREAK_AFTER_SEVERE_MAX
    if break_after_severe is not None and not 0 <= break_after_severe <= most:
        raise Invalid.field(
            "break_after_severe",
            _("must be a whole number from 0 to %(most)s", most=most),
            break_after_severe,
        )
    account.languages = list(dict.fromkeys(languages))
    account.avoided_categories = list(dict.fromkeys(avoided_categories))
    account.break_after_severe = break_after_severe
