"""since when an action that came back under review is reviewed; no items of people who moderate no longer"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("moderation_actions", sa.Column("review_opened_at", UtcDateTime(), nullable=True))
    actions = sa.table(
        "moderation_actions",
        sa.column("id", sa.Uuid()),
        sa.column("action_state", sa.String()),
        sa.column("created_at", UtcDateTime()),
        sa.column("proposed_at", UtcDateTime()),
        sa.column("due_at", UtcDateTime()),
        sa.column("urgent_at", UtcDateTime()),
        sa.column("review_opened_at", UtcDateTime()),
    )
    history = sa.table(
        "history",
        sa.column("object_type", sa.String()),
        sa.column("object_id", sa.Uuid()),
        sa.column("what", sa.String()),
        sa.column("at", UtcDateTime()),
    )
    # Only a proposal comes back; one that nobody returned is not under review.
    returned = (
        sa.select(actions, sa.func.max(history.c.at, type_=UtcDateTime()).label("returned_at"))
        .join(history, history.c.object_id == actions.c.id)
        .where(
            actions.c.action_state == "under_review",
            actions.c.proposed_at.is_not(None),
            history.c.object_type == "action",
            history.c.what == "action.under_review",
        )
        .group_by(*actions.c)
    )
    connection = op.get_bind()
    for row in connection.execute(returned).all():
        values = {"review_opened_at": row.returned_at}
        if row.due_at is not None and row.due_at <= row.returned_at:
            late = row.returned_at - row.created_at
            values["due_at"] = row.due_at + late
            values["urgent_at"] = row.urgent_at + late if row.urgent_at is not None else None
        connection.execute(sa.update(actions).where(actions.c.id == row.id).values(**values))
    op.execute(
        """
        UPDATE moderation_actions SET assigned_to_id = NULL
        WHERE assigned_to_id IS NOT NULL AND action_state IN ('under_review', 'proposed')
        AND NOT EXISTS (
            SELECT 1 FROM memberships JOIN accounts ON accounts.id = memberships.account_id
            WHERE memberships.account_id = moderation_actions.assigned_to_id
            AND memberships.community_id = moderation_actions.community_id
            AND memberships.role IN ('moderator', 'operator', 'admin') AND accounts.disabled_at IS NULL
        )
        """
    )


def downgrade() -> None:
    op.drop_column("moderation_actions", "review_opened_at")
