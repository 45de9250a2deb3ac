"""attachments of posts, and the files that are stored for them"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

_WAITING = sa.text("state = 'waiting'")


def upgrade() -> None:
    op.create_table(
        "attachments",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("alt", sa.Text(), nullable=True),
        sa.Column("filename", sa.String(255), nullable=True),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("reason", sa.String(40), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=True),
        sa.Column("fetched_at", UtcDateTime(), nullable=True),
        sa.Column("media_type", sa.String(100), nullable=True),
        sa.Column("sha256", sa.String(64), nullable=True),
        sa.Column("preview_sha256", sa.String(64), nullable=True),
        sa.Column("stored_size", sa.BigInteger(), nullable=True),
        sa.Column("stored_width", sa.Integer(), nullable=True),
        sa.Column("stored_height", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_attachments_community_id"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_attachments_request_id"),
        sa.PrimaryKeyConstraint("id", name="pk_attachments"),
        sa.UniqueConstraint("request_id", "position", name="uq_attachments_request_id_position"),
    )
    op.create_index("ix_attachments_sha256", "attachments", ["sha256"])
    op.create_index("ix_attachments_preview_sha256", "attachments", ["preview_sha256"])
    op.create_index(
        "ix_attachments_waiting",
        "attachments",
        ["due_at"],
        sqlite_where=_WAITING,
        postgresql_where=_WAITING,
    )
    op.create_table(
        "media_files",
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("announced_at", UtcDateTime(), nullable=False),
        sa.Column("removing_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("sha256", name="pk_media_files"),
    )
    op.create_index("ix_media_files_announced_at", "media_files", ["announced_at"])
    op.add_column(
        "requests", sa.Column("has_attachments", sa.Boolean(), nullable=False, server_default=sa.false())
    )


def downgrade() -> None:
    op.drop_column("requests", "has_attachments")
    op.drop_table("media_files")
    op.drop_table("attachments")
