"""the keys that a person chose for the dashboard, and the decision that a reason template is the default for"""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "accounts", sa.Column("key_bindings", sa.JSON(), nullable=False, server_default=sa.text("'{}'"))
    )
    op.add_column("reason_templates", sa.Column("verb", sa.String(40), nullable=True))


def downgrade() -> None:
    op.drop_column("reason_templates", "verb")
    op.drop_column("accounts", "key_bindings")
