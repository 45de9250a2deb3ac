"""Posts that are sent to try the service out: marked, taken through the whole flow, counted in no figure.

Decision 0031 says what a test post leaves out: insights, previews of thresholds, and what is learned of raters.
"""

import re
import secrets
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.errors import Conflict, Invalid
from app.core.history import chain as history
from app.core.models import Action, Request, Score
from app.core.permissions import SYSTEM, Actor, Permission, require
from app.core.policies import policies
from app.core.requests import submitting
from app.core.requests.marks import TEST_MARK
from app.core.requests.submitting import Submission

SENDER = "bridgenote-test"
"""Who asks for a test post and who wrote it, as the platform would say."""
TEXTS: Mapping[str, str] = {
    "spam": "Test post from Bridgenote: check out my profile and DM me to learn about passive income.",
    "toxicity": "Test post from Bridgenote: learn to read before you post, moron.",
    "misinformation": "Test post from Bridgenote: the moon landing was faked in a studio.",
    "pii": "Test post from Bridgenote: she lives at 48 Maple Street, second floor.",
    "sexual": "Test post from Bridgenote: anyone up for a hookup tonight? I'm downtown.",
    "threat": "Test post from Bridgenote: you will regret this, watch the news.",
    "hate": "Test post from Bridgenote: go back to your own country, nobody invited you.",
    "self_harm": "Test post from Bridgenote: I wish I was dead, honestly.",
}
"""A text for each shipped category that asks people by the shipped thresholds; the mildest first."""
_REFERENCE = re.compile(r"test-[0-9a-f]{12}")


@dataclass(frozen=True)
class Outcome:
    """What became of a test post so far. ``action_id`` is set once there is an item to look at.

    ``scores``: each category's score with the Tier 2 threshold in force, highest first; empty until it is scored.
    """

    request: Request | None = None
    action_id: uuid.UUID | None = None
    scores: Sequence[tuple[str, float, float]] = ()


def new_reference() -> str:
    """A ``request_id`` for one test post: sent a second time, nothing is sent."""
    return f"test-{secrets.token_hex(6)}"


def is_reference(text: str) -> bool:
    """Whether this is a ``request_id`` as ``new_reference`` makes them."""
    return _REFERENCE.fullmatch(text) is not None


def categories(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """The community's categories in use that there is a text for, the mildest text first."""
    in_use = {one.name for one in policies.current(session, community_id).categories if _acts(one)}
    return [name for name in TEXTS if name in in_use]


def send(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    reference: str,
    *,
    category: str | None = None,
    text: str | None = None,
) -> Request:
    """Submit a test post, as an integration would; the same ``reference`` again submits nothing.

    Without a ``text`` of its own it is the one of ``category``; without either, of the mildest category in use.

    Raises:
        Forbidden, NotFound: the actor may not send one here.
        Invalid: there is no text for the category, or the text will not do.
        Conflict: no category in use has a text.
    """
    require(actor, Permission.SEND_TEST_POST, community_id)
    if not is_reference(reference):
        raise Invalid.field("reference", "must be one of ours", reference)
    if not text:
        offered = categories(session, community_id)
        if category is not None and category not in TEXTS:
            raise Invalid.field("category", "has no test post; write a text of your own", category)
        if category is None and not offered:
            raise Conflict("No category in use has a test post. Write a text of your own")
        text = TEXTS[category or offered[0]]
    receipt = submitting.submit(session, SYSTEM, community_id, _submission(reference, text))
    if receipt.new:
        history.record(
            session,
            actor,
            community_id,
            "request.test_sent",
            "request",
            receipt.request.id,
            after={"test": True},
        )
    return receipt.request


def attributes(community_id: uuid.UUID, reference: str, text: str) -> dict[str, Any]:
    """The same test post as an integration submits it over the API."""
    return {
        "request_id": reference,
        "requested_by": SENDER,
        "community_server_id": str(community_id),
        "original_message_content": text,
        "platform_author_id": SENDER,
        "metadata": {TEST_MARK: True},
    }


def outcome(session: Session, actor: Actor, community_id: uuid.UUID, reference: str) -> Outcome:
    """What became of the test post with this ``reference``; nothing while it has not arrived."""
    require(actor, Permission.SEND_TEST_POST, community_id)
    request = session.scalars(
        sa.select(Request).where(
            Request.community_id == community_id,
            Request.request_id == reference,
            Request.withdrawn_at.is_(None),
        )
    ).first()
    if request is None:
        return Outcome()
    action_id = session.scalar(
        sa.select(Action.id).where(Action.request_id == request.id).order_by(Action.created_at).limit(1)
    )
    return Outcome(request, action_id, () if action_id is not None else _scores(session, request))


def _scores(session: Session, request: Request) -> list[tuple[str, float, float]]:
    thresholds = {
        one.name: one.tier2
        for one in policies.current(session, request.community_id).categories
        if _acts(one)
    }
    highest = sa.func.max(Score.score)
    rows = session.execute(
        sa.select(Score.category, highest)
        .where(Score.request_id == request.id)
        .group_by(Score.category)
        .order_by(highest.desc(), Score.category)
    )
    return [(name, value, thresholds[name]) for name, value in rows if name in thresholds and value > 0]


def _submission(reference: str, text: str) -> Submission:
    return Submission(
        request_id=reference,
        requested_by=SENDER,
        content=text,
        platform_author_id=SENDER,
        extra={TEST_MARK: True},
    )


def _acts(category: Any) -> bool:
    return bool(category.enabled and not category.observe_only)
