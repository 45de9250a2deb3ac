"""Rows of the review queue, for the whole table and for single rows that htmx replaces."""

import base64
import binascii
import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from flask import url_for
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.actions import urgency
from app.core.models import Action, Request
from app.core.permissions import Actor
from app.core.review import decision_trace, queue, row_marks
from app.core.review.decision_trace import Decider
from app.core.review.queue import QueueItem
from app.core.review.row_marks import RowMark
from app.core.vocabulary import ReviewGroup
from app.web import auth, community_choice
from app.web.categories import HIDDEN, UNNAMED, category_name, is_veiled
from app.web.filter_forms import encoded
from app.web.filters import ago, channel, excerpt, full_time, span
from app.web.item import media
from app.web.item.media import Media
from app.web.languages import language_name
from app.web.moderate import look_words, pending_undo, row_names
from app.web.moderate.look_words import LookWords
from app.web.moderate.pending_undo import PendingDecision
from app.web.moderate.row_lists import LOOKS, QUEUE, RowList
from app.web.moderate.row_names import RowName
from app.web.rate import answering

PART = "moderate/_queue_row.html"


@dataclass(frozen=True)
class QueueRow:
    """One row. ``text`` is a placeholder if ``is_veiled``. ``is_staffs``: moderators review it, members do not rate it.

    ``apart`` makes the row's name unique on the page. ``held`` is the decision that can still be undone. ``decided``:
    who decided, for a row that stays on the page after its decision. ``facts`` about author and post follow the
    author's name, ``overdue`` is the time past the target, ``disagreement`` why ratings did not decide. ``assignee`` is
    who is to decide it. ``look`` is what a second look says besides. ``reasons_of`` is the category whose reasons
    the browser remembers (``reason_choice.remembered_as``). ``unscored`` says why it has no score.
    ``live``: the row's id and a digest of everything in it that may change, both short: the poll sends it for each row.
    """

    id: uuid.UUID
    version: int
    text: str
    is_veiled: bool
    category: str
    reasons_of: str
    score: float | None
    since: datetime
    ratings: int
    is_staffs: bool
    claimant: str | None
    is_mine: bool
    is_open: bool
    state: str
    held: PendingDecision | None
    apart: str
    is_ticked: bool = False
    media: Media | None = None
    decided: Decider | None = None
    author: str = ""
    author_url: str = ""
    facts: Sequence[str] = ()
    overdue: str = ""
    disagreement: str = ""
    assignee: str = ""
    look: LookWords | None = None
    live: str = ""
    unscored: str = ""

    @property
    def name(self) -> str:
        """A short name of the row, for the names of its buttons."""
        return _short(self.text, self.category, is_veiled=self.is_veiled) + self.apart

    @property
    def value(self) -> str:
        """Value of the row's checkbox: its id and the version that the page shows."""
        return f"{self.id}.{self.version}"


def rows(
    session: Session,
    items: Sequence[QueueItem],
    actor: Actor,
    ticked: frozenset[uuid.UUID] = frozenset(),
    row_list: RowList = QUEUE,
) -> list[QueueRow]:
    """Return the rows of a page; their names differ from each other."""
    apart = row_names.told_apart([_name(item.action) for item in items])
    hidden = _hidden_posts(session, items)
    looks = _looks(session, items, row_list)
    live = live_marks(session, actor, [item.action for item in items])
    return [
        replace(
            row_of_item(item, actor, ticked, hidden=hidden, row_list=row_list),
            apart=more,
            look=looks.get(item.action.id),
            live=live.get(item.action.id, ""),
        )
        for item, more in zip(items, apart, strict=True)
    ]


def _looks(session: Session, items: Sequence[QueueItem], row_list: RowList) -> Mapping[uuid.UUID, LookWords]:
    return look_words.words(session, [item.action for item in items]) if row_list is LOOKS else {}


def _hidden_posts(session: Session, items: Sequence[QueueItem]) -> Mapping[str, int]:
    authors = {author for item in items if (author := item.action.platform_author_id)}
    community_ids = {item.action.community_id for item in items}
    return queue.hidden_posts(session, community_ids.pop(), authors) if authors else {}


def row_of_item(
    item: QueueItem,
    actor: Actor,
    ticked: frozenset[uuid.UUID] = frozenset(),
    decided: Decider | None = None,
    hidden: Mapping[str, int] | None = None,
    row_list: RowList = QUEUE,
) -> QueueRow:
    """Return the row of an item as this actor sees it: claims and decisions may be their own or another's.

    The function does not know the other rows of the page, so the name contains every fact that may distinguish it.
    """
    action, post = item.action, item.action.request
    veiled, author = _is_veiled(action), post.platform_author_id or ""
    return QueueRow(
        id=action.id,
        version=action.version,
        text=HIDDEN if veiled else action.request.content,
        is_veiled=veiled,
        category=category_name(action.category),
        reasons_of=action.category or "*",
        score=action.score,
        since=action.created_at,
        ratings=action.note.ratings_count if action.note else 0,
        is_staffs=action.review_group is ReviewGroup.STAFF,
        claimant=item.claimant,
        is_mine=item.claimant is not None and action.claimed_by_id == actor.account_id,
        is_open=action.action_state in row_list.states and action.held is None,
        state=action.action_state.value,
        held=pending_undo.of_action(actor, action, action.held),
        apart=_name(action).whole,
        is_ticked=action.id in ticked,
        media=media.for_action(action),
        decided=decided,
        author=author,
        author_url=f"{url_for('web.review')}?{encoded({**community_choice.carried(), 'author': author})}"
        if author
        else "",
        facts=_facts(post, (hidden or {}).get(author, 0)),
        overdue=span(clock.now() - action.due_at) if item.is_overdue and action.due_at else "",
        assignee="you"
        if action.assigned_to_id == actor.account_id and item.assignee
        else item.assignee or "",
        disagreement=queue.disagreement(action.note, answering.ratings_needed()),
        unscored=UNNAMED.get(action.category or "", ""),
    )


def _facts(post: Request, hidden: int) -> Sequence[str]:
    """The author's hidden posts, channel, language, and reports and views if the integration gave them."""
    reports, views = urgency.figure(post.extra, "reports"), urgency.figure(post.extra, "views")
    facts = (
        f"{hidden} hidden" if hidden else "",
        channel(post.platform_channel_id) if post.platform_channel_id else "",
        language_name(post.language) if post.language else "",
        f"{reports:,} {'report' if reports == 1 else 'reports'}" if reports else "",
        f"{views:,} {'view' if views == 1 else 'views'}" if views else "",
    )
    return [fact for fact in facts if fact]


def rows_by_id(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    ids: Sequence[uuid.UUID],
    row_list: RowList = QUEUE,
) -> list[QueueRow]:
    """Return the rows of these items, in any state; a row that is no longer open says who decided it."""
    items = queue.items(session, actor, community_id, ids)
    closed = [item.action.id for item in items if item.action.action_state not in row_list.states]
    decided = decision_trace.deciders(session, closed)
    hidden = _hidden_posts(session, items)
    looks = _looks(session, items, row_list)
    live = live_marks(session, actor, [item.action for item in items])
    return [
        replace(
            row_of_item(item, actor, decided=decided.get(item.action.id), hidden=hidden, row_list=row_list),
            look=looks.get(item.action.id),
            live=live.get(item.action.id, ""),
        )
        for item in items
    ]


def changed(
    session: Session, actor: Actor, community_id: uuid.UUID, shown: Mapping[uuid.UUID, str]
) -> list[uuid.UUID]:
    """Return the ids of rows that differ from what the page shows (``shown_rows``)."""
    if not shown:
        return []
    marks = row_marks.row_marks(session, actor, community_id, list(shown))
    now = clock.now()
    return [row_id for row_id, mark in marks.items() if _digest(mark, now) != shown[row_id]]


def live_marks(session: Session, actor: Actor, actions: Sequence[Action]) -> Mapping[uuid.UUID, str]:
    """Return ``QueueRow.live`` of these actions of one community, by id."""
    if not actions:
        return {}
    marks = row_marks.row_marks(session, actor, actions[0].community_id, [action.id for action in actions])
    now = clock.now()
    return {row_id: f"{_encode(row_id.bytes)}.{_digest(mark, now)}" for row_id, mark in marks.items()}


def _digest(mark: RowMark, now: datetime) -> str:
    times = (
        span(now - mark.due_at) if mark.due_at is not None else "",
        ago(mark.decided_at) if mark.decided_at is not None else "",
        ago(mark.again_at) if mark.again_at is not None else "",
    )
    return _encode(hashlib.blake2b(repr((mark.seen, times)).encode(), digest_size=3).digest())


def shown_rows(text: str) -> dict[uuid.UUID, str]:
    """Parse the poll's parameter: ``QueueRow.live`` of each row on the page, separated by "~". Others are ignored.

    Return the digests by the rows' ids.
    """
    shown = {}
    for live in text.split("~")[: limits.BULK_MAX]:
        encoded_id, _, digest = live.partition(".")
        try:
            shown[uuid.UUID(bytes=base64.urlsafe_b64decode(encoded_id + "=="))] = digest
        except (ValueError, binascii.Error):
            continue
    return shown


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _is_veiled(action: Action) -> bool:
    return is_veiled(action.category, warn=auth.current_reader().account.content_warnings)


def _short(text: str, category: str, *, is_veiled: bool) -> str:
    return f"{text}, {category.lower()}" if is_veiled else excerpt(text, 40) or "no text"


def _name(action: Action) -> RowName:
    veiled, category, post = _is_veiled(action), category_name(action.category), action.request
    author, channel = post.platform_author_id, post.platform_channel_id
    return RowName(
        _short(HIDDEN if veiled else post.content, category, is_veiled=veiled),
        (
            f"by {author}" if author else "",
            category.lower(),
            f"in {channel}" if channel else "",
            full_time(action.created_at),
        ),
        action.id,
    )


def row(session: Session, actor: Actor, action: Action, row_list: RowList = QUEUE) -> QueueRow:
    """Return the row of one action, in any state."""
    (found,) = rows_by_id(session, actor, action.community_id, [action.id], row_list)
    return found
