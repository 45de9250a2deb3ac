"""the conditions that operators know of and that have not ended, and whether an account wants mail about it"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attention",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.String(40), nullable=False),
        sa.Column("subject_id", sa.Uuid(), nullable=False),
        sa.Column("since", UtcDateTime(), nullable=False),
        sa.Column("told_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_attention_community_id_communities"
        ),
        sa.PrimaryKeyConstraint("community_id", "reason", "subject_id", name="pk_attention"),
    )
    op.add_column(
        "accounts", sa.Column("attention_mail", sa.Boolean(), nullable=False, server_default=sa.true())
    )


def downgrade() -> None:
    op.drop_column("accounts", "attention_mail")
    op.drop_table("attention")
