"""reports of posts, reporters whose reports count nothing, and from how many reports on a category asks people"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0076"
down_revision = "0075"
branch_labels = None
depends_on = None

_INDEXES = {
    "ix_reports_post": ["request_id", "state", "is_late", "category", "side", "is_newcomer", "weight"],
    "ix_reports_community_id_reported_at_id": ["community_id", "reported_at", "id"],
    "ix_reports_reported_at_id": ["reported_at", "id"],
    "ix_reports_community_id_updated_at_id": ["community_id", "updated_at", "id"],
    "ix_reports_updated_at_id": ["updated_at", "id"],
    "ix_reports_state": ["community_id", "state", "reported_at", "id"],
    "ix_reports_category": ["community_id", "category", "reported_at", "id"],
    "ix_reports_reporter": ["reporter_id", "community_id", "reported_at", "id", "state"],
}


def upgrade() -> None:
    op.create_table(
        "reports",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("report_id", sa.String(length=255), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("reporter_id", sa.Uuid(), nullable=False),
        sa.Column("reporter_ref", sa.String(length=255), nullable=False),
        sa.Column("category", sa.String(length=40), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("origin", sa.String(length=40), nullable=False),
        sa.Column("state", sa.String(length=40), nullable=False),
        sa.Column("reported_at", UtcDateTime(), nullable=False),
        sa.Column("resolved_at", UtcDateTime(), nullable=True),
        sa.Column("outcome_text", sa.Text(), nullable=True),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("side", sa.Integer(), nullable=False),
        sa.Column("is_newcomer", sa.Boolean(), nullable=False),
        sa.Column("is_late", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_reports_community_id"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_reports_request_id"),
        sa.ForeignKeyConstraint(["reporter_id"], ["profiles.id"], name="fk_reports_reporter_id"),
        sa.PrimaryKeyConstraint("id", name="pk_reports"),
        sa.UniqueConstraint("community_id", "report_id", name="uq_reports_community_id_report_id"),
    )
    counts = sa.text("state <> 'withdrawn'")
    op.create_index(
        "uq_reports_request_id_reporter_id",
        "reports",
        ["request_id", "reporter_id"],
        unique=True,
        sqlite_where=counts,
        postgresql_where=counts,
    )
    is_open = sa.text("state = 'open'")
    op.create_index(
        "ix_reports_open", "reports", ["created_at"], sqlite_where=is_open, postgresql_where=is_open
    )
    for name, columns in _INDEXES.items():
        op.create_index(name, "reports", columns)
    op.create_table(
        "muted_reporters",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("profile_id", sa.Uuid(), nullable=False),
        sa.Column("until", UtcDateTime(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("account_name", sa.String(length=255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_muted_reporters_community_id"),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name="fk_muted_reporters_profile_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_muted_reporters_account_id"),
        sa.PrimaryKeyConstraint("community_id", "profile_id", name="pk_muted_reporters"),
    )
    op.create_index("ix_muted_reporters_profile_id", "muted_reporters", ["profile_id"])
    op.add_column(
        "categories",
        sa.Column("report_threshold", sa.Float(), server_default=sa.text("1"), nullable=True),
    )


def downgrade() -> None:
    op.drop_column("categories", "report_threshold")
    op.drop_table("muted_reporters")
    op.drop_table("reports")
