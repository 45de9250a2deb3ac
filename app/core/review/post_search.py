"""One search box for posts: the text, its author, and every id that somebody may have copied from somewhere."""

import sqlalchemy as sa

from app.core.ids import parse_id
from app.core.models import Action, Request


def finds(text: str) -> sa.ColumnElement[bool]:
    """Whether a post (``Request`` joined with its ``Action``) is meant by ``text``.

    Part of the text or of the author's id, in either case; part of the platform's ids of the submission or the
    message; the whole of one of our UUIDs. ``%`` and ``_`` mean themselves.
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
