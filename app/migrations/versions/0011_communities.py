"""communities: what integrations supply apart from what operators set, pausing, archiving; overturning in bulk"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_COMMUNITIES = sa.table(
    "communities",
    sa.column("id", sa.Uuid()),
    sa.column("settings", sa.JSON()),
    sa.column("supplied", sa.JSON()),
)
_BOUNDS = {
    "min_ratings": (1, 1_000),
    "helpful_at": (0.0, 0.64),
    "lock_days": (1, 3_650),
    "stabilisation_minutes": (0, 1_440),
    "min_trust_level": (0, 100),
    "min_age_days": (0, 3_650),
    "burst_share": (0.0, 1.0),
    "burst_minutes": (1, 10_080),
    "burst_hours": (1, 8_760),
    "burst_raters": (1, 10_000),
    "burst_known": (0, 10_000),
    "exempt_similarity": (0.0, 1.0),
}
"""What was in force as the service read it until now, whoever had put it there."""
_FRACTIONS = frozenset({"helpful_at", "burst_share", "exempt_similarity"})


def upgrade() -> None:
    op.add_column(
        "communities", sa.Column("supplied", sa.JSON(), nullable=False, server_default=sa.text("'{}'"))
    )
    op.add_column("communities", sa.Column("archived_at", UtcDateTime(), nullable=True))
    op.add_column("communities", sa.Column("paused_at", UtcDateTime(), nullable=True))
    op.add_column("communities", sa.Column("paused_by", sa.String(length=255), nullable=True))
    op.add_column("communities", sa.Column("paused_reason", sa.Text(), nullable=True))
    op.create_index("ix_communities_archived_at", "communities", ["archived_at"])
    # One object held both. Integrations read back all they wrote; what was in force of it stays in force.
    connection = op.get_bind()
    for row in connection.execute(sa.select(_COMMUNITIES.c.id, _COMMUNITIES.c.settings)).all():
        given: dict[str, Any] = row.settings if isinstance(row.settings, dict) else {}
        if given:
            in_force = {name: given[name] for name in _BOUNDS if _counts(name, given.get(name))}
            connection.execute(
                _COMMUNITIES.update()
                .where(_COMMUNITIES.c.id == row.id)
                .values(supplied=given, settings=in_force)
            )
    op.create_table(
        "overturns",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("category", sa.String(length=40), nullable=True),
        sa.Column("rule", sa.String(length=255), nullable=True),
        sa.Column("since", UtcDateTime(), nullable=False),
        sa.Column("with_reviewed", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=40), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("moved_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_overturns_account_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_overturns_community_id"),
        sa.PrimaryKeyConstraint("id", name="pk_overturns"),
    )
    op.create_index("ix_overturns_community_id_created_at", "overturns", ["community_id", "created_at"])
    op.create_index("ix_overturns_state_moved_at", "overturns", ["state", "moved_at"])
    op.create_table(
        "overturn_items",
        sa.Column("overturn_id", sa.Uuid(), nullable=False),
        sa.Column("action_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.String(length=40), nullable=False),
        sa.Column("why", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name="fk_overturn_items_action_id"),
        sa.ForeignKeyConstraint(["overturn_id"], ["overturns.id"], name="fk_overturn_items_overturn_id"),
        sa.PrimaryKeyConstraint("overturn_id", "action_id", name="pk_overturn_items"),
    )
    op.create_index("ix_overturn_items_state", "overturn_items", ["overturn_id", "state", "action_id"])


def downgrade() -> None:
    op.drop_index("ix_overturn_items_state", "overturn_items")
    op.drop_table("overturn_items")
    op.drop_index("ix_overturns_state_moved_at", "overturns")
    op.drop_index("ix_overturns_community_id_created_at", "overturns")
    op.drop_table("overturns")
    # What operators set wins, as it did when both stood in one object.
    connection = op.get_bind()
    found = sa.select(_COMMUNITIES.c.id, _COMMUNITIES.c.settings, _COMMUNITIES.c.supplied)
    for row in connection.execute(found).all():
        if row.supplied:
            whole = {**row.supplied, **(row.settings or {})}
            connection.execute(
                _COMMUNITIES.update().where(_COMMUNITIES.c.id == row.id).values(settings=whole)
            )
    op.drop_index("ix_communities_archived_at", "communities")
    for name in ("paused_reason", "paused_by", "paused_at", "archived_at", "supplied"):
        op.drop_column("communities", name)


def _counts(name: str, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if name not in _FRACTIONS and not isinstance(value, int):
        return False
    least, most = _BOUNDS[name]
    return least <= value <= most
