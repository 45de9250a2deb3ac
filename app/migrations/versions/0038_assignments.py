"""items that are assigned to a moderator, and saved filters that operators made queues"""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("moderation_actions", sa.Column("assigned_to_id", sa.Uuid(), nullable=True))
    op.add_column("saved_filters", sa.Column("position", sa.Integer(), nullable=True))
    op.add_column(
        "saved_filters", sa.Column("members", sa.JSON(), server_default=sa.text("'[]'"), nullable=False)
    )


def downgrade() -> None:
    op.drop_column("saved_filters", "members")
    op.drop_column("saved_filters", "position")
    op.drop_column("moderation_actions", "assigned_to_id")
