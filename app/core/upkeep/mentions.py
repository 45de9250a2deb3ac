"""Where free JSON names a person: the metadata that came with posts, payloads of events, and saved filters.

What an integration puts into metadata has no form that is known here. So ids and names are replaced wherever they are a
whole value or a mention, and with them everything beside them that looks like the same person's name or picture.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
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
    """Replace the person in the metadata of their own posts, also under names that are not known here."""

    def without_author(extra: Mapping[str, Any]) -> Any:
        own = {key: person.pseudonym if _OF_A_PERSON.search(key) else part for key, part in extra.items()}
        return replaced(own, person)

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
            session.execute(
                sa.update(model)
                .where(model.id == row_id)
                .values(values)
                .execution_options(synchronize_session=False)
            )
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
