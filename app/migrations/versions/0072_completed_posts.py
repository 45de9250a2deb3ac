"""the indexes of completed posts get what their list filters by, so that no post is read that it does not show"""

from alembic import op

from app import migrations

revision = "0072"
down_revision = "0071"
branch_labels = None
depends_on = None

_INDEXES = {
    "ix_requests_community_id_completed_at_id": ["community_id", "completed_at", "id"],
    "ix_requests_completed_at_id": ["completed_at", "id"],
}
_NEW = ["withdrawn_at", "status"]


def upgrade() -> None:
    for name, columns in _INDEXES.items():
        _replace(name, [*columns, *_NEW])


def downgrade() -> None:
    for name, columns in _INDEXES.items():
        _replace(name, columns)


def _replace(name: str, columns: list[str]) -> None:
    op.drop_index(name, "requests")
    with migrations.announced(op.get_bind(), f"index {name}", "requests"):
        op.create_index(name, "requests", columns)
