"""an index of the requests that were withdrawn, which a count of decisions leaves out"""

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

_INDEX = "ix_requests_withdrawn"


def upgrade() -> None:
    where = sa.text("withdrawn_at IS NOT NULL")
    op.create_index(_INDEX, "requests", ["community_id", "id"], sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    op.drop_index(_INDEX, "requests")
