"""indexes in the order of the lists: Help needed, second looks, and the queue by score"""

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
_SECOND_LOOK = (
    "restores_id IS NULL AND (action_state = 'retro_review' OR "
    "action_state = 'applied' AND action_tier = 'tier_1_immediate')"
)
_INDEXES: dict[str, tuple[str, list[str], str]] = {
    "ix_moderation_actions_asked": (
        "moderation_actions",
        ["community_id", "created_at", "id", "action_state", "note_id", "category", "language"],
        _ASKED,
    ),
    "ix_notes_open": ("notes", ["community_id", "created_at", "id"], _OPEN_NOTE),
    "ix_moderation_actions_look_list": (
        "moderation_actions",
        [
            "community_id",
            "action_state DESC",
            "coalesce(urgent_at, created_at)",
            "id",
            "urgent_at",
            "created_at",
            "category",
            "score",
        ],
        _SECOND_LOOK,
    ),
    "ix_moderation_actions_score": (
        "moderation_actions",
        ["community_id", "coalesce(score, 0.0) DESC", "created_at", "id"],
        "action_state = 'under_review'",
    ),
}


def upgrade() -> None:
    for name, (table, columns, condition) in _INDEXES.items():
        where, parts = sa.text(condition), [sa.text(column) for column in columns]
        op.create_index(name, table, parts, sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    for name, (table, _, _) in _INDEXES.items():
        op.drop_index(name, table)
