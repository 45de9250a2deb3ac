"""imports of fact-checks: files, their items, feeds; what an item says of itself; the posts that refer to it"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0030"
down_revision = "0028"
branch_labels = None
depends_on = None

_REFERS = sa.text("dataset_item_id IS NOT NULL")


def upgrade() -> None:
    # No foreign key to the feed: SQLite could not take the column away again, and feeds are never deleted.
    op.add_column("fact_check_items", sa.Column("reviewed_on", sa.Date(), nullable=True))
    op.add_column("fact_check_items", sa.Column("feed_id", sa.Uuid(), nullable=True))
    op.add_column("fact_check_items", sa.Column("retired_at", UtcDateTime(), nullable=True))
    op.create_index("ix_fact_check_items_feed_id", "fact_check_items", ["feed_id"])
    op.create_index(
        "ix_requests_fact_check",
        "requests",
        ["community_id", "dataset_name", "dataset_item_id", "requested_at"],
        sqlite_where=_REFERS,
        postgresql_where=_REFERS,
    )
    op.create_table(
        "dataset_feeds",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("serves_all", sa.Boolean(), nullable=False),
        sa.Column("url", sa.String(2048), nullable=False),
        sa.Column("dataset_name", sa.String(100), nullable=False),
        sa.Column("publisher", sa.String(255), nullable=False),
        sa.Column("columns", sa.JSON(), nullable=False),
        sa.Column("hours", sa.Integer(), nullable=False),
        sa.Column("retires", sa.Boolean(), nullable=False),
        sa.Column("is_paused", sa.Boolean(), nullable=False),
        sa.Column("etag", sa.String(255), nullable=True),
        sa.Column("last_modified", sa.String(255), nullable=True),
        sa.Column("content_sha256", sa.String(64), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.Column("removed_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_dataset_feeds_community_id"),
        sa.PrimaryKeyConstraint("id", name="pk_dataset_feeds"),
    )
    op.create_index("ix_dataset_feeds_due_at", "dataset_feeds", ["due_at"])
    counts = (
        "total_bytes",
        "read_bytes",
        "records",
        "added",
        "changed",
        "unchanged",
        "taken",
        "refused",
        "retiring",
        "stored",
        "stored_position",
        "retired",
    )
    op.create_table(
        "dataset_imports",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("feed_id", sa.Uuid(), nullable=True),
        sa.Column("serves_all", sa.Boolean(), nullable=False),
        sa.Column("source", sa.String(2048), nullable=False),
        sa.Column("format", sa.String(40), nullable=False),
        sa.Column("dataset_name", sa.String(100), nullable=False),
        sa.Column("publisher", sa.String(255), nullable=False),
        sa.Column("columns", sa.JSON(), nullable=False),
        sa.Column("headers", sa.JSON(), nullable=False),
        sa.Column("samples", sa.JSON(), nullable=False),
        sa.Column("after_reading", sa.String(40), nullable=False),
        sa.Column("retires", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("problem", sa.String(500), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in counts),
        sa.Column("unknown", sa.JSON(), nullable=False),
        sa.Column("moved_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_dataset_imports_community_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_dataset_imports_account_id"),
        sa.ForeignKeyConstraint(["feed_id"], ["dataset_feeds.id"], name="fk_dataset_imports_feed_id"),
        sa.PrimaryKeyConstraint("id", name="pk_dataset_imports"),
    )
    op.create_index(
        "ix_dataset_imports_community_id_created_at", "dataset_imports", ["community_id", "created_at"]
    )
    op.create_index("ix_dataset_imports_state", "dataset_imports", ["state"])
    op.create_table(
        "dataset_import_pieces",
        sa.Column("import_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"], ["dataset_imports.id"], name="fk_dataset_import_pieces_import_id"
        ),
        sa.PrimaryKeyConstraint("import_id", "number", name="pk_dataset_import_pieces"),
    )
    op.create_table(
        "dataset_import_rows",
        sa.Column("import_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(40), nullable=False),
        sa.Column("place", sa.String(60), nullable=False),
        sa.Column("dataset_name", sa.String(100), nullable=True),
        sa.Column("item_id", sa.String(36), nullable=True),
        sa.Column("why", sa.String(1000), nullable=False),
        sa.Column("values", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"], ["dataset_imports.id"], name="fk_dataset_import_rows_import_id"
        ),
        sa.PrimaryKeyConstraint("import_id", "position", name="pk_dataset_import_rows"),
    )
    op.create_index(
        "ix_dataset_import_rows_key", "dataset_import_rows", ["import_id", "dataset_name", "item_id"]
    )
    op.create_table(
        "dataset_feed_checks",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("feed_id", sa.Uuid(), nullable=False),
        sa.Column("outcome", sa.String(40), nullable=False),
        sa.Column("problem", sa.String(500), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("import_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["feed_id"], ["dataset_feeds.id"], name="fk_dataset_feed_checks_feed_id"),
        sa.ForeignKeyConstraint(
            ["import_id"], ["dataset_imports.id"], name="fk_dataset_feed_checks_import_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_dataset_feed_checks"),
    )
    op.create_index(
        "ix_dataset_feed_checks_feed_id_created_at", "dataset_feed_checks", ["feed_id", "created_at"]
    )


def downgrade() -> None:
    op.drop_table("dataset_feed_checks")
    op.drop_table("dataset_import_rows")
    op.drop_table("dataset_import_pieces")
    op.drop_table("dataset_imports")
    op.drop_table("dataset_feeds")
    op.drop_index("ix_requests_fact_check", "requests")
    # What was retired would match posts again: it goes.
    op.execute("DELETE FROM fact_check_items WHERE retired_at IS NOT NULL")
    op.drop_index("ix_fact_check_items_feed_id", "fact_check_items")
    for column in ("retired_at", "feed_id", "reviewed_on"):
        op.drop_column("fact_check_items", column)
