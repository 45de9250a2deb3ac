"""dismissals that are taken up again: which action reopens which, when, and where a held one is to go"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("moderation_actions", sa.Column("reopens_id", sa.Uuid(), nullable=True))
    op.add_column("moderation_actions", sa.Column("reopened_at", UtcDateTime(), nullable=True))
    op.create_index("uq_moderation_actions_reopens_id", "moderation_actions", ["reopens_id"], unique=True)
    op.add_column("holds", sa.Column("reopen_to", sa.String(length=40), nullable=True))


def downgrade() -> None:
    # Nothing has come of these yet, and the release before cannot read their verb.
    op.execute("DELETE FROM holds WHERE verb = 'reopen'")
    op.drop_column("holds", "reopen_to")
    op.drop_index("uq_moderation_actions_reopens_id", "moderation_actions")
    op.drop_column("moderation_actions", "reopened_at")
    op.drop_column("moderation_actions", "reopens_id")
