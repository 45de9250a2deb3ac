"""Rows of the review queue, for the whole table and for single rows that htmx replaces."""

import base64
import binascii
import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from flask import url_for
from sqlalchemy.orm import Session

from app.core import clock, limits, scoring
from app.core.actions import opening
from app.core.communities import settings as community_settings
from app.core.models import Action, Note, Request
from app.core.models.decisions import HIDDEN as IS_HIDDEN
from app.core.permissions import Actor
from app.core.reports import sums
from app.core.reports.weighing import Tally
from app.core.review import author_pages, decision_trace, queue, second_looks, waves
from app.core.review.decision_trace import Decider
from app.core.review.queue import QueueItem
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext, number
from app.core.thresholds import threshold_sets
from app.core.vocabulary import ActionState, ReviewGroup
from app.web import auth, community_choice, veils
from app.web.categories import HIDDEN, UNNAMED, category_name
from app.web.filter_forms import encoded
from app.web.filters import ago, channel, excerpt, full_time, review_state, score, span
from app.web.item import answering, media, pending_undo, timeline
from app.web.item.media import Media
from app.web.item.pending_undo import PendingDecision
from app.web.item.timeline import cause_words
from app.web.item.wave import wave_words
from app.web.languages import language_name
from app.web.moderate import row_lists, row_names
from app.web.moderate.row_lists import QUEUE, SECOND_LOOKS, RowList
from app.web.moderate.row_names import RowName
from app.wiring import wired

PART = "moderate/_queue_row.html"
NO_REPORTS = Tally()
_DISAGREEMENTS: Mapping[str, str] = {
    "divisive": lazy_gettext("split"),
    "one-sided": lazy_gettext("split"),
    "unbalanced": lazy_gettext("one side only"),
    "undecided": lazy_gettext("undecided"),
}
"""Why enough ratings did not decide, by the slug of the rule (docs/develop/consensus.md)."""


@dataclass(frozen=True)
class SecondLookWords:
    """``done``: "Hidden by its score alone, above 0.95"; ``again``: why it is looked at again, an empty string if it is
    not; ``ends``: "ends in 13 d", as confirmed."""

    done: str
    again: str
    ends: str


@dataclass(frozen=True)
class QueueRow:
    """One row. ``text`` is a placeholder if ``is_veiled``. ``is_staffs``: moderators review it, members do not rate it.

    ``apart`` makes the row's name unique on the page. ``held`` is the decision that can still be undone. ``decided``:
    who decided, for a row that stays on the page after its decision. ``facts`` about author and post stand at the end
    of the text, ``overdue`` is the time past the target (``is_far_overdue``: waiting for twice the target time or
    longer), ``disagreement`` why ratings did not decide. ``assignee`` is who is to decide it. ``look`` is what a second
    look says besides. ``reasons_of`` is the category whose reasons the browser remembers
    (``decision_forms.remembered_as``). ``unscored`` says why it has no score. ``alike``: how many posts the row stands
    for. ``severity``: 1 to 4 (``threshold_sets.severity_levels``).
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
    channel: str = ""
    facts: Sequence[str] = ()
    severity: int = 1
    overdue: str = ""
    is_far_overdue: bool = False
    disagreement: str = ""
    assignee: str = ""
    look: SecondLookWords | None = None
    unscored: str = ""
    alike: str = ""

    @property
    def author_url(self) -> str:
        return f"{url_for('web.review')}?{encoded({**community_choice.carried(), 'author': self.author})}"

    @property
    def live(self) -> str:
        """The row's id and a digest of what it shows, both short: an open page sends it to ask what changed.

        Times that pass count as words, and the seconds left to undo, which the browser counts, not at all.
        """
        held = self.held.hold_id if self.held else None
        decided_ago = ago(self.decided.at) if self.decided else ""
        shown = repr((replace(self, apart="", is_ticked=False, held=None), held, decided_ago))
        digest = hashlib.blake2b(shown.encode(), digest_size=3).digest()
        return f"{_encode(self.id.bytes)}.{_encode(digest)}"

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
    apart = row_names.distinguish([_name(item.action) for item in items])
    found = _rows(session, items, actor, row_list, ticked)
    return [replace(row, apart=more) for row, more in zip(found, apart, strict=True)]


def rows_by_id(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    ids: Sequence[uuid.UUID],
    row_list: RowList,
) -> list[QueueRow]:
    """Return the rows of these items, in any state; a row that is no longer open says who decided it."""
    items = queue.items(session, actor, community_id, ids)
    closed = [item.action.id for item in items if item.action.action_state not in row_list.states]
    decided = decision_trace.deciders(session, closed)
    return [replace(row, decided=decided.get(row.id)) for row in _rows(session, items, actor, row_list)]


def shown_rows(text: str) -> dict[uuid.UUID, str]:
    """Parse what a poll sends: ``QueueRow.live`` of each row on the page, separated by "~"; return them by row id.

    Values that are none are ignored.
    """
    shown = {}
    for live in text.split("~")[: limits.BULK_MAX]:
        try:
            shown[uuid.UUID(bytes=base64.urlsafe_b64decode(live.partition(".")[0] + "=="))] = live
        except (ValueError, binascii.Error):
            continue
    return shown


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def row(session: Session, actor: Actor, action: Action, row_list: RowList = QUEUE) -> QueueRow:
    """Return the row of one action, in any state."""
    (found,) = rows_by_id(session, actor, action.community_id, [action.id], row_list)
    return found


def _rows(
    session: Session,
    items: Sequence[QueueItem],
    actor: Actor,
    row_list: RowList,
    ticked: frozenset[uuid.UUID] = frozenset(),
) -> list[QueueRow]:
    """Return rows that do not know each other; a constant number of queries."""
    if not items:
        return []
    actions = [item.action for item in items]
    community_id = actions[0].community_id
    named = {author for action in actions if (author := action.platform_author_id)}
    hidden = author_pages.counts(session, community_id, named, IS_HIDDEN)
    reported = sums.tallies(session, [action.request_id for action in actions])
    looks = _second_look_words(session, actions) if row_list is SECOND_LOOKS else {}
    severities = threshold_sets.severity_levels(session, community_id)
    spoken = community_settings.for_community(auth.current_community(), wired().community_defaults).language
    alike = waves.sizes(session, {action.wave_id for action in actions if action.wave_id is not None})
    return [
        replace(
            _row(item, actor, row_list),
            is_ticked=item.action.id in ticked,
            facts=_facts(
                item.action.request,
                hidden.get(item.action.platform_author_id or "", 0),
                reported.get(item.action.request_id, NO_REPORTS),
                spoken,
            ),
            severity=severities.get(item.action.category or "", 1),
            look=looks.get(item.action.id),
            alike=_alike(item.action, alike) if row_lists.shows_waves(row_list) else "",
        )
        for item in items
    ]


def _row(item: QueueItem, actor: Actor, row_list: RowList) -> QueueRow:
    """Return the row of an item as this actor sees it: claims and decisions may be their own or another's.

    The function does not know the other rows of the page, so the name contains every fact that may distinguish it.
    """
    action, post = item.action, item.action.request
    veiled = veils.hides(action)
    return QueueRow(
        id=action.id,
        version=action.version,
        text=HIDDEN if veiled else action.post.content,
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
        state=review_state(action),
        held=pending_undo.of_action(actor, action, action.held),
        apart=_name(action).whole,
        media=media.for_action(action),
        author=post.platform_author_id or "",
        channel=channel(post.platform_channel_id) if post.platform_channel_id else "",
        overdue=span(clock.now() - action.due_at) if item.is_overdue and action.due_at else "",
        is_far_overdue=item.is_far_overdue,
        assignee=_("you")
        if action.assigned_to_id == actor.account_id and item.assignee
        else item.assignee or "",
        disagreement=_disagreement(action.note, answering.ratings_needed()),
        unscored=UNNAMED.get(action.category or "", ""),
    )


def _disagreement(note: Note | None, needed: int) -> str:
    """Why ratings have not decided: "split", "one side only" or "undecided"; empty while there are too few of them."""
    if note is None or note.ratings_count < needed or note.status_rule is None:
        return ""
    return str(_DISAGREEMENTS.get(scoring.slug_of(note.status_rule), ""))


def _facts(post: Request, hidden: int, reported: Tally, spoken: str) -> Sequence[str]:
    """Who reported it, the author's hidden posts, a language other than ``spoken``, the community's, and what the
    integration counted.
    """
    reports, views = opening.figure(post.extra, "reports"), opening.figure(post.extra, "views")
    facts = (
        _("reported by %(people)s", people=number(reported.number)) if reported.number else "",
        ngettext("%(num)s hidden", "%(num)s hidden", hidden) if hidden else "",
        language_name(post.language) if post.language and post.language != spoken else "",
        ngettext("%(num)s report", "%(num)s reports", reports) if reports else "",
        ngettext("%(num)s view", "%(num)s views", views) if views else "",
    )
    return [fact for fact in facts if fact]


def _alike(action: Action, sizes: Mapping[uuid.UUID, waves.Size]) -> str:
    """How many posts the row stands for: "14 alike, 3 authors"; empty for one alone."""
    size = sizes.get(action.wave_id) if action.wave_id is not None else None
    if size is None:
        return ""
    return wave_words(
        size.open if action.action_state is ActionState.UNDER_REVIEW else size.total, size.authors
    )


def _short(text: str, category: str, *, is_veiled: bool) -> str:
    return f"{text}, {category}" if is_veiled else excerpt(text, 40) or _("no text")


def _name(action: Action) -> RowName:
    veiled, category, post = veils.hides(action), category_name(action.category), action.request
    author, channel = post.platform_author_id, post.platform_channel_id
    return RowName(
        _short(HIDDEN if veiled else post.content, category, is_veiled=veiled),
        (
            _("by %(author)s", author=author) if author else "",
            str(category),
            _("in %(channel)s", channel=channel) if channel else "",
            full_time(action.created_at),
        ),
        action.id,
    )


def _second_look_words(session: Session, looks: Sequence[Action]) -> Mapping[uuid.UUID, SecondLookWords]:
    """Return the words by the action's id. Two queries for any number of rows."""
    why = second_looks.openings(session, looks)
    decided = second_looks.deciding(session, looks)
    return {
        action.id: SecondLookWords(
            _what_was_done(action, timeline.done_to_post(action, decided.get(action.id))),
            cause_words(why.get(action.id, "")) or _("Opened") if action.retro_review_at is not None else "",
            _when_it_ends(action),
        )
        for action in looks
    }


def _what_was_done(action: Action, done: timeline.DoneToPost | None) -> str:
    what = timeline.DONE_TO_POST[action.action_type][0]
    if done is None:
        return what
    threshold = ((action.evidence or {}).get("details") or {}).get("threshold")
    if not done.is_name:
        if threshold is not None:
            return _("%(done)s by %(who)s, above %(score)s", done=what, who=done.by, score=score(threshold))
        return _("%(done)s by %(who)s", done=what, who=done.by)
    if done.reason:
        return _("%(done)s by %(who)s: %(reason)s", done=what, who=done.by, reason=done.reason)
    return _("%(done)s by %(who)s", done=what, who=done.by)


def _when_it_ends(action: Action) -> str:
    if action.action_state is not ActionState.RETRO_REVIEW or action.retro_review_at is None:
        return ""
    end = action.retro_review_at + timedelta(days=wired().settings.review_days)
    return _("ends %(when)s", when=ago(end))
