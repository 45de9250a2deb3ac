"""whether the platform has undone an overturned action, and what authors are told in each category"""

import sqlalchemy as sa
from alembic import op

revision = "0067"
down_revision = "0066"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("moderation_actions", sa.Column("undo_state", sa.String(40), nullable=True))
    is_to_be_undone = sa.text("undo_state IS NOT NULL")
    op.create_index(
        "ix_moderation_actions_undo",
        "moderation_actions",
        ["community_id", "undo_state", "created_at", "id"],
        sqlite_where=is_to_be_undone,
        postgresql_where=is_to_be_undone,
    )
    op.add_column("categories", sa.Column("author_text", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("categories", "author_text")
    op.drop_index("ix_moderation_actions_undo", "moderation_actions")
    op.drop_column("moderation_actions", "undo_state")
