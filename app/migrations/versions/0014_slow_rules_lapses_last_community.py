"""rules that took too long; which reviews ended because nobody answered; where each person worked last"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_ACTIONS = sa.table(
    "moderation_actions",
    sa.column("id", sa.Uuid()),
    sa.column("action_state", sa.String()),
    sa.column("confirmed_at", UtcDateTime()),
    sa.column("dismissed_at", UtcDateTime()),
    sa.column("lapsed_at", UtcDateTime()),
)
_HISTORY = sa.table(
    "history",
    sa.column("object_type", sa.String()),
    sa.column("object_id", sa.Uuid()),
    sa.column("what", sa.String()),
    sa.column("actor_kind", sa.String()),
    sa.column("cause", sa.String()),
)
_SILENCE = ("no consensus in time", "the community was archived")
"""Why the service itself ended a review, as history has told it until now."""


def upgrade() -> None:
    op.create_table(
        "slow_rules",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("rule", sa.String(length=80), nullable=False),
        sa.Column("version", sa.String(length=100), nullable=False),
        sa.Column("texts", sa.Integer(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("last_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_slow_rules_community_id"),
        sa.PrimaryKeyConstraint("community_id", "rule", name="pk_slow_rules"),
    )
    # No foreign key: SQLite could not take the column away again, and communities are never deleted.
    op.add_column("accounts", sa.Column("last_community_id", sa.Uuid(), nullable=True))
    op.add_column("moderation_actions", sa.Column("lapsed_at", UtcDateTime(), nullable=True))
    ended_by_silence = sa.exists().where(
        _HISTORY.c.object_type == "action",
        _HISTORY.c.object_id == _ACTIONS.c.id,
        _HISTORY.c.what.in_(("action.confirmed", "action.dismissed")),
        _HISTORY.c.actor_kind == "system",
        _HISTORY.c.cause.in_(_SILENCE),
    )
    op.execute(
        _ACTIONS.update()
        .where(_ACTIONS.c.action_state.in_(("confirmed", "dismissed")), ended_by_silence)
        .values(lapsed_at=sa.func.coalesce(_ACTIONS.c.confirmed_at, _ACTIONS.c.dismissed_at))
    )


def downgrade() -> None:
    op.drop_column("moderation_actions", "lapsed_at")
    op.drop_column("accounts", "last_community_id")
    op.drop_table("slow_rules")
