"""indexes that keep lists, second looks and searches as fast with a million requests as with a thousand"""

import logging

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

log = logging.getLogger("alembic.runtime.migration")

_OF_ACTION = sa.text("object_type = 'action'")
_SECOND_LOOK = sa.text(
    "restores_id IS NULL AND (action_state = 'retro_review' OR "
    "action_state = 'applied' AND action_tier = 'tier_1_immediate')"
)
_OPEN = sa.text("action_state IN ('under_review', 'retro_review')")
_SEARCHED = {
    "ix_requests_search": (
        "requests",
        ["content", "platform_author_id", "request_id", "platform_message_id"],
    ),
    "ix_history_texts_search": ("history_texts", ["actor_name", "reason"]),
}


def upgrade() -> None:
    op.drop_index("ix_requests_community_id_requested_at_id", "requests")
    op.create_index(
        "ix_requests_community_id_requested_at_id",
        "requests",
        ["community_id", "requested_at", "id", "withdrawn_at"],
    )
    _partial("ix_history_actions", "history", ["community_id", "number", "what"], _OF_ACTION)
    _partial("ix_history_actions_what", "history", ["community_id", "what", "number"], _OF_ACTION)
    _partial(
        "ix_moderation_actions_second_looks",
        "moderation_actions",
        ["community_id", "action_state", "retro_review_at", "created_at", "id"],
        _SECOND_LOOK,
    )
    _partial(
        "ix_moderation_actions_open",
        "moderation_actions",
        ["action_state", "created_at", "retro_review_at"],
        _OPEN,
    )
    if op.get_bind().dialect.name == "postgresql" and _has_trigrams():
        for name, (table, columns) in _SEARCHED.items():
            op.create_index(
                name,
                table,
                columns,
                postgresql_using="gin",
                postgresql_ops=dict.fromkeys(columns, "gin_trgm_ops"),
            )


def _partial(name: str, table: str, columns: list[str], where: sa.TextClause) -> None:
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def _has_trigrams() -> bool:
    """Whether the extension is there or could be made. Without it, search works as before, and as slowly."""
    try:
        with op.get_bind().begin_nested():
            op.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    except sa.exc.DBAPIError as error:
        log.warning("Search stays without an index: CREATE EXTENSION pg_trgm failed: %s", error.orig)
        return False
    return True


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for name in _SEARCHED:
            op.execute(f"DROP INDEX IF EXISTS {name}")
    for name, table in (
        ("ix_moderation_actions_open", "moderation_actions"),
        ("ix_moderation_actions_second_looks", "moderation_actions"),
        ("ix_history_actions_what", "history"),
        ("ix_history_actions", "history"),
    ):
        op.drop_index(name, table)
    op.drop_index("ix_requests_community_id_requested_at_id", "requests")
    op.create_index(
        "ix_requests_community_id_requested_at_id", "requests", ["community_id", "requested_at", "id"]
    )
