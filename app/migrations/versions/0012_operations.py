"""operations: when a submission's content was removed"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_KEPT = sa.text("content_removed_at IS NULL")


def upgrade() -> None:
    op.add_column("requests", sa.Column("content_removed_at", UtcDateTime(), nullable=True))
    op.create_index(
        "ix_requests_content_kept",
        "requests",
        ["community_id", "requested_at"],
        sqlite_where=_KEPT,
        postgresql_where=_KEPT,
    )


def downgrade() -> None:
    op.drop_index("ix_requests_content_kept", "requests")
    op.drop_column("requests", "content_removed_at")
