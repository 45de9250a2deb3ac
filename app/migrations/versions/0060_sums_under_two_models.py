"""sums of ordinary notes under the warm model too: those without are computed again from the ratings"""

from alembic import op

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("DELETE FROM note_sums")


def downgrade() -> None:
    op.execute("DELETE FROM note_sums")
