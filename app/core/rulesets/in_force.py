"""What of its own a community scores posts with: asked for every post, so that a change counts from its commit on.

One statement, for most communities have nothing of their own.
"""

import uuid
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import ConnectedService, LearnedCategory, RulePackVersion


class InForce(NamedTuple):
    """The version of the community's rules, 0 for none; whether it has connected services, and learned versions."""

    rules_version: int
    has_services: bool
    has_learned: bool


def read(session: Session, community_id: uuid.UUID) -> InForce:
    return InForce(*session.execute(_IN_FORCE, {"community": community_id}).one())


_COMMUNITY = sa.bindparam("community")
_VERSION = (
    sa.select(sa.func.max(RulePackVersion.version))
    .where(RulePackVersion.community_id == _COMMUNITY)
    .scalar_subquery()
)
_IN_FORCE = sa.select(
    sa.func.coalesce(_VERSION, 0),
    sa.exists().where(ConnectedService.community_id == _COMMUNITY, ConnectedService.removed_at.is_(None)),
    sa.exists().where(LearnedCategory.community_id == _COMMUNITY, LearnedCategory.version_in_force > 0),
)
