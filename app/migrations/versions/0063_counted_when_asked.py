"""counts are taken when they are asked for: no triggers keep them; who rated on which day is a plain table"""

import importlib

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None

baseline = importlib.import_module("app.migrations.versions.0060_baseline")
EVENTS = ("insert", "update", "delete")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_SOURCE = "ratings JOIN notes AS note ON note.id = ratings.note_id WHERE"


def upgrade() -> None:
    op.create_table(
        "rater_days",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Uuid(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "day", "rater_id", name="pk_rater_days"),
    )
    day = baseline._day(_dialect(), "created_at")
    op.execute(
        sa.text(
            "INSERT INTO rater_days (community_id, day, rater_id) "  # noqa: S608 - our own words
            f"SELECT DISTINCT community_id, {day}, rater_id FROM ratings"
        )
    )
    _drop_triggers(
        *(f"tally_{table}_{event}" for table in baseline.COUNTED for event in EVENTS),
        "tally_notes_ratings",
        *(f"tally_sums_{event}" for event in EVENTS),
        "tally_notes_text",
        *(f"day_ratings_{event}" for event in EVENTS),
    )
    for table in ("tally_changes", "tally_sums", "tallies", "rater_numbers", "packed_days", "day_changes"):
        op.drop_table(table)
    op.drop_index("ix_notes_text_ended", "notes")
    op.drop_column("notes", "text_ended_at")


def downgrade() -> None:
    op.add_column("notes", sa.Column("text_ended_at", UtcDateTime(), nullable=True))
    op.execute(
        sa.text("UPDATE notes SET text_ended_at = updated_at WHERE version > 1 OR deleted_at IS NOT NULL")
    )
    baseline._index(
        "ix_notes_text_ended", "notes", "community_id, text_ended_at", where="text_ended_at IS NOT NULL"
    )
    _create_tables()
    _count()
    baseline._run(baseline.tally_triggers(_dialect()))
    baseline._run(baseline.sum_triggers(_dialect()))
    triggers = baseline.day_triggers(_dialect())
    baseline._run([statement for statement in triggers if " day_ratings_" in statement])
    op.drop_table("rater_days")


def _dialect() -> str:
    return op.get_bind().dialect.name


def _drop_triggers(*names: str) -> None:
    for name in names:
        # On PostgreSQL a trigger goes with its function, whichever table it is on.
        what = (
            f"FUNCTION IF EXISTS {name}() CASCADE"
            if _dialect() == "postgresql"
            else f"TRIGGER IF EXISTS {name}"
        )
        op.execute(sa.text(f"DROP {what}"))


def _create_tables() -> None:
    op.create_table(
        "tallies",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "community_id", "day", "name", name="pk_tallies"),
    )
    op.create_index(
        "ix_tallies_most_ratings",
        "tallies",
        ["community_id", sa.text("(-total)"), "name"],
        **baseline._where("kind = 'rating'"),
    )
    op.create_table(
        "tally_changes",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("change", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tally_changes"),
    )
    op.create_table(
        "tally_sums",
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("names", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "community_id", name="pk_tally_sums"),
    )
    baseline._packed_days()


def _count() -> None:
    """Fill the tallies and their sums from the rows, before the triggers are there."""
    for table, (_, contributions) in baseline.COUNTED.items():
        rows = [baseline.counted(one, _dialect(), table, "1", _SOURCE) for one in contributions]
        if table != "ratings":
            # A row of a trigger stands alone; here they are those of the table.
            rows = [row.replace(" WHERE ", f" FROM {table} WHERE ") for row in rows]
        totals = baseline.SUMMED.format(rows=" UNION ALL ".join(rows))
        op.execute(sa.text(f"INSERT INTO tallies (community_id, kind, day, name, total) {totals}"))
    sums = baseline.SUMS.format(rows=baseline.SUMMED_ROWS.format(sign="+", table="tallies"))
    op.execute(sa.text(f"INSERT INTO tally_sums (kind, community_id, total, names) {sums}"))
