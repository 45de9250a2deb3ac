"""counts that triggers keep with every change, so that figures of the whole service need not read every row"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

# What one row counts for, as SELECTs of (community_id, kind, day, name, change). {row} is the row, {change} is 1 or -1,
# {scored_day} and {created_day} are days since 1970, {rater} is the rater's id as text.
_ROW = "SELECT {row}.community_id AS community_id, '%s' AS kind, %s AS day, %s AS name, {change} AS change WHERE %s"
_SIDE = "{row}.helpfulness_level <> 'SOMEWHAT_HELPFUL' AND note.status <> 'NEEDS_MORE_RATINGS'"
_BORNE_OUT = (
    "({row}.helpfulness_level = 'HELPFUL' AND note.status = 'CURRENTLY_RATED_HELPFUL'"
    " OR {row}.helpfulness_level = 'NOT_HELPFUL' AND note.status = 'CURRENTLY_RATED_NOT_HELPFUL')"
)
_RATING = (
    "SELECT {row}.community_id AS community_id, '%s' AS kind, 0 AS day, {rater} AS name, {change} AS change"
    " FROM {source} WHERE note.version = {row}.note_version AND note.deleted_at IS NULL AND %s"
)
RATINGS = [
    _RATING % ("rating", "1 = 1"),
    _RATING % ("sided", _SIDE),
    _RATING % ("borne_out", _BORNE_OUT),
]
_OWN = "{row}.action_tier IS NOT NULL AND {row}.restores_id IS NULL"
COUNTED = {
    "requests": (
        ("community_id", "status", "withdrawn_at", "scored_at"),
        [
            _ROW % ("request", "0", "{row}.status", "{row}.withdrawn_at IS NULL"),
            _ROW % ("scored", "{scored_day}", "''", "{row}.scored_at IS NOT NULL"),
        ],
    ),
    "moderation_actions": (
        ("community_id", "action_state", "review_group", "category", "action_tier", "restores_id"),
        [
            _ROW % ("action", "0", "{row}.action_state", "1 = 1"),
            _ROW
            % (
                "queue",
                "0",
                "{row}.review_group",
                "{row}.action_state = 'under_review' AND {row}.review_group IS NOT NULL",
            ),
            _ROW % ("opened", "0", "coalesce({row}.category, '')", _OWN),
            _ROW
            % (
                "reviewed",
                "0",
                "{row}.action_state",
                _OWN + " AND {row}.action_state IN ('under_review', 'retro_review')",
            ),
        ],
    ),
    "notes": (
        ("community_id", "status", "deleted_at"),
        [_ROW % ("note", "0", "{row}.status", "{row}.deleted_at IS NULL")],
    ),
    "decisions": (
        ("community_id", "tier", "decision"),
        [
            _ROW
            % (
                "decision",
                "0",
                "{row}.tier || CASE WHEN {row}.decision = 'none' THEN ' none' ELSE ' action' END",
                "1 = 1",
            )
        ],
    ),
    "deliveries": (
        ("community_id", "state"),
        [_ROW % ("delivery", "0", "{row}.state", "1 = 1")],
    ),
    "scores": (
        ("community_id", "category", "score", "is_highest", "created_at"),
        [
            _ROW
            % (
                "bar",
                "{created_day}",
                "((CAST(round({row}.score * 10000) AS INTEGER) - 1) / 500) || ' ' || {row}.category",
                "{row}.is_highest AND {row}.score > 0",
            )
        ],
    ),
    "ratings": (
        ("community_id", "note_id", "rater_id", "note_version", "helpfulness_level"),
        RATINGS,
    ),
}
_DEEPER = (
    (
        "ix_requests_community_id_requested_at_id",
        "requests",
        ["community_id", "requested_at", "id", "withdrawn_at"],
        "status",
    ),
    ("ix_notes_community_id_created_at_id", "notes", ["community_id", "created_at", "id"], "deleted_at"),
)
"""Indexes that get one column more, so that a deep page of a list skips rows in them alone."""
_SUMMED = (
    "INSERT INTO {into} (community_id, kind, day, name, {total}) "
    "SELECT community_id, kind, day, name, sum(change) FROM ({rows}) AS found "
    "GROUP BY community_id, kind, day, name HAVING sum(change) <> 0"
)


def _keys() -> list[sa.Column[Any]]:
    return [
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
    ]


def upgrade() -> None:
    op.create_table(
        "tallies",
        *_keys(),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "community_id", "day", "name", name="pk_tallies"),
    )
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "tally_changes",
        sa.Column("id", number, nullable=False),
        *_keys(),
        sa.Column("change", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tally_changes"),
    )
    op.create_index(
        "ix_moderation_actions_community_id_created_at_id",
        "moderation_actions",
        ["community_id", "created_at", "id"],
    )
    for name, table, columns, more in _DEEPER:
        op.drop_index(name, table)
        op.create_index(name, table, [*columns, more])
    # In place of one of the community alone: the analysis counts the ratings of the last week.
    op.create_index("ix_ratings_community_id_updated_at", "ratings", ["community_id", "updated_at"])
    op.drop_index("ix_ratings_community_id", "ratings")
    dialect = op.get_bind().dialect.name
    # The triggers first: on PostgreSQL their making keeps writers out until the rows below are counted.
    for statement in triggers(dialect):
        op.execute(sa.text(statement))
    for statement in counting(dialect):
        op.execute(sa.text(statement))


def downgrade() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    for table in COUNTED:
        for event in ("insert", "update", "delete"):
            _drop(f"tally_{table}_{event}", table, is_postgresql)
    _drop("tally_notes_ratings", "notes", is_postgresql)
    op.create_index("ix_ratings_community_id", "ratings", ["community_id"])
    op.drop_index("ix_ratings_community_id_updated_at", "ratings")
    for name, table, columns, _ in _DEEPER:
        op.drop_index(name, table)
        op.create_index(name, table, columns)
    op.drop_index("ix_moderation_actions_community_id_created_at_id", "moderation_actions")
    op.drop_table("tally_changes")
    op.drop_table("tallies")


def _drop(name: str, table: str, is_postgresql: bool) -> None:
    op.execute(sa.text(f"DROP TRIGGER {name}" + (f" ON {table}" if is_postgresql else "")))
    if is_postgresql:
        op.execute(sa.text(f"DROP FUNCTION {name}()"))


def counting(dialect: str) -> list[str]:
    """The statements that count all rows there are."""
    made = []
    for table, (_, contributions) in COUNTED.items():
        rows = []
        for one in contributions:
            row = _filled(
                one, dialect, table, "1", f"{table} JOIN notes AS note ON note.id = {table}.note_id"
            )
            # A row of a trigger stands alone; here they are those of the table.
            rows.append(row if table == "ratings" else row.replace(" WHERE ", f" FROM {table} WHERE "))
        made.append(_SUMMED.format(into="tallies", total="total", rows=" UNION ALL ".join(rows)))
    return made


def triggers(dialect: str) -> list[str]:
    """The statements that make the triggers: each writes what a change adds to the counts and takes from them."""
    made: list[str] = []
    for table, (columns, contributions) in COUNTED.items():
        parts = {
            row: [
                _filled(one, dialect, row, change, f"notes AS note WHERE note.id = {row}.note_id AND")
                for one in contributions
            ]
            for row, change in (("OLD", "-1"), ("NEW", "1"))
        }
        made += _trigger(dialect, f"tally_{table}_insert", f"AFTER INSERT ON {table}", "", parts["NEW"])
        made += _trigger(dialect, f"tally_{table}_delete", f"AFTER DELETE ON {table}", "", parts["OLD"])
        made += _trigger(
            dialect,
            f"tally_{table}_update",
            f"AFTER UPDATE OF {', '.join(columns)} ON {table}",
            _differs(dialect, columns),
            parts["OLD"] + parts["NEW"],
        )
    columns = ("version", "status", "deleted_at")
    ratings = [
        _filled(
            one, dialect, "rating", change, "ratings AS rating WHERE rating.note_id = NEW.id AND"
        ).replace("note.", f"{note}.")
        for note, change in (("OLD", "-1"), ("NEW", "1"))
        for one in RATINGS
    ]
    made += _trigger(
        dialect,
        "tally_notes_ratings",
        f"AFTER UPDATE OF {', '.join(columns)} ON notes",
        _differs(dialect, columns),
        ratings,
    )
    return made


def _differs(dialect: str, columns: tuple[str, ...]) -> str:
    other = "IS DISTINCT FROM" if dialect == "postgresql" else "IS NOT"
    return "WHEN (" + " OR ".join(f"OLD.{name} {other} NEW.{name}" for name in columns) + ")"


def _trigger(dialect: str, name: str, event: str, when: str, rows: list[str]) -> list[str]:
    both = " UNION ALL ".join(rows)
    if when:
        # What a change takes and gives back again is no change.
        insert = _SUMMED.format(into="tally_changes", total="change", rows=both)
    else:
        insert = f"INSERT INTO tally_changes (community_id, kind, day, name, change) {both}"
    if dialect != "postgresql":
        return [f"CREATE TRIGGER {name} {event} FOR EACH ROW {when} BEGIN {insert}; END"]
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {insert}; RETURN NULL; END $$",
        f"CREATE TRIGGER {name} {event} FOR EACH ROW {when} EXECUTE FUNCTION {name}()",
    ]


def _filled(contribution: str, dialect: str, row: str, change: str, source: str) -> str:
    is_postgresql = dialect == "postgresql"

    def day(column: str) -> str:
        if is_postgresql:
            return f"CAST(floor(extract(epoch FROM {row}.{column}) / 86400) AS INTEGER)"
        return f"CAST(strftime('%s', substr({row}.{column}, 1, 10)) AS INTEGER) / 86400"

    if " WHERE " in source:
        contribution = contribution.replace("{source} WHERE", "{source}")
    return contribution.format(
        row=row,
        change=change,
        source=source,
        rater=f"CAST({row}.rater_id AS VARCHAR)" if is_postgresql else f"{row}.rater_id",
        scored_day=day("scored_at"),
        created_day=day("created_at"),
    )
