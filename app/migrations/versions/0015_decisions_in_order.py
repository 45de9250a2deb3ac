"""the decisions of every community in their order, for the poll of a key that reaches them all"""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_decisions_decided_at", "decisions", ["decided_at"])


def downgrade() -> None:
    op.drop_index("ix_decisions_decided_at", "decisions")
