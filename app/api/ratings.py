"""Ratings: create, change, list and count (docs/integrate/api.md)."""

from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, jsonapi, user_profiles
from app.api.blueprints import public
from app.api.schemas.notes import (
    RatingAttributes,
    RatingCreate,
    RatingDocument,
    RatingEdit,
    RatingList,
    StatsDocument,
)
from app.api.shapes import Paged
from app.core.ids import require_id
from app.core.models import Community, Note, Rating
from app.core.notes import notes, ratings, uncounted
from app.core.notes.ratings import Rated, Stats
from app.core.paging import paginate
from app.core.panels import results
from app.core.panels.results import Decided
from app.core.people import profiles
from app.process.replica_reads import may_be_old
from app.wiring import wired


@public.post("/ratings")
@public.input(RatingCreate)
@public.answers(RatingDocument, 201, also=[200, 400, 404])
def create_rating(json_data: RatingCreate) -> Response:
    """Rate a note or change the rating: 201 the first time, then 200.

    A rating that does not count is stored too: ``counts`` is false, and ``why`` says the reason.
    """
    caller = auth.caller()
    with wired().database.reading() as session:
        community_id = notes.get(session, caller.actor, json_data.note_id).community_id
        community = session.get_one(Community, community_id)
        identity = user_profiles.resolve_identity(session, caller, json_data.rater_id, community, "rater_id")
        rater = profiles.find(session, *identity)
        person_id = profiles.canonical(session, rater).id if rater is not None else None
    if person_id is None:
        # The rate limit counts by profile and is checked outside of any transaction, so create the profile first.
        with wired().database.writing() as session:
            person_id = profiles.canonical(session, profiles.ensure(session, *identity)).id
    auth.count("ratings", str(person_id))
    with wired().database.writing() as session:
        caller = auth.caller_in(session, community_id)
        rater = profiles.ensure(session, *identity)
        note = notes.get(session, caller.actor, json_data.note_id)
        level, ref = json_data.helpfulness_level, json_data.rater_id
        rated = ratings.rate(session, caller.actor, note, rater, level, rater_ref=ref)
        shown = _show_given(session, rated)
        return jsonapi.answer_resource(shown, 201 if rated.is_new else 200, located=rated.is_new)


@public.get("/ratings/<rating_id>")
@public.answers(RatingDocument, also=[404])
def read_rating(rating_id: str) -> Response:
    """Read one rating."""
    with wired().database.reading() as session:
        rating = ratings.get(session, auth.actor(), require_id(rating_id, "rating"))
        return jsonapi.answer_resource(show(rating))


@public.put("/ratings/<rating_id>")
@public.input(RatingEdit)
@public.answers(RatingDocument, also=[400, 404, 409])
def put_rating(rating_id: str, json_data: RatingEdit) -> Response:
    """Change a rating. Only its rater may."""
    target_id = require_id(rating_id, "rating")
    with wired().database.reading() as session:
        community_id = ratings.get(session, auth.actor(), target_id).community_id
        # Before it counts: the limit is the rater's, and nobody else may use it up.
        actor = auth.known_caller_in(session, community_id).actor
        rater_id = ratings.get_own(session, actor, target_id).rater_id
    auth.count("ratings", str(rater_id))
    with wired().database.writing() as session:
        actor = auth.caller_in(session, community_id).actor
        rated = ratings.change(session, actor, target_id, json_data.helpfulness_level)
        return jsonapi.answer_resource(_show_given(session, rated))


@public.get("/notes/<note_id>/ratings")
@public.input(Paged, location="query")
@public.answers(RatingList, also=[400, 404])
@may_be_old
def list_ratings(note_id: str, query_data: Paged) -> Response:
    """List the ratings of a note's current text, newest first."""
    with wired().database.reading() as session:
        note = notes.get(session, auth.actor(), require_id(note_id, "note"))
        part = query_data.slice("ratings", note.id)
        page = paginate(session, ratings.for_note(note), Rating.created_at, Rating.id, part)
        return jsonapi.answer(jsonapi.listing(page, show))


@public.get("/notes/<note_id>/ratings/stats")
@public.answers(StatsDocument, also=[404])
def read_rating_stats(note_id: str) -> Response:
    """Count the ratings of a note's current text by level."""
    with wired().database.reading() as session:
        note = notes.get(session, auth.actor(), require_id(note_id, "note"))
        decided = results.decided(session, note.id) if note.rationale else None
        stats = show_stats(note, ratings.stats(session, note), decided)
    return jsonapi.answer(jsonapi.document(stats, path=f"/notes/{note.id}/ratings/stats"))


def _show_given(session: Session, rated: Rated) -> dict[str, Any]:
    """Return the resource object of a rating that was just given; if it does not count, with the reason.

    Only that answer says so: a list of the ratings that count would tell who sits on a drawn panel.
    """
    return show(rated.rating, why=uncounted.why(session, rated.rating, rated.action, rated.state))


def show(rating: Rating, *, why: str | None = None) -> dict[str, Any]:
    """Return the resource object of a rating. ``rater_id`` is as it was sent; ``why``: the reason that it does not
    count."""
    own = {"rater_id": rating.rater_ref, "counts": False if why is not None else None, "why": why}
    return jsonapi.shown("ratings", RatingAttributes, rating, **own)


def show_stats(note: Note, stats: Stats, decided: Decided | None = None) -> dict[str, Any]:
    """Return the resource object of a note's counts. It has the note's id, and without ratings the note's times too."""
    attributes = {
        "total": stats.total,
        "helpful": stats.helpful,
        "somewhat_helpful": stats.somewhat_helpful,
        "not_helpful": stats.not_helpful,
        "average_score": round(stats.average_score, 4),
        "created_at": stats.first_at or note.created_at,
        "updated_at": stats.last_at or note.updated_at,
        "panel": {"seats": decided.seats, "answered": decided.answered} if decided is not None else None,
    }
    return jsonapi.resource("rating-stats", note.id, attributes)
