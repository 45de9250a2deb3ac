"""channel and language with each action in the queue, and an index that has all its filters"""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0048"
branch_labels = None
depends_on = None

_INDEX = "ix_moderation_actions_urgent"
_QUEUED = sa.text("action_state = 'under_review'")
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


def _replace(columns: list[str]) -> None:
    op.drop_index(_INDEX, "moderation_actions")
    op.create_index(_INDEX, "moderation_actions", columns, sqlite_where=_QUEUED, postgresql_where=_QUEUED)


def downgrade() -> None:
    _replace(_BEFORE)
    for column in _COLUMNS:
        op.drop_column("moderation_actions", column)
