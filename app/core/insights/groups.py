"""The sums by channel and by moderator that are kept by the quarter of an hour: written by the job, read by pages."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.insights.group_queries import GroupQueries
from app.core.models import Account, InsightGroup
from app.core.models.insights import GroupKind

CHANNELS = 20
"""How many channels are shown: those with most actions."""
MODERATORS = 50
"""How many moderators are shown: those with most decisions."""


@dataclass
class GroupSums:
    """One channel or moderator, over a period: actions or decisions, how many were reversed, and the waits."""

    total: int = 0
    of_which: int = 0
    waits: list[str] = field(default_factory=list)

    def add(self, total: int, of_which: int, waits: str = "") -> None:
        self.total += total
        self.of_which += of_which
        if waits:
            self.waits.append(waits)

    @property
    def seconds(self) -> Sequence[int]:
        """The waits in order."""
        in_order: list[int] = np.sort(np.fromstring(",".join(self.waits), np.int64, sep=",")).tolist()
        return in_order


def count(session: Session, community_id: uuid.UUID, queries: GroupQueries) -> None:
    """Write the sums of slots that have none; a part of the queries is a slot."""
    rows: list[dict[str, object]] = [
        {"kind": GroupKind.CHANNEL.value, "slot": slot, "name": name, "total": total, "of_which": of_which}
        for slot, name, total, of_which in queries.channels()
    ]
    decisions: dict[tuple[int, str], list[tuple[int, bool]]] = defaultdict(list)
    for slot, account_id, seconds, is_reversed in queries.moderators():
        decisions[slot, account_id.hex].append((seconds, is_reversed))
    rows += [
        {
            "kind": GroupKind.MODERATOR.value,
            "slot": slot,
            "name": name,
            "total": len(made),
            "of_which": sum(is_reversed for _, is_reversed in made),
            "waits": ",".join(str(seconds) for seconds, _ in sorted(made)),
        }
        for (slot, name), made in decisions.items()
    ]
    if rows:
        columns = {"community_id": community_id, "waits": None}
        # Rows of a table, not of a class: the ORM would send those with a None apart from the others.
        session.execute(sa.insert(InsightGroup.__table__), [columns | row for row in rows])  # type: ignore[arg-type]


def channels(
    session: Session, community_id: uuid.UUID, slots: tuple[int, int], rows: GroupQueries | None
) -> list[tuple[str, GroupSums]]:
    """The sums of these slots and rows by channel, the largest first."""
    sums: defaultdict[str, GroupSums] = defaultdict(GroupSums)
    total, of_which = sa.func.sum(InsightGroup.total), sa.func.sum(InsightGroup.of_which)
    counted = sa.select(InsightGroup.name, total, of_which).where(
        *_within(community_id, GroupKind.CHANNEL, slots)
    )
    for name, acted, overturned in session.execute(counted.group_by(InsightGroup.name)):
        sums[name].add(int(acted), int(overturned))
    for _, name, acted, overturned in rows.channels() if rows is not None else ():
        sums[name].add(acted, overturned)
    return _largest(sums.items())


def moderators(
    session: Session, community_id: uuid.UUID, slots: tuple[int, int], rows: GroupQueries | None
) -> list[tuple[uuid.UUID, GroupSums]]:
    """The sums of these slots and rows by the moderator's account, the largest first."""
    sums: defaultdict[str, GroupSums] = defaultdict(GroupSums)
    counted = sa.select(
        InsightGroup.name,
        sa.func.sum(InsightGroup.total),
        sa.func.sum(InsightGroup.of_which),
        sa.func.aggregate_strings(InsightGroup.waits, ","),
    ).where(*_within(community_id, GroupKind.MODERATOR, slots))
    for name, decided, was_reversed, waits in session.execute(counted.group_by(InsightGroup.name)):
        sums[name].add(int(decided), int(was_reversed), waits or "")
    for _, account_id, seconds, is_reversed in rows.moderators() if rows is not None else ():
        sums[account_id.hex].add(1, int(is_reversed), str(seconds))
    return [(uuid.UUID(name), found) for name, found in _largest(sums.items())]


def names(session: Session, account_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, str]:
    """The names of these accounts. An erased account has none."""
    rows = session.execute(
        sa.select(Account.id, Account.display_name).where(
            Account.id.in_(account_ids), ~Account.email.endswith("@erased.invalid")
        )
    )
    return {account_id: name for account_id, name in rows}


def _within(
    community_id: uuid.UUID, kind: GroupKind, slots: tuple[int, int]
) -> tuple[sa.ColumnElement[bool], ...]:
    first, end = slots
    return (
        InsightGroup.community_id == community_id,
        InsightGroup.kind == kind.value,
        InsightGroup.slot >= first,
        InsightGroup.slot < end,
    )


def _largest(sums: Iterable[tuple[str, GroupSums]]) -> list[tuple[str, GroupSums]]:
    return sorted(sums, key=lambda pair: (-pair[1].total, pair[0]))
