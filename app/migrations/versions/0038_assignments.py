"""items that are assigned to a moderator"""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("moderation_actions", sa.Column("assigned_to_id", sa.Uuid(), nullable=True))


def downgrade() -> None:
    op.drop_column("moderation_actions", "assigned_to_id")
