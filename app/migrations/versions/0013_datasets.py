"""whose a fact-check is: a community's own, or the service's, which serves all"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # No foreign key: SQLite could not take the column away again, and communities are never deleted.
    op.add_column("fact_check_items", sa.Column("community_id", sa.Uuid(), nullable=True))


def downgrade() -> None:
    # What a community kept for itself would serve all: it goes.
    op.execute("DELETE FROM fact_check_items WHERE community_id IS NOT NULL")
    op.drop_column("fact_check_items", "community_id")
