"""the community's own model: settings, categories, versions"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "learning",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("asks_first", sa.Boolean(), nullable=False),
        sa.Column("history_number", sa.Integer(), nullable=False),
        sa.Column("erasures", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=True),
        sa.Column("lease_owner", sa.Uuid(), nullable=True),
        sa.Column("lease_until", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_learning_community_id"),
        sa.PrimaryKeyConstraint("community_id", name="pk_learning"),
    )
    op.create_table(
        "learned_categories",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("category", sa.String(40), nullable=False),
        sa.Column("decisions", sa.Integer(), nullable=False),
        sa.Column("labels", sa.Integer(), nullable=False),
        sa.Column("positives", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("trained_at", UtcDateTime(), nullable=True),
        sa.Column("newest_label_at", UtcDateTime(), nullable=True),
        sa.Column("last_version", sa.Integer(), nullable=False),
        sa.Column("version_in_force", sa.Integer(), nullable=False),
        sa.Column("in_force_since", UtcDateTime(), nullable=True),
        sa.Column("waiting_version", sa.Integer(), nullable=False),
        sa.Column("asks_first", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_learned_categories_community_id"
        ),
        sa.PrimaryKeyConstraint("community_id", "category", name="pk_learned_categories"),
    )
    op.create_table(
        "learned_models",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("category", sa.String(40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("features", sa.Integer(), nullable=False),
        sa.Column("weights", sa.LargeBinary(), nullable=True),
        sa.Column("blend_a", sa.Float(), nullable=False),
        sa.Column("blend_b", sa.Float(), nullable=False),
        sa.Column("blend_c", sa.Float(), nullable=False),
        sa.Column("labels", sa.Integer(), nullable=False),
        sa.Column("positives", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("words", sa.JSON(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("erased_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_learned_models_community_id"),
        sa.PrimaryKeyConstraint("id", name="pk_learned_models"),
        sa.UniqueConstraint(
            "community_id", "category", "version", name="uq_learned_models_community_id_category_version"
        ),
    )


def downgrade() -> None:
    op.drop_table("learned_models")
    op.drop_table("learned_categories")
    op.drop_table("learning")
