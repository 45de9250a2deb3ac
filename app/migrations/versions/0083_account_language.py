"""the language that a person chose"""

import sqlalchemy as sa
from alembic import op

revision = "0083"
down_revision = "0082"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("accounts", sa.Column("language", sa.String(16), nullable=True))


def downgrade() -> None:
    op.drop_column("accounts", "language")
