"""the webhook with each attempt, the name of its event with each delivery, and indexes of both and of what is dead"""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("delivery_attempts", sa.Column("endpoint_id", sa.Uuid(), nullable=True))
    op.execute(
        "UPDATE delivery_attempts SET endpoint_id ="
        " (SELECT d.endpoint_id FROM deliveries d WHERE d.id = delivery_attempts.delivery_id)"
    )
    op.create_index("ix_delivery_attempts_endpoint_id_at", "delivery_attempts", ["endpoint_id", "at"])
    op.add_column("deliveries", sa.Column("event_name", sa.String(40), nullable=True))
    op.execute(
        "UPDATE deliveries SET event_name = (SELECT e.name FROM events e WHERE e.id = deliveries.event_id)"
    )
    op.create_index(
        "ix_deliveries_community_id_event_name_created_at",
        "deliveries",
        ["community_id", "event_name", "created_at"],
    )
    dead = sa.text("state = 'dead'")
    op.create_index(
        "ix_deliveries_dead",
        "deliveries",
        ["community_id", "created_at"],
        sqlite_where=dead,
        postgresql_where=dead,
    )


def downgrade() -> None:
    op.drop_index("ix_deliveries_dead", "deliveries")
    op.drop_index("ix_deliveries_community_id_event_name_created_at", "deliveries")
    op.drop_column("deliveries", "event_name")
    op.drop_index("ix_delivery_attempts_endpoint_id_at", "delivery_attempts")
    op.drop_column("delivery_attempts", "endpoint_id")
