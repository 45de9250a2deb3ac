"""reasons to choose from, saved filters, notices; the category that a moderator decided under; posts by author"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "reason_templates",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.String(length=100), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("category", sa.String(length=40), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_reason_templates_community_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_reason_templates"),
    )
    op.create_index("ix_reason_templates_community_id_title", "reason_templates", ["community_id", "title"])
    op.create_table(
        "saved_filters",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("query", sa.JSON(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_saved_filters_account_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_saved_filters_community_id"),
        sa.PrimaryKeyConstraint("id", name="pk_saved_filters"),
        sa.UniqueConstraint(
            "community_id", "account_id", "name", name="uq_saved_filters_community_id_account_id_name"
        ),
    )
    op.create_table(
        "notices",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("action_id", sa.Uuid(), nullable=True),
        sa.Column("note_id", sa.Uuid(), nullable=True),
        sa.Column("decided_id", sa.Uuid(), nullable=True),
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("read_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_notices_account_id"),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name="fk_notices_action_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_notices_community_id"),
        sa.ForeignKeyConstraint(["decided_id"], ["history.id"], name="fk_notices_decided_id"),
        sa.ForeignKeyConstraint(["entry_id"], ["history.id"], name="fk_notices_entry_id"),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name="fk_notices_note_id"),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
        sa.UniqueConstraint("account_id", "entry_id", name="uq_notices_account_id_entry_id"),
    )
    op.create_index("ix_notices_account_id_read_at", "notices", ["account_id", "read_at"])
    op.add_column("holds", sa.Column("category", sa.String(length=40), nullable=True))
    op.add_column("moderation_actions", sa.Column("decided_category", sa.String(length=40), nullable=True))
    op.create_index(
        "ix_requests_community_id_platform_author_id",
        "requests",
        ["community_id", "platform_author_id", "requested_at"],
    )


def downgrade() -> None:
    op.drop_index("ix_requests_community_id_platform_author_id", "requests")
    op.drop_column("moderation_actions", "decided_category")
    op.drop_column("holds", "category")
    op.drop_index("ix_notices_account_id_read_at", "notices")
    op.drop_table("notices")
    op.drop_table("saved_filters")
    op.drop_index("ix_reason_templates_community_id_title", "reason_templates")
    op.drop_table("reason_templates")
