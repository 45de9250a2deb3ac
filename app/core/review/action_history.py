"""Action history for moderators: every change of every action, filtered, as pages or as an export.

It also lists decisions without effect: undone, not carried out, or still possible to undo.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session, contains_eager, joinedload

from app.core.actions import undoing
from app.core.errors import NotFound
from app.core.history import pages
from app.core.history.pages import HistoryPage
from app.core.models import Action, Category, HistoryEntry, HistoryText, Request, ThresholdSet
from app.core.paging import up_to
from app.core.permissions import Actor, Permission, require
from app.core.review import history_filters
from app.core.review.history_filters import COUNTED_BY_ROW, HistoryFilter


@dataclass(frozen=True)
class ActionChange:
    """One change of one action: the history entry, its erasable text, the action as it is now, and its request."""

    entry: HistoryEntry
    text: HistoryText
    action: Action
    request: Request

    @property
    def state(self) -> str:
        """The state that this change led to; empty for a decision that changed nothing."""
        return str(self.entry.after.get("action_state", ""))

    @property
    def undone(self) -> str:
        """What the integration answered about an undo, as ``Action.undo_progress``; empty for anything else."""
        after = self.entry.after
        return f"{after['undo']}_{after['undo_state']}" if self.entry.what == undoing.ANSWERED else ""

    @property
    def kind(self) -> str:
        """The state that this change led to, the answer about an undo, or the name of the decision's trace."""
        return self.state or self.undone or self.entry.what

    @property
    def verb(self) -> str:
        """The verb of a decision without effect; empty for a change."""
        return str(self.entry.after.get("verb", ""))

    @property
    def is_latest(self) -> bool:
        """Whether the action is still in the state that this change led to."""
        return self.action.action_state == self.state


def _changes() -> sa.Select[HistoryEntry, HistoryText, Action, Request]:
    return (
        sa.select(HistoryEntry, HistoryText, Action, Request)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .join(Action, Action.id == HistoryEntry.object_id)
        .join(Request, Request.id == Action.request_id)
    )


def changes(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    filters: HistoryFilter,
    *,
    size: int,
    older_than: int | None = None,
    newer_than: int | None = None,
) -> HistoryPage[ActionChange]:
    """A page of the matching changes, newest first; a few queries however many rows there are.

    Pages continue from an entry's number, so new changes neither repeat nor hide a row.

    Raises:
        NotFound, Forbidden: the actor may not see the history.
    """
    require(actor, Permission.SEE_HISTORY, community_id)
    matching = history_filters.matching(
        session, community_id, filters, older_than=older_than, newer_than=newer_than
    )
    ids = sa.select(HistoryEntry.id).where(*matching.conditions, history_filters.kind(filters))
    most = pages.COUNTED if filters.is_in_index else COUNTED_BY_ROW
    numbers = history_filters.numbers(matching.conditions, filters, most)
    found = pages.page(
        session,
        _changes(),
        ActionChange,
        session.scalar(sa.select(up_to(numbers, most))) or 0,
        size=size,
        older_than=older_than,
        newer_than=newer_than,
        most=most,
        narrow=ids,
    )
    older, newer = found.older, found.newer
    # A search that stopped before the page was full goes on from there.
    if newer_than is None:
        older = older or matching.end
    else:
        newer = newer or matching.end
    return replace(found, is_more=found.is_more or matching.is_cut, older=older, newer=newer)


def change(session: Session, actor: Actor, entry_id: uuid.UUID) -> ActionChange:
    """One history entry about an action; it may be a comment, which changed no state.

    Raises:
        NotFound: the entry is unknown, not about an action, or in another community.
        Forbidden: the actor may not see the history.
    """
    row = session.execute(
        _changes()
        .where(HistoryEntry.id == entry_id, HistoryEntry.object_type == "action")
        .options(
            contains_eager(Action.request).selectinload(Request.attachments),
            joinedload(Action.newest).selectinload(Request.attachments),
        )
    ).first()
    if row is None:
        raise NotFound("entry")
    require(actor, Permission.SEE_HISTORY, row[0].community_id, "entry")
    return ActionChange(*row)


def export(
    session: Session, actor: Actor, community_id: uuid.UUID, filters: HistoryFilter
) -> Iterator[ActionChange]:
    """Every change that matches, newest first, read in batches.

    Permission errors are raised by the call itself, not at the first row.
    """
    require(actor, Permission.SEE_HISTORY, community_id)
    conditions = history_filters.matching_all(session, community_id, filters)
    statement = _changes().where(*conditions, history_filters.kind(filters))
    return pages.export(session, statement, ActionChange)


def categories(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """All categories that the community's thresholds ever had, for the history's filter.

    Its actions may be a hundred thousand; the versions of its thresholds are few.
    """
    return session.scalars(
        sa.select(Category.name)
        .join(ThresholdSet, ThresholdSet.id == Category.threshold_set_id)
        .where(ThresholdSet.community_id == community_id)
        .distinct()
        .order_by(Category.name)
    ).all()
