"""fact-check items, their words, and AI drafts"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "fact_check_items",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("dataset_name", sa.String(length=100), nullable=False),
        sa.Column("item_id", sa.String(length=36), nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("rating", sa.String(length=40), nullable=True),
        sa.Column("rating_given", sa.String(length=255), nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("publisher", sa.String(length=255), nullable=False),
        sa.Column("word_count", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_fact_check_items"),
        sa.UniqueConstraint("dataset_name", "item_id", name="uq_fact_check_items_dataset_name_item_id"),
    )
    op.create_table(
        "fact_check_words",
        sa.Column("word", sa.String(length=64), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["fact_check_items.id"], name="fk_fact_check_words_item_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("word", "item_id", name="pk_fact_check_words"),
    )
    op.create_index("ix_fact_check_words_item_id", "fact_check_words", ["item_id"])
    op.create_table(
        "ai_drafts",
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=True),
        sa.Column("provider", sa.String(length=100), nullable=False),
        sa.Column("model", sa.String(length=100), nullable=False),
        sa.Column("prompt_version", sa.String(length=40), nullable=False),
        sa.Column("prompt_sha256", sa.String(length=64), nullable=True),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.Column("fell_back", sa.String(length=255), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name="fk_ai_drafts_note_id"),
        sa.ForeignKeyConstraint(
            ["item_id"], ["fact_check_items.id"], name="fk_ai_drafts_item_id", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("note_id", name="pk_ai_drafts"),
    )
    op.create_index("ix_ai_drafts_item_id", "ai_drafts", ["item_id"])


def downgrade() -> None:
    op.drop_table("ai_drafts")
    op.drop_table("fact_check_words")
    op.drop_table("fact_check_items")
