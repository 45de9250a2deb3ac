"""another action than the configured one, what an author is told, and moderators' notes about authors"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("holds", sa.Column("act_as", sa.String(length=40), nullable=True))
    op.add_column("holds", sa.Column("author_text", sa.Text(), nullable=True))
    op.create_table(
        "author_notes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("platform_author_id", sa.String(255), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("account_name", sa.String(255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name=op.f("fk_author_notes_community_id_communities")
        ),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_author_notes_account_id_accounts")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_author_notes")),
    )
    op.create_index(
        "ix_author_notes_author",
        "author_notes",
        ["community_id", "platform_author_id", "created_at", "id"],
    )
    queued = sa.text("action_state = 'under_review'")
    op.create_index(
        "ix_moderation_actions_queued_author",
        "moderation_actions",
        ["community_id", "platform_author_id"],
        sqlite_where=queued,
        postgresql_where=queued,
    )


def downgrade() -> None:
    op.drop_index("ix_moderation_actions_queued_author", "moderation_actions")
    op.drop_table("author_notes")
    op.drop_column("holds", "author_text")
    op.drop_column("holds", "act_as")
