"""Test posts to try out the service: marked, processed like any other post, not counted in statistics.

What ignores test posts (docs/run/first-hour.md): insights, previews of thresholds, and rater parameters.
"""

import re
import secrets
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.classify import NOTABLE
from app.core.errors import Conflict, Invalid
from app.core.history import chain as history
from app.core.models import Action, Request, Score
from app.core.permissions import SYSTEM, Actor, Permission, require
from app.core.requests import submitting
from app.core.requests.submitting import TEST_MARK, Submission
from app.core.texts import gettext as _
from app.core.thresholds import threshold_sets

SENDER = "bridgenote-test"
"""The platform user id that a test post has as sender and author."""
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
"""A text for each shipped category that the shipped thresholds send to raters; the mildest first."""
_REFERENCE = re.compile(r"test-[0-9a-f]{12}")


@dataclass(frozen=True)
class Outcome:
    """The state of a test post. ``action_id`` is set once there is an item to look at.

    ``scores``: (category, score, Tier 2 threshold in force) of notable scores, highest first; empty until it is scored.
    """

    request: Request | None = None
    action_id: uuid.UUID | None = None
    scores: Sequence[tuple[str, float, float]] = ()


def new_reference() -> str:
    """A new ``request_id`` for one test post: submitting it again creates nothing."""
    return f"test-{secrets.token_hex(6)}"


def is_reference(text: str) -> bool:
    """Whether ``text`` is a ``request_id`` of ``new_reference``."""
    return _REFERENCE.fullmatch(text) is not None


def categories(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """The community's active categories that have a text, the mildest text first."""
    in_use = {
        category.name
        for category in threshold_sets.current(session, community_id).categories
        if _acts(category)
    }
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
    """Submit a test post as an integration would; the same ``reference`` again submits nothing.

    Without ``text`` it sends the text of ``category``; without either, that of the mildest active category.

    Raises:
        Forbidden, NotFound: the actor may not send one here.
        Invalid: the category has no text, or ``text`` is not valid.
        Conflict: no active category has a text.
    """
    require(actor, Permission.SEND_TEST_POST, community_id)
    if not is_reference(reference):
        raise Invalid.field("reference", _("must be one of ours"), reference)
    if not text:
        offered = categories(session, community_id)
        if category is not None and category not in TEXTS:
            raise Invalid.field("category", _("has no test post; write a text of your own"), category)
        if category is None and not offered:
            raise Conflict(_("No category in use has a test post. Write a text of your own"))
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
    """The state of the test post with this ``reference``; empty while it has not arrived."""
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
        category.name: category.tier2
        for category in threshold_sets.current(session, request.community_id).categories
        if _acts(category)
    }
    highest = sa.func.max(Score.score)
    rows = session.execute(
        sa.select(Score.category, highest)
        .where(Score.request_id == request.id, ~Score.is_observed)
        .group_by(Score.category)
        .order_by(highest.desc(), Score.category)
    )
    return [(name, value, thresholds[name]) for name, value in rows if name in thresholds and value > NOTABLE]


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
