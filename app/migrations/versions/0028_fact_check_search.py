"""fact-checks: title and language, and a full-text index that both databases read alike"""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0025"
branch_labels = None
depends_on = None

_WAITING = sa.text("number IS NULL")


def upgrade() -> None:
    op.add_column("fact_check_items", sa.Column("title", sa.String(500), nullable=True))
    op.add_column("fact_check_items", sa.Column("language", sa.String(16), nullable=True))
    # Without a number an item waits to be indexed: the service does that in the background.
    op.add_column("fact_check_items", sa.Column("number", sa.Integer(), nullable=True))
    op.add_column("fact_check_items", sa.Column("search_language", sa.String(8), nullable=True))
    op.create_index("ix_fact_check_items_community_id_number", "fact_check_items", ["community_id", "number"])
    op.create_index(
        "ix_fact_check_items_waiting",
        "fact_check_items",
        ["id"],
        sqlite_where=_WAITING,
        postgresql_where=_WAITING,
    )
    op.create_table(
        "fact_check_postings",
        sa.Column("owner", sa.Uuid(), nullable=False),
        sa.Column("word", sa.String(40), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "word", "block", name="pk_fact_check_postings"),
    )
    op.drop_table("fact_check_words")
    op.drop_column("fact_check_items", "word_count")


def downgrade() -> None:
    # The earlier version finds no item until the datasets are imported again: only it can count its words.
    op.add_column(
        "fact_check_items", sa.Column("word_count", sa.Integer(), nullable=False, server_default=sa.text("0"))
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
    op.drop_table("fact_check_postings")
    op.drop_index("ix_fact_check_items_waiting", "fact_check_items")
    op.drop_index("ix_fact_check_items_community_id_number", "fact_check_items")
    for column in ("search_language", "number", "language", "title"):
        op.drop_column("fact_check_items", column)
