"""indexes in the order of the lists of Help needed"""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

_ASKED = (
    "action_state IN ('under_review', 'retro_review') AND restores_id IS NULL AND review_group <> 'staff'"
)
_OPEN_NOTE = "NOT rationale AND deleted_at IS NULL AND NOT locked AND status_locked_at IS NULL"
_INDEXES = {
    "ix_moderation_actions_asked": (
        "moderation_actions",
        ["community_id", "created_at", "id", "action_state", "note_id", "category", "language"],
        _ASKED,
    ),
    "ix_notes_open": ("notes", ["community_id", "created_at", "id"], _OPEN_NOTE),
}


def upgrade() -> None:
    for name, (table, columns, condition) in _INDEXES.items():
        where = sa.text(condition)
        op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    for name, (table, _, _) in _INDEXES.items():
        op.drop_index(name, table)
