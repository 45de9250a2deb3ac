"""silences have an end; categories give strikes; what is proposed for an author's strikes"""

import sqlalchemy as sa
from alembic import op

from app import migrations
from app.core.types import UtcDateTime

revision = "0078"
down_revision = "0077"
branch_labels = None
depends_on = None

_ENDING = sa.text("until IS NOT NULL AND ended_at IS NULL")
_STEPS = sa.text("strike_step IS NOT NULL")
_BY_ACTION = sa.text("action_id IS NOT NULL")


def upgrade() -> None:
    op.add_column("moderation_actions", sa.Column("until", UtcDateTime(), nullable=True))
    op.add_column("moderation_actions", sa.Column("ended_at", UtcDateTime(), nullable=True))
    op.add_column("moderation_actions", sa.Column("strike_step", sa.String(40), nullable=True))
    op.add_column("holds", sa.Column("until", UtcDateTime(), nullable=True))
    op.add_column(
        "categories", sa.Column("strike_points", sa.Integer(), server_default=sa.text("0"), nullable=False)
    )
    op.add_column(
        "categories", sa.Column("strike_days", sa.Integer(), server_default=sa.text("90"), nullable=False)
    )
    with migrations.announced(op.get_bind(), "indexes of silences and steps", "moderation_actions"):
        op.create_index(
            "ix_moderation_actions_until",
            "moderation_actions",
            ["until", "id"],
            sqlite_where=_ENDING,
            postgresql_where=_ENDING,
        )
        op.create_index(
            "ix_moderation_actions_strike_step",
            "moderation_actions",
            ["community_id", "platform_author_id", "created_at"],
            sqlite_where=_STEPS,
            postgresql_where=_STEPS,
        )
    op.create_table(
        "strikes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("platform_author_id", sa.String(length=255), nullable=False),
        sa.Column("points", sa.Integer(), nullable=False),
        sa.Column("category", sa.String(length=40), nullable=True),
        sa.Column("action_id", sa.Uuid(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("account_name", sa.String(length=255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("lifted_at", UtcDateTime(), nullable=True),
        sa.Column("lift_reason", sa.Text(), nullable=False),
        sa.Column("lifted_by_id", sa.Uuid(), nullable=True),
        sa.Column("lifted_by_name", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_strikes_account_id"),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name="fk_strikes_action_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_strikes_community_id"),
        sa.ForeignKeyConstraint(["lifted_by_id"], ["accounts.id"], name="fk_strikes_lifted_by_id"),
        sa.PrimaryKeyConstraint("id", name="pk_strikes"),
    )
    op.create_index(
        "ix_strikes_author", "strikes", ["community_id", "platform_author_id", "created_at", "id"]
    )
    op.create_index(
        "uq_strikes_action_id",
        "strikes",
        ["action_id"],
        unique=True,
        sqlite_where=_BY_ACTION,
        postgresql_where=_BY_ACTION,
    )
    op.create_index("ix_strikes_account_id", "strikes", ["account_id"])
    op.create_index("ix_strikes_lifted_by_id", "strikes", ["lifted_by_id"])


def downgrade() -> None:
    op.drop_table("strikes")
    op.drop_index("ix_moderation_actions_strike_step", "moderation_actions")
    op.drop_index("ix_moderation_actions_until", "moderation_actions")
    op.drop_column("categories", "strike_days")
    op.drop_column("categories", "strike_points")
    op.drop_column("holds", "until")
    op.drop_column("moderation_actions", "strike_step")
    op.drop_column("moderation_actions", "ended_at")
    op.drop_column("moderation_actions", "until")
