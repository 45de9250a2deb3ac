"""files with all that is kept of a person, made when they ask"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0070"
down_revision = "0069"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "own_data_files",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("asked_at", UtcDateTime(), nullable=False),
        sa.Column("made_at", UtcDateTime(), nullable=True),
        sa.Column("failed_at", UtcDateTime(), nullable=True),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_own_data_files_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_own_data_files"),
        sa.UniqueConstraint("account_id", name="uq_own_data_files_account_id"),
    )


def downgrade() -> None:
    op.drop_table("own_data_files")
