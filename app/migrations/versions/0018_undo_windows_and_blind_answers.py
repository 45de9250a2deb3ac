"""each moderator's own time to undo; what a rater said before the outcome could be seen"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_RATINGS = sa.table(
    "ratings", sa.column("helpfulness_level", sa.String()), sa.column("blind_level", sa.String())
)


def upgrade() -> None:
    op.add_column("accounts", sa.Column("undo_seconds", sa.Integer(), nullable=True))
    op.add_column("ratings", sa.Column("blind_level", sa.String(length=40), nullable=True))
    # Until now an answer could be changed afterwards; what it says today is all that is known of it.
    op.execute(_RATINGS.update().values(blind_level=_RATINGS.c.helpfulness_level))


def downgrade() -> None:
    op.drop_column("ratings", "blind_level")
    op.drop_column("accounts", "undo_seconds")
