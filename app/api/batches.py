"""Batches of submissions: each as ``POST /requests`` takes it, and all that are right in one transaction."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import flask
from flask import Response

from app.api import auth, community_servers, jsonapi, parse, requests
from app.api.blueprints import opens_communities, public
from app.api.errors import detail_of
from app.api.requests import Submitted
from app.api.schemas.requests import RequestBatch, RequestBatchAnswers, RequestCreate
from app.core.db import serialise
from app.core.errors import Refused
from app.core.permissions import Actor
from app.core.requests import submitting
from app.core.requests.submitting import Submission
from app.errors import Explained, explain
from app.wiring import wired

Value = TypeVar("Value")
Place = tuple[uuid.UUID, Actor]
"""A community, and who acts in it."""


@public.post("/requests/batch")
@public.input(RequestBatch)
@public.answers(RequestBatchAnswers, also=[400])
@opens_communities
def create_requests(json_data: RequestBatch) -> Response:
    """Submit several posts at once.

    ``data`` answers them in their order, each as if it had been submitted alone; those that are right are stored in one
    transaction. Each counts as a call: a batch that exceeds what is left of the rate limit is refused whole.
    """
    caller, count = auth.caller(), len(json_data.data)
    if count > 1:  # The call itself is counted already.
        flask.g.standing = ("key", auth.count("key", str(caller.key_id), times=count - 1))
    read = [_or_refusal(partial(_read, item, index)) for index, item in enumerate(json_data.data)]
    references = sorted({item[0] for item in read if not isinstance(item, Refused)})
    known = {reference: _or_refusal(partial(_known, caller, reference)) for reference in references}
    with wired().database.writing() as session:
        open_one = partial(community_servers.find_or_open, session, caller)
        places = {
            reference: _or_refusal(partial(open_one, reference)) if place is None else place
            for reference, place in known.items()
        }
        # Of two batches with the same posts in another order, each would wait for the other's.
        for community_id in sorted({place[0] for place in places.values() if isinstance(place, tuple)}):
            serialise(session, community_id)

        def store(item: tuple[str, Submission] | Refused) -> Submitted | Refused:
            if isinstance(item, Refused):
                return item
            place = places[item[0]]
            if isinstance(place, Refused):
                return place
            community_id, actor = place
            return _or_refusal(lambda: requests.submit(session, actor, community_id, item[1]))

        stored = [store(item) for item in read]
    return jsonapi.answer(jsonapi.document([_answer(one, index) for index, one in enumerate(stored)]))


def _or_refusal(work: Callable[[], Value]) -> Value | Refused:
    """What ``work`` returns, or why it refused: nothing is written before a submission is refused."""
    try:
        return work()
    except Refused as refused:
        return refused


def _read(item: Any, index: int) -> tuple[str, Submission]:
    """The reference of an item's community, and what is submitted to it."""
    body = parse.item(RequestCreate, item, index)
    submission = requests.submission_of(body)
    submitting.check(submission)
    return body.community_server_id, submission


def _known(caller: auth.Caller, reference: str) -> Place | None:
    community_id = community_servers.find_known(caller, reference)
    return None if community_id is None else (community_id, caller.actor)


def _answer(stored: Submitted | Refused, index: int) -> dict[str, Any]:
    """The resource object of a submission, or its status and ``detail``."""
    answer = explain(stored) if isinstance(stored, Refused) else requests.answer_to(stored)
    if isinstance(answer, Explained):
        parse.place_errors(("body", "data", index, "attributes"), RequestCreate.model_fields)
        return {"status": answer.status, "detail": detail_of(answer)}
    shown, meta = answer
    return shown if meta is None else shown | {"meta": meta}
