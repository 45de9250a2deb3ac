"""the history's entries carry type, category, author and language of their action, so that filters read indexes"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

_OF_ACTION = sa.text("object_type = 'action'")
_FILTERED = ("category", "author", "language", "account_id")
_NOT_ABOUT_POSTS = sa.text("object_type NOT IN ('action', 'note', 'rating', 'request')")


def upgrade() -> None:
    for name, length in (("action_type", 20), ("category", 40), ("author", 255), ("language", 8)):
        op.add_column("history", sa.Column(name, sa.String(length), nullable=True))
    op.execute(
        """
        UPDATE history
        SET action_type = moderation_actions.action_type,
            category = coalesce(moderation_actions.decided_category, moderation_actions.category),
            author = requests.platform_author_id,
            language = requests.language
        FROM moderation_actions JOIN requests ON requests.id = moderation_actions.request_id
        WHERE history.object_type = 'action' AND moderation_actions.id = history.object_id
        """
    )
    op.drop_index("ix_history_actions", "history")
    _index("ix_history_actions", ["community_id", "number", "what", "at"])
    for column in _FILTERED:
        _index(f"ix_history_actions_{column}", ["community_id", column, "number"])
    op.create_index(
        "ix_history_not_about_posts",
        "history",
        ["community_id", "number"],
        sqlite_where=_NOT_ABOUT_POSTS,
        postgresql_where=_NOT_ABOUT_POSTS,
    )


def _index(name: str, columns: list[str]) -> None:
    op.create_index(name, "history", columns, sqlite_where=_OF_ACTION, postgresql_where=_OF_ACTION)


def downgrade() -> None:
    op.drop_index("ix_history_not_about_posts", "history")
    for column in reversed(_FILTERED):
        op.drop_index(f"ix_history_actions_{column}", "history")
    op.drop_index("ix_history_actions", "history")
    _index("ix_history_actions", ["community_id", "number", "what"])
    for name in ("language", "author", "category", "action_type"):
        op.drop_column("history", name)
