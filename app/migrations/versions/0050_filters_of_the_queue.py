"""channel and language with each action in the queue, an index that has all its filters, and what a moderator holds"""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0048"
branch_labels = None
depends_on = None

_INDEX = "ix_moderation_actions_urgent"
_QUEUED = sa.text("action_state = 'under_review'")
_HELD = {
    "ix_moderation_actions_claimed": (["claimed_by_id", "claimed_until"], "claimed_by_id IS NOT NULL"),
    "ix_moderation_actions_assigned": (
        ["assigned_to_id"],
        "action_state = 'under_review' AND assigned_to_id IS NOT NULL",
    ),
}
_BEFORE = ["community_id", "urgent_at", "id", "snoozed_until"]
_COLUMNS = {"platform_channel_id": 255, "language": 8}


def upgrade() -> None:
    for column, length in _COLUMNS.items():
        op.add_column("moderation_actions", sa.Column(column, sa.String(length), nullable=True))
        # Also those that may return to review; what was ended never does.
        op.execute(
            f"UPDATE moderation_actions SET {column} ="  # noqa: S608 - our own words
            f" (SELECT r.{column} FROM requests r WHERE r.id = moderation_actions.request_id)"
            " WHERE action_state IN ('under_review', 'proposed')"
        )
    _replace([*_BEFORE, "category", "language", "platform_channel_id", "request_id", "action_state"])
    for name, (columns, condition) in _HELD.items():
        where = sa.text(condition)
        op.create_index(name, "moderation_actions", columns, sqlite_where=where, postgresql_where=where)


def _replace(columns: list[str]) -> None:
    op.drop_index(_INDEX, "moderation_actions")
    op.create_index(_INDEX, "moderation_actions", columns, sqlite_where=_QUEUED, postgresql_where=_QUEUED)


def downgrade() -> None:
    for name in _HELD:
        op.drop_index(name, "moderation_actions")
    _replace(_BEFORE)
    for column in _COLUMNS:
        op.drop_column("moderation_actions", column)
