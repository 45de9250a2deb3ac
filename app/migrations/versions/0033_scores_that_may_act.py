"""marks the score that routing used for Tier 1 where the highest one may not act; the highest score always counts"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("scores", sa.Column("is_acting", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index(
        "ix_scores_acting",
        "scores",
        ["community_id", "category", "score", "created_at", "request_id"],
        sqlite_where=sa.text("is_acting = 1"),
        postgresql_where=sa.text("is_acting"),
    )
    # It was "max" everywhere: no page and no call could set another value, and routing never read it.
    op.drop_column("categories", "combine")


def downgrade() -> None:
    op.add_column("categories", sa.Column("combine", sa.String(10), nullable=False, server_default="max"))
    op.drop_index("ix_scores_acting", "scores")
    op.drop_column("scores", "is_acting")
