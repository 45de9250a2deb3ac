"""Notes: written, edited, withdrawn, locked by staff (docs/integrate/api.md)."""

import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from app.core import clock, limits, texts
from app.core.actions.moves import begin, make_move
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Malformed, NotFound
from app.core.history import chain as history
from app.core.history.reason import NO_REASON, Reason
from app.core.ids import new_id
from app.core.models import Note, Profile, Request
from app.core.people import profiles
from app.core.permissions import ADMIN_REQUIRED, SYSTEM, Actor, Permission, allows, require, require_found
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds.routing import ESCALATED, UNFINISHED
from app.core.vocabulary import Classification, NoteStatus, Verb
from app.core.webhooks import events

RATIONALE_PROVIDER = "builtin"
RATIONALE_MODEL = "rationale-1"

_RATIONALES = {
    Verb.HIDE: lazy_gettext("This content looks like %(category)s: %(meaning)s. If so, it should be hidden."),
    Verb.DELETE: lazy_gettext(
        "This content looks like %(category)s: %(meaning)s. If so, it should be deleted."
    ),
    Verb.FLAG: lazy_gettext(
        "This content looks like %(category)s: %(meaning)s. If so, it should be flagged."
    ),
    Verb.NOTIFY: lazy_gettext(
        "This content looks like %(category)s: %(meaning)s. If so, it should be answered with a notice to its author."
    ),
}
_CATEGORIES = {
    "toxicity": lazy_gettext("toxicity", "after “looks like”"),
    "hate": lazy_gettext("hate", "after “looks like”"),
    "threat": lazy_gettext("threat", "after “looks like”"),
    "sexual": lazy_gettext("sexual", "after “looks like”"),
    "self_harm": lazy_gettext("self harm", "after “looks like”"),
    "spam": lazy_gettext("spam", "after “looks like”"),
    "pii": lazy_gettext("personal data", "after “looks like”"),
    "misinformation": lazy_gettext("misinformation", "after “looks like”"),
    **dict.fromkeys((ESCALATED, UNFINISHED), lazy_gettext("something to look at", "after “looks like”")),
}


def get(session: Session, actor: Actor, note_id: uuid.UUID) -> Note:
    """The note.

    Raises NotFound if it is deleted, unknown or belongs to another community. Only its author reads one whose post was
    withdrawn, because it may quote it.
    """
    found = session.scalars(
        sa.select(Note).where(Note.id == note_id, Note.deleted_at.is_(None)).options(joinedload(Note.request))
    ).first()
    note = require_found(actor, Permission.READ, found, "note")
    is_withdrawn = note.request is not None and note.request.withdrawn_at is not None
    if is_withdrawn and not note.rationale and not is_author(session, actor, note):
        raise NotFound("note")
    return note


def is_author(session: Session, actor: Actor, note: Note) -> bool:
    return actor.profile_id is not None and profiles.are_one(session, actor.profile_id, note.author_id)


def write(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    author: Profile,
    summary: str,
    classification: Classification,
    *,
    author_ref: str | None = None,
    request: Request | None = None,
    channel_id: str | None = None,
    reasons: Sequence[str] = (),
    sources: Sequence[str] = (),
) -> Note:
    """Write a note. An author may write one note on each request.

    Raises:
        Conflict: the author already wrote a note on this request.
        Malformed: the community differs from the request's (a 400, docs/integrate/api.md).
    """
    require(actor, Permission.WRITE_NOTE, community_id)
    limits.text(summary, "summary", limits.SUMMARY_MAX)
    if request is not None and request.community_id != community_id:
        raise Malformed(_("community_server_id differs from the request's"))
    author_ref = author_ref if author_ref is not None else str(author.id)
    note = Note(
        id=new_id(),
        community_id=community_id,
        request_id=request.id if request else None,
        author_id=profiles.hold_canonical(session, author).id,
        author_ref=author_ref,
        summary=summary,
        classification=classification,
        status=NoteStatus.NEEDS_MORE_RATINGS,
        channel_id=channel_id,
        platform_message_id=request.platform_message_id if request else None,
        platform_channel_id=request.platform_channel_id if request else channel_id,
        reasons=list(reasons),
        sources=list(sources),
    )
    try:
        with session.begin_nested():
            begin(session, actor, note)
    except IntegrityError as error:
        raise Conflict(_("This author already wrote a note on this request"), note.request_id) from error
    return note


def write_rationale(session: Session, request: Request, category: str, meaning: str, verb: Verb) -> Note:
    """Write the service's own note on why it proposes to act; its ratings are the review (docs/develop/consensus.md).

    The text contains no score, because raters read it. The caller links it to the request (``request.note_id``).
    """
    note = rationale(session, request, category, meaning, verb, profiles.of_service(session).id)
    begin(session, SYSTEM, note, quiet=True)
    return note


def rationale(
    session: Session, request: Request, category: str, meaning: str, verb: Verb, author_id: uuid.UUID
) -> Note:
    """The note that ``write_rationale`` writes, not stored yet."""
    with community_settings.in_language(session, request.community_id):
        summary = _(
            _RATIONALES[verb],
            category=_CATEGORIES.get(category, category.replace("_", " ")),
            meaning=texts.in_sentence(meaning),
        )
    return _rationale(request, summary, author_id)


def write_rationale_again(session: Session, request: Request, first: Note) -> Note:
    """Write a new, unrated rationale with the text of ``first``, for an action that reopens a dismissed one.

    ``request.note_id`` stays the first rationale, on which the decision was made.
    """
    note = _rationale(request, first.summary, profiles.of_service(session).id)
    begin(session, SYSTEM, note, quiet=True)
    return note


def _rationale(request: Request, summary: str, author_id: uuid.UUID) -> Note:
    return Note(
        id=new_id(),
        community_id=request.community_id,
        request_id=request.id,
        author_id=author_id,
        author_ref=str(author_id),
        summary=summary,
        classification=Classification.MISLEADING,
        status=NoteStatus.NEEDS_MORE_RATINGS,
        rationale=True,
        ai_generated=True,
        ai_provider=RATIONALE_PROVIDER,
        ai_model=RATIONALE_MODEL,
        platform_message_id=request.platform_message_id,
        platform_channel_id=request.platform_channel_id,
    )


def edit(
    session: Session,
    actor: Actor,
    note: Note,
    summary: str,
    classification: Classification | None = None,
    *,
    reasons: Sequence[str] | None = None,
    sources: Sequence[str] | None = None,
) -> Note:
    """Change a note; None leaves a field as it is.

    New text or other sources start a new version: ratings of the earlier version no longer count.

    Raises:
        Forbidden: the actor may not change it, it is the rationale of an action, or it is locked.
    """
    _require_author_or_staff(session, actor, note)
    _lock_and_reload(session, note)
    if note.rationale:
        raise Forbidden(_("The rationale of an action cannot be edited"))
    if note.locked:
        raise Forbidden(_("This note is locked"))
    limits.text(summary, "summary", limits.SUMMARY_MAX)
    before = {"version": note.version, "classification": note.classification.value}
    is_new_version = summary != note.summary or (sources is not None and list(sources) != note.sources)
    if reasons is not None:
        note.reasons = list(reasons)
    if sources is not None:
        note.sources = list(sources)
    if is_new_version:
        note.summary = summary
        _begin_version(note)
    if classification is not None:
        note.classification = classification
    session.flush()
    after = {"version": note.version, "classification": note.classification.value}
    _record(session, actor, note, "note.edited", before=before, after=after)
    if note.version != before["version"] and note.status is not NoteStatus.NEEDS_MORE_RATINGS:
        make_move(
            session,
            SYSTEM,
            note,
            NoteStatus.NEEDS_MORE_RATINGS,
            reason=Reason(cause=lazy_gettext("its text was changed")),
        )
    return note


def renew(session: Session, note: Note, *, cause: str) -> None:
    """Begin a new version of a rationale, whose post has another text now. Ratings of the earlier one no longer count.

    The caller holds the community's lock.
    """
    session.refresh(note)
    before = note.version
    _begin_version(note)
    session.flush()
    _record(session, SYSTEM, note, "note.edited", before={"version": before}, after={"version": note.version})
    if note.status is not NoteStatus.NEEDS_MORE_RATINGS:
        make_move(session, SYSTEM, note, NoteStatus.NEEDS_MORE_RATINGS, reason=Reason(cause=cause))


def _begin_version(note: Note) -> None:
    note.version += 1
    note.ratings_count = 0
    note.helpfulness_score = 0
    note.intercept = note.factor = note.status_rule = None
    note.helpful_pending_since = note.status_locked_at = None


def withdraw(session: Session, actor: Actor, note: Note) -> None:
    """Delete a note: by its author or staff. Raises Forbidden for others, and for the rationale of an action."""
    if note.rationale:
        raise Forbidden(_("The rationale of an action cannot be deleted"))
    _require_author_or_staff(session, actor, note)
    _lock_and_reload(session, note)
    note.deleted_at = clock.now()
    session.execute(sa.update(Request).where(Request.note_id == note.id).values(note_id=None))
    session.flush()
    _record(session, actor, note, "note.withdrawn")


def lock_as(
    session: Session, actor: Actor, note: Note, status: NoteStatus, *, reason: Reason = NO_REASON
) -> None:
    """Force-publish (HELPFUL) or dismiss (NOT_HELPFUL) a note and lock it, so that no rescore changes it."""
    require(actor, Permission.MODERATE, note.community_id, "note")
    forced = status is NoteStatus.CURRENTLY_RATED_HELPFUL
    now = clock.now()
    changes: dict[str, Any] = {
        "locked": True,
        "force_published": forced,
        "force_published_at": now if forced else None,
        "dismissed_at": None if forced else now,
        "status_rule": "force-published" if forced else "dismissed",
    }
    if note.locked and note.status is status:
        return
    if note.status is not status:
        make_move(session, actor, note, status, reason=reason, **changes)
        return
    # The status is the same already, but now a moderator set it and it is locked.
    for name, value in changes.items():
        setattr(note, name, value)
    session.flush()
    _record(session, actor, note, "note.locked", after={"status": status.value}, reason=reason)
    events.emit_note(session, note)


def on_request(session: Session, request_id: uuid.UUID) -> Sequence[Note]:
    """The notes on a request by people and by AI, without rationales, oldest first."""
    return session.scalars(
        sa.select(Note)
        .where(Note.request_id == request_id, Note.deleted_at.is_(None), Note.rationale.is_(False))
        .order_by(Note.created_at, Note.id)
    ).all()


def _record(session: Session, actor: Actor, note: Note, what: str, **options: Any) -> None:
    """Write to the history of a note; ``options`` as in ``history.record``."""
    history.record(session, actor, note.community_id, what, "note", note.id, **options)


def _lock_and_reload(session: Session, note: Note) -> None:
    """Lock and reload the note. Raises NotFound if it was deleted while we waited for the lock."""
    serialise(session, note.community_id)
    session.refresh(note)
    if note.deleted_at is not None:
        raise NotFound("note")


def _require_author_or_staff(session: Session, actor: Actor, note: Note) -> None:
    require(actor, Permission.READ, note.community_id, "note")
    if is_author(session, actor, note) and allows(actor, Permission.WRITE_NOTE, note.community_id):
        return
    if not allows(actor, Permission.MODERATE, note.community_id):
        raise Forbidden(
            ADMIN_REQUIRED
            if actor.kind == "key"
            else _("Only its author or a moderator may change this note")
        )
