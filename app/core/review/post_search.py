"""Search for posts by text, author, or any id that a user may have copied."""

import sqlalchemy as sa

from app.core.ids import parse_id
from app.core.models import Action, Request


def finds(text: str) -> sa.ColumnElement[bool]:
    """A condition: a post (``Request`` joined with its ``Action``) matches ``text``.

    Matches part of the post's text, of the author's id, or of the platform's ids of the submission or the message,
    ignoring case; or one of our UUIDs in full. ``%`` and ``_`` are not wildcards.
    """
    conditions: list[sa.ColumnElement[bool]] = [
        column.icontains(text, autoescape=True)
        for column in (
            Request.content,
            Request.platform_author_id,
            Request.request_id,
            Request.platform_message_id,
        )
    ]
    identity = parse_id(text)
    if identity is not None:
        conditions += [Action.id == identity, Request.id == identity]
    return sa.or_(*conditions)
