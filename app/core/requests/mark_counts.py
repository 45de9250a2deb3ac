"""Counts of the stored posts that share a mark with a post, in one statement (docs/moderate/waves.md)."""

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.limits import FACT_COUNTED
from app.core.models import PostMark
from app.core.requests.marked_posts import DAY, HOUR, MarkedPost
from app.core.thresholds.post_scores import ids_of, joined_ids
from app.core.types import UtcDateTime

CANDIDATES = 100
"""Newest posts with a mark of a text that are compared with it."""
Counts = Mapping[tuple[uuid.UUID, int], tuple[int, int]]
"""By request and mark: how many other posts have the mark in the hour and the day before the post came."""
Candidates = Mapping[uuid.UUID, set[uuid.UUID]]
"""By request: the newest stored posts that share a mark with its text."""


def count(session: Session, posts: Sequence[MarkedPost]) -> tuple[Counts, Candidates]:
    """What stored posts have in common with these; one statement."""
    asked = [
        (number, mark, is_text)
        for number, post in enumerate(posts)
        for is_text, marks in ((False, post.counted_marks), (True, post.likeness.marks))
        for mark in marks
    ]
    if not asked:
        return {}, {}
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    wanted = [_row(number, mark, is_text, posts[number], is_sqlite) for number, mark, is_text in asked]
    rows = session.connection().execute(
        _statement(session.get_bind().dialect.name, joined_ids(session, sa.column("post_id"))),
        {"wanted": json.dumps(wanted), "community": posts[0].community_id},
    )
    counted: dict[tuple[uuid.UUID, int], tuple[int, int]] = {}
    candidates: dict[uuid.UUID, set[uuid.UUID]] = {}
    for number, mark, hour, day, ids in rows:
        if hour is not None:
            counted[posts[number].request_id, mark] = hour, day
        elif ids:
            near = candidates.setdefault(posts[number].request_id, set())
            near.update(uuid.UUID(bytes=raw.tobytes()) for raw in ids_of(ids))
    return counted, candidates


def _row(number: int, mark: int, is_text: bool, post: MarkedPost, is_sqlite: bool) -> dict[str, Any]:
    """A mark to count, as JSON; ids and moments as the database stores them."""
    moments = {"at": post.at, "hour": post.at - HOUR, "day": post.at - DAY}
    form = "%Y-%m-%d %H:%M:%S.%f" if is_sqlite else "%Y-%m-%dT%H:%M:%S.%f+00:00"
    return {
        "number": number,
        "mark": mark,
        "is_text": is_text,
        "post_id": post.post_id.hex,
        **{name: moment.strftime(form) for name, moment in moments.items()},
    }


_WANTED_TYPES: Mapping[str, Any] = {
    "number": sa.Integer(),
    "mark": sa.BigInteger(),
    "is_text": sa.Boolean(),
    "post_id": sa.Uuid(),
    "at": UtcDateTime(),
    "hour": UtcDateTime(),
    "day": UtcDateTime(),
}
_WANTED_SQL = {
    "sqlite": "SELECT json_extract(value, '$.number') AS number, json_extract(value, '$.mark') AS mark, "
    "json_extract(value, '$.is_text') AS is_text, json_extract(value, '$.post_id') AS post_id, "
    "json_extract(value, '$.at') AS at, json_extract(value, '$.hour') AS hour, "
    "json_extract(value, '$.day') AS day FROM json_each(:wanted)",
    "postgresql": "SELECT * FROM json_to_recordset(CAST(:wanted AS json)) AS given (number int, mark bigint, "
    "is_text boolean, post_id uuid, at timestamptz, hour timestamptz, day timestamptz)",
}
_STATEMENTS: dict[str, Any] = {}


def _statement(dialect: str, joined: sa.ColumnElement[Any]) -> Any:
    """Counts of marks, and posts that share a mark of a text. Built once: that takes longer than running it."""
    if dialect in _STATEMENTS:
        return _STATEMENTS[dialect]
    wanted = sa.text(_WANTED_SQL[dialect]).columns(**_WANTED_TYPES).cte("wanted")

    def newest(column: Any, most: int) -> Any:
        stored = sa.select(column).where(
            PostMark.community_id == sa.bindparam("community", type_=sa.Uuid()),
            PostMark.mark == wanted.c.mark,
            PostMark.post_id != wanted.c.post_id,
        )
        return stored.correlate(wanted).order_by(PostMark.post_id.desc()).limit(most).subquery()

    def count(since: Any) -> Any:
        found = newest(PostMark.at, FACT_COUNTED)
        return (
            sa.select(sa.func.count())
            .select_from(found)
            .where(found.c.at > since, found.c.at <= wanted.c.at)
            .scalar_subquery()
        )

    alike = sa.select(joined).select_from(newest(PostMark.post_id, CANDIDATES)).scalar_subquery()
    _STATEMENTS[dialect] = sa.select(
        wanted.c.number,
        wanted.c.mark,
        sa.case((wanted.c.is_text, None), else_=count(wanted.c.hour)),
        sa.case((wanted.c.is_text, None), else_=count(wanted.c.day)),
        sa.case((wanted.c.is_text, alike)),
    )
    return _STATEMENTS[dialect]
