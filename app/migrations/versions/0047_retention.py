"""how far each community's history and scores were removed, and its history verified"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "retention_marks",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("history_number", sa.Integer(), nullable=False),
        sa.Column("history_hash", sa.String(64), nullable=False),
        sa.Column("history_at", UtcDateTime(), nullable=True),
        sa.Column("verified_number", sa.Integer(), nullable=False),
        sa.Column("verified_hash", sa.String(64), nullable=False),
        sa.Column("scores_until", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_retention_marks_community_id"),
        sa.PrimaryKeyConstraint("community_id", name="pk_retention_marks"),
    )
    # An entry that is removed is looked for in both.
    op.create_index("ix_notices_entry_id", "notices", ["entry_id"])
    op.create_index("ix_notices_decided_id", "notices", ["decided_id"])


def downgrade() -> None:
    op.drop_index("ix_notices_decided_id", "notices")
    op.drop_index("ix_notices_entry_id", "notices")
    op.drop_table("retention_marks")
