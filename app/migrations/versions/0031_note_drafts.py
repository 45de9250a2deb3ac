"""drafts that moderators ask for, and the language of AI notes"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("ai_drafts", sa.Column("language", sa.String(8), nullable=True))
    op.add_column("ai_drafts", sa.Column("language_gap", sa.String(255), nullable=True))
    op.create_table(
        "note_drafts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("classification", sa.String(40), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("provider", sa.String(100), nullable=False),
        sa.Column("model", sa.String(100), nullable=False),
        sa.Column("prompt_version", sa.String(40), nullable=False),
        sa.Column("prompt_sha256", sa.String(64), nullable=True),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.Column("fell_back", sa.String(255), nullable=True),
        sa.Column("language", sa.String(8), nullable=True),
        sa.Column("language_gap", sa.String(255), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_note_drafts_community_id"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_note_drafts_request_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_note_drafts_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_note_drafts"),
        sa.UniqueConstraint("request_id", "account_id", name="uq_note_drafts_request_id_account_id"),
    )
    op.create_index("ix_note_drafts_account_id", "note_drafts", ["account_id"])


def downgrade() -> None:
    op.drop_table("note_drafts")
    op.drop_column("ai_drafts", "language_gap")
    op.drop_column("ai_drafts", "language")
