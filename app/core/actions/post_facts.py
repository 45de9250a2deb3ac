"""What an action repeats of its post, so that filters of the queue read one index: the channel and the language."""

import uuid

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.history import facts
from app.core.models import Action, Request
from app.core.models.decisions import QUEUED


def set_language(session: Session, request_id: uuid.UUID, language: str) -> None:
    """Note the language of a post with its actions and their history, if it was found after they were opened."""
    ids = session.scalars(
        sa.update(Action)
        .where(Action.request_id == request_id, Action.language.is_(None))
        .values(language=language, updated_at=Action.updated_at)
        .returning(Action.id)
        .execution_options(synchronize_session=False)
    ).all()
    if ids:
        facts.write_language(session, ids, language)


def complete(session: Session) -> int:
    """Give actions under review the channel and language of their posts where they lack them; return how many.

    While several machines are upgraded one after the other, those with the version before still open actions without.
    """
    lacking = sa.or_(
        sa.and_(Action.platform_channel_id.is_(None), Request.platform_channel_id.is_not(None)),
        sa.and_(Action.language.is_(None), Request.language.is_not(None)),
    )
    rows = session.execute(
        sa.select(Action.id, Request.platform_channel_id, Request.language)
        .join(Request, Request.id == Action.request_id)
        .where(sa.text(f"moderation_actions.{QUEUED}"), lacking)
        .limit(1_000)
    ).all()
    for action_id, channel, language in rows:
        session.execute(
            sa.update(Action)
            .where(Action.id == action_id)
            .values(platform_channel_id=channel, language=language, updated_at=Action.updated_at)
            .execution_options(synchronize_session=False)
        )
    return len(rows)
