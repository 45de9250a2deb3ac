"""indexes for the filters of lists: what few rows match is found, and totals are counted, without reading tables"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from app import migrations

revision = "0069"
down_revision = "0068"
branch_labels = None
depends_on = None

_WIDENED = {
    "ix_requests_requested_at_id": ("requests", "requested_at id", "withdrawn_at status"),
    "ix_notes_community_id_created_at_id": (
        "notes",
        "community_id created_at id deleted_at",
        "rationale request_id",
    ),
    "ix_notes_created_at_id": ("notes", "created_at id", "deleted_at rationale request_id"),
}
"""Indexes that get more columns: their table, the columns they had, and those that are new."""
_NEW = {
    "ix_history_actions_action_type": (
        "history",
        "community_id action_type number",
        "object_type = 'action'",
    ),
    "ix_history_account_id": ("history", "account_id", "account_id IS NOT NULL"),
    "ix_history_profile_id": ("history", "profile_id", "profile_id IS NOT NULL"),
    "ix_requests_requested_by": (
        "requests",
        "requested_by community_id requested_at id withdrawn_at status",
        "",
    ),
    "ix_requests_dataset": (
        "requests",
        "dataset_name community_id requested_at id withdrawn_at",
        "dataset_name IS NOT NULL",
    ),
    "ix_notes_platform_message_id": (
        "notes",
        "platform_message_id community_id",
        "platform_message_id IS NOT NULL",
    ),
    "ix_notes_status": (
        "notes",
        "community_id status created_at id version deleted_at rationale request_id",
        "",
    ),
    "ix_moderation_actions_tier": (
        "moderation_actions",
        "community_id action_tier created_at id action_state category restores_id",
        "action_tier IS NOT NULL",
    ),
    "ix_decisions_tier": ("decisions", "community_id tier decision", ""),
    "ix_memberships_community_id_created_at_id": ("memberships", "community_id created_at id", ""),
    "ix_memberships_community_id_role": ("memberships", "community_id role", ""),
}
"""Indexes by name: their table, columns, and which rows they have."""


def upgrade() -> None:
    for name, (table, had, new) in _WIDENED.items():
        op.drop_index(name, table)
        _create(name, table, f"{had} {new}")
    for name, (table, columns, where) in _NEW.items():
        _create(name, table, columns, where)
    op.drop_index("ix_memberships_community_id", "memberships")


def downgrade() -> None:
    _create("ix_memberships_community_id", "memberships", "community_id")
    for name, (table, _, _) in _NEW.items():
        op.drop_index(name, table)
    for name, (table, had, _) in _WIDENED.items():
        op.drop_index(name, table)
        _create(name, table, had)


def _create(name: str, table: str, columns: str, where: str = "") -> None:
    rows: dict[str, Any] = (
        {"sqlite_where": sa.text(where), "postgresql_where": sa.text(where)} if where else {}
    )
    with migrations.announced(op.get_bind(), f"index {name}", table):
        op.create_index(name, table, columns.split(), **rows)
