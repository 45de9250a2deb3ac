"""which request is an edit of which"""

import sqlalchemy as sa
from alembic import op

revision = "0068"
down_revision = "0067"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("requests", sa.Column("edit_of", sa.Uuid(), nullable=True))


def downgrade() -> None:
    op.drop_column("requests", "edit_of")
