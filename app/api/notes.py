"""Notes: write, list, read, edit, delete, publish and dismiss; AI notes are drafted first (docs/integrate/api.md)."""

from collections.abc import Callable
from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, community_servers, jsonapi, user_profiles
from app.api.blueprints import public
from app.api.schemas.notes import (
    NoteAttributes,
    NoteCreate,
    NoteDocument,
    NoteEdit,
    NoteList,
    NoteQuery,
    NoteVerdict,
)
from app.core.history.reason import Reason
from app.core.ids import require_id
from app.core.models import Note, Request
from app.core.notes import ai_notes, lists, notes, verdicts
from app.core.notes.ai_notes import Draft, Post
from app.core.people import profiles
from app.core.permissions import Actor
from app.core.requests import submitting
from app.process.replica_reads import may_be_old
from app.wiring import wired


@public.post("/notes")
@public.input(NoteCreate)
@public.answers(NoteDocument, 201, also=[400, 404, 409])
def create_note(json_data: NoteCreate) -> Response:
    """Write a note. An author can have one note on each request."""
    caller = auth.caller()
    with wired().database.writing() as session:
        community = community_servers.find(session, caller, json_data.community_server_id)
        caller = auth.caller_in(session, community.id)
        request = None
        if json_data.request_id is not None:
            request = submitting.find(session, caller.actor, json_data.request_id, scope=community.id)
        identity = user_profiles.resolve_identity(
            session, caller, json_data.author_id, community, "author_id"
        )
        author = profiles.ensure(session, *identity)
        note = notes.write(
            session,
            caller.actor,
            community.id,
            author,
            json_data.summary,
            json_data.classification,
            author_ref=json_data.author_id,
            request=request,
            channel_id=json_data.channel_id,
        )
        return jsonapi.answer_resource(show(note), 201, located=True)


@public.get("/notes")
@public.input(NoteQuery, location="query")
@public.answers(NoteList, also=[400])
@may_be_old
def list_notes(query_data: NoteQuery) -> Response:
    """List notes, newest first. `filter[kind]=note` leaves out rationales, which are never shown to members.

    With ``filter[updated_at__gte]`` the list is in the order of changes, and ``meta.next_since`` is the value of the
    next call, which repeats up to a minute: deduplicate by id and ``updated_at``.
    """
    raters = query_data.raters_not_in
    caller = auth.caller()
    with wired().database.reading() as session:
        matching = lists.matching(
            session,
            caller.actor,
            status=query_data.status,
            status_not=query_data.status_not,
            classification=query_data.classification,
            kind=query_data.kind,
            community_id=query_data.community,
            author=query_data.author,
            request=query_data.request,
            platform_message_id=query_data.platform_message_id,
            created_from=query_data.created_from,
            created_to=query_data.created_to,
            updated_from=query_data.updated_from,
            rater=query_data.rater,
            drawn_rater=query_data.drawn,
            raters_not_in=raters.split(",") if raters is not None else None,
            platform=caller.platform,
        )
        page = lists.listed(
            session, matching, query_data.slice(), by_change=query_data.updated_from is not None
        )
        return jsonapi.answer(
            jsonapi.listing(page, show, **jsonapi.next_changes(page, query_data.updated_from))
        )


@public.get("/notes/<note_id>")
@public.answers(NoteDocument, also=[404])
def read_note(note_id: str) -> Response:
    """Read one note."""
    with wired().database.reading() as session:
        return jsonapi.answer_resource(show(notes.get(session, auth.actor(), require_id(note_id, "note"))))


@public.patch("/notes/<note_id>")
@public.input(NoteEdit)
@public.answers(NoteDocument, also=[400, 404, 409])
def patch_note(note_id: str, json_data: NoteEdit) -> Response:
    """Change a note's text or classification. Only its author and staff may."""
    with wired().database.writing() as session:
        actor, note = _get_for_change(session, note_id)
        notes.edit(session, actor, note, json_data.summary, json_data.classification)
        return jsonapi.answer_resource(show(note))


@public.delete("/notes/<note_id>")
@public.output({}, 204)
@public.doc(responses=[404])
def delete_note(note_id: str) -> Response:
    """Delete a note. Only its author and staff may. A note that is the rationale of an action cannot be deleted."""
    with wired().database.writing() as session:
        actor, note = _get_for_change(session, note_id)
        notes.withdraw(session, actor, note)
    return jsonapi.no_content()


@public.post("/notes/<note_id>/force-publish")
@public.input(NoteVerdict)
@public.answers(NoteDocument, also=[400, 404])
def force_publish_note(note_id: str, json_data: NoteVerdict) -> Response:
    """Publish a note and lock it: staff only. On the rationale of an action it decides *act*."""
    return _decide(verdicts.force_publish, note_id, json_data)


@public.post("/notes/<note_id>/dismiss")
@public.input(NoteVerdict)
@public.answers(NoteDocument, also=[400, 404])
def dismiss_note(note_id: str, json_data: NoteVerdict) -> Response:
    """Withdraw a note and lock it: staff only. On the rationale of an action it decides *no action*."""
    return _decide(verdicts.dismiss, note_id, json_data)


def _decide(verb: Callable[..., None], note_id: str, verdict: NoteVerdict) -> Response:
    with wired().database.writing() as session:
        actor, note = _get_for_change(session, note_id)
        verb(session, actor, note, reason=Reason(verdict.reason or ""))
        return jsonapi.answer_resource(show(note))


def _get_for_change(session: Session, note_id: str) -> tuple[Actor, Note]:
    """Return the note and the actor, with the acting user's profile in the note's community."""
    note = notes.get(session, auth.actor(), require_id(note_id, "note"))
    return auth.caller_in(session, note.community_id).actor, note


def show(note: Note) -> dict[str, Any]:
    """Return the resource object of a note. ``author_id`` is as it was sent, ``request_id`` is our UUID."""
    return jsonapi.shown(
        "notes", NoteAttributes, note, author_id=note.author_ref, community_server_id=note.community_id
    )


@public.post("/requests/<any_id:reference>/ai-notes")
@public.answers(NoteDocument, 201, also=[400, 404, 502, 503, 504])
def create_ai_note(reference: str) -> Response:
    """Have an AI note drafted for a request. It starts unrated; people decide whether it is shown. No body."""
    caller = auth.caller()
    with wired().database.reading() as session:
        post, item = ai_notes.prepare(session, caller.actor, _find(session, reference))
    auth.count("ai_notes", str(caller.key_id))
    # No session is open here, because the provider may take many seconds.
    draft = wired().note_writer.write(post, item)
    with wired().database.writing() as session:
        note = ai_notes.keep(session, caller.actor, _find(session, reference), draft, item)
        meta = {"language": language(post, draft)}
        return jsonapi.answer_resource(show(note), 201, located=True, meta=meta)


def language(post: Post, draft: Draft) -> dict[str, str]:
    """The languages of the post and of the note (BCP 47), and why they differ if they do."""
    languages = {"post": post.language, "note": draft.language}
    return languages | ({"reason": draft.language_gap} if draft.language_gap else {})


def _find(session: Session, reference: str) -> Request:
    caller = auth.caller()
    return submitting.find(session, caller.actor, reference, scope=caller.scope_id)
