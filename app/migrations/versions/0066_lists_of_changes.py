"""when requests were completed, and indexes of what was completed or changed since a client last asked"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None

INDEXED = (("requests", "completed_at"), ("moderation_actions", "updated_at"), ("notes", "updated_at"))


def upgrade() -> None:
    op.add_column("requests", sa.Column("completed_at", UtcDateTime(), nullable=True))
    # A decision completes its request, and so does scoring that finds nothing; others have only their last change.
    op.execute(
        "UPDATE requests SET completed_at = coalesce("
        "(SELECT decided_at FROM decisions WHERE decisions.request_id = requests.id), scored_at, updated_at) "
        "WHERE status = 'COMPLETED'"
    )
    for table, column in INDEXED:
        op.create_index(f"ix_{table}_community_id_{column}_id", table, ["community_id", column, "id"])
        op.create_index(f"ix_{table}_{column}_id", table, [column, "id"])


def downgrade() -> None:
    for table, column in INDEXED:
        op.drop_index(f"ix_{table}_{column}_id", table)
        op.drop_index(f"ix_{table}_community_id_{column}_id", table)
    op.drop_column("requests", "completed_at")
