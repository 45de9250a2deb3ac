"""the sums of tallies that have a name for each rater, an index of who rated most, and when a note's text ended"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

_MOST, _ENDED = "ix_tallies_most_ratings", "ix_notes_text_ended"
_EVENTS = {"insert": ("NEW",), "update": ("OLD", "NEW"), "delete": ("OLD",)}
_SIGN = {"OLD": "-", "NEW": "+"}
_IS_SUMMED = "kind IN ('rating', 'sided', 'borne_out')"
_COUNTS = "CASE WHEN {0} <> 0 THEN 1 ELSE 0 END"
_ADD = (
    "INSERT INTO tally_sums (kind, community_id, total, names) {rows} "
    "ON CONFLICT (kind, community_id) DO UPDATE SET "
    "total = tally_sums.total + excluded.total, names = tally_sums.names + excluded.names"
)
_ROWS = (
    "SELECT kind, community_id, {sign} total AS total, "
    "{sign} CASE WHEN total <> 0 THEN 1 ELSE 0 END AS names "
    "FROM {table} WHERE kind IN ('rating', 'sided', 'borne_out')"
)
_SUMS = (
    "SELECT kind, community_id, sum(total), sum(names) FROM ({rows}) AS found GROUP BY kind, community_id "
    "HAVING sum(total) <> 0 OR sum(names) <> 0 ORDER BY kind, community_id"
)
_NEW_TEXT = (
    "CREATE TRIGGER tally_notes_text AFTER UPDATE OF version, deleted_at ON notes FOR EACH ROW "
    "WHEN OLD.version IS NOT NEW.version OR OLD.deleted_at IS NOT NEW.deleted_at "
    "BEGIN UPDATE notes SET text_ended_at = NEW.updated_at WHERE id = NEW.id; END"
)


def upgrade() -> None:
    op.create_table(
        "tally_sums",
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("names", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "community_id", name="pk_tally_sums"),
    )
    where = sa.text("kind = 'rating'")
    op.create_index(
        _MOST,
        "tallies",
        [sa.text("community_id"), sa.text("(-total)"), sa.text("name")],
        sqlite_where=where,
        postgresql_where=where,
    )
    op.add_column("notes", sa.Column("text_ended_at", UtcDateTime(), nullable=True))
    # The triggers first: on PostgreSQL their making keeps writers out until what is there is counted.
    dialect = op.get_bind().dialect.name
    for statement in (*_sum_triggers(dialect), *_note_trigger(dialect), *counting()):
        op.execute(sa.text(statement))
    # Not before it was edited or withdrawn, which is all that readers need.
    op.execute(
        sa.text("UPDATE notes SET text_ended_at = updated_at WHERE version > 1 OR deleted_at IS NOT NULL")
    )
    ended = sa.text("text_ended_at IS NOT NULL")
    op.create_index(
        _ENDED, "notes", ["community_id", "text_ended_at"], sqlite_where=ended, postgresql_where=ended
    )
    if dialect == "postgresql":
        # Before it knows that few notes have one, PostgreSQL plans for a third of them.
        op.execute(sa.text("ANALYZE notes"))


def downgrade() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    _drop("tally_notes_text", "notes", is_postgresql)
    for event in _EVENTS:
        _drop(f"tally_sums_{event}", "tallies", is_postgresql)
    op.drop_index(_ENDED, "notes")
    op.drop_column("notes", "text_ended_at")
    op.drop_index(_MOST, "tallies")
    op.drop_table("tally_sums")


def _drop(name: str, table: str, is_postgresql: bool) -> None:
    op.execute(sa.text(f"DROP TRIGGER {name}" + (f" ON {table}" if is_postgresql else "")))
    if is_postgresql:
        op.execute(sa.text(f"DROP FUNCTION {name}()"))


def counting() -> list[str]:
    """The statements that sum up the tallies there are."""
    rows = _SUMS.format(rows=_ROWS.format(sign="+", table="tallies"))
    return [f"INSERT INTO tally_sums (kind, community_id, total, names) {rows}"]


def _sum_triggers(dialect: str) -> list[str]:
    """Triggers, so that the code of before keeps the sums too, which may still run beside this."""
    made = []
    for event, rows in _EVENTS.items():
        name, on = f"tally_sums_{event}", f"AFTER {event.upper()} ON tallies"
        if dialect != "postgresql":
            made.append(_trigger_of_rows(name, on, rows))
            continue
        # One sum for a statement: the sweep adds up thousands of tallies in one.
        tables = " ".join(f"{row} TABLE AS tally_{row.lower()}" for row in rows)
        parts = (_ROWS.format(sign=_SIGN[row], table=f"tally_{row.lower()}") for row in rows)
        add = _ADD.format(rows=_SUMS.format(rows=" UNION ALL ".join(parts)))
        made += [
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {add}; RETURN NULL; END $$",
            f"CREATE TRIGGER {name} {on} REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION {name}()",
        ]
    return made


def _trigger_of_rows(name: str, on: str, rows: tuple[str, ...]) -> str:
    total = " ".join(f"{_SIGN[row]} {row}.total" for row in rows)
    names = " ".join(f"{_SIGN[row]} {_COUNTS.format(f'{row}.total')}" for row in rows)
    add = _ADD.format(rows=f"VALUES ({rows[0]}.kind, {rows[0]}.community_id, {total}, {names})")
    return f"CREATE TRIGGER {name} {on} FOR EACH ROW WHEN {rows[0]}.{_IS_SUMMED} BEGIN {add}; END"


def _note_trigger(dialect: str) -> list[str]:
    """What edits or withdraws a note also sets ``updated_at``, by the clock that ratings have theirs from."""
    if dialect != "postgresql":
        return [_NEW_TEXT]
    return [
        "CREATE FUNCTION tally_notes_text() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN NEW.text_ended_at := NEW.updated_at; RETURN NEW; END $$",
        "CREATE TRIGGER tally_notes_text BEFORE UPDATE OF version, deleted_at ON notes FOR EACH ROW "
        "WHEN (OLD.version IS DISTINCT FROM NEW.version OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at) "
        "EXECUTE FUNCTION tally_notes_text()",
    ]
