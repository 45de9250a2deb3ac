"""Scores of a post's pictures, from connected services that take images (docs/integrate/attachments.md).

Pictures are fetched after the text was scored, so they are scored once, later, and can only raise: they may open an
action for a post whose text led to nothing. Where there is an action or a decision already, people see the scores.
"""

import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, outbox
from app.core.actions import actions, decisions, exemptions, opening
from app.core.actions.moves import make_move
from app.core.db import serialise
from app.core.history.reason import Reason
from app.core.models import Action, Attachment, Community, Request, Score
from app.core.notes import notes
from app.core.permissions import SYSTEM
from app.core.requests import following
from app.core.requests.evidence import evidence_of
from app.core.requests.score_rows import (
    has_service,
    raise_post,
    routed_rows,
    scored_classifiers,
    store,
    unrouted_rows,
)
from app.core.requests.scorings import Scoring, combined
from app.core.services.calling import ServiceClassifier, stored_version
from app.core.texts import lazy_gettext
from app.core.thresholds import threshold_sets
from app.core.thresholds.routing import Route, Scored, decide, for_review, observed, raise_to
from app.core.vocabulary import ActionTier, AttachmentState, RequestStatus, ServiceMode

SCORE_IMAGES_JOB = "score_images"
WAITS = (2.0, 10.0, 60.0, 300.0, 900.0)
"""Seconds to wait, in turn, for the text to be scored first."""
SUFFIX = "+images"
"""What the name of a service has where its scores are those of pictures."""
CAUSE = lazy_gettext("its pictures were scored")
TEXT_MAX = 2_000
"""Characters of the post that are sent beside each picture."""


def enqueue_if_complete(session: Session, request_id: uuid.UUID) -> None:
    """Have a post's pictures scored once none of its attachments waits, if the community has services that count."""
    rows = session.scalars(sa.select(Attachment).where(Attachment.request_id == request_id)).all()
    if not _pictures(rows) or any(row.state is AttachmentState.WAITING for row in rows):
        return
    community_id = rows[0].community_id
    if has_service(session, community_id, ServiceMode.IN_FORCE):
        enqueue(session, request_id, community_id, 0)


def enqueue(session: Session, request_id: uuid.UUID, community_id: uuid.UUID, turn: int) -> None:
    """Have the pictures scored after the commit; in a later ``turn`` after a wait."""
    outbox.enqueue(
        session,
        SCORE_IMAGES_JOB,
        {"request_id": str(request_id), "turn": turn},
        community_id=community_id,
        key=f"{request_id}/{turn}",
        delay=WAITS[turn - 1] if turn else 0.0,
    )


def pictures_to_score(
    session: Session, request_id: uuid.UUID, turn: int
) -> tuple[Request, Sequence[Attachment]] | None:
    """The post and its pictures; None when there is nothing to do, or the text must be scored first."""
    request = session.get(Request, request_id)
    if request is None or request.withdrawn_at is not None or request.content_removed_at is not None:
        return None
    if request.duplicate_of is not None:  # of a post with the same pictures
        return None
    if request.scored_at is None and request.status in (RequestStatus.PENDING, RequestStatus.IN_PROGRESS):
        if turn < len(WAITS):
            enqueue(session, request_id, request.community_id, turn + 1)
        return None
    rows = session.scalars(
        sa.select(Attachment).where(Attachment.request_id == request_id).order_by(Attachment.position)
    ).all()
    pictures = _pictures(rows)
    return (request, pictures) if pictures else None


def classify(classifiers: Sequence[ServiceClassifier], text: str, images: Sequence[str]) -> list[Scoring]:
    """Ask each service about the pictures, given as data URLs. Call it outside of any transaction."""
    scorings = []
    for classifier in classifiers:
        result = classifier.score_images(text[:TEXT_MAX], images)
        scorings.append(
            Scoring(
                f"{classifier.name}{SUFFIX}",
                stored_version(classifier.version, result),
                classifier.tier1_categories if result.calibrated else frozenset(),
                result,
                round(result.ms),
                classifier.categories,
                local=False,
            )
        )
    return scorings


def record(session: Session, request_id: uuid.UUID, scorings: Sequence[Scoring]) -> Action | None:
    """Store the scores of the pictures, and open an action if they alone lead to one. Repeating it changes nothing."""
    request = session.get_one(Request, request_id)
    serialise(session, request.community_id)
    session.refresh(request)
    known = scored_classifiers(session, request_id)
    new = [scoring for scoring in scorings if scoring.classifier not in known]
    if not new or request.withdrawn_at is not None or request.content_removed_at is not None:
        return None
    thresholds = threshold_sets.current(session, request.community_id)
    rules = threshold_sets.category_rules(thresholds)
    observed_routes = observed(combined(new), rules)
    _store(session, request, new, observed_routes)
    community = session.get_one(Community, request.community_id, populate_existing=True)
    if (
        request.status is not RequestStatus.COMPLETED
        or community.archived_at is not None
        or actions.live_for(session, request_id) is not None
        or decisions.for_request(session, request_id) is not None
        or exemptions.is_exempt(session, request)
    ):
        return None
    route = decide(combined(new), rules)
    if route is None:
        return None
    if route.tier is ActionTier.IMMEDIATE and community.paused_at is not None:
        route = for_review(route, rules)
    where = following.place(session, request, route)
    if where is not None:
        following.settle(session, request, where)
        return None
    make_move(session, SYSTEM, request, RequestStatus.IN_PROGRESS, reason=Reason(cause=CAUSE))
    note = notes.write_rationale(
        session, request, route.category, threshold_sets.describe(route.category), route.verb
    )
    request.note_id = note.id
    evidence = evidence_of(request, route, new, thresholds.version, observed_routes)
    opened = opening.open_for(session, request, route, evidence, note)
    following.end_others(session, request)
    return opened


def _pictures(rows: Sequence[Attachment]) -> list[Attachment]:
    return [row for row in rows if row.sha256 and (row.media_type or "").startswith("image/")]


def _store(
    session: Session, request: Request, scorings: Sequence[Scoring], observed_routes: Sequence[Route]
) -> None:
    """Store the scores. The marks of what routing used move to them where they are higher than those of the text."""
    best = {} if request.is_test else dict(combined(scorings))
    marked = session.scalars(
        sa.select(Score).where(
            Score.request_id == request.id,
            Score.category.in_(best),
            sa.or_(Score.is_highest, Score.is_acting),
        )
    ).all()
    for row in marked:
        raise_to(best, row.category, Scored(row.score, row.tier1_capable))
    kept_highest: set[str] = set()
    kept_acting: set[str] = set()
    for row in marked:
        own, highest = Scored(row.score, row.tier1_capable), best[row.category]
        row.is_highest = row.is_highest and own.height == highest.height
        row.is_acting = (
            not row.is_highest and highest.lower_acting is not None and own.acting == highest.lower_acting
        )
        if row.is_highest:
            kept_highest.add(row.category)
            continue
        row.observed_tier = None
        if row.is_acting:
            kept_acting.add(row.category)
    session.flush()
    now = clock.now()
    tiers = {route.category: route.tier.number for route in observed_routes}
    rows = routed_rows(
        request, scorings, best, tiers, now, kept_highest=kept_highest, kept_acting=kept_acting
    )
    for scoring in scorings:
        rows += unrouted_rows(request, scoring, now)
    store(session, rows)
    raise_post(session, request, best, now)
