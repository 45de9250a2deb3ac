"""drawn panels: who could be drawn, the panels of reviews, and their seats"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "panel_rolls",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("people", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("raters", sa.LargeBinary(), nullable=False),
        sa.Column("made_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name=op.f("fk_panel_rolls_community_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_panel_rolls")),
    )
    op.create_index("ix_panel_rolls_community_id_made_at", "panel_rolls", ["community_id", "made_at"])
    op.create_table(
        "panels",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("action_id", sa.Uuid(), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("roll_id", sa.Uuid(), nullable=True),
        sa.Column("review", sa.String(40), nullable=False),
        sa.Column("reason", sa.String(255), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("hours", sa.Integer(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.Column("shortlist", sa.LargeBinary(), nullable=True),
        sa.Column("opened_at", UtcDateTime(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.Column("outcome", sa.String(40), nullable=True),
        sa.Column("answered", sa.Integer(), nullable=False),
        sa.Column("helpful", sa.Integer(), nullable=False),
        sa.Column("somewhat_helpful", sa.Integer(), nullable=False),
        sa.Column("not_helpful", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name=op.f("fk_panels_community_id")),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name=op.f("fk_panels_action_id")),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name=op.f("fk_panels_note_id")),
        sa.ForeignKeyConstraint(["roll_id"], ["panel_rolls.id"], name=op.f("fk_panels_roll_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_panels")),
    )
    is_open = sa.text("ended_at IS NULL")
    op.create_index(
        "uq_panels_open",
        "panels",
        ["action_id"],
        unique=True,
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    op.create_index("ix_panels_action_id_opened_at", "panels", ["action_id", "opened_at"])
    op.create_index("ix_panels_note_id", "panels", ["note_id"])
    op.create_index(
        "ix_panels_due", "panels", ["community_id", "due_at"], sqlite_where=is_open, postgresql_where=is_open
    )
    op.create_index("ix_panels_ended_at", "panels", ["ended_at"])
    op.create_index("ix_panels_roll_id", "panels", ["roll_id"])
    op.create_table(
        "panel_seats",
        sa.Column("panel_id", sa.Uuid(), nullable=False),
        sa.Column("profile_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("passed_over", sa.String(20), nullable=True),
        sa.Column("drawn_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["panel_id"], ["panels.id"], name=op.f("fk_panel_seats_panel_id")),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name=op.f("fk_panel_seats_profile_id")),
        sa.PrimaryKeyConstraint("panel_id", "profile_id", name=op.f("pk_panel_seats")),
        sa.UniqueConstraint("panel_id", "number", name=op.f("uq_panel_seats_panel_id_number")),
    )
    is_open_seat = sa.text("state = 'open'")
    op.create_index(
        "ix_panel_seats_open",
        "panel_seats",
        ["profile_id", "panel_id"],
        sqlite_where=is_open_seat,
        postgresql_where=is_open_seat,
    )


def downgrade() -> None:
    op.drop_table("panel_seats")
    op.drop_table("panels")
    op.drop_table("panel_rolls")
