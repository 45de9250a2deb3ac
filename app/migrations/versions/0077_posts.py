"""requests of one post: which repeats which, who waits for which, and the newest text under review"""

import sqlalchemy as sa
from alembic import op

from app import migrations

revision = "0077"
down_revision = "0076"
branch_labels = None
depends_on = None

_REPEATS = sa.text("duplicate_of IS NOT NULL")


def upgrade() -> None:
    op.add_column("requests", sa.Column("duplicate_of", sa.Uuid(), nullable=True))
    op.add_column(
        "requests", sa.Column("is_followed", sa.Boolean(), server_default=sa.false(), nullable=False)
    )
    op.add_column("moderation_actions", sa.Column("newest_request_id", sa.Uuid(), nullable=True))
    _replace("ix_requests_platform_message_id", ["platform_message_id", "duplicate_of"])
    op.create_index(
        "ix_requests_duplicate_of",
        "requests",
        ["duplicate_of"],
        sqlite_where=_REPEATS,
        postgresql_where=_REPEATS,
    )


def downgrade() -> None:
    op.drop_index("ix_requests_duplicate_of", "requests")
    _replace("ix_requests_platform_message_id", ["platform_message_id"])
    op.drop_column("moderation_actions", "newest_request_id")
    op.drop_column("requests", "is_followed")
    op.drop_column("requests", "duplicate_of")


def _replace(name: str, columns: list[str]) -> None:
    op.drop_index(name, "requests")
    with migrations.announced(op.get_bind(), f"index {name}", "requests"):
        op.create_index(name, "requests", columns)
