"""note scoring: fits, raters' parameters, notes' sums, and why a rating does not count"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_NOTE_COLUMNS = ("factor", "rating_changes", "status_since", "status_locked_at", "helpful_pending_since")


def upgrade() -> None:
    # Ratings given before this migration count: whether their raters were interested is asked again when they change.
    op.add_column("ratings", sa.Column("excluded", sa.String(length=20), nullable=True))
    op.add_column("notes", sa.Column("factor", sa.Float(), nullable=True))
    op.add_column("notes", sa.Column("rating_changes", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("notes", sa.Column("status_since", UtcDateTime(), nullable=True))
    op.add_column("notes", sa.Column("status_locked_at", UtcDateTime(), nullable=True))
    op.add_column("notes", sa.Column("helpful_pending_since", UtcDateTime(), nullable=True))
    op.create_index(
        "ix_notes_helpful_pending_since",
        "notes",
        ["helpful_pending_since"],
        sqlite_where=sa.text("helpful_pending_since IS NOT NULL"),
        postgresql_where=sa.text("helpful_pending_since IS NOT NULL"),
    )
    op.create_table(
        "scoring_models",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("regime", sa.String(length=10), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("ratings", sa.Integer(), nullable=False),
        sa.Column("notes", sa.Integer(), nullable=False),
        sa.Column("raters", sa.Integer(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_scoring_models_community_id"),
        sa.PrimaryKeyConstraint("id", name="pk_scoring_models"),
        sa.UniqueConstraint("community_id", "version", name="uq_scoring_models_community_id_version"),
    )
    op.create_table(
        "scoring_states",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("model_version", sa.Integer(), nullable=False),
        sa.Column("last_version", sa.Integer(), nullable=False),
        sa.Column("ratings_since", sa.Integer(), nullable=False),
        sa.Column("ratings_fitted", sa.Integer(), nullable=False),
        sa.Column("fitted_at", UtcDateTime(), nullable=True),
        sa.Column("fit_milliseconds", sa.Integer(), nullable=False),
        sa.Column("refit_due_at", UtcDateTime(), nullable=True),
        sa.Column("lease_owner", sa.Uuid(), nullable=True),
        sa.Column("lease_until", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_scoring_states_community_id"),
        sa.PrimaryKeyConstraint("community_id", name="pk_scoring_states"),
    )
    op.create_index("ix_scoring_states_refit_due_at", "scoring_states", ["refit_due_at"])
    op.create_table(
        "rater_parameters",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("profile_id", sa.Uuid(), nullable=False),
        sa.Column("intercept", sa.Float(), nullable=False),
        sa.Column("factor", sa.Float(), nullable=False),
        sa.Column("helpfulness", sa.Float(), nullable=True),
        sa.Column("kept", sa.Boolean(), nullable=False),
        sa.Column("volume", sa.Boolean(), nullable=False),
        sa.Column("correlated", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "version", "profile_id", name="pk_rater_parameters"),
    )
    op.create_table(
        "note_sums",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("note_version", sa.Integer(), nullable=False),
        sa.Column("rating_changes", sa.Integer(), nullable=False),
        sa.Column("sums", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "version", "note_id", name="pk_note_sums"),
    )
    # Every community with ratings is due: its notes are scored anew under the rules of this version.
    op.execute(
        sa.text(
            "INSERT INTO scoring_states (community_id, model_version, last_version, ratings_since, ratings_fitted, "
            "fit_milliseconds, refit_due_at) "
            "SELECT community_id, 0, 0, COUNT(*), 0, 0, MAX(updated_at) FROM ratings GROUP BY community_id"
        )
    )


def downgrade() -> None:
    op.drop_table("note_sums")
    op.drop_table("rater_parameters")
    op.drop_table("scoring_states")
    op.drop_table("scoring_models")
    op.drop_index("ix_notes_helpful_pending_since", "notes")
    for name in _NOTE_COLUMNS:
        op.drop_column("notes", name)
    op.drop_column("ratings", "excluded")
