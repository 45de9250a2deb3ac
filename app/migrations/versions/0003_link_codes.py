"""codes that link platform profiles to accounts"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "link_codes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("used_at", UtcDateTime(), nullable=True),
        sa.Column("profile_id", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_link_codes_account_id"),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name="fk_link_codes_profile_id"),
        sa.PrimaryKeyConstraint("id", name="pk_link_codes"),
        sa.UniqueConstraint("account_id", name="uq_link_codes_account_id"),
        sa.UniqueConstraint("code_hash", name="uq_link_codes_code_hash"),
    )


def downgrade() -> None:
    op.drop_table("link_codes")
