"""how pictures of posts in sensitive categories look until the reader opens them"""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("accounts", sa.Column("media_veil", sa.String(40), nullable=False, server_default="blur"))


def downgrade() -> None:
    op.drop_column("accounts", "media_veil")
