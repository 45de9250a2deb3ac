"""posts that are tests; when keys last polled; who hid the list of first steps"""

import sqlalchemy as sa
from alembic import op

from app.core import clock
from app.core.types import UtcDateTime

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_COMMUNITIES = sa.table(
    "communities", sa.column("id", sa.Uuid()), sa.column("getting_started_hidden_at", UtcDateTime())
)
_DECISIONS = sa.table("decisions", sa.column("community_id", sa.Uuid()))


def upgrade() -> None:
    op.add_column("requests", sa.Column("is_test", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index(
        "ix_requests_tests",
        "requests",
        ["community_id", "id"],
        sqlite_where=sa.text("is_test = 1"),
        postgresql_where=sa.text("is_test"),
    )
    op.add_column("api_keys", sa.Column("last_polled_at", UtcDateTime(), nullable=True))
    op.add_column("communities", sa.Column("getting_started_hidden_at", UtcDateTime(), nullable=True))
    # Where something was decided already, people know their way about and start as they are used to.
    has_decided = sa.exists().where(_DECISIONS.c.community_id == _COMMUNITIES.c.id)
    op.execute(_COMMUNITIES.update().where(has_decided).values(getting_started_hidden_at=clock.now()))


def downgrade() -> None:
    op.drop_column("communities", "getting_started_hidden_at")
    op.drop_column("api_keys", "last_polled_at")
    op.drop_index("ix_requests_tests", "requests")
    op.drop_column("requests", "is_test")
