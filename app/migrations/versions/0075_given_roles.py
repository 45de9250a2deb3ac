"""the role that people gave a member, while a provider's groups give a higher one"""

import sqlalchemy as sa
from alembic import op

revision = "0075"
down_revision = "0074"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("memberships", sa.Column("given_role", sa.String(40), nullable=True))


def downgrade() -> None:
    op.drop_column("memberships", "given_role")
