"""Drafts that moderators ask for: only they see them, until they submit one as a note of their own.

The note's author is the moderator, who may have changed every word; the note still tells which model helped.
"""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.communities import communities
from app.core.db import serialise
from app.core.errors import Conflict
from app.core.factcheck.items import Item
from app.core.history import chain as history
from app.core.ids import new_id
from app.core.models import AiDraft, FactCheckItem, Note, NoteDraft, Request
from app.core.notes import ai_notes
from app.core.notes.ai_notes import Draft, Post
from app.core.permissions import Actor, Permission, allows, require


def may_ask(session: Session, actor: Actor, request: Request) -> bool:
    """Whether the actor may have a note drafted: a moderator, where AI notes are switched on."""
    if actor.account_id is None or not allows(actor, Permission.MODERATE, request.community_id):
        return False
    return communities.get(session, actor, request.community_id).ai_notes_enabled


def find(session: Session, actor: Actor, request: Request) -> NoteDraft | None:
    """The actor's draft about a post, or None."""
    if not allows(actor, Permission.MODERATE, request.community_id):
        return None
    return session.scalars(
        sa.select(NoteDraft).where(
            NoteDraft.request_id == request.id, NoteDraft.account_id == actor.account_id
        )
    ).first()


def prepare(session: Session, actor: Actor, request: Request) -> tuple[Post, Item | None]:
    """What the writer gets (see ``ai_notes.prepare``). Raises Forbidden for all but moderators."""
    require(actor, Permission.MODERATE, request.community_id, "request")
    return ai_notes.prepare(session, actor, request)


def keep(session: Session, actor: Actor, request: Request, draft: Draft, item: Item | None) -> NoteDraft:
    """Store a draft for the actor, in place of an earlier one.

    Raises:
        Conflict: the actor is not signed in with an account.
    """
    require(actor, Permission.MODERATE, request.community_id, "request")
    ai_notes.require_fit(draft, item, ai_notes.pages_of(session, request.community_id))
    if actor.account_id is None:
        raise Conflict("Only a signed-in moderator can have a note drafted")
    serialise(session, request.community_id)
    known = find(session, actor, request)
    if known is not None:
        session.delete(known)
        session.flush()
    stored = NoteDraft(
        id=new_id(),
        community_id=request.community_id,
        request_id=request.id,
        account_id=actor.account_id,
        item_id=item.row_id if item is not None and item.url in draft.sources else None,
        summary=draft.summary,
        classification=draft.classification,
        sources=list(draft.sources),
        provider=draft.provider,
        model=draft.model,
        prompt_version=draft.prompt_version,
        prompt_sha256=draft.prompt_sha256,
        reply=draft.reply,
        fell_back=draft.fell_back[:255] if draft.fell_back else None,
        language=draft.language,
        language_gap=draft.language_gap[:255] if draft.language_gap else None,
    )
    session.add(stored)
    session.flush()
    return stored


def use(session: Session, actor: Actor, draft: NoteDraft, note: Note) -> None:
    """Record that the actor's new note began as this draft, and delete the draft."""
    note.ai_provider, note.ai_model = draft.provider, draft.model
    has_item = draft.item_id is not None and session.get(FactCheckItem, draft.item_id) is not None
    session.add(
        AiDraft(
            note_id=note.id,
            item_id=draft.item_id if has_item else None,
            provider=draft.provider,
            model=draft.model,
            prompt_version=draft.prompt_version,
            prompt_sha256=draft.prompt_sha256,
            reply=draft.reply,
            fell_back=draft.fell_back,
            language=draft.language,
            language_gap=draft.language_gap,
        )
    )
    session.delete(draft)
    session.flush()
    after = {"ai_provider": note.ai_provider, "ai_model": note.ai_model}
    history.record(session, actor, note.community_id, "note.ai_helped", "note", note.id, after=after)


def discard(session: Session, actor: Actor, request: Request) -> bool:
    """Delete the actor's draft about a post. Returns whether there was one."""
    draft = find(session, actor, request)
    if draft is not None:
        session.delete(draft)
        session.flush()
    return draft is not None
