"""Ratings: each rater has one rating of a note and can change it (docs/integrate/api.md)."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import actions
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, NotFound, Settled
from app.core.helpfulness import eligibility, note_scores, refits
from app.core.helpfulness.note_scores import Scored
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import Action, Community, Hold, Note, Panel, Profile, RaterDay, Rating, Request
from app.core.notes import blindness, rater_days, verdicts
from app.core.panels import panels, seats
from app.core.people import profiles
from app.core.periods import day_of
from app.core.permissions import Actor, Permission, require
from app.core.scoring import VALUES
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState, ActionTier, HelpfulnessLevel, NoteStatus

SETTLED = lazy_gettext("This is decided and its outcome has been shown, so answers stand as they were given")

CLOSED = lazy_gettext("This note is locked; its ratings are closed")

STANDS = lazy_gettext("The note has its status now, so your rating stands. You can still change it")

LOCKED = lazy_gettext("A moderator decided about this note, so it cannot be changed any more")

EDITED = lazy_gettext("The post was edited meanwhile. Read it again, and answer then")


@dataclass(frozen=True)
class Stats:
    """Counts by level; ``average_score`` is from 1 (not helpful) to 3 (helpful), 0 without ratings.

    ``first_at`` is when the first rating was created, ``last_at`` when one last changed; None without ratings.
    """

    total: int
    helpful: int
    somewhat_helpful: int
    not_helpful: int
    first_at: datetime | None = None
    last_at: datetime | None = None

    @property
    def average_score(self) -> float:
        if not self.total:
            return 0.0
        return (3 * self.helpful + 2 * self.somewhat_helpful + self.not_helpful) / self.total


class Rated(NamedTuple):
    """A rating that was given: whether it is new, the action whose rationale it is about, and ``uncounted.why``'s
    ``state``: that of the action before this rating decided anything. None for other notes."""

    rating: Rating
    is_new: bool
    action: Action | None
    state: ActionState | None


def rate(
    session: Session,
    actor: Actor,
    note: Note,
    rater: Profile,
    level: HelpfulnessLevel,
    *,
    rater_ref: str | None = None,
    reasons: Sequence[str] = (),
    edit: str | None = None,
) -> Rated:
    """Rate a note, or change the rater's rating. The note's status is updated.

    ``edit``: the id of the request with the text that the rater saw, "" for the first one; None if that is not known.

    Raises:
        Conflict: the post was edited, so that they saw an earlier text.
        NotFound: the note was deleted.
        Forbidden: the rater wrote the note, the note is locked, or ``rater`` is not the acting user.
        Settled: the actor uses the dashboard and has seen the item's outcome. Integrations may still rate it.
    """
    require(actor, Permission.RATE, note.community_id, "note")
    if actor.profile_id is not None and not profiles.are_one(session, actor.profile_id, rater.id):
        raise Forbidden(_("rater_id must be the acting user"))
    named_id = rater.id
    rater = profiles.hold_canonical(session, rater)
    request = session.get(Request, note.request_id) if note.request_id else None
    # As late as possible: while this rater reads and writes, all others of the community wait.
    serialise(session, note.community_id)
    _note, community, action, newest, rating, held, known_day = _reread(session, note, rater)
    if note.deleted_at is not None:
        raise NotFound("note")
    if edit is not None and action is not None and edit != str(action.newest_request_id or ""):
        raise Conflict(EDITED, action.id)
    person = eligibility.person_of(session, rater)
    if note.author_id in person.ids:
        raise Forbidden(_("You cannot rate your own note"))
    if blindness.is_closed(note, action):
        raise Forbidden(CLOSED)
    in_view = _is_outcome_in_view(note, action, rating)
    if in_view and action is not None and actor.kind == "account":
        raise Settled(SETTLED)
    is_new = rating is None
    before = rating.helpfulness_level.value if rating else None
    counted = _counted(rating, note)
    is_added = rating is None or rating.note_version != note.version
    exclusion = eligibility.excluded(
        session, community, rater, person, request, action
    ) or eligibility.submitted_too(session, person, request)
    if rating is None:
        rating = Rating(
            id=new_id(),
            community_id=note.community_id,
            note_id=note.id,
            rater_id=rater.id,
            rater_ref=rater_ref if rater_ref is not None else str(named_id),
            helpfulness_level=level,
            note_version=note.version,
        )
        session.add(rating)
    if rater_ref is not None:
        rating.rater_ref = rater_ref
    if not in_view:
        rating.blind_level = level
    elif rating.note_version != note.version:
        rating.blind_level = None
    rating.helpfulness_level = level
    rating.note_version = note.version
    rating.exclusion_reason = exclusion.value if exclusion is not None else None
    rating.reasons = list(reasons)
    session.flush()
    if is_new and known_day != day_of(rating.created_at):
        rater_days.add(session, rating)
    if before != level.value:
        what = "rating.given" if is_new else "rating.changed"
        replaced = {"helpfulness_level": before} if before else {}
        after = {"helpfulness_level": level.value, "note_id": str(note.id)}
        _record(session, actor, rating, what, before=replaced, after=after)
    if action is not None and not held:
        _second_look_on_first_rating(session, actor, action)
    state = action.action_state if action is not None else None
    panel = _open_panel(newest, action)
    if panel is not None:
        seats.answer(session, panel, rater.id)
    scored = _rescored(session, note, rater.id, counted, _counted(rating, note))
    note.ratings_count += is_added
    verdicts.follow(session, note, action, newest, scored, cause=f"rating {rating.id}", held=held)
    return Rated(rating, is_new, action, state)


class _Reread(NamedTuple):
    """What a rating depends on: the note with its community, the action whose rationale it is, that action's newest
    panel, this rater's rating, whether ``verdicts.is_held``, and today, if ``rater_days`` has it of the rater."""

    note: Note
    community: Community
    action: Action | None
    panel: Panel | None
    rating: Rating | None
    held: bool
    day: int | None


_REREAD = (
    sa.select(
        Note,
        Community,
        Action,
        Panel,
        Rating,
        sa.exists().where(sa.or_(Hold.note_id == Note.id, Hold.action_id == Action.id)),
        RaterDay.day,
    )
    .join(Community, Community.id == Note.community_id)
    .outerjoin(Action, sa.and_(Note.rationale, Action.note_id == Note.id, Action.restores_id.is_(None)))
    .outerjoin(Panel, Panel.id == panels.newest_by_id())
    .outerjoin(Rating, sa.and_(Rating.note_id == Note.id, Rating.rater_id == sa.bindparam("rater")))
    .outerjoin(
        RaterDay,
        sa.and_(
            RaterDay.community_id == Community.id,
            RaterDay.day == sa.bindparam("today"),
            RaterDay.rater_id == sa.bindparam("rater"),
        ),
    )
    .where(Note.id == sa.bindparam("note"))
    .order_by(Action.created_at.desc())
    .limit(1)
    .execution_options(populate_existing=True)
)


def _reread(session: Session, note: Note, rater: Profile) -> _Reread:
    """Read all of it as it is now that the community is locked, by one statement."""
    which = {"note": note.id, "rater": rater.id, "today": day_of(clock.now())}
    return _Reread(*session.execute(_REREAD, which).one())


def withdraw(session: Session, actor: Actor, rating: Rating) -> None:
    """Withdraw the actor's own rating. Repeating it changes nothing.

    Raises:
        Forbidden: it is another rater's, or the note is locked.
        Settled: the actor uses the dashboard, where a rating stands once its outcome can be seen (``kept_because``).
    """
    _require_own(session, actor, rating, _("You may withdraw only your own rating"))
    serialise(session, rating.community_id)
    note = session.get_one(Note, rating.note_id, populate_existing=True)
    action = verdicts.action_of(session, note)
    if session.get(Rating, rating.id, populate_existing=True) is None:
        return  # another request withdrew it while this one waited for the lock
    kept = kept_because(note, action, rating)
    if kept is not None and actor.kind == "account":
        raise Settled(kept)
    if actor.kind != "system" and blindness.is_closed(note, action):
        raise Forbidden(CLOSED)
    counted, rater_id = _counted(rating, note), rating.rater_id
    if rating.note_version == note.version:
        note.ratings_count -= 1
    remove(session, actor, rating)
    newest = verdicts.newest_panel(session, action)
    panel = _open_panel(newest, action)
    if panel is not None:
        seats.reopen(session, panel, rater_id)
    if note.deleted_at is None:
        scored = _rescored(session, note, rater_id, counted, None)
        verdicts.follow(session, note, action, newest, scored, cause=lazy_gettext("a rating was withdrawn"))


def kept_because(note: Note, action: Action | None, rating: Rating) -> str | None:
    """Why its rater cannot take a rating back, for the dashboard; None if they can.

    A rating that may have counted towards a status is not taken back with that status in view. ``action`` is the
    action whose rationale the note is.
    """
    if blindness.is_closed(note, action):
        return LOCKED if action is None else CLOSED
    if _is_outcome_in_view(note, action, rating):
        return STANDS if action is None else SETTLED
    return None


def remove(session: Session, actor: Actor, rating: Rating, *, cause: str = "") -> None:
    """Delete a rating and record it in history. The caller has locked its note and must settle it afterwards."""
    before = {"helpfulness_level": rating.helpfulness_level.value, "note_id": str(rating.note_id)}
    _record(session, actor, rating, "rating.withdrawn", before=before, reason=Reason(cause=cause))
    session.delete(rating)
    session.flush()
    rater_days.remove(session, rating)


def _record(session: Session, actor: Actor, rating: Rating, what: str, **options: Any) -> None:
    """Write to the history of a rating; ``options`` as in ``history.record``."""
    history.record(session, actor, rating.community_id, what, "rating", rating.id, **options)


def get(session: Session, actor: Actor, rating_id: uuid.UUID) -> Rating:
    """The rating. Raises NotFound if it is unknown or belongs to another community."""
    rating = session.get(Rating, rating_id)
    if rating is None or not actor.sees(rating.community_id):
        raise NotFound("rating")
    return rating


def get_own(session: Session, actor: Actor, rating_id: uuid.UUID) -> Rating:
    """The rating, for an actor who may change it. Raises NotFound as ``get``; Forbidden if it is another rater's."""
    rating = get(session, actor, rating_id)
    _require_own(session, actor, rating, _("You may change only your own rating"))
    return rating


def _require_own(session: Session, actor: Actor, rating: Rating, refusal: str) -> None:
    require(actor, Permission.RATE, rating.community_id, "rating")
    if actor.profile_id is not None and not profiles.are_one(session, actor.profile_id, rating.rater_id):
        raise Forbidden(refusal)


def change(session: Session, actor: Actor, rating_id: uuid.UUID, level: HelpfulnessLevel) -> Rated:
    """Change a rating. Raises Forbidden if it is not the actor's own."""
    rating = get_own(session, actor, rating_id)
    note = session.get_one(Note, rating.note_id)
    rater = session.get_one(Profile, rating.rater_id)
    return rate(session, actor, note, rater, level, rater_ref=rating.rater_ref, reasons=rating.reasons)


def for_note(note: Note) -> sa.Select[Any]:
    """The ratings of a note's current text, unordered."""
    return sa.select(Rating).where(Rating.note_id == note.id, Rating.note_version == note.version)


def by_rater(session: Session, note_id: uuid.UUID, rater_id: uuid.UUID) -> Rating | None:
    """This rater's rating of a note, as it is stored now."""
    return session.scalars(
        sa.select(Rating)
        .where(Rating.note_id == note_id, Rating.rater_id == rater_id)
        .execution_options(populate_existing=True)
    ).first()


def by_rater_for_notes(
    session: Session, note_ids: Sequence[uuid.UUID], rater_id: uuid.UUID
) -> dict[uuid.UUID, Rating]:
    """One rater's ratings of these notes, by note; one query however many notes."""
    rows = session.scalars(sa.select(Rating).where(Rating.note_id.in_(note_ids), Rating.rater_id == rater_id))
    return {rating.note_id: rating for rating in rows}


def stats(session: Session, note: Note) -> Stats:
    """How often each level was given to the note's current text."""
    rows = session.execute(
        sa.select(
            Rating.helpfulness_level,
            sa.func.count(),
            sa.func.min(Rating.created_at),
            sa.func.max(Rating.updated_at),
        )
        .where(Rating.note_id == note.id, Rating.note_version == note.version)
        .group_by(Rating.helpfulness_level)
    ).all()
    counts = {level: count for level, count, _, _ in rows}
    return Stats(
        total=sum(counts.values()),
        helpful=counts.get(HelpfulnessLevel.HELPFUL, 0),
        somewhat_helpful=counts.get(HelpfulnessLevel.SOMEWHAT_HELPFUL, 0),
        not_helpful=counts.get(HelpfulnessLevel.NOT_HELPFUL, 0),
        first_at=min((first for _, _, first, _ in rows), default=None),
        last_at=max((last for _, _, _, last in rows), default=None),
    )


def _is_outcome_in_view(note: Note, action: Action | None, rating: Rating | None) -> bool:
    """Whether the rater can see, or has seen since they rated, the outcome of the note or of the item it explains."""
    if action is not None:
        return blindness.is_settled(action, rating)
    return note.status is not NoteStatus.NEEDS_MORE_RATINGS


def _open_panel(newest: Panel | None, action: Action | None) -> Panel | None:
    """The open panel of the action's review, whose seats this rating may answer."""
    panel = panels.of_review(newest, action) if action is not None else None
    return panel if panel is not None and panel.ended_at is None else None


def _counted(rating: Rating | None, note: Note) -> float | None:
    """The rating's value in the score of the note's current text; None when the rating does not count."""
    if rating is None or rating.note_version != note.version or rating.exclusion_reason is not None:
        return None
    return VALUES[rating.helpfulness_level]


def _rescored(
    session: Session, note: Note, rater_id: uuid.UUID, before: float | None, after: float | None
) -> Scored:
    if before == after:
        return note_scores.current(session, note)
    refits.rating_changed(session, note.community_id)
    return note_scores.rating_changed(session, note, rater_id, before, after)


def _second_look_on_first_rating(session: Session, actor: Actor, action: Action) -> None:
    """The first rating of an applied Tier 1 action's rationale opens its second look (docs/integrate/api.md)."""
    if (
        action.action_tier is ActionTier.IMMEDIATE
        and action.action_state is ActionState.APPLIED
        and community_settings.read(session, action.community_id).second_look
    ):
        actions.open_second_look(
            session, actor, action, reason=Reason(lazy_gettext("A member rated the decision"))
        )
