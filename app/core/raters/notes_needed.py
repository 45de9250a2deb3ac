"""People's and models' notes that a rater can rate, in the same run as items (``help_needed``).

A note is offered while one more rating may change its status: it needs more ratings, or its score is within one
rating's step of a bar (``help_order.may_decide``). Notes with a status are among them, so being asked about a note does
not tell that it has none.
"""

import uuid
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core.communities import settings as community_settings
from app.core.models import Action, Note, NoteSkip, Rating, Request
from app.core.models.notes import OPEN_NOTE
from app.core.permissions import Actor, Permission, require
from app.core.raters import help_needed, help_order, samples
from app.core.raters.help_needed import MOST_COUNTED, Reader
from app.core.raters.help_order import Candidate
from app.core.raters.samples import Asked
from app.core.scoring.verdict import NOT_HELPFUL_AT
from app.core.vocabulary import NoteStatus, ReviewGroup


def candidates_for(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    profile_id: uuid.UUID,
    *,
    languages: Collection[str] = (),
    without: Collection[uuid.UUID] = (),
) -> tuple[list[Candidate], float | None]:
    """The notes to rank for this rater, and the rater's own factor; parameters as in ``help_needed``."""
    require(actor, Permission.RATE, community_id)
    who = help_needed.reader(session, profile_id)
    settings = community_settings.read(session, community_id)
    needed, bars = settings.min_ratings, (settings.helpful_at, NOT_HELPFUL_AT)
    waiting = _waiting(
        sa.select(Note.id, Note.created_at, Note.intercept, Request.language, Note.ratings_count),
        community_id,
        profile_id,
        who,
        bars,
    )
    if without:
        waiting = waiting.where(Note.id.not_in(without))
    looked_at = help_needed.oldest_and_newest(
        session, waiting, (Note.created_at, Note.id), Request.language, languages
    )
    rows = help_needed.nearest_and_oldest(looked_at, needed)
    factor, sides = help_needed.viewpoints(session, community_id, profile_id, [row.id for row in rows])
    candidates = []
    for note_id, since, score, language, ratings in rows:
        below, above = sides.get(note_id, (0, 0))
        candidates.append(
            Candidate(
                note_id,
                ratings,
                needed,
                since,
                below,
                above,
                is_read=help_needed.is_read(language, languages),
                decides=help_order.may_decide(score, ratings, needed, bars),
            )
        )
    return candidates, factor


def load(session: Session, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Note]:
    """The notes with their posts, by id."""
    loaded = session.scalars(sa.select(Note).where(Note.id.in_(ids)).options(selectinload(Note.request)))
    return {note.id: note for note in loaded}


def item_of(session: Session, actor: Actor, note: Note) -> Asked | None:
    """The newest item of the note's post, or else the sample that the actor is asked about."""
    return items_of(session, actor, [note]).get(note.id)


def items_of(session: Session, actor: Actor, notes: Collection[Note]) -> dict[uuid.UUID, Asked]:
    """The newest item of each note's post, or else its sample, by note; two queries however many notes."""
    posts = {note.request_id for note in notes if note.request_id is not None}
    rows = session.scalars(
        sa.select(Action)
        .where(Action.request_id.in_(posts), Action.restores_id.is_(None))
        .order_by(Action.created_at, Action.id)
        .options(
            selectinload(Action.request).selectinload(Request.attachments),
            selectinload(Action.newest).selectinload(Request.attachments),
        )
    )
    newest: dict[uuid.UUID | None, Asked] = {action.request_id: action for action in rows}
    for request_id, sample in samples.of_requests(session, actor, posts - newest.keys()).items():
        newest[request_id] = sample
    return {note.id: newest[note.request_id] for note in notes if note.request_id in newest}


def count(session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID) -> int:
    """How many notes this rater can rate, at most ``MOST_COUNTED``."""
    require(actor, Permission.RATE, community_id)
    bars = (community_settings.read(session, community_id).helpful_at, NOT_HELPFUL_AT)
    who = help_needed.reader(session, profile_id)
    waiting = _waiting(sa.select(Note.id), community_id, profile_id, who, bars).limit(MOST_COUNTED)
    return session.scalar(sa.select(sa.func.count()).select_from(waiting.subquery())) or 0


def skip(session: Session, actor: Actor, note: Note, profile_id: uuid.UUID) -> None:
    """Skip a note. Skipping it again changes nothing."""
    require(actor, Permission.RATE, note.community_id, "note")
    if session.get(NoteSkip, (profile_id, note.id)) is None:
        session.add(NoteSkip(profile_id=profile_id, note_id=note.id))
        session.flush()


def is_skipped(session: Session, note: Note, profile_id: uuid.UUID) -> bool:
    """Whether this rater skipped the note."""
    return session.get(NoteSkip, (profile_id, note.id), populate_existing=True) is not None


def unskip(session: Session, actor: Actor, note: Note, profile_id: uuid.UUID) -> None:
    """Offer a skipped note again. Repeating it changes nothing."""
    require(actor, Permission.RATE, note.community_id, "note")
    session.execute(sa.delete(NoteSkip).where(NoteSkip.profile_id == profile_id, NoteSkip.note_id == note.id))


def _waiting(
    statement: Any, community_id: uuid.UUID, profile_id: uuid.UUID, who: Reader, bars: tuple[float, ...]
) -> Any:
    rated = sa.exists().where(
        Rating.note_id == Note.id, Rating.rater_id == profile_id, Rating.note_version == Note.version
    )
    skipped = sa.exists().where(NoteSkip.note_id == Note.id, NoteSkip.profile_id == profile_id)
    of_staff = sa.exists().where(
        Action.request_id == Note.request_id, Action.review_group == ReviewGroup.STAFF
    )
    steps = Note.ratings_count + help_order.PRIOR + 1
    statement = statement.join(Request, Request.id == Note.request_id).where(
        Note.community_id == community_id,
        # Written out for the index of these few notes.
        sa.text(OPEN_NOTE),
        Note.author_id.not_in(who.person.ids),
        Request.withdrawn_at.is_(None),
        Request.content_removed_at.is_(None),
        sa.or_(
            Note.status == NoteStatus.NEEDS_MORE_RATINGS,
            *(sa.func.abs(Note.intercept - bar) * steps < 1 for bar in bars),
        ),
        sa.not_(rated),
        sa.not_(skipped),
        sa.not_(of_staff),
    )
    if who.avoided:
        avoided = sa.exists().where(Action.request_id == Note.request_id, Action.category.in_(who.avoided))
        statement = statement.where(sa.not_(avoided))
    return help_needed.not_theirs(statement, who)
