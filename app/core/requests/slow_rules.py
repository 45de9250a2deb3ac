"""Records rules that exceeded the time limit of a text, for the operators of their community."""

import uuid
from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.classify import OutOfTime
from app.core.models import SlowRule
from app.core.permissions import Actor, Permission, require


def record(session: Session, community_id: uuid.UUID, timeouts: Sequence[tuple[str, OutOfTime]]) -> None:
    """Count a text for each rule that used most of its time, with its classifier's version.

    A new version starts the count again. The caller holds the community's lock.
    """
    if not timeouts:
        return
    for version, error in timeouts:
        row = session.get(SlowRule, (community_id, error.rule))
        if row is None:
            row = SlowRule(
                community_id=community_id, rule=error.rule, version=version, texts=0, milliseconds=0
            )
            session.add(row)
        elif row.version != version:
            row.version, row.texts, row.milliseconds = version, 0, 0
        row.texts += 1
        row.milliseconds = max(row.milliseconds, error.milliseconds)
        row.last_at = clock.now()
    session.flush()


def for_versions(
    session: Session, actor: Actor, community_id: uuid.UUID, versions: Iterable[str]
) -> Sequence[SlowRule]:
    """The slow rules of these classifier ``versions``, most often slow first."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return session.scalars(
        sa.select(SlowRule)
        .where(SlowRule.community_id == community_id, SlowRule.version.in_(list(versions)))
        .order_by(SlowRule.texts.desc(), SlowRule.rule)
    ).all()
