"""the index of messages gets the community, so that SQLite prefers it to the indexes of communities"""

from alembic import op

from app import migrations

revision = "0082"
down_revision = "0081"
branch_labels = None
depends_on = None

_INDEX = "ix_requests_platform_message_id"


def upgrade() -> None:
    _replace(["platform_message_id", "community_id", "duplicate_of"])


def downgrade() -> None:
    _replace(["platform_message_id", "duplicate_of"])


def _replace(columns: list[str]) -> None:
    op.drop_index(_INDEX, "requests")
    with migrations.announced(op.get_bind(), f"index {_INDEX}", "requests"):
        op.create_index(_INDEX, "requests", columns)
