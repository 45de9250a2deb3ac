"""find the earlier texts of a message, to know whether one of them is exempt"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_requests_platform_message_id", "requests", ["platform_message_id"])


def downgrade() -> None:
    op.drop_index("ix_requests_platform_message_id", "requests")
