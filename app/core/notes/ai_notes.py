"""AI notes: who may request one, what a draft must fulfil, how it is stored (docs/run/datasets.md).

A writer gets a ``Post``, and the fact-check that it matches if there is one, and returns a ``Draft``. It is called
outside of any transaction, because it may be a model on another machine. The draft becomes an ordinary note: unrated,
unpublished, with the service as its author. A moderator who asks for a draft sees it alone (``NoteDraft``), and may
submit it as a note of their own, which still tells which model helped.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.actions.moves import begin
from app.core.classify import Classifier, Context, combine
from app.core.classify.language import UNKNOWN, detect
from app.core.communities import cited_pages, communities
from app.core.communities import settings as community_settings
from app.core.communities.cited_pages import Page
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, UpstreamFailed
from app.core.factcheck import items
from app.core.factcheck.items import Item
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import AiDraft, FactCheckItem, Note, NoteDraft, Request
from app.core.notes import draft_checks
from app.core.people import profiles
from app.core.permissions import Actor, Permission, allows, require
from app.core.texts import gettext as _
from app.core.thresholds import threshold_sets
from app.core.vocabulary import ClaimRating, Classification, NoteStatus

SCREENED = frozenset({"toxicity", "hate", "threat", "sexual"})
"""Categories in which a draft's score must not exceed the Tier 2 threshold."""


@dataclass(frozen=True)
class Post:
    """The data of a request that a writer gets. It holds no database row, so it needs no open session.

    ``searched`` is the number of fact-checks that were compared with the content, ``checked_on`` the day of that
    comparison; ``tier2`` are the community's thresholds by category, 0.0 to 1.0. ``language`` is that of the content
    (BCP 47), or ``UNKNOWN``. ``pages`` may be cited beside the fact-check.
    """

    community_id: uuid.UUID
    content: str
    searched: int
    checked_on: date
    tier2: Mapping[str, float]
    language: str = UNKNOWN
    pages: tuple[Page, ...] = ()


@dataclass(frozen=True)
class Draft:
    """What a writer returns.

    ``summary`` is the whole note, with its source URLs; ``sources`` are those URLs. ``prompt_sha256`` and ``reply``
    are the model's prompt (its hash) and answer; ``fell_back`` is the reason why the builtin writer was used.
    ``language`` is that of the note, or ``UNKNOWN``; ``language_gap`` says why it is not that of the post.
    """

    summary: str
    classification: Classification
    sources: tuple[str, ...]
    provider: str
    model: str
    prompt_version: str
    prompt_sha256: str | None = None
    reply: str | None = None
    fell_back: str | None = None
    language: str = UNKNOWN
    language_gap: str | None = None


class NoteWriter(Protocol):
    """Drafts notes. Any thread may call it, but never inside a transaction."""

    def write(self, post: Post, item: Item | None) -> Draft:
        """Return a draft about ``post``; ``item`` is the fact-check that the post matches, if any.

        Raises:
            UpstreamTimeout: the provider did not answer before the deadline (504).
            UpstreamFailed: the provider failed, or its answer was unusable (502).
            Unavailable: the provider asked us to wait (503).
        """
        ...


def prepare(session: Session, actor: Actor, request: Request) -> tuple[Post, Item | None]:
    """The post and the fact-check (or None) to pass to the writer.

    Raises:
        Forbidden: AI notes are switched off for the community, or the actor may not write notes.
    """
    require(actor, Permission.WRITE_NOTE, request.community_id, "request")
    if not communities.get(session, actor, request.community_id).ai_notes_enabled:
        raise Forbidden(_("AI notes are switched off for this community"))
    thresholds = threshold_sets.current(session, request.community_id)
    item = items.for_request(session, request)
    row = session.get(FactCheckItem, item.row_id) if item is not None and item.row_id is not None else None
    if row is not None and row.retired_at is not None:
        item = None
    post = Post(
        community_id=request.community_id,
        content=request.content,
        searched=_searched(session, request),
        checked_on=clock.now().date(),
        tier2={category.name: category.tier2 for category in thresholds.categories if category.enabled},
        language=request.language or detect(request.content),
        pages=pages_of(session, request.community_id),
    )
    return post, item


def pages_of(session: Session, community_id: uuid.UUID) -> tuple[Page, ...]:
    """The pages that a community's AI notes may cite."""
    return cited_pages.parse(community_settings.read(session, community_id).note_pages)


def _searched(session: Session, request: Request) -> int:
    """How many fact-checks posts of the request's community are compared with."""
    compared = (items.serving(request.community_id), FactCheckItem.retired_at.is_(None))
    return session.scalar(sa.select(sa.func.count(FactCheckItem.id)).where(*compared)) or 0


def keep(session: Session, actor: Actor, request: Request, draft: Draft, item: Item | None = None) -> Note:
    """Store a draft as the service's note on the request: unrated, published only by ratings or a moderator."""
    require(actor, Permission.WRITE_NOTE, request.community_id, "request")
    limits.text(draft.summary, "summary", limits.SUMMARY_MAX)
    require_fit(draft, item, pages_of(session, request.community_id))
    # Lock before creating the service's profile: code that creates it for a rationale holds this lock already.
    serialise(session, request.community_id)
    author = profiles.of_service(session)
    note = Note(
        id=new_id(),
        community_id=request.community_id,
        request_id=request.id,
        author_id=author.id,
        author_ref=str(author.id),
        summary=draft.summary,
        classification=draft.classification,
        status=NoteStatus.NEEDS_MORE_RATINGS,
        ai_generated=True,
        ai_provider=draft.provider,
        ai_model=draft.model,
        sources=list(draft.sources),
        platform_message_id=request.platform_message_id,
        platform_channel_id=request.platform_channel_id,
    )
    with community_settings.in_language(session, request.community_id):
        cause = _("drafted by %(provider)s %(model)s", provider=draft.provider, model=draft.model)
    begin(session, actor, note, reason=Reason(cause=cause))
    session.add(AiDraft(note_id=note.id, **_record(draft, item)))
    session.flush()
    return note


_RECORDED = (
    "provider",
    "model",
    "prompt_version",
    "prompt_sha256",
    "reply",
    "fell_back",
    "language",
    "language_gap",
)


def _record(draft: Draft, item: Item | None) -> dict[str, Any]:
    """How the draft came about, as stored with it. Reasons longer than 255 characters are cut."""
    item_id = item.row_id if item is not None and item.url in draft.sources else None
    kept = {name: getattr(draft, name) for name in _RECORDED}
    cut = {name: kept[name][:255] for name in ("fell_back", "language_gap") if kept[name]}
    return {"item_id": item_id, **kept, **cut}


def expected(item: Item | None) -> Classification | None:
    """The classification that follows from a fact-check's rating; None when there is none, or we do not know it.

    True claims do not mislead. With any other rating, also mixed or outdated, a post that makes the claim is at least
    *potentially* misleading.
    """
    if item is None or item.rating is None:
        return None
    fine = (ClaimRating.TRUE, ClaimRating.MOSTLY_TRUE)
    return Classification.NOT_MISLEADING if item.rating in fine else Classification.MISLEADING


def require_fit(draft: Draft, item: Item | None, pages: Sequence[Page] = ()) -> None:
    """The last check of every draft, by whichever writer: its addresses, its verdict, its form.

    Raises:
        UpstreamFailed: another address than the fact-check's and those of ``pages``, another verdict, or no plain short
            text.
    """
    own = [page.url for page in pages] + ([item.url] if item is not None else [])
    text = cited_pages.cut(draft.summary, draft.sources)
    is_fit = (
        set(draft.sources) <= set(own)
        and len(text.strip()) <= draft_checks.SUMMARY_MAX
        and not draft_checks.has_link(text)
        and not any(draft_checks.is_odd(character) for character in text)
        and (expected(item) in (None, draft.classification))
        and (draft.classification is Classification.NOT_MISLEADING or bool(draft.sources))
    )
    if not is_fit:
        raise UpstreamFailed(_("AI provider sent an unusable answer"))


def language_gap(language: str, post: Post) -> bool:
    """Whether a note in this language is surely not in the language of the post."""
    return UNKNOWN not in (language, post.language) and language != post.language


def harsh(text: str, post: Post, classifiers: Sequence[Classifier]) -> list[str]:
    """The ``SCREENED`` categories whose Tier 2 threshold the draft exceeds, as sentences like those of ``faults``."""
    context = Context(community_id=post.community_id)
    # Only local classifiers: a draft does not justify calls to another service.
    results = [
        result
        for classifier in classifiers
        if classifier.local
        for result in classifier.score([text], context)
    ]
    scores = combine(results)
    return [
        f"it reads as {name.replace('_', ' ')}"
        for name in sorted(SCREENED & scores.keys())
        if scores[name] > post.tier2.get(name, 1.0)
    ]


def may_ask_for_draft(session: Session, actor: Actor, request: Request) -> bool:
    """Whether the actor may have a note drafted: a moderator, where AI notes are switched on."""
    if actor.account_id is None or not allows(actor, Permission.MODERATE, request.community_id):
        return False
    return communities.get(session, actor, request.community_id).ai_notes_enabled


def find_draft(session: Session, actor: Actor, request: Request) -> NoteDraft | None:
    """The actor's draft about a post, or None."""
    if not allows(actor, Permission.MODERATE, request.community_id):
        return None
    return session.scalars(
        sa.select(NoteDraft).where(
            NoteDraft.request_id == request.id, NoteDraft.account_id == actor.account_id
        )
    ).first()


def prepare_draft(session: Session, actor: Actor, request: Request) -> tuple[Post, Item | None]:
    """What the writer gets (see ``ai_notes.prepare``). Raises Forbidden for all but moderators."""
    require(actor, Permission.MODERATE, request.community_id, "request")
    return prepare(session, actor, request)


def keep_draft(
    session: Session, actor: Actor, request: Request, draft: Draft, item: Item | None
) -> NoteDraft:
    """Store a draft for the actor, in place of an earlier one.

    Raises:
        Conflict: the actor is not signed in with an account.
    """
    require(actor, Permission.MODERATE, request.community_id, "request")
    require_fit(draft, item, pages_of(session, request.community_id))
    if actor.account_id is None:
        raise Conflict(_("Only a signed-in moderator can have a note drafted"))
    serialise(session, request.community_id)
    known = find_draft(session, actor, request)
    if known is not None:
        session.delete(known)
        session.flush()
    stored = NoteDraft(
        id=new_id(),
        community_id=request.community_id,
        request_id=request.id,
        account_id=actor.account_id,
        summary=draft.summary,
        classification=draft.classification,
        sources=list(draft.sources),
        **_record(draft, item),
    )
    session.add(stored)
    session.flush()
    return stored


def use_draft(session: Session, actor: Actor, draft: NoteDraft, note: Note) -> None:
    """Record that the actor's new note began as this draft, and delete the draft."""
    note.ai_provider, note.ai_model = draft.provider, draft.model
    has_item = draft.item_id is not None and session.get(FactCheckItem, draft.item_id) is not None
    kept = {name: getattr(draft, name) for name in _RECORDED}
    session.add(AiDraft(note_id=note.id, item_id=draft.item_id if has_item else None, **kept))
    session.delete(draft)
    session.flush()
    after = {"ai_provider": note.ai_provider, "ai_model": note.ai_model}
    history.record(session, actor, note.community_id, "note.ai_helped", "note", note.id, after=after)


def discard_draft(session: Session, actor: Actor, request: Request) -> bool:
    """Delete the actor's draft about a post. Returns whether there was one."""
    draft = find_draft(session, actor, request)
    if draft is not None:
        session.delete(draft)
        session.flush()
    return draft is not None
