"""What of its own a community scores posts with: asked for every post, so that a change counts from its commit on.

One statement, for most communities have nothing of their own.
"""

import uuid
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Community, ConnectedService, FactCheckItem, LearnedCategory, RulePackVersion


class InForce(NamedTuple):
    """The version of the community's rules, 0 for none; whether it has connected services, learned versions and
    fact-checks.
    """

    rules_version: int
    has_services: bool
    has_learned: bool
    has_fact_checks: bool


_VERSION = sa.select(sa.func.max(RulePackVersion.version)).where(RulePackVersion.community_id == Community.id)
COLUMNS = (
    sa.func.coalesce(_VERSION.correlate(Community).scalar_subquery(), 0),
    sa.exists()
    .where(ConnectedService.community_id == Community.id, ConnectedService.removed_at.is_(None))
    .correlate(Community),
    sa.exists()
    .where(LearnedCategory.community_id == Community.id, LearnedCategory.version_in_force > 0)
    .correlate(Community),
    sa.or_(
        sa.exists().where(FactCheckItem.community_id.is_(None), FactCheckItem.retired_at.is_(None)),
        sa.exists()
        .where(FactCheckItem.community_id == Community.id, FactCheckItem.retired_at.is_(None))
        .correlate(Community),
    ),
)
"""The fields of ``InForce`` for a statement that selects from communities."""
_READ = sa.select(*COLUMNS).where(Community.id == sa.bindparam("community"))


def read(session: Session, community_id: uuid.UUID) -> InForce:
    return InForce(*session.execute(_READ, {"community": community_id}).one())
