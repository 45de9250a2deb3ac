"""Exemptions: content that people restored is not scanned again (docs/integration.md)."""

import hashlib
from collections import Counter

import sqlalchemy as sa
from sqlalchemy.orm import Session

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
    """Whether people restored this content, or a similar text of the same message (docs/integration.md)."""
    post = {
        "community": request.community_id,
        "content": request.content_sha256,
        "message": request.platform_message_id,
    }
    is_same_content, is_same_message = session.execute(_LOOK, post).one()
    if is_same_content:
        return True
    if not is_same_message:
        return False
    earlier = session.scalars(
        sa.select(Request).where(_SAME_MESSAGE).order_by(Request.requested_at.desc()).limit(EXEMPT_LOOKED_AT),
        post,
    ).all()
    least = community_settings.read(session, request.community_id).exempt_similarity
    return any(similarity(restored.content, request.content) >= least for restored in earlier)


_EXEMPT = sa.and_(
    Action.community_id == sa.bindparam("community"), Action.action_state == ActionState.SCAN_EXEMPT
)
_SAME_MESSAGE = sa.and_(
    Request.community_id == sa.bindparam("community"),
    Request.platform_message_id == sa.bindparam("message"),
    Request.content_removed_at.is_(None),
    sa.exists().where(_EXEMPT, Action.request_id == Request.id),
)
# Both questions in one statement: nearly every post is asked them, and nearly all answers are no.
_LOOK = sa.select(
    sa.exists().where(_EXEMPT, Action.scan_exempt_content_hash == sa.bindparam("content")),
    sa.exists().where(_SAME_MESSAGE),
)
