"""What an assistant may read of the queue: its items, one of them with evidence, and why a status is as it is.

Each tool reads by the functions behind the dashboard. Left out of every result: mail addresses, names of people, who
wrote, rated, claimed or decided, and what raters answered before the decision.
"""

import uuid
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from app.api.shapes import Body, Id, Text, one_of
from app.commands.mcp.reading import EXCERPT, ROWS_MAX, Call, Listing, OfCommunity
from app.core.actions import actions
from app.core.communities import communities
from app.core.errors import NotFound
from app.core.factcheck import items
from app.core.helpfulness import viewpoints
from app.core.models import Action, Note
from app.core.notes import blindness, explanations, notes
from app.core.permissions import Permission, require
from app.core.requests import score_rows
from app.core.review import queue
from app.core.review.queue import QueueItem
from app.core.review.queue_filters import QueueFilter, Sort
from app.core.thresholds import threshold_sets
from app.core.vocabulary import NoteStatus, ReviewGroup
from app.web.item.evidence import evidence
from app.web.viewpoints import draw_strip

COVERED = "What raters answered is shown once it is decided."


class CommunitiesArguments(Listing):
    skip: int = Field(0, ge=0, le=1_000_000, description="Rows to leave out: `next_skip` of the page before.")


class QueueArguments(Listing, OfCommunity):
    categories: list[Annotated[Text, Field(max_length=100)]] = Field([], max_length=ROWS_MAX)
    languages: list[Annotated[Text, Field(max_length=35)]] = Field(
        [], max_length=ROWS_MAX, description="Tags such as en."
    )
    group: Annotated[ReviewGroup, one_of(ReviewGroup)] | None = Field(None, description="Who reviews.")
    overdue: bool = Field(False, description="Only what is past its target time.")
    search: Annotated[Text, Field(max_length=200)] = Field("", description="Words of the post.")
    sort: Annotated[Sort, one_of(Sort)] = Sort.URGENT
    after: Id | None = Field(None, description="`next_after` of the page before.")


class ItemArguments(Body):
    item_id: Id


class StatusArguments(Body):
    id: Id = Field(description="Of an item or a note.")


def list_communities(call: Call, wanted: CommunitiesArguments) -> dict[str, Any]:
    """List the communities that this key reads."""
    found = communities.visible(call.session, call.actor)
    page = found[wanted.skip : wanted.skip + wanted.size]
    last = wanted.skip + len(page)
    rows = [
        {"id": one.id, "slug": one.slug, "name": call.untrusted(one.name), "platform": one.platform}
        | {"archived": one.archived_at is not None}
        for one in page
    ]
    return {"count": len(found), "communities": rows, "next_skip": last if last < len(found) else None}


def review_queue(call: Call, wanted: QueueArguments) -> dict[str, Any]:
    """List the items that wait for moderators, each with an excerpt of its post; the most urgent first."""
    filters = QueueFilter(
        categories=tuple(wanted.categories),
        languages=tuple(wanted.languages),
        search=wanted.search.strip(),
        group=wanted.group,
        overdue=wanted.overdue,
        sort=wanted.sort,
    )
    community_id = call.community(wanted.community)
    page = queue.queue(call.session, call.actor, community_id, filters, size=wanted.size, after=wanted.after)
    rows = [
        _action(one.action)
        | {"claimed": one.claimant is not None, "overdue": one.is_overdue}
        | {"post": call.untrusted(one.action.post.content, EXCERPT)}
        for one in page.items
    ]
    more = page.items[-1].action.id if page.items and page.last < page.count else None
    return {"count": page.count, "items": rows, "next_after": more, "may_lack": page.may_lack}


def read_item(call: Call, wanted: ItemArguments) -> dict[str, Any]:
    """Read one item: the post, the evidence why it is here, the notes on it, and the fact-check that it matches."""
    action = _item(call, wanted.item_id)
    session, post = call.session, action.request
    thresholds = threshold_sets.current(session, action.community_id)
    why = evidence(thresholds, action, score_rows.scores_of(session, post.id))
    fact_check = items.referenced(session, post)
    written = notes.on_request(session, post.id)
    return {
        "item": _action(action) | {"overdue": QueueItem(action, None).is_overdue},
        "post": call.untrusted(action.post.content),
        "attachments": len(action.post.attachments),
        "evidence": asdict(why)
        | {
            "passages": [{"rule": rule, "text": call.untrusted(text)} for text, rule in why.passages],
            "unfinished": [call.untrusted(text) for text in why.unfinished],
        },
        "notes_count": len(written),
        "notes": [
            _note(note, action) | {"text": call.untrusted(note.summary)} for note in written[:ROWS_MAX]
        ],
        "fact_check": None
        if fact_check is None
        else {
            "rating": fact_check.rating,
            "claim": call.untrusted(fact_check.claim),
            "publisher": call.untrusted(fact_check.publisher),
            "url": call.untrusted(fact_check.url),
        },
    }


def why_status(call: Call, wanted: StatusArguments) -> dict[str, Any]:
    """Explain why an item or a note has its status: rule, score, counts, viewpoints, what would change it.

    Until the decision it says only how many have rated.
    """
    try:
        action: Action | None = _item(call, wanted.id)
        note = action.note if action is not None else None
    except NotFound:
        note = notes.get(call.session, call.actor, wanted.id)
        require(call.actor, Permission.SEE_QUEUE, note.community_id, "note")
        explains = actions.of_note(call.session, note.id) if note.rationale else None
        action = _item(call, explains.id) if explains is not None else None
    if note is None:
        raise NotFound("note of this item")
    found = _note(note, action) | ({"item": _action(action)} if action is not None else {})
    if not blindness.outcome_visible_to_raters(note, action):
        return found | {"covered": COVERED}
    why = asdict(explanations.explain(call.session, note))
    return found | {"why": why | {"viewpoints": _viewpoints(call, note)}}


def _viewpoints(call: Call, note: Note) -> str | None:
    """What the dashboard's viewpoint strip says; None while the note can be rated, and where there are no camps."""
    strip = viewpoints.of_note(call.session, note) if note.rationale or note.locked else None
    if strip is None:
        return None
    view = draw_strip(strip, is_question=note.rationale)
    return f"{view.sentence} {view.counts}"


def _item(call: Call, item_id: uuid.UUID) -> Action:
    """The item, as moderators find it. Raises NotFound also where its post was withdrawn."""
    action = actions.with_content(call.session, call.actor, item_id)
    require(call.actor, Permission.SEE_QUEUE, action.community_id, "item")
    if action.request.withdrawn_at is not None:
        raise NotFound("item")
    return action


def _action(action: Action) -> dict[str, Any]:
    return {
        "item_id": action.id,
        "community_id": action.community_id,
        "state": action.action_state,
        "decided": blindness.is_decided(action),
        "action": action.action_type,
        "tier": action.action_tier.number if action.action_tier else None,
        "group": action.review_group,
        "category": action.filed_under,
        "score": action.score,
        "language": action.language,
        "opened_at": action.created_at,
        "due_at": action.due_at,
        "ratings": action.note.ratings_count if action.note else 0,
    }


def _note(note: Note, action: Action | None) -> dict[str, Any]:
    """A note's status as raters see it: that of a rationale is open until its item is decided."""
    shown = blindness.outcome_visible_to_raters(note, action)
    status = note.status if shown else NoteStatus.NEEDS_MORE_RATINGS
    return {"note_id": note.id, "status": status, "ratings": note.ratings_count, "ai": note.ai_generated}
