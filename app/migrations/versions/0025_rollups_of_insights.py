"""counts of each quarter of an hour, so that statistics need not read every row"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

_COUNTS = (
    "submitted",
    "acted",
    "reviewed",
    "ignored",
    "opened",
    "closed",
    "ratings",
    "sided",
    "borne_out",
    "reviews",
    "split",
)


def upgrade() -> None:
    op.create_table(
        "insight_rollups",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("changes_until", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_insight_rollups_community_id"),
        sa.PrimaryKeyConstraint("community_id", name="pk_insight_rollups"),
    )
    op.create_table(
        "insight_slots",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("slot", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in _COUNTS),
        sa.Column("waits", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_insight_slots_community_id"),
        sa.PrimaryKeyConstraint("community_id", "slot", name="pk_insight_slots"),
    )
    op.create_table(
        "insight_outcomes",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("slot", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("of_which", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_insight_outcomes_community_id"
        ),
        sa.PrimaryKeyConstraint("community_id", "slot", "kind", "name", name="pk_insight_outcomes"),
    )


def downgrade() -> None:
    op.drop_table("insight_outcomes")
    op.drop_table("insight_slots")
    op.drop_table("insight_rollups")
