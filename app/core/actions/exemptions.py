"""Exemptions: content that people restored is not scanned again (docs/integrate/api.md)."""

import hashlib
from collections import Counter

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core.communities import settings as community_settings
from app.core.models import Action, Request
from app.core.vocabulary import ActionState

EXEMPT_LOOKED_AT = 20
"""Earlier texts of a message that a new text of it is compared with, newest first."""


def digest(content: str) -> str:
    """SHA-256 of the content in UTF-8, in hex; stored in ``scan_exempt_content_hash``."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def similarity(one: str, other: str) -> float:
    """Dice coefficient of the texts' character trigrams, 0.0 to 1.0; linear in their length."""
    if one == other:
        return 1.0
    first, second = _trigrams(one), _trigrams(other)
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


def _trigrams(text: str) -> Counter[str]:
    padded = f"  {text} "
    return Counter(padded[i : i + 3] for i in range(len(padded) - 2))


def is_exempt(session: Session, request: Request) -> bool:
    """Whether people restored this content, or a similar text of the same message (docs/integrate/api.md)."""
    is_same_content, is_same_message = session.execute(_LOOK, {"request": request.id}).one()
    return bool(is_same_content) or (bool(is_same_message) and is_similar(session, request))


def is_similar(session: Session, request: Request) -> bool:
    """Whether people restored a similar text of the same message."""
    earlier = session.scalars(
        sa.select(Request)
        .where(
            Request.community_id == request.community_id,
            Request.platform_message_id == request.platform_message_id,
            Request.content_removed_at.is_(None),
            sa.exists().where(_EXEMPT, Action.request_id == Request.id),
        )
        .order_by(Request.requested_at.desc())
        .limit(EXEMPT_LOOKED_AT)
    ).all()
    least = community_settings.read(session, request.community_id).exempt_similarity
    return any(similarity(restored.content, request.content) >= least for restored in earlier)


_EXEMPT = sa.and_(Action.community_id == Request.community_id, Action.action_state == ActionState.SCAN_EXEMPT)
_EARLIER = aliased(Request)
COLUMNS = (
    sa.exists().where(_EXEMPT, Action.scan_exempt_content_hash == Request.content_sha256).correlate(Request),
    sa.exists()
    .where(
        _EXEMPT,
        Action.request_id == _EARLIER.id,
        _EARLIER.community_id == Request.community_id,
        _EARLIER.platform_message_id == Request.platform_message_id,
        _EARLIER.content_removed_at.is_(None),
    )
    .correlate(Request),
)
"""For a statement that selects from requests: whether people restored this content; or a text of the same message.

Both questions in one statement: nearly every post is asked them, and nearly all answers are no.
"""
_LOOK = sa.select(*COLUMNS).where(Request.id == sa.bindparam("request"))
