"""services that score posts, their numbered settings, their days; scores that are only observed"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("scores", sa.Column("is_observed", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "connected_services",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("mode", sa.String(40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=True),
        sa.Column("consents", sa.JSON(), nullable=False),
        sa.Column("model_seen", sa.String(100), nullable=False),
        sa.Column("model_before", sa.String(100), nullable=False),
        sa.Column("model_changed_at", UtcDateTime(), nullable=True),
        sa.Column("etag", sa.Integer(), nullable=False),
        sa.Column("removed_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_connected_services_community_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_connected_services"),
    )
    op.create_index(
        "uq_connected_services_community_id_name",
        "connected_services",
        ["community_id", "name"],
        unique=True,
        sqlite_where=sa.text("removed_at IS NULL"),
        postgresql_where=sa.text("removed_at IS NULL"),
    )
    op.create_table(
        "connected_service_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("service_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_by_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["service_id"], ["connected_services.id"], name="fk_connected_service_versions_service_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_connected_service_versions"),
        sa.UniqueConstraint("service_id", "version", name="uq_connected_service_versions_service_id_version"),
    )
    op.create_table(
        "connected_service_days",
        sa.Column("service_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("errors", sa.Integer(), nullable=False),
        sa.Column("cached", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.Column("milliseconds", sa.JSON(), nullable=False),
        sa.Column("last_error", sa.String(255), nullable=False),
        sa.ForeignKeyConstraint(
            ["service_id"], ["connected_services.id"], name="fk_connected_service_days_service_id"
        ),
        sa.PrimaryKeyConstraint("service_id", "day", name="pk_connected_service_days"),
    )


def downgrade() -> None:
    op.drop_table("connected_service_days")
    op.drop_table("connected_service_versions")
    op.drop_index("uq_connected_services_community_id_name", "connected_services")
    op.drop_table("connected_services")
    op.drop_column("scores", "is_observed")
