"""deliveries sent again by range; attempts and ratings by time, for figures over a period"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "replays",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("filters", sa.JSON(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("sent", sa.Integer(), nullable=False),
        sa.Column("last_id", sa.Uuid(), nullable=True),
        sa.Column("stopped", sa.Text(), nullable=True),
        sa.Column("finished_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_replays_community_id"),
        sa.PrimaryKeyConstraint("id", name="pk_replays"),
    )
    op.create_index("ix_replays_community_id_created_at", "replays", ["community_id", "created_at"])
    op.create_index("ix_delivery_attempts_at", "delivery_attempts", ["at"])
    op.create_index(
        "ix_ratings_community_id_created_at", "ratings", ["community_id", "created_at", "rater_id"]
    )


def downgrade() -> None:
    op.drop_index("ix_ratings_community_id_created_at", "ratings")
    op.drop_index("ix_delivery_attempts_at", "delivery_attempts")
    op.drop_index("ix_replays_community_id_created_at", "replays")
    op.drop_table("replays")
