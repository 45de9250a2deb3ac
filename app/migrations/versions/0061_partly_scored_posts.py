"""posts that no classifier could read for one of the active categories, by quarter of an hour"""

import sqlalchemy as sa
from alembic import op

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "insight_slots", sa.Column("partly_scored", sa.Integer(), nullable=False, server_default=sa.text("0"))
    )


def downgrade() -> None:
    op.drop_column("insight_slots", "partly_scored")
