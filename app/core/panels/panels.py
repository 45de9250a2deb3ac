"""Panels of reviews: counted and ended (docs/moderate/panels.md)."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.communities import settings as community_settings
from app.core.helpfulness import note_scores
from app.core.helpfulness.note_scores import Fit, Scored
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import Action, Note, Panel, PanelSeat, Rating
from app.core.permissions import SYSTEM
from app.core.scoring import Counts, Rater, Sides, Sums, Verdict
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import (
    IN_REVIEW,
    ActionState,
    HelpfulnessLevel,
    NoteStatus,
    PanelOutcome,
    ReviewGroup,
    SeatState,
)

MOST_SEATS = 36
LONGEST = timedelta(days=7)
"""A panel that has not decided after this many seats or this long leaves the review to moderators."""
ENOUGH, OF_SEATS = 7, 12
"""Answers needed, of how many seats; in proportion for other sizes."""
OPPOSED = "panel:opposed@1"
"""A panel does not act while too many of one side said no (docs/moderate/panels.md). The version is part of the id."""
OPPOSED_SHARE = 6
"""Too many are more than one in this many of the seats that the panel began with: more than 2 of 12."""
CONTESTED = "panel:contested@1"
"""A panel with a *no* from a known side does not act alone: a second panel, of other people, has to act, too."""
CONFIRMS = lazy_gettext(
    "A first panel would act, but was not of one mind, so a second one decides (panel:contested@1)."
)
OVERTAKEN = lazy_gettext("the review ended or went elsewhere")
ALWAYS = lazy_gettext("In this community drawn panels decide reviews.")


def is_reviewed_by_raters(action: Action) -> bool:
    """Whether ratings decide the action now: only then it can have an open panel."""
    return (
        action.action_state in IN_REVIEW
        and action.review_group is not ReviewGroup.STAFF
        and action.restores_id is None
    )


def newest(session: Session, action_id: uuid.UUID) -> Panel | None:
    """The action's newest panel, open or ended."""
    return newest_of(session, [action_id]).get(action_id)


def newest_by_id() -> sa.ScalarSelect[uuid.UUID]:
    """SQL: the id of the newest panel of ``Action``, for a statement that reads it."""
    newest_first = (Panel.ended_at.is_(None).desc(), Panel.opened_at.desc())
    return (
        sa.select(Panel.id)
        .where(Panel.action_id == Action.id)
        .order_by(*newest_first)
        .limit(1)
        .correlate(Action)
        .scalar_subquery()
    )


def newest_of(session: Session, action_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Panel]:
    """The newest panel of each of these actions that has had one. An open one is always the newest."""
    rows = session.scalars(
        sa.select(Panel)
        .where(Panel.action_id.in_(action_ids))
        .order_by(Panel.ended_at.is_(None), Panel.opened_at)
        .execution_options(populate_existing=True)
    )
    return {panel.action_id: panel for panel in rows}


def of_review(panel: Panel | None, action: Action) -> Panel | None:
    """The panel, if it is of the review that is open now; an earlier review may have had one of its own."""
    began = review_began(action)
    if panel is None or panel.review is not action.action_state:
        return None
    return None if began is not None and panel.opened_at < began else panel


def review_began(action: Action) -> datetime | None:
    """When the current review began; None if the action has only had the one."""
    return action.retro_review_at if action.action_state is ActionState.RETRO_REVIEW else action.proposed_at


def has_decided(panel: Panel | None, action: Action) -> bool:
    """Whether the panel decided the action's last review, so that later ratings change nothing about it.

    ``rating_snapshots`` has the same for all panels of a community.
    """
    if panel is None or panel.outcome is not PanelOutcome.DECIDED or action.action_state in IN_REVIEW:
        return False
    again = action.retro_review_at
    return again is None or (panel.review is ActionState.RETRO_REVIEW and panel.opened_at >= again)


def enough(wanted: int) -> int:
    """How many of ``wanted`` seats have to answer before their ratings decide."""
    return -(-ENOUGH * wanted // OF_SEATS)


def seat_holders(panel_id: uuid.UUID) -> sa.Select[uuid.UUID]:
    """SELECT of the profiles whose ratings count for the panel."""
    return sa.select(PanelSeat.profile_id).where(
        PanelSeat.panel_id == panel_id, PanelSeat.state == SeatState.ANSWERED
    )


def most_against(size: int) -> int:
    """How many of one side may say no where a panel that began with ``size`` seats acts."""
    return max(1, size // OPPOSED_SHARE)


def is_opposed(sides: Sides, size: int) -> bool:
    """Whether too many of one side said no for the panel to act (rule ``OPPOSED``). Raters on no side do not matter."""
    return max(sides.negative.not_helpful, sides.positive.not_helpful) > most_against(size)


def is_second(reason: str) -> bool:
    """Whether a panel that opened for this reason confirms a first one. The rule tells, whatever the sentence says."""
    return CONTESTED in reason


def is_contested(sides: Sides) -> bool:
    """Whether anybody of a known side said no, so that one panel is not enough to act (rule ``CONTESTED``)."""
    return sides.negative.not_helpful + sides.positive.not_helpful > 0


def needs_second(session: Session, panel: Panel, note: Note, scored: Scored, judged: Verdict) -> bool:
    """Whether another panel has to say the same before the review is acted on. The second one decides."""
    if is_second(panel.reason) or judged.status is not NoteStatus.CURRENTLY_RATED_HELPFUL:
        return False
    return is_contested(note_scores.by_raters(session, note, scored.fit, seat_holders(panel.id)).sums.sides)


def verdict(session: Session, panel: Panel, note: Note, scored: Scored, *, raised: float) -> Verdict | None:
    """What the panel's ratings say, once they decide: enough have answered, or the others cannot change it."""
    needed = enough(panel.wanted)
    found, judged = _judged(session, panel, note, scored.fit, raised=raised)
    if judged is None or judged.status is NoteStatus.NEEDS_MORE_RATINGS:
        return None
    if judged.status is NoteStatus.CURRENTLY_RATED_HELPFUL and is_opposed(found.sums.sides, panel.size):
        return None
    answers = found.sums.counts.total
    if answers >= needed or _is_certain(found, note, judged, panel.wanted - answers, raised):
        return judged
    return None


def withheld_by(session: Session, panel: Panel, *, raised: float) -> str | None:
    """The rule without which the panel's answers would act; None if they would not act anyway."""
    note = session.get_one(Note, panel.note_id)
    fit = note_scores.in_force(session, panel.community_id)
    found, judged = _judged(session, panel, note, fit, raised=raised)
    would_act = judged is not None and judged.status is NoteStatus.CURRENTLY_RATED_HELPFUL
    return OPPOSED if would_act and is_opposed(found.sums.sides, panel.size) else None


def _judged(
    session: Session, panel: Panel, note: Note, fit: Fit, *, raised: float
) -> tuple[Scored, Verdict | None]:
    """The panel's own ratings, and what the regime's rules make of them."""
    least = min(fit.settings.min_ratings, enough(panel.wanted))
    model = fit.model.with_settings(least, fit.settings.helpful_at)
    found = note_scores.by_raters(session, note, replace(fit, model=model), seat_holders(panel.id))
    return found, found.verdict(note, raised=raised, was=NoteStatus.NEEDS_MORE_RATINGS)


def _is_certain(found: Scored, note: Note, judged: Verdict, missing: int, raised: float) -> bool:
    """Whether no answers of the missing people could lead to another status, whichever side they are of."""
    model = found.fit.model_of(note)
    others = [None] + [
        Rater(model.mean_intercept, factor, True) for factor in (model.low_factor, model.high_factor)
    ]
    for value in (0.0, 1.0):
        for rater in others:
            sums: Sums = found.sums
            for _one in range(missing):
                sums = sums.plus(model, rater, value)
            then = Scored(found.fit, sums).verdict(note, raised=raised, was=NoteStatus.NEEDS_MORE_RATINGS)
            if then is None or then.status is not judged.status:
                return False
    return True


def end(session: Session, panel: Panel, outcome: PanelOutcome, cause: str = "") -> None:
    """End a panel: count its answers, close the seats that are still open, and record it in history."""
    now = clock.now()
    own, others = counts(session, panel)
    panel.helpful, panel.somewhat_helpful = own.helpful, own.somewhat_helpful
    panel.not_helpful, panel.answered = own.not_helpful, own.total
    if outcome is PanelOutcome.DECIDED:
        with community_settings.in_language(session, panel.community_id):
            cause = explained(own, others, panel.reason)
    panel.ended_at, panel.outcome, panel.shortlist = now, outcome, None
    session.flush()
    bulk.change(
        session,
        sa.update(PanelSeat)
        .where(PanelSeat.panel_id == panel.id, PanelSeat.state == SeatState.OPEN)
        .values(state=SeatState.CLOSED, ended_at=now),
    )
    after = {"outcome": outcome.value, "seats": panel.wanted, "answered": panel.answered}
    record(session, panel, "action.panel_ended", after, cause)


def record(session: Session, panel: Panel, what: str, after: Mapping[str, Any], cause: str = "") -> None:
    """Write a step of the panel to the history of its action."""
    after = {"panel_id": str(panel.id), **after}
    ids = (panel.community_id, what, "action", panel.action_id)
    history.record(session, SYSTEM, *ids, after=after, reason=Reason(cause=cause))


def counts(session: Session, panel: Panel) -> tuple[Counts, Counts]:
    """The answers of the panel, and those of the volunteers, as they are now."""
    rows = session.execute(
        sa.select(
            Rating.helpfulness_level,
            sa.func.count().filter(
                Rating.rater_id.in_(seat_holders(panel.id)), Rating.exclusion_reason.is_(None)
            ),
            sa.func.count(),
        )
        .join(Note, sa.and_(Note.id == Rating.note_id, Note.version == Rating.note_version))
        .where(Rating.note_id == panel.note_id)
        .group_by(Rating.helpfulness_level)
    )
    by_level = {level: (own, total - own) for level, own, total in rows}
    own, others = (Counts(*(by_level.get(level, (0, 0))[place] for level in _LEVELS)) for place in (0, 1))
    return own, others


_LEVELS = (HelpfulnessLevel.NOT_HELPFUL, HelpfulnessLevel.SOMEWHAT_HELPFUL, HelpfulnessLevel.HELPFUL)


def explained(own: Counts, others: Counts, reason: str) -> str:
    """The explanation after the decision: what others said, and that a panel opened for ``reason`` decided."""
    values = {"others": _in_words(others), "panel": _in_words(own)}
    if is_second(reason):
        return _("A first panel and volunteers: %(others)s; a drawn panel decided (%(panel)s).", **values)
    return _("Volunteers: %(others)s; a drawn panel decided (%(panel)s).", **values)


def _in_words(counts: Counts) -> str:
    if counts.somewhat_helpful:
        return _(
            "%(yes)s yes, %(no)s no, %(unsure)s not sure",
            yes=counts.helpful,
            no=counts.not_helpful,
            unsure=counts.somewhat_helpful,
        )
    return _("%(yes)s yes, %(no)s no", yes=counts.helpful, no=counts.not_helpful)
