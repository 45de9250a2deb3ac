"""links that are mailed and work once: confirmation, reset, change of address, invitation; who wants a digest"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_PURPOSES = ("confirm", "reset", "change_email", "invite")
_ROLES = ("rater", "moderator", "operator", "admin")


def upgrade() -> None:
    op.create_table(
        "account_links",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column(
            "purpose",
            sa.Enum(*_PURPOSES, name="linkpurpose", native_enum=False, length=40),
            nullable=False,
        ),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("sent_at", UtcDateTime(), nullable=True),
        sa.Column("failed_at", UtcDateTime(), nullable=True),
        sa.Column("used_at", UtcDateTime(), nullable=True),
        sa.Column("withdrawn_at", UtcDateTime(), nullable=True),
        sa.Column("password_hash", sa.String(length=255), nullable=True),
        sa.Column("display_name", sa.String(length=255), nullable=True),
        sa.Column("previous_email", sa.String(length=254), nullable=True),
        sa.Column("community_id", sa.Uuid(), nullable=True),
        sa.Column("role", sa.Enum(*_ROLES, name="role", native_enum=False, length=40), nullable=True),
        sa.Column("invited_by_id", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_account_links_account_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_account_links_community_id"),
        sa.ForeignKeyConstraint(["invited_by_id"], ["accounts.id"], name="fk_account_links_invited_by_id"),
        sa.PrimaryKeyConstraint("id", name="pk_account_links"),
        sa.UniqueConstraint("token_hash", name="uq_account_links_token_hash"),
    )
    op.create_index("ix_account_links_account_id_purpose", "account_links", ["account_id", "purpose"])
    op.create_index("ix_account_links_email_purpose", "account_links", ["email", "purpose"])
    op.create_index("ix_account_links_community_id", "account_links", ["community_id"])
    op.create_index("ix_account_links_expires_at", "account_links", ["expires_at"])
    op.add_column(
        "accounts",
        sa.Column(
            "digest",
            sa.Enum("off", "daily", "weekly", name="digest", native_enum=False, length=40),
            nullable=False,
            server_default="off",
        ),
    )
    op.add_column("accounts", sa.Column("digest_sent_at", UtcDateTime(), nullable=True))


def downgrade() -> None:
    op.drop_column("accounts", "digest_sent_at")
    op.drop_column("accounts", "digest")
    for name in ("expires_at", "community_id", "email_purpose", "account_id_purpose"):
        op.drop_index(f"ix_account_links_{name}", "account_links")
    op.drop_table("account_links")
