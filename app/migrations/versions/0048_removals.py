"""who was removed from a community, and from when on requests in review kept their scores"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "removals",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("removed_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_removals_community_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_removals_account_id"),
        sa.PrimaryKeyConstraint("community_id", "account_id", name="pk_removals"),
    )
    op.create_index("ix_removals_account_id", "removals", ["account_id"])
    # Those whose last entry about a role says that somebody else took it.
    op.execute(
        """
        INSERT INTO removals (community_id, account_id, removed_at)
        SELECT taken.community_id, taken.object_id, taken.at FROM history AS taken
        WHERE taken.object_type = 'account' AND taken.what = 'role.taken'
        AND (taken.account_id IS NULL OR taken.account_id <> taken.object_id)
        AND EXISTS (SELECT 1 FROM accounts WHERE accounts.id = taken.object_id)
        AND NOT EXISTS (
            SELECT 1 FROM memberships
            WHERE memberships.community_id = taken.community_id AND memberships.account_id = taken.object_id
        )
        AND NOT EXISTS (
            SELECT 1 FROM history AS later
            WHERE later.community_id = taken.community_id AND later.object_type = 'account'
            AND later.object_id = taken.object_id AND later.what IN ('role.given', 'role.taken')
            AND later.number > taken.number
        )
        """
    )
    op.add_column("retention_marks", sa.Column("scores_kept_from", UtcDateTime(), nullable=True))


def downgrade() -> None:
    op.drop_column("retention_marks", "scores_kept_from")
    op.drop_table("removals")
