"""categories that only observe, scores as routing read them, a community's own rules"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_HIGHEST = sa.text("is_highest AND score > 0")
_HIGHEST_SQLITE = sa.text("is_highest = 1 AND score > 0")
_OBSERVED = sa.text("observed_tier IS NOT NULL")


def upgrade() -> None:
    op.add_column(
        "categories", sa.Column("observe_only", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("requests", sa.Column("scored_at", UtcDateTime(), nullable=True))
    op.execute(
        "UPDATE requests SET scored_at = (SELECT MIN(created_at) FROM scores WHERE scores.request_id = requests.id)"
    )
    op.create_index("ix_requests_community_id_scored_at", "requests", ["community_id", "scored_at"])
    op.add_column("scores", sa.Column("is_highest", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("scores", sa.Column("observed_tier", sa.Integer(), nullable=True))
    # Of equal scores of one request in one category any may stand for both; the one that may act goes first, as in
    # routing.
    op.execute(
        "UPDATE scores SET is_highest = (1 = 1) WHERE id IN (SELECT id FROM (SELECT id, ROW_NUMBER() OVER "
        "(PARTITION BY request_id, category ORDER BY score DESC, tier1_capable DESC, id) AS place FROM scores) "
        "AS placed WHERE place = 1)"
    )
    op.create_index(
        "ix_scores_highest",
        "scores",
        ["community_id", "category", "score", "created_at", "request_id", "tier1_capable", "is_highest"],
        sqlite_where=_HIGHEST_SQLITE,
        postgresql_where=_HIGHEST,
    )
    # Only previews read it, and they do better with the one above; SQLite would choose it all the same.
    op.drop_index("ix_scores_community_id_category_created_at", "scores")
    op.create_index(
        "ix_scores_observed",
        "scores",
        ["community_id", "created_at", "category", "observed_tier"],
        sqlite_where=_OBSERVED,
        postgresql_where=_OBSERVED,
    )
    op.create_table(
        "rule_packs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("starter_off", sa.JSON(), nullable=False),
        sa.Column("pack", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_by", sa.String(255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_rule_packs_community_id"),
        sa.PrimaryKeyConstraint("id", name="pk_rule_packs"),
        sa.UniqueConstraint("community_id", "version", name="uq_rule_packs_community_id_version"),
    )
    op.create_table(
        "rule_pack_drafts",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("starter_off", sa.JSON(), nullable=False),
        sa.Column("pack", sa.JSON(), nullable=False),
        sa.Column("edition", sa.Integer(), nullable=False),
        sa.Column("changed_by", sa.String(255), nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_rule_pack_drafts_community_id"
        ),
        sa.PrimaryKeyConstraint("community_id", name="pk_rule_pack_drafts"),
    )


def downgrade() -> None:
    op.drop_table("rule_pack_drafts")
    op.drop_table("rule_packs")
    op.create_index(
        "ix_scores_community_id_category_created_at", "scores", ["community_id", "category", "created_at"]
    )
    op.drop_index("ix_scores_observed", "scores")
    op.drop_index("ix_scores_highest", "scores")
    op.drop_column("scores", "observed_tier")
    op.drop_column("scores", "is_highest")
    op.drop_index("ix_requests_community_id_scored_at", "requests")
    op.drop_column("requests", "scored_at")
    op.drop_column("categories", "observe_only")
