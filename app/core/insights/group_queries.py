"""The raw sums by channel and by moderator, beside those of ``trend_queries``."""

import uuid
from collections.abc import Iterator

import sqlalchemy as sa

from app.core.insights.trend_queries import TrendQueries
from app.core.models import Action, HistoryEntry, Request
from app.core.periods import unix
from app.core.vocabulary import ActionState

DECIDED = (f"action.{ActionState.PROPOSED}", f"action.{ActionState.DISMISSED}")
"""Entries that end a review: to act, or not to."""
TAKEN_BACK = (f"action.{ActionState.DISMISSED}", f"action.{ActionState.UNDER_REVIEW}")
"""Entries that reverse a decision to act before the platform acts."""


class GroupQueries(TrendQueries):
    """All sums over one community between two moments, with those by group."""

    def channels(self) -> list[tuple[int, str, int, int]]:
        """Part, channel, actions proposed, and how many of them were overturned. Posts without a channel are left out.

        The channel is the post's: actions of before channels were added have none.
        """
        part, channel = self._span.part(Action.proposed_at), Request.platform_channel_id
        return self._outcomes(
            sa.select(part, channel, sa.func.count(), sa.func.count(Action.overturned_at))
            .select_from(Action)
            .join(Request, Request.id == Action.request_id)
            .where(self._acted(), channel.is_not(None))
            .group_by(part, channel)
        )

    def moderators(self) -> Iterator[tuple[int, uuid.UUID, int, bool]]:
        """Part, account, seconds from submission, and whether it was reversed since: for each decision by a person.

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
                self._span.part(HistoryEntry.at),
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
            (int(part), account_id, max(0, int(seconds)), bool(was_reversed))
            for part, account_id, seconds, was_reversed in rows
            if account_id is not None
        )
