"""Where history, posts, notes and ratings name a person, and how the names are removed (decision 0021).

What an integration puts into metadata has no known form. So ids and names are replaced wherever they are a whole value
or a mention, and with them everything beside them that looks like the same person's name or picture.
"""

import json
import re
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.history import chain as history
from app.core.history import facts
from app.core.listed import is_one_of
from app.core.models import (
    Account,
    Action,
    Event,
    HistoryEntry,
    HistoryText,
    MutedReporter,
    Note,
    NoteSkip,
    Profile,
    Rating,
    Report,
    Request,
    SampleAnswer,
    SavedFilter,
    Skip,
)
from app.core.panels import seats

NAMELESS = "Erased"
"""Replaces a name where the column may not be empty."""
TEXTS = "texts in history"
AT_ONCE = 1_000


Blanking = tuple[str, sa.Update]
"""What it changes, and a statement that changes at most ``AT_ONCE`` rows."""


def blanking(
    session: Session, person_profiles: Sequence[Profile], account: Account | None
) -> Iterator[Blanking]:
    """What removes the person from the many rows: texts of history, ratings and notes that are not blank yet.

    Each statement can have a transaction of its own: what is blank stays so, and no entry or score changes.
    """
    profile_ids = [profile.id for profile in person_profiles]
    theirs: sa.ColumnElement[bool] = HistoryEntry.profile_id.in_(profile_ids)
    if account is not None:
        # Also what others wrote when they gave this person a role or took it away.
        about = sa.and_(HistoryEntry.object_type == "account", HistoryEntry.object_id == account.id)
        theirs = sa.or_(theirs, HistoryEntry.account_id == account.id, about)
    texts = (
        sa.select(HistoryText.entry_id)
        .join(HistoryEntry, HistoryEntry.id == HistoryText.entry_id)
        .where(theirs, HistoryEntry.what.not_in(history.ERASURE_ENTRIES), HistoryText.erased_at.is_(None))
    )
    blank = {"actor_name": "", "reason": "", "comment": "", "salt": "", "erased_at": clock.now()}
    yield from _in_parts(session, TEXTS, HistoryText.entry_id, texts, blank)
    # The platform's user id is also stored with their ratings, notes and reports.
    for model, column, ref in (
        (Rating, Rating.rater_id, "rater_ref"),
        (Note, Note.author_id, "author_ref"),
        (Report, Report.reporter_id, "reporter_ref"),
    ):
        for profile_id in profile_ids:
            named = sa.select(model.id).where(column == profile_id, getattr(model, ref) != str(profile_id))
            values = {ref: str(profile_id), "updated_at": model.updated_at}
            yield from _in_parts(session, "ids", model.id, named, values)


def _in_parts(
    session: Session, what: str, key: Any, found: sa.Select[Any], values: Mapping[str, Any]
) -> Iterator[Blanking]:
    ids = session.scalars(found).all()
    for first in range(0, len(ids), AT_ONCE):
        rows = is_one_of(session, key, ids[first : first + AT_ONCE])
        yield what, sa.update(key.class_).where(rows).values(values)


def forget(
    session: Session, person_profiles: Sequence[Profile], account: Account | None, *, note_texts: bool
) -> dict[str, int]:
    """Remove names and texts from the profiles and from history. Return the number of rows by kind."""
    profile_ids = [profile.id for profile in person_profiles]
    gone = {TEXTS: 0}
    for what, statement in blanking(session, person_profiles, account):
        rows = bulk.change(session, statement)
        if what == TEXTS:
            gone[TEXTS] += rows
    gone["names"] = sum(
        profile.display_name is not None or bool(profile.extra) for profile in person_profiles
    )
    for profile in person_profiles:
        profile.display_name, profile.extra = None, {}
    # What they passed by has no effect on any score.
    gone["skips"] = sum(
        bulk.change(session, sa.delete(model).where(model.profile_id.in_(profile_ids)))
        for model in (Skip, NoteSkip)
    )
    gone["skips"] += bulk.change(
        session,
        sa.delete(SampleAnswer).where(SampleAnswer.profile_id.in_(profile_ids), SampleAnswer.level.is_(None)),
    )
    # What they reported counts on; their words, and why they were muted, go.
    gone["texts of reports"] = bulk.change(
        session,
        sa.update(Report)
        .where(Report.reporter_id.in_(profile_ids), Report.text.is_not(None))
        .values(text=None, updated_at=Report.updated_at),
    )
    gone["muted reporters"] = bulk.change(
        session, sa.delete(MutedReporter).where(MutedReporter.profile_id.in_(profile_ids))
    )
    # The seat is empty; the job draws the next person on its next run.
    gone["open seats"] = sum(seats.give_up(session, profile_id) for profile_id in profile_ids)
    if note_texts:
        gone["texts of notes"] = bulk.change(
            session,
            sa.update(Note)
            .where(Note.author_id.in_(profile_ids), Note.summary != NAMELESS)
            .values(summary=NAMELESS, sources=[], updated_at=Note.updated_at),
        )
    return gone


def mentioning(in_communities: sa.Select[Any], user_id: str) -> sa.ColumnElement[bool]:
    """The condition for posts that name this user of the platform."""
    return sa.and_(
        Request.community_id.in_(in_communities),
        sa.or_(Request.platform_author_id == user_id, Request.requested_by == user_id),
    )


def with_attachments(session: Session, in_communities: sa.Select[Any], user_id: str) -> list[uuid.UUID]:
    """The posts that this person wrote with attachments."""
    return list(
        session.scalars(
            sa.select(Request.id).where(
                Request.community_id.in_(in_communities),
                Request.platform_author_id == user_id,
                Request.has_attachments,
            )
        )
    )


def rename_on_posts(session: Session, in_communities: sa.Select[Any], user_id: str, pseudonym: str) -> int:
    """Write the pseudonym wherever a post names the user. Return the number of places."""
    rows = 0
    theirs = sa.select(Request.id).where(
        Request.community_id.in_(in_communities), Request.platform_author_id == user_id
    )
    bulk.change(
        session,
        sa.update(Action)
        .where(Action.request_id.in_(theirs), Action.platform_author_id == user_id)
        .values(platform_author_id=pseudonym, updated_at=Action.updated_at),
    )
    for column in (Request.platform_author_id, Request.requested_by):
        rows += bulk.change(
            session,
            sa.update(Request)
            .where(Request.community_id.in_(in_communities), column == user_id)
            .values({column.key: pseudonym, "updated_at": Request.updated_at}),
        )
    facts.rename_author(session, in_communities, user_id, pseudonym)
    return rows


_SEARCHED: tuple[tuple[Any, Any], ...] = (
    (Request, Request.extra),
    (Event, Event.payload),
    (SavedFilter, SavedFilter.query),
)
_OF_A_PERSON = re.compile(
    r"author|avatar|display|handle|login|mail|member|name|nick|poster|profile|reporter|sender|submitter|user",
    re.IGNORECASE,
)
"""Keys of what may be a person's name, address or picture. A needless match loses only what nothing here reads."""
_FIGURES = frozenset({"reports", "views"})
"""Numbers that the queue reads (docs/integrate/api.md); they are not ids."""
_BATCH = 200
_LEAST_IN_TEXT = 6
"""Shorter ids, such as "7", are words of any text; there only a mention ("@7") is the person."""


@dataclass(frozen=True)
class Person:
    """The ids and the names that a person is known by, and what replaces them."""

    ids: Collection[str]
    names: Collection[str]
    pseudonym: str

    @property
    def words(self) -> list[str]:
        return [word for word in {*self.ids, *self.names} if word.strip()]


def rename(session: Session, in_communities: sa.Select[Any], person: Person) -> int:
    """Replace the person wherever JSON of these communities names them. Return the number of rows."""
    if not person.words:
        return 0
    rows = 0
    for model, column in _SEARCHED:
        text = sa.cast(column, sa.Text)
        candidates = sa.select(model.id).where(
            model.community_id.in_(in_communities),
            sa.or_(*(text.icontains(json.dumps(word)[1:-1], autoescape=True) for word in person.words)),
        )
        rows += _write(session, model, column, candidates, lambda value: replaced(value, person))
    return rows


def rename_own(session: Session, posts: sa.Select[Any], person: Person) -> int:
    """Replace the person in the metadata of their own posts, also under names that are not known here.

    ``author`` with facts about them (``core.author_facts``) is left empty.
    """

    def without_author(extra: Mapping[str, Any]) -> Any:
        own = {key: emptied(key, part) if _OF_A_PERSON.search(key) else part for key, part in extra.items()}
        return replaced(own, person)

    def emptied(key: str, part: Any) -> Any:
        return {} if key == "author" and isinstance(part, Mapping) else person.pseudonym

    return _write(session, Request, Request.extra, posts.where(Request.extra.is_not(None)), without_author)


def _write(
    session: Session, model: Any, column: Any, which: sa.Select[Any], changed: Callable[[Any], Any]
) -> int:
    """Change the JSON of these rows, and return how many were not the same afterwards."""
    ids, number = session.scalars(which).all(), 0
    for first in range(0, len(ids), _BATCH):
        rows = sa.select(model.id, column).where(model.id.in_(ids[first : first + _BATCH]))
        for row in session.execute(rows).all():
            row_id, before = tuple[Any, ...](row)
            after = changed(before)
            if after == before:
                continue
            values = {column.key: after}
            if hasattr(model, "updated_at"):
                values["updated_at"] = model.updated_at
            bulk.change(session, sa.update(model).where(model.id == row_id).values(values))
            number += 1
    return number


def replaced(value: Any, person: Person) -> Any:
    """The same JSON without the person."""
    if isinstance(value, Mapping):
        is_theirs = any(_is(key, part, person) for key, part in value.items())
        return {
            key: person.pseudonym
            if _is(key, part, person) or (is_theirs and isinstance(part, str) and _OF_A_PERSON.search(key))
            else replaced(part, person)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [person.pseudonym if _is("", part, person) else replaced(part, person) for part in value]
    return _in_text(value, person) if isinstance(value, str) else value


def _is(key: str, value: Any, person: Person) -> bool:
    """Whether a value is one of the person's ids or names, and nothing else."""
    if isinstance(value, bool) or not isinstance(value, str | int) or key in _FIGURES:
        return False
    word = str(value).strip().removeprefix("@").casefold()
    return word in {known.casefold() for known in person.words}


def _in_text(text: str, person: Person) -> str:
    for word in person.words:
        mention = rf"(?<=@){re.escape(word)}(?!\w)"
        if word in person.ids and len(word) >= _LEAST_IN_TEXT:
            mention += rf"|(?<!\w){re.escape(word)}(?!\w)"
        text = re.sub(mention, lambda _: person.pseudonym, text, flags=re.IGNORECASE)
    return text
