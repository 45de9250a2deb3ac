"""the review queue's order "most urgent first": target times, due times, and the author's id with each action"""

from datetime import timedelta

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

_QUEUED = "action_state = 'under_review'"
_HIDDEN = "restores_id IS NULL AND action_type = 'hide' AND action_state IN ('applied', 'retro_review', 'confirmed')"
_TARGET = timedelta(days=1)
"""The target time of items that already wait; new ones get that of their category."""


def upgrade() -> None:
    op.add_column("categories", sa.Column("target_minutes", sa.Integer(), nullable=True))
    op.add_column("moderation_actions", sa.Column("platform_author_id", sa.String(255), nullable=True))
    op.add_column("moderation_actions", sa.Column("due_at", UtcDateTime(), nullable=True))
    op.add_column("moderation_actions", sa.Column("urgent_at", UtcDateTime(), nullable=True))
    op.add_column("moderation_actions", sa.Column("snoozed_until", UtcDateTime(), nullable=True))
    op.execute(
        "UPDATE moderation_actions SET platform_author_id ="
        " (SELECT r.platform_author_id FROM requests r WHERE r.id = moderation_actions.request_id)"
    )
    actions = sa.table(
        "moderation_actions",
        sa.column("id", sa.Uuid()),
        sa.column("action_state", sa.String()),
        sa.column("created_at", UtcDateTime()),
        sa.column("due_at", UtcDateTime()),
        sa.column("urgent_at", UtcDateTime()),
    )
    connection = op.get_bind()
    # Also those that may return to review; what was ended never does.
    waiting = sa.select(actions.c.id, actions.c.created_at).where(
        actions.c.action_state.in_(("under_review", "proposed"))
    )
    rows = [{"action": row.id, "due": row.created_at + _TARGET} for row in connection.execute(waiting)]
    if rows:
        connection.execute(
            sa.update(actions)
            .where(actions.c.id == sa.bindparam("action"))
            .values(due_at=sa.bindparam("due"), urgent_at=sa.bindparam("due")),
            rows,
        )
    _partial("ix_moderation_actions_urgent", ["community_id", "urgent_at", "id", "snoozed_until"], _QUEUED)
    _partial("ix_moderation_actions_due", ["community_id", "due_at"], _QUEUED)
    _partial("ix_moderation_actions_hidden", ["community_id", "platform_author_id"], _HIDDEN)


def _partial(name: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, "moderation_actions", columns, sqlite_where=condition, postgresql_where=condition)


def downgrade() -> None:
    for name in ("hidden", "due", "urgent"):
        op.drop_index(f"ix_moderation_actions_{name}", "moderation_actions")
    for column in ("snoozed_until", "urgent_at", "due_at", "platform_author_id"):
        op.drop_column("moderation_actions", column)
    op.drop_column("categories", "target_minutes")
