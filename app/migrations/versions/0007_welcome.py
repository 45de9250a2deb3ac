"""whether a member has been welcomed, and what they answered when they practised"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("memberships", sa.Column("welcomed_at", UtcDateTime(), nullable=True))
    op.add_column(
        "memberships", sa.Column("practice", sa.JSON(), nullable=False, server_default=sa.text("'{}'"))
    )
    # Whoever is a member already knows the place.
    op.execute("UPDATE memberships SET welcomed_at = created_at")


def downgrade() -> None:
    op.drop_column("memberships", "practice")
    op.drop_column("memberships", "welcomed_at")
