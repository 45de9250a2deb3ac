"""Scores at once: texts in, scores out, nothing stored (docs/integrate/api.md)."""

import functools
import threading
import uuid
from collections.abc import Sequence
from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, community_servers, jsonapi
from app.api.blueprints import guarded
from app.api.schemas.scores import ScoresCreate, ScoresDocument
from app.core import clock
from app.core.classify import Context
from app.core.classify.together import waits
from app.core.errors import Unavailable
from app.core.ids import new_id
from app.core.permissions import Permission, require
from app.core.requests import text_scores
from app.core.requests.text_scores import Scorers, TextScores
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import DEFAULTS
from app.core.vocabulary import Scope
from app.wiring import wired

SLOW_CHARACTERS = 20_000
"""From so many characters on, in all, a call is a slow one: it takes a tenth of a second of a processor or more."""
BUSY = "Too many large calls for scores at once"

scores = guarded("scores", Scope.ADAPTER, Scope.SCORES, limit="scores", tag="Scores")


@scores.post("/scores")
@scores.input(ScoresCreate)
@scores.answers(ScoresDocument, also=[400, 404])
def create_scores(json_data: ScoresCreate) -> Response:
    """Score texts at once. Nothing of them is stored, and nothing follows.

    A text that the time of the call did not reach has all its categories in ``not_scored``; ``meta.not_reached`` says
    how many such texts there are. Send them again.
    """
    text_scores.check_not_blank(json_data.texts)
    community_id, reference = None, json_data.community_server_id
    with wired().database.reading() as session:
        if reference is not None:
            community_id = community_servers.find_id(session, auth.caller(), reference)
        scorers = scorers_for(session, community_id)
    categories = scorers.known(json_data.categories or ())
    results = score(scorers, json_data.texts, Context(community_id, json_data.language), categories)
    left = sum(not result.was_reached for result in results)
    now = clock.now()
    attributes = {"results": [_show(result) for result in results], "created_at": now, "updated_at": now}
    shown = jsonapi.resource("scores", new_id(), attributes)
    return jsonapi.answer(jsonapi.document(shown, meta={"not_reached": left} if left else None))


def scorers_for(session: Session, community_id: uuid.UUID | None) -> Scorers:
    """Return what scores texts in a community; None: what the service ships, with the thresholds of a new community.

    Raises:
        NotFound, Forbidden: the caller may not score there.
    """
    if community_id is None:
        return Scorers(wired().classifiers, [threshold_sets.rule_of(draft) for draft in DEFAULTS])
    require(auth.actor(), Permission.SCORE, community_id, "community server")
    rules = threshold_sets.category_rules(threshold_sets.current(session, community_id))
    return Scorers(wired().classifiers_for(session, community_id), rules)


def score(
    scorers: Scorers, texts: Sequence[str], context: Context, categories: frozenset[str]
) -> list[TextScores]:
    """Score texts. At least one thread of this process is left to other calls than slow ones.

    Raises:
        Unavailable: the call would be a slow one, and all others of these threads are taken.
    """
    slots = _slots(max(1, wired().settings.web_threads - 1))
    is_slow = sum(map(len, texts)) >= SLOW_CHARACTERS or any(map(waits, scorers.classifiers))
    if is_slow and not slots.acquire(blocking=False):
        raise Unavailable(BUSY, 1)
    try:
        return list(text_scores.score_texts(scorers, texts, context, categories))
    finally:
        if is_slow:
            slots.release()


@functools.cache
def _slots(count: int) -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(count)


def _show(result: TextScores) -> dict[str, Any]:
    return {
        "scores": [
            {
                "category": one.category,
                "score": one.score,
                "scorer": one.scorer,
                "version": one.version,
                "passages": [{"start": start, "end": end} for start, end in one.passages],
            }
            for one in result.scores
        ],
        "not_scored": list(result.not_scored),
    }
