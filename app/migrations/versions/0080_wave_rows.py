"""the index of the queue gets the wave, so that posts alike are one row without reading each post"""

import sqlalchemy as sa
from alembic import op

from app import migrations

revision = "0080"
down_revision = "0079"
branch_labels = None
depends_on = None

_NAME = "ix_moderation_actions_urgent"
_COLUMNS = [
    "community_id",
    "urgent_at",
    "id",
    "snoozed_until",
    "category",
    "language",
    "platform_channel_id",
    "request_id",
    "action_state",
]
_QUEUED = sa.text("action_state = 'under_review'")


def upgrade() -> None:
    _replace([*_COLUMNS, "wave_id"])


def downgrade() -> None:
    _replace(_COLUMNS)


def _replace(columns: list[str]) -> None:
    op.drop_index(_NAME, "moderation_actions")
    with migrations.announced(op.get_bind(), f"index {_NAME}", "moderation_actions"):
        op.create_index(_NAME, "moderation_actions", columns, sqlite_where=_QUEUED, postgresql_where=_QUEUED)
