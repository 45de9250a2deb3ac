"""Whether a browser is still signed in as it was when its account was last loaded, told by one narrow query.

Open tabs ask every few seconds, and to load account, memberships, profile and communities each time would cost more
than the answer. Nothing is taken on trust: the query reads what decides about access at each call.
"""

from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, tokens
from app.core.models import Account, Community, Membership, SignIn

_sign_in, _account = SignIn.__table__.c, Account.__table__.c
_member, _community = Membership.__table__.c, Community.__table__.c
_BY_TOKEN = (
    sa.select(
        _sign_in.created_at,
        _sign_in.last_seen_at,
        _sign_in.ended_at,
        _account.disabled_at,
        _account.service_admin,
        _account.id,
        _account.updated_at,
        # The moment of the last change does not tell apart two changes of one moment.
        _account.display_name,
        _account.content_warnings,
        _account.media_veil,
        _account.timezone,
        _member.community_id,
        _member.role,
        _community.archived_at,
        _community.updated_at.label("community_updated_at"),
    )
    .select_from(SignIn.__table__)
    .join(Account.__table__, _account.id == _sign_in.account_id)
    .outerjoin(Membership.__table__, _member.account_id == _account.id)
    .outerjoin(Community.__table__, _community.id == _member.community_id)
    .where(_sign_in.token_hash == sa.bindparam("token_hash"))
    .order_by(_member.community_id)
)
_ABOUT_SIGN_IN = 4
"""How many of the columns are checked here and are no part of the stamp."""


def stamp(
    session: Session | sa.Connection, token: str, *, idle: timedelta, longest: timedelta
) -> tuple[Any, ...] | None:
    """A value that differs once the account, its roles or its communities changed.

    None when the session of this token has ended (``sessions.signed_in``), and for service admins: they see
    communities without being members, so their memberships do not say what they may see.
    """
    rows = session.execute(_BY_TOKEN, {"token_hash": tokens.digest(token)}).all()
    if not rows:
        return None
    first, now = rows[0], clock.now()
    ended = first.ended_at is not None or first.disabled_at is not None
    if ended or now - first.last_seen_at > idle or now - first.created_at > longest or first.service_admin:
        return None
    return tuple(tuple(row[_ABOUT_SIGN_IN:]) for row in rows)
