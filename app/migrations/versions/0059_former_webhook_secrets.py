"""former secrets of webhooks that still sign beside the one before the present"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "webhook_former_secrets",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("until", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["webhook_endpoints.id"],
            name=op.f("fk_webhook_former_secrets_endpoint_id_webhook_endpoints"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_former_secrets")),
    )
    op.create_index("ix_webhook_former_secrets_endpoint_id", "webhook_former_secrets", ["endpoint_id"])


def downgrade() -> None:
    op.drop_table("webhook_former_secrets")
