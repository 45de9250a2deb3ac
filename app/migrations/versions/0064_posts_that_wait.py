"""posts that wait to be scored: until when another post's job has one in hand, and an index of those that wait"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0064"
down_revision = "0063"
branch_labels = None
depends_on = None

WAITING = sa.text("status = 'PENDING'")


def upgrade() -> None:
    op.add_column("requests", sa.Column("scoring_until", UtcDateTime(), nullable=True))
    op.create_index(
        "ix_requests_waiting",
        "requests",
        ["community_id", "id"],
        sqlite_where=WAITING,
        postgresql_where=WAITING,
    )


def downgrade() -> None:
    op.drop_index("ix_requests_waiting", "requests")
    op.drop_column("requests", "scoring_until")
