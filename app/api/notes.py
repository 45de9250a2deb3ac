"""Notes: written, listed, read, edited, deleted, and staff's word on them (docs/integration.md)."""

import uuid
from collections.abc import Callable
from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, community_servers, jsonapi, people
from app.api.blueprints import public
from app.api.parse import JSON_API
from app.api.schemas.notes import NoteCreate, NoteDocument, NoteEdit, NoteList, NoteQuery, NoteVerdict
from app.core.errors import NotFound
from app.core.history.why import Why
from app.core.ids import parse_id
from app.core.models import Note
from app.core.notes import notes, verdicts
from app.core.paging import paginate
from app.core.people import profiles
from app.core.permissions import Actor
from app.core.requests import submitting
from app.wiring import wired


@public.post("/notes")
@public.input(NoteCreate)
@public.output(NoteDocument, 201, content_type=JSON_API)
@public.doc(responses=[400, 404, 409])
def create_note(json_data: NoteCreate) -> Response:
    """Write a note. An author has one on each request."""
    caller, given = auth.caller(), json_data
    with wired().database.writing() as session:
        community = community_servers.find(session, caller, given.community_server_id)
        caller = auth.caller_in(session, community.id)
        request = None
        if given.request_id is not None:
            request = submitting.find(session, caller.actor, given.request_id, scope=community.id)
        author = profiles.ensure(
            session, *people.meant(session, caller, given.author_id, community, "author_id")
        )
        note = notes.write(
            session,
            caller.actor,
            community.id,
            author,
            given.summary,
            given.classification,
            author_ref=given.author_id,
            request=request,
            channel_id=given.channel_id,
        )
        shown = show(note)
    return created(shown)


@public.get("/notes")
@public.input(NoteQuery, location="query")
@public.output(NoteList, content_type=JSON_API)
@public.doc(responses=[400])
def list_notes(query_data: NoteQuery) -> Response:
    """List notes, newest first."""
    asked = query_data
    statement = notes.matching(
        auth.actor(),
        status=asked.status,
        status_not=asked.status_not,
        classification=asked.classification,
        community_id=asked.community,
        author=asked.author,
        request=asked.request,
        platform_message_id=asked.platform_message_id,
        created_from=asked.created_from,
        created_to=asked.created_to,
        rater=asked.rater,
        raters_not_in=asked.raters_not_in.split(",") if asked.raters_not_in is not None else None,
    )
    with wired().database.reading() as session:
        page = paginate(session, statement, Note.created_at, Note.id, asked.slice())
        return jsonapi.answer(jsonapi.listing(page, show))


@public.get("/notes/<note_id>")
@public.output(NoteDocument, content_type=JSON_API)
@public.doc(responses=[404])
def read_note(note_id: str) -> Response:
    """Read one note."""
    with wired().database.reading() as session:
        return _answer(notes.get(session, auth.actor(), identity(note_id)))


@public.patch("/notes/<note_id>")
@public.input(NoteEdit)
@public.output(NoteDocument, content_type=JSON_API)
@public.doc(responses=[400, 404, 409])
def patch_note(note_id: str, json_data: NoteEdit) -> Response:
    """Change a note's text or classification: its author or staff."""
    with wired().database.writing() as session:
        actor, note = _to_change(session, note_id)
        notes.edit(session, actor, note, json_data.summary, json_data.classification)
        return _answer(note)


@public.delete("/notes/<note_id>")
@public.output({}, 204)
@public.doc(responses=[404])
def delete_note(note_id: str) -> Response:
    """Delete a note: its author or staff. The rationale of an action stays."""
    with wired().database.writing() as session:
        actor, note = _to_change(session, note_id)
        notes.withdraw(session, actor, note)
    return jsonapi.nothing()


@public.post("/notes/<note_id>/force-publish")
@public.input(NoteVerdict)
@public.output(NoteDocument, content_type=JSON_API)
@public.doc(responses=[400, 404])
def force_publish_note(note_id: str, json_data: NoteVerdict) -> Response:
    """Publish a note and lock it: staff only. On the rationale of an action it decides *act*."""
    return _decide(verdicts.force_publish, note_id, json_data)


@public.post("/notes/<note_id>/dismiss")
@public.input(NoteVerdict)
@public.output(NoteDocument, content_type=JSON_API)
@public.doc(responses=[400, 404])
def dismiss_note(note_id: str, json_data: NoteVerdict) -> Response:
    """Withdraw a note and lock it: staff only. On the rationale of an action it decides *no action*."""
    return _decide(verdicts.dismiss, note_id, json_data)


def _decide(verb: Callable[..., None], note_id: str, given: NoteVerdict) -> Response:
    with wired().database.writing() as session:
        actor, note = _to_change(session, note_id)
        verb(session, actor, note, why=Why(given.reason or ""))
        return _answer(note)


def _to_change(session: Session, note_id: str) -> tuple[Actor, Note]:
    """A note, and the actor as the note's community knows them."""
    note = notes.get(session, auth.actor(), identity(note_id))
    return auth.caller_in(session, note.community_id).actor, note


def identity(note_id: str) -> uuid.UUID:
    """The UUID in a path; what is none names no note."""
    found = parse_id(note_id)
    if found is None:
        raise NotFound("note")
    return found


def created(shown: dict[str, Any]) -> Response:
    """The answer to whoever made a note."""
    at = f"/notes/{shown['id']}"
    return jsonapi.answer(jsonapi.document(shown, at=at), 201, {"Location": jsonapi.url(at)})


def _answer(note: Note) -> Response:
    return jsonapi.answer(jsonapi.document(show(note), at=f"/notes/{note.id}"))


def show(note: Note) -> dict[str, Any]:
    """The resource object of a note; ``author_id`` as it was sent, ``request_id`` our UUID."""
    attributes = {
        "author_id": note.author_ref,
        "summary": note.summary,
        "classification": note.classification,
        "channel_id": note.channel_id,
        "helpfulness_score": note.helpfulness_score,
        "status": note.status,
        "ai_generated": note.ai_generated,
        "ai_provider": note.ai_provider,
        "ai_model": note.ai_model,
        "force_published": note.force_published,
        "created_at": note.created_at,
        "updated_at": note.updated_at,
        "request_id": note.request_id,
        "platform_message_id": note.platform_message_id,
        "platform_channel_id": note.platform_channel_id,
        "force_published_at": note.force_published_at,
        "ratings_count": note.ratings_count,
        "community_server_id": note.community_id,
    }
    return jsonapi.resource("notes", note.id, attributes)
