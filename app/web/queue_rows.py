"""A row of the review queue, as the table and a swapped row both show it."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.core import review_queue
from app.core.models import Action
from app.core.permissions import Actor
from app.core.review_queue import QueueItem
from app.core.vocabulary import ActionState, ReviewGroup
from app.web import answering, auth, forms
from app.web.categories import HIDDEN, category_name, is_veiled
from app.web.filter_forms import encoded
from app.web.filters import excerpt
from app.web.moderator_filters import QueueForm
from app.web.verb_words import DECIDING

PART = "_queue_row.html"


@dataclass(frozen=True)
class QueueRow:
    """One row. ``text`` is a placeholder when ``is_veiled``; ``is_staffs``: nobody is asked to rate it.

    ``held_id`` is the reader's own decision that can be undone, ``deciding`` anybody's in words.
    """

    id: uuid.UUID
    version: int
    text: str
    is_veiled: bool
    category: str
    score: float | None
    since: datetime
    ratings: int
    is_staffs: bool
    claimant: str | None
    is_mine: bool
    is_open: bool
    state: str
    deciding: str | None
    held_id: uuid.UUID | None
    is_ticked: bool = False

    @property
    def name(self) -> str:
        """The row in a few words, for the names of its buttons."""
        return (
            f"{self.text}, {self.category.lower()}" if self.is_veiled else excerpt(self.text, 40) or "no text"
        )

    @property
    def value(self) -> str:
        """What a tick sends: the row and the version it was shown in."""
        return f"{self.id}.{self.version}"


def of(item: QueueItem, actor: Actor, ticked: frozenset[uuid.UUID] = frozenset()) -> QueueRow:
    """The row of an item; whose claim and whose decision it is depends on the reader."""
    action = item.action
    held = action.held
    own = held is not None and held.account_id == actor.account_id
    veiled = is_veiled(action.category, warn=auth.current_reader().account.content_warnings)
    return QueueRow(
        id=action.id,
        version=action.version,
        text=HIDDEN if veiled else action.request.content,
        is_veiled=veiled,
        category=category_name(action.category),
        score=action.score,
        since=action.created_at,
        ratings=action.note.ratings_count if action.note else 0,
        is_staffs=action.review_group is ReviewGroup.STAFF,
        claimant=item.claimant,
        is_mine=item.claimant is not None and action.claimed_by_id == actor.account_id,
        is_open=action.action_state is ActionState.UNDER_REVIEW and held is None,
        state=action.action_state.value,
        deciding=None if held is None else DECIDING[held.verb] if own else f"{held.account_name} is deciding",
        held_id=held.id if held is not None and own else None,
        is_ticked=action.id in ticked,
    )


def one(session: Session, actor: Actor, action: Action) -> QueueRow:
    """The row of one action, in whatever state it is now."""
    (item,) = review_queue.items(session, actor, action.community_id, [action.id])
    return of(item, actor)


def context() -> dict[str, Any]:
    """What a row needs beside itself: the filters that its addresses carry along, and the ratings needed."""
    query = forms.queried(QueueForm).query()
    return {
        "query": f"?{encoded(query)}" if query else "",
        "row_query": "?" + encoded({**query, "at": "queue"}),
        "needed": answering.needed(),
        "out_of_band": False,
    }
