"""a community may ask raters about a random share of the posts below its thresholds, to learn from the answers"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

_LABELLED = sa.text("acted IS NOT NULL")


def upgrade() -> None:
    op.add_column("learning", sa.Column("sample_share", sa.Float(), nullable=False, server_default="0"))
    op.add_column("learning", sa.Column("sample_key", sa.String(32), nullable=True))
    op.create_table(
        "learning_samples",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("category", sa.String(40), nullable=False),
        sa.Column("decided_verb", sa.String(20), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("acted", sa.Boolean(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("ends_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_learning_samples_community_id"
        ),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_learning_samples_request_id"),
        sa.PrimaryKeyConstraint("id", name="pk_learning_samples"),
        sa.UniqueConstraint("request_id", name="uq_learning_samples_request_id"),
    )
    op.create_index(
        "ix_learning_samples_community_id_created_at", "learning_samples", ["community_id", "created_at"]
    )
    op.create_index(
        "ix_learning_samples_labelled",
        "learning_samples",
        ["community_id", "category", "ended_at"],
        sqlite_where=_LABELLED,
        postgresql_where=_LABELLED,
    )
    op.create_table(
        "learning_answers",
        sa.Column("sample_id", sa.Uuid(), nullable=False),
        sa.Column("profile_id", sa.Uuid(), nullable=False),
        sa.Column("level", sa.String(40), nullable=True),
        sa.Column("exclusion_reason", sa.String(20), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["sample_id"], ["learning_samples.id"], name="fk_learning_answers_sample_id"),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name="fk_learning_answers_profile_id"),
        sa.PrimaryKeyConstraint("sample_id", "profile_id", name="pk_learning_answers"),
    )


def downgrade() -> None:
    op.drop_table("learning_answers")
    op.drop_table("learning_samples")
    op.drop_column("learning", "sample_key")
    op.drop_column("learning", "sample_share")
