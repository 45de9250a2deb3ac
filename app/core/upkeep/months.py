"""Tables that PostgreSQL keeps in parts of one month or three: a part that is past is dropped, without a DELETE.

A row's part follows from its key, an id of version 7, so from the time at which the machine made it. What fits no part
goes into the default one. SQLite has whole tables (decision 0072).
"""

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, ids
from app.core.history import chain, marks
from app.core.models import Community, HistoryEntry, HistoryText, Notice
from app.core.permissions import SYSTEM
from app.core.types import UtcDateTime
from app.core.vocabulary import IN_REVIEW, DeliveryState

AHEAD = 2
"""How many parts exist after the current one, so that a job that fails for weeks costs nothing."""
LOCK_TIMEOUT = "SET LOCAL lock_timeout = '2s'"
"""Who waits for a whole table holds up all that come after."""


@dataclass(frozen=True)
class Parted:
    """``key``: the id that says in which part a row is. ``months``: how long a part is.

    ``own``: the uniqueness without that key. PostgreSQL ensures it within each part, not among them; rows that could
    be equal are written at the same moment.
    """

    key: str = "id"
    months: int = 1
    own: str = ""


PARTED: Mapping[str, Parted] = {
    "delivery_attempts": Parted(),
    "deliveries": Parted(own="UNIQUE (event_id, endpoint_id)"),
    "events": Parted(),
    "scores": Parted("request_id", own="PRIMARY KEY (id)"),
    "post_scores": Parted("request_id"),
    # Kept for years: by month, a transaction would lock a thousand parts and indexes.
    "history_texts": Parted("entry_id", months=3),
    "history": Parted(months=3, own="UNIQUE (community_id, number)"),
}


@dataclass(frozen=True)
class Part:
    """A part of ``table`` with the keys from ``lower`` up to ``upper``."""

    table: str
    name: str
    lower: uuid.UUID
    upper: uuid.UUID


def period(moment: datetime, months: int, later: int = 0) -> datetime:
    """The first moment of the period of one or three months that holds this moment, or of one ``later`` than it."""
    month = (moment.year * 12 + moment.month - 1) // months * months + later * months
    return moment.replace(
        year=month // 12, month=month % 12 + 1, day=1, hour=0, minute=0, second=0, microsecond=0
    )


def now_of_ids() -> datetime:
    """The moment of which new ids are."""
    return ids.made_at(ids.new_id())


def parts(connection: sa.Connection, table: str) -> list[Part]:
    """The parts of a table from the earliest on, without the default one; none where it is whole."""
    rows = connection.execute(_PARTS, {"table": table})
    found = []
    for name, bound in rows:
        if bounds := re.fullmatch(r"FOR VALUES FROM \((.+)\) TO \('(.+)'\)", bound):
            first, last = bounds.groups()
            lower = uuid.UUID(int=0) if first == "MINVALUE" else uuid.UUID(first.strip("'"))
            found.append(Part(table, name, lower, uuid.UUID(last)))
    return sorted(found, key=lambda part: part.lower)


_PARTS = sa.text(
    "SELECT relname, pg_get_expr(relpartbound, oid) FROM pg_class JOIN pg_inherits ON inhrelid = oid "
    "WHERE inhparent = to_regclass(:table)"
)


def make_ahead(connection: sa.Connection, table: str) -> list[str]:
    """Make the parts of now and of the next periods that are missing, and return their names.

    Rows that came into the default part meanwhile are moved.
    """
    parted, made = PARTED[table], []
    for later in range(AHEAD + 1):
        begin = period(now_of_ids(), parted.months, later)
        lower, upper = ids.first_id(begin), ids.first_id(period(begin, parted.months, 1))
        if any(part.lower < upper and lower < part.upper for part in parts(connection, table)):
            continue
        name = f"{table}_{begin:%Y_%m}"
        within = f"{parted.key} >= '{lower}' AND {parted.key} < '{upper}'"
        connection.exec_driver_sql(LOCK_TIMEOUT)
        connection.exec_driver_sql(f"CREATE TABLE {name} (LIKE {table} INCLUDING ALL)")
        if parted.own:
            connection.exec_driver_sql(f"ALTER TABLE {name} ADD {parted.own}")
        connection.exec_driver_sql(
            f"WITH early AS (DELETE FROM {table}_default WHERE {within} RETURNING *) "  # noqa: S608 - names of ours
            f"INSERT INTO {name} SELECT * FROM early"
        )
        connection.exec_driver_sql(
            f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ('{lower}') TO ('{upper}')"
        )
        made.append(name)
    return made


def analyze(connection: sa.Connection, table: str) -> None:
    """Give the planner statistics of the parts together, unless it got some within a week. Nothing else does."""
    known = "SELECT 1 FROM pg_stat_user_tables WHERE relid = %s::regclass AND last_analyze > now() - interval '1 week'"
    if connection.exec_driver_sql(known, (table,)).first() is None:
        connection.exec_driver_sql(f"ANALYZE {table}")


def begins(session: Session, table: str) -> uuid.UUID:
    """The lowest key of the earliest part."""
    return parts(session.connection(), table)[0].lower


def faults(connection: sa.Connection) -> Iterator[str]:
    """What the job that makes parts has left undone, in words."""
    for table, parted in PARTED.items():
        begin = period(now_of_ids(), parted.months, 1)
        coming = ids.first_id(begin)
        if not any(part.lower <= coming < part.upper for part in parts(connection, table)):
            yield f"{table} has no part for {begin:%Y-%m}"
        # Older rows are such as PostgreSQL got after their part was dropped.
        since = ids.first_id(period(now_of_ids(), parted.months))
        if connection.exec_driver_sql(
            f"SELECT 1 FROM {table}_default WHERE {parted.key} >= '{since}' LIMIT 1"  # noqa: S608 - names of ours
        ).first():
            yield f"rows of {table} are in its default part"


_RANGE = "{0} >= :lower AND {0} < :upper"
_OPEN_REVIEW = (
    f"SELECT FROM moderation_actions WHERE {_RANGE.format('request_id')} "
    f"AND action_state IN {tuple(state.value for state in IN_REVIEW)}"
)
_WAITING = (DeliveryState.DUE.value, DeliveryState.PARKED.value)
_KEPT = {
    "delivery_attempts": ("at", ""),
    "deliveries": ("created_at", f"SELECT FROM {{part}} WHERE state IN {_WAITING}"),
    "events": ("created_at", f"SELECT FROM deliveries WHERE {_RANGE.format('event_id')}"),
    "scores": ("created_at", _OPEN_REVIEW),
    "post_scores": ("scored_at", _OPEN_REVIEW),
    "history": ("at", ""),
}
"""By table: the time of a row, and what keeps rows beyond their time; it uses an index."""


def past(session: Session, table: str, before: datetime) -> list[Part]:
    """The parts all of whose rows are older than this and kept by nothing."""
    time, _ = _KEPT[table]
    limit = min(ids.first_id(before), ids.new_id())
    return [
        part
        for part in parts(session.connection(), table)
        if part.upper <= limit
        and not _is_kept(session, part)
        and not session.scalar(
            sa.text(f"SELECT EXISTS (SELECT FROM {part.name} WHERE {time} >= :before)").bindparams(  # noqa: S608
                sa.bindparam("before", before, UtcDateTime)
            )
        )
    ]


def _is_kept(session: Session, part: Part) -> bool:
    _, reason = _KEPT.get(part.table, ("", ""))
    return bool(reason) and bool(_run(session, part, f"SELECT EXISTS ({reason})").scalar())


def _run(session: Session, part: Part, statement: str) -> Any:
    given = {"lower": part.lower, "upper": part.upper}
    text = sa.text(statement.format(part=part.name))
    return session.execute(text, {name: value for name, value in given.items() if f":{name}" in statement})


def drop(session: Session, part: Part) -> bool:
    """Drop a part that is ``past``, with the attempts of its deliveries. False if something is to be kept by now."""
    if part.table == "deliveries":
        _run(session, part, f"DELETE FROM delivery_attempts WHERE {_RANGE.format('delivery_id')}")  # noqa: S608
    session.execute(sa.text(LOCK_TIMEOUT))
    session.execute(sa.text(f"LOCK TABLE ONLY {part.table} IN ACCESS EXCLUSIVE MODE"))
    if _is_kept(session, part):
        return False
    session.execute(sa.text(f"DROP TABLE {part.name}"))
    return True


def scores_removed(session: Session, until: datetime) -> None:
    """Note that no scores are kept of posts that were scored before this."""
    for community_id in session.scalars(sa.select(Community.id)).all():
        mark = marks.mark(session, community_id)
        mark.scores_until = max(until, mark.scores_until or until)


def end_quiet(session: Session, part: Part) -> None:
    """Write an entry in each history whose newest one lies in this part: that one always stays."""
    for community_id, number in last_numbers(session, part).items():
        newest = chain.last(session, community_id)
        if newest is not None and newest.number == number:
            before = ids.made_at(part.upper).date().isoformat()
            chain.record(
                session,
                SYSTEM,
                community_id,
                "history.removed",
                "community",
                community_id,
                after={"written_before": before},
            )


def last_numbers(session: Session, part: Part) -> dict[uuid.UUID, int]:
    """By community, the number of its last entry in this part."""
    rows = session.execute(
        sa.select(HistoryEntry.community_id, sa.func.max(HistoryEntry.number))
        .where(HistoryEntry.id >= part.lower, HistoryEntry.id < part.upper)
        .group_by(HistoryEntry.community_id)
        .order_by(HistoryEntry.community_id)
    )
    return {community_id: number for community_id, number in rows}


def drop_history(session: Session, part: Part, verified: Mapping[uuid.UUID, int]) -> bool:
    """Drop a part of the history with its texts; ``verified``: the ``last_numbers`` up to which each chain was walked.

    What stays verifies from the last entry that went. False if the texts have no such part.
    """
    texts = [one for one in parts(session.connection(), "history_texts") if one.upper == part.upper]
    if not texts or texts[0].lower != part.lower:
        return False
    for community_id, number in verified.items():
        own = (HistoryEntry.community_id == community_id, HistoryEntry.number <= number)
        last = session.execute(
            sa.select(HistoryEntry.hash, HistoryEntry.at).where(*own, HistoryEntry.number == number)
        ).one()
        mark = marks.mark(session, community_id)
        mark.history_number, mark.history_hash, mark.history_at = number, last.hash, last.at
        # Two machines whose clocks differ may write the last ones of a period into the next part.
        late = session.scalars(sa.select(HistoryEntry.id).where(*own, HistoryEntry.id >= part.upper)).all()
        if late:
            bulk.change(session, sa.delete(HistoryText).where(HistoryText.entry_id.in_(late)))
            bulk.change(session, sa.delete(HistoryEntry).where(HistoryEntry.id.in_(late)))
    session.flush()
    entry, decided = (
        sa.and_(column >= part.lower, column < part.upper) for column in (Notice.entry_id, Notice.decided_id)
    )
    bulk.change(session, sa.delete(Notice).where(entry))
    bulk.change(session, sa.update(Notice).where(decided).values(decided_id=None))
    return drop(session, Part("history_texts", texts[0].name, part.lower, part.upper)) and drop(session, part)
