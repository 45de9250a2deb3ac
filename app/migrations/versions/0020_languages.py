"""the detected language of a post"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("requests", sa.Column("language", sa.String(8), nullable=True))
    op.create_index(
        "ix_requests_community_id_language",
        "requests",
        ["community_id", "language"],
        sqlite_where=sa.text("language IS NOT NULL"),
        postgresql_where=sa.text("language IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_requests_community_id_language", "requests")
    op.drop_column("requests", "language")
