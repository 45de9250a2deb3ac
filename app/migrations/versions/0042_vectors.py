"""fact-checks as vectors of a connected embeddings service"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0042"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "vector_spaces",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("service_id", sa.Uuid(), nullable=False),
        sa.Column("settings_version", sa.Integer(), nullable=False),
        sa.Column("identity", sa.String(64), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("covered", sa.String(60), nullable=False),
        sa.Column("complete_at", UtcDateTime(), nullable=True),
        sa.Column("leased_until", UtcDateTime(), nullable=True),
        sa.Column("problem", sa.String(255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["service_id"], ["connected_services.id"], name=op.f("fk_vector_spaces_service_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_vector_spaces")),
        sa.UniqueConstraint("service_id", "identity", name=op.f("uq_vector_spaces_service_id_identity")),
    )
    op.create_table(
        "fact_check_vectors",
        sa.Column("space_id", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["space_id"], ["vector_spaces.id"], name=op.f("fk_fact_check_vectors_space_id")
        ),
        sa.ForeignKeyConstraint(
            ["item_id"],
            ["fact_check_items.id"],
            name=op.f("fk_fact_check_vectors_item_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("space_id", "item_id", name=op.f("pk_fact_check_vectors")),
    )
    op.create_index("ix_fact_check_vectors_space_id_position", "fact_check_vectors", ["space_id", "position"])
    op.create_index("ix_fact_check_vectors_space_id_sha256", "fact_check_vectors", ["space_id", "sha256"])
    op.create_index("ix_fact_check_vectors_item_id", "fact_check_vectors", ["item_id"])


def downgrade() -> None:
    op.drop_table("fact_check_vectors")
    op.drop_table("vector_spaces")
