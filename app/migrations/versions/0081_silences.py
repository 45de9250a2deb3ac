"""an author's silences are found by an index of their own"""

import sqlalchemy as sa
from alembic import op

from app import migrations

revision = "0081"
down_revision = "0080"
branch_labels = None
depends_on = None

_SILENCES = sa.text("action_type = 'silence'")


def upgrade() -> None:
    with migrations.announced(op.get_bind(), "index ix_moderation_actions_silences", "moderation_actions"):
        op.create_index(
            "ix_moderation_actions_silences",
            "moderation_actions",
            ["community_id", "platform_author_id"],
            sqlite_where=_SILENCES,
            postgresql_where=_SILENCES,
        )


def downgrade() -> None:
    op.drop_index("ix_moderation_actions_silences", "moderation_actions")
