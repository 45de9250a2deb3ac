"""facts stored with posts, the marks they are counted by, and waves of posts alike"""

import sqlalchemy as sa
from alembic import op

from app import migrations
from app.core.types import UtcDateTime

revision = "0079"
down_revision = "0078"
branch_labels = None
depends_on = None

_FACTS = (
    "author_posts_hour",
    "author_posts_day",
    "author_links_hour",
    "author_links_day",
    "host_posts_hour",
    "host_posts_day",
    "alike_hour",
    "alike_day",
    "alike_authors",
    "account_age_hours",
    "trust_level",
    "posts_count",
)


def upgrade() -> None:
    op.create_table(
        "post_facts",
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=True) for name in _FACTS),
        sa.Column("signature", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("request_id", name="pk_post_facts"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_post_facts_request_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_post_facts_community_id"),
    )
    op.create_table(
        "post_marks",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("mark", sa.BigInteger(), nullable=False),
        sa.Column("post_id", sa.Uuid(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "mark", "post_id", name="pk_post_marks"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_post_marks_community_id"),
    )
    op.create_index("ix_post_marks_at", "post_marks", ["at"], postgresql_using="brin")
    op.create_table(
        "waves",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("category", sa.String(length=40), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("joins", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("decided_at", UtcDateTime(), nullable=True),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("verb", sa.String(length=40), nullable=True),
        sa.Column("act_as", sa.String(length=40), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("author_text", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_waves"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_waves_community_id"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_waves_request_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_waves_account_id"),
    )
    op.create_index("ix_waves_request_id", "waves", ["request_id"])
    op.create_index("ix_waves_account_id", "waves", ["account_id"])
    op.add_column("holds", sa.Column("together_id", sa.Uuid(), nullable=True))
    op.create_index("ix_holds_together_id", "holds", ["together_id"])
    op.add_column("moderation_actions", sa.Column("wave_id", sa.Uuid(), nullable=True))
    name = "ix_moderation_actions_wave_id"
    with migrations.announced(op.get_bind(), f"index {name}", "moderation_actions"):
        op.create_index(
            name,
            "moderation_actions",
            ["wave_id", "id", "action_state"],
            sqlite_where=sa.text("wave_id IS NOT NULL"),
            postgresql_where=sa.text("wave_id IS NOT NULL"),
        )


def downgrade() -> None:
    op.drop_index("ix_moderation_actions_wave_id", "moderation_actions")
    op.drop_column("moderation_actions", "wave_id")
    op.drop_index("ix_holds_together_id", "holds")
    op.drop_column("holds", "together_id")
    op.drop_table("waves")
    op.drop_table("post_marks")
    op.drop_table("post_facts")
