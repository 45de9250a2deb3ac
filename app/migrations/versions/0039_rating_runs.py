"""what readers prefer in their run of posts and notes, and the notes that they skipped"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    empty = sa.text("'[]'")
    op.add_column("accounts", sa.Column("languages", sa.JSON(), nullable=False, server_default=empty))
    op.add_column(
        "accounts", sa.Column("avoided_categories", sa.JSON(), nullable=False, server_default=empty)
    )
    op.add_column("accounts", sa.Column("break_after_severe", sa.Integer(), nullable=True))
    op.create_table(
        "note_skips",
        sa.Column("profile_id", sa.Uuid(), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name=op.f("fk_note_skips_profile_id")),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name=op.f("fk_note_skips_note_id")),
        sa.PrimaryKeyConstraint("profile_id", "note_id", name=op.f("pk_note_skips")),
    )


def downgrade() -> None:
    op.drop_table("note_skips")
    op.drop_column("accounts", "break_after_severe")
    op.drop_column("accounts", "avoided_categories")
    op.drop_column("accounts", "languages")
