"""Moderation actions: list, read, change state, record (docs/integrate/api.md)."""

import uuid
from dataclasses import replace
from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, community_servers, jsonapi
from app.api.auth import Caller
from app.api.blueprints import polls, public
from app.api.errors import Located
from app.api.schemas.actions import (
    ActionAttributes,
    ActionCreate,
    ActionDocument,
    ActionList,
    ActionPatch,
    ActionQuery,
)
from app.core.actions import acknowledgements, actions, silences, undoing
from app.core.errors import Invalid
from app.core.history.reason import Reason
from app.core.ids import require_id
from app.core.models import Action
from app.core.questions import question_of
from app.core.requests import submitting
from app.core.review import verbs
from app.core.vocabulary import IN_REVIEW, ActionState, UndoState
from app.core.webhooks import payloads
from app.process.replica_reads import may_be_old
from app.wiring import wired


@public.get("/moderation-actions")
@public.input(ActionQuery, location="query")
@public.answers(ActionList, also=[400])
@polls
@may_be_old
def list_moderation_actions(query_data: ActionQuery) -> Response:
    """List moderation actions, newest first; bracketed and unbracketed filters combine with AND.

    With ``filter[updated_at__gte]`` the list is in the order of changes, and ``meta.next_since`` is the value of the
    next call, which repeats up to a minute: deduplicate by id and ``updated_at``.
    """
    caller = auth.caller()
    community_id = query_data.community or _default_community(caller, query_data)
    page_slice = query_data.slice(community_id)
    matching = actions.matching(
        caller.actor,
        communities=(query_data.filter_community, community_id),
        states=(query_data.filter_state, query_data.state),
        tiers=(query_data.filter_tier, query_data.tier),
        updated_from=query_data.updated_from,
        undo_state=query_data.filter_undo,
    )
    with wired().database.reading() as session:
        page = actions.listed(session, matching, page_slice, by_change=query_data.updated_from is not None)
        return jsonapi.answer(
            jsonapi.listing(page, show, **jsonapi.next_changes(page, query_data.updated_from))
        )


def _default_community(caller: Caller, query: ActionQuery) -> uuid.UUID | None:
    """Return the community for a query without one: from X-Adapter-Scope, else the key's only one.

    None means all communities of the key. Raises ``Located`` if an unbracketed filter needs a community.
    """
    if query.filter_community is not None:
        return None
    if caller.scope_id is not None:
        return caller.scope_id
    ids = caller.actor.communities
    if ids is not None and len(ids) == 1:
        return next(iter(ids))
    if query.is_plain:
        msg = "Field required: this API key acts in several communities, and X-Adapter-Scope names none"
        raise Located.at_path("query", "community_server_id", msg=msg, type="missing")
    return None


@public.get("/moderation-actions/<action_id>")
@public.answers(ActionDocument, also=[404])
@polls
def read_moderation_action(action_id: str) -> Response:
    """Read one moderation action."""
    with wired().database.reading() as session:
        return jsonapi.answer_resource(_show(session, require_id(action_id, "moderation action")))


@public.patch("/moderation-actions/<action_id>")
@public.input(ActionPatch)
@public.answers(ActionDocument, also=[400, 404, 409])
def patch_moderation_action(action_id: str, json_data: ActionPatch) -> Response:
    """Acknowledge an action, appeal against it, make a moderator's move, change when a silence ends, or say whether an
    overturned action is undone.

    A moderator's decision may name the ``category`` that it is filed under, which the community's own model learns
    from. Repeating an acknowledgement, a move or an answer changes nothing and is 200.
    """
    actor, reason = auth.actor(), Reason(json_data.reason or "")
    has_until = "until" in json_data.model_fields_set
    if json_data.action_state is None and json_data.undo_state is None and not has_until:
        raise Invalid.field("action_state", "Field required, or undo_state or until", type="missing")
    with wired().database.writing() as session:
        action = actions.get(session, actor, require_id(action_id, "moderation action"))
        _check_platform_action_id(action, json_data)
        if json_data.action_state is not None:
            verbs.change_action(
                session,
                actor,
                action,
                json_data.action_state,
                platform_action_id=json_data.platform_action_id,
                reason=reason,
                category=json_data.category,
                until=json_data.until,
                without_end=has_until and json_data.until is None,
            )
        elif json_data.category is not None:
            raise Invalid.field("category", "can only be named with a move that decides", json_data.category)
        elif has_until:
            silences.set_until(session, actor, action, json_data.until, reason=reason)
        if json_data.undo_state is not None:
            undoing.answer(session, actor, action, UndoState(json_data.undo_state), reason=reason)
        return jsonapi.answer_resource(_show(session, action.id))


def _check_platform_action_id(action: Action, patch: ActionPatch) -> None:
    """Refuse a ``platform_action_id`` outside an acknowledgement. Repeating the stored one is allowed."""
    value = patch.platform_action_id
    if patch.action_state is not ActionState.APPLIED and value not in {None, action.platform_action_id}:
        raise Invalid.field("platform_action_id", "can only be set with action_state applied", value)


@public.post("/moderation-actions")
@public.input(ActionCreate)
@public.answers(ActionDocument, 201, also=[200, 400, 404, 409])
def create_moderation_action(json_data: ActionCreate) -> Response:
    """Record an action that the integration took: 201; 200 if that acknowledges an open proposal of the same type.

    Repeating the call after such an acknowledgement, or after one by PATCH, is 200 with the same action as long as it
    stands. What the platform did of its own accord is recorded each time: 201.
    """
    caller = auth.caller()
    with wired().database.writing() as session:
        community = community_servers.find(session, caller, json_data.community_server_id)
        # Two communities may use the same request_id: look only in the body's community.
        local_actor = replace(caller.actor, communities=frozenset({community.id}))
        request = submitting.find(session, local_actor, json_data.request_id)
        action, created = acknowledgements.record_taken(
            session, caller.actor, request, json_data.action_type, json_data.reason, json_data.until
        )
        return jsonapi.answer_resource(_show(session, action.id), 201 if created else 200, located=True)


def _show(session: Session, action_id: uuid.UUID) -> dict[str, Any]:
    return show(actions.read(session, auth.actor(), action_id))


def show(action: Action) -> dict[str, Any]:
    """Return the resource object of an action that was read with ``actions.READ_OPTIONS``."""
    return jsonapi.shown(
        "moderation-actions",
        ActionAttributes,
        action,
        request_id=action.request.request_id,
        community_server_id=action.community_id,
        category=action.filed_under,
        classifier_evidence=payloads.classifier_evidence(action),
        question=question_of(action.action_type, action.decided_verb)
        if action.action_state in IN_REVIEW
        else None,
    )
