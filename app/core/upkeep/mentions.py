"""Where free JSON names a person: the metadata that came with posts, payloads of events, and saved filters.

What an integration puts into metadata has no form that is known here. So ids and names are replaced wherever they are a
whole value or a mention, and with them everything beside them that looks like the same person's name or picture.
"""

import json
import re
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Event, Request, SavedFilter

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
"""Numbers that the queue reads (docs/integration.md); they are not ids."""
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
        names_them = sa.or_(
            *(text.icontains(json.dumps(word)[1:-1], autoescape=True) for word in person.words),
        )
        candidates = sa.select(model.id, column).where(model.community_id.in_(in_communities), names_them)
        rows += _write(session, model, column, session.execute(candidates).all(), person)
    return rows


def rename_own(session: Session, posts: sa.Select[Any], person: Person) -> int:
    """Replace the person in the metadata of their own posts, also under names that are not known here."""
    candidates = sa.select(Request.id, Request.extra).where(Request.id.in_(posts), Request.extra.is_not(None))
    found = [
        (
            request_id,
            {key: person.pseudonym if _OF_A_PERSON.search(key) else value for key, value in extra.items()},
        )
        for request_id, extra in session.execute(candidates).all()
    ]
    return _write(session, Request, Request.extra, found, person)


def _write(
    session: Session,
    model: Any,
    column: Any,
    rows: Sequence[tuple[uuid.UUID, Any] | sa.Row[Any]],
    person: Person,
) -> int:
    number = 0
    for row_id, value in rows:
        values: dict[str, Any] = {column.key: replaced(value, person)}
        if hasattr(model, "updated_at"):
            values["updated_at"] = model.updated_at
        changed = sa.update(model).where(model.id == row_id).values(values)
        session.execute(changed.execution_options(synchronize_session=False))
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
