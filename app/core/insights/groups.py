"""The sums by channel and by moderator: asked of the rows, kept by the quarter of an hour, and read by pages."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk
from app.core.insights.trend_queries import TrendQueries
from app.core.models import Account, Action, HistoryEntry, InsightGroup, Request
from app.core.models.insights import GroupKind
from app.core.periods import slot_of_column, unix
from app.core.vocabulary import ActionState

CHANNELS = 20
"""How many channels are shown: those with most actions."""
MODERATORS = 50
"""How many moderators are shown: those with most decisions."""


DECIDED = (f"action.{ActionState.PROPOSED}", f"action.{ActionState.DISMISSED}")
"""Entries that end a review: to act, or not to."""
TAKEN_BACK = (f"action.{ActionState.DISMISSED}", f"action.{ActionState.UNDER_REVIEW}")
"""Entries that reverse a decision to act before the platform acts."""


class GroupQueries(TrendQueries):
    """All sums over one community by slot, with those by group."""

    def channels(self) -> list[tuple[int, str, int, int]]:
        """Slot, channel, actions proposed, and how many of them were overturned. Posts without a channel are left out.

        The channel is the post's: actions of before channels were added have none.
        """
        slot, channel = slot_of_column(Action.proposed_at), Request.platform_channel_id
        return self._outcomes(
            sa.select(slot, channel, sa.func.count(), sa.func.count(Action.overturned_at))
            .select_from(Action)
            .join(Request, Request.id == Action.request_id)
            .where(self._acted(), channel.is_not(None))
            .group_by(slot, channel)
        )

    def moderators(self) -> Iterator[tuple[int, uuid.UUID, int, bool]]:
        """Slot, account, seconds from submission, and whether it was reversed since: for each decision by a person.

        A decision to act is reversed when it is overturned, or taken back before the platform acts; a dismissal when it
        is reopened.
        """
        later, is_action = sa.orm.aliased(HistoryEntry), sa.literal("action", literal_execute=True)
        is_taken_back = sa.exists().where(
            later.object_type == is_action,
            later.object_id == HistoryEntry.object_id,
            later.number > HistoryEntry.number,
            later.what.in_(TAKEN_BACK),
        )
        is_reversed = sa.case(
            (HistoryEntry.what == DECIDED[0], sa.or_(Action.overturned_at.is_not(None), is_taken_back)),
            else_=Action.reopened_at.is_not(None),
        )
        rows = self._session.execute(
            sa.select(
                slot_of_column(HistoryEntry.at),
                HistoryEntry.account_id,
                unix(HistoryEntry.at) - unix(Request.requested_at),
                is_reversed,
            )
            .select_from(HistoryEntry)
            .join(Action, Action.id == HistoryEntry.object_id)
            .join(Request, Request.id == Action.request_id)
            .where(
                HistoryEntry.community_id == self._community_id,
                HistoryEntry.object_type == is_action,
                HistoryEntry.what.in_(DECIDED),
                HistoryEntry.account_id.is_not(None),
                self._holds(HistoryEntry.at),
                Action.restores_id.is_(None),
                Request.is_test.is_(False),
            )
        )
        return (
            (int(slot), account_id, max(0, int(seconds)), bool(was_reversed))
            for slot, account_id, seconds, was_reversed in rows
            if account_id is not None
        )


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
    """Write the sums of slots that have none."""
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
    columns = {"community_id": community_id, "waits": None}
    bulk.insert(
        session.connection(),
        InsightGroup.metadata.tables[InsightGroup.__tablename__],
        [columns | row for row in rows],
    )


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
