"""finished days packed into one row each, and triggers that tell what has changed of a day since"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

_PREVIEWED = "({row}.is_highest AND {row}.score > 0 OR {row}.is_acting)"
_INTO = "INSERT INTO day_changes (community_id, kind, day, request_id) "
# The days of all scores of a request that previews read: usually one day. {row} is the row that names the request.
_OF_REQUEST = (
    "SELECT DISTINCT scores.community_id, 'scores', {day_of_scores}, scores.request_id FROM scores"
    " WHERE scores.request_id = {row}.request_id"
    " AND (scores.is_highest AND scores.score > 0 OR scores.is_acting)"
)
_OF_REQUESTS = (
    "SELECT DISTINCT one.* FROM (SELECT DISTINCT request_id FROM day_scores AS made WHERE {previewed}) AS found"
    " CROSS JOIN LATERAL ({scores} OFFSET 0) AS one"
)
_OF_SCORE = "SELECT {row}.community_id, 'scores', {day}, {row}.request_id"
_OF_RATING = "SELECT {row}.community_id, 'raters', {day}, {none}"

# What routing reads of a score, in the order of the index.
_SCORES = (
    "community_id",
    "created_at",
    "request_id",
    "category",
    "score",
    "tier1_capable",
    "is_highest",
    "is_acting",
)
_ACTIONS = (
    "community_id",
    "request_id",
    "action_state",
    "action_tier",
    "decided_verb",
    "restores_id",
    "reopened_at",
    "lapsed_at",
)
_RATINGS = ("community_id", "rater_id", "created_at")
_TABLES = ("ratings", "scores", "moderation_actions")
_HIGHEST = ["community_id", "category", "score", "created_at", "request_id", "tier1_capable", "is_highest"]
_ACTING = ["community_id", "category", "score", "created_at", "request_id"]


def upgrade() -> None:
    op.create_table(
        "packed_days",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("ids", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("community_id", "kind", "day", name="pk_packed_days"),
    )
    if op.get_bind().dialect.name == "postgresql":
        # To compress them would take a third off their size, and most of the time of reading them.
        for column in ("data", "ids"):
            op.execute(sa.text(f"ALTER TABLE packed_days ALTER COLUMN {column} SET STORAGE EXTERNAL"))
    op.create_table(
        "day_changes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_day_changes"),
    )
    op.create_index(
        "ix_day_changes_community_id_kind_day_request_id",
        "day_changes",
        ["community_id", "kind", "day", "request_id"],
    )
    op.create_table(
        "rater_numbers",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("rater_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "rater_id", name="pk_rater_numbers"),
        sa.UniqueConstraint("community_id", "number", name="uq_rater_numbers_community_id_number"),
    )
    # Previews read days one by one now, and no longer all scores above a threshold.
    op.create_index(
        "ix_scores_previewed", "scores", list(_SCORES), **_where("is_highest AND score > 0 OR is_acting")
    )
    op.drop_index("ix_scores_highest", "scores")
    op.drop_index("ix_scores_acting", "scores")
    for statement in triggers(op.get_bind().dialect.name):
        op.execute(sa.text(statement))


def downgrade() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    for table in _TABLES:
        for event in ("insert", "update", "delete"):
            name = f"day_{table}_{event}"
            op.execute(sa.text(f"DROP TRIGGER {name}" + (f" ON {table}" if is_postgresql else "")))
            if is_postgresql:
                op.execute(sa.text(f"DROP FUNCTION {name}()"))
    op.create_index("ix_scores_acting", "scores", _ACTING, **_where("is_acting"))
    op.create_index("ix_scores_highest", "scores", _HIGHEST, **_where("is_highest AND score > 0"))
    op.drop_index("ix_scores_previewed", "scores")
    op.drop_table("rater_numbers")
    op.drop_table("day_changes")
    op.drop_table("packed_days")


def _where(condition: str) -> dict[str, Any]:
    # SQLite uses a partial index only for a query that repeats its condition word for word.
    of_sqlite = condition.replace("is_highest", "is_highest = 1").replace("is_acting", "is_acting = 1")
    return {"postgresql_where": sa.text(condition), "sqlite_where": sa.text(of_sqlite)}


def triggers(dialect: str) -> list[str]:
    """The statements that make the triggers.

    They note every change, whether or not its day is packed: a transaction that packs the day at the same time does not
    see the change, and the trigger does not see the packed day.
    """
    made: list[str] = []
    for row, event in (("NEW", "insert"), ("OLD", "delete")):
        made += _trigger(dialect, "ratings", event, "", [_filled(dialect, _OF_RATING, row)])
        if dialect == "postgresql" and event == "insert":
            made += _once_a_statement(dialect)
        else:
            # A score that was deleted is none of the request's any more.
            own = [_OF_SCORE] if row == "OLD" else []
            made += _trigger(
                dialect,
                "scores",
                event,
                f"WHEN ({_PREVIEWED.format(row=row)})",
                [_filled(dialect, one, row) for one in (*own, _OF_REQUEST)],
            )
        made += _trigger(dialect, "moderation_actions", event, "", [_filled(dialect, _OF_REQUEST, row)])
    both = ("OLD", "NEW")
    made += _trigger(
        dialect,
        "ratings",
        "update",
        f"WHEN ({_differs(dialect, _RATINGS)})",
        [_filled(dialect, _OF_RATING, row) for row in both],
        _RATINGS,
    )
    made += _trigger(
        dialect,
        "scores",
        "update",
        f"WHEN (({_differs(dialect, _SCORES)}) AND "
        f"({' OR '.join(_PREVIEWED.format(row=row) for row in both)}))",
        [_filled(dialect, one, row) for one in (_OF_SCORE, _OF_REQUEST) for row in both],
        _SCORES,
    )
    made += _trigger(
        dialect,
        "moderation_actions",
        "update",
        f"WHEN ({_differs(dialect, _ACTIONS)})",
        [_filled(dialect, _OF_REQUEST, row) for row in both],
        _ACTIONS,
    )
    return made


def _differs(dialect: str, columns: tuple[str, ...]) -> str:
    other = "IS DISTINCT FROM" if dialect == "postgresql" else "IS NOT"
    return " OR ".join(f"OLD.{name} {other} NEW.{name}" for name in columns)


def _trigger(
    dialect: str, table: str, event: str, when: str, rows: list[str], columns: tuple[str, ...] = ()
) -> list[str]:
    name = f"day_{table}_{event}"
    insert = _INTO + " UNION ".join(rows)
    head = (
        f"CREATE TRIGGER {name} AFTER {event.upper()}{' OF ' + ', '.join(columns) if columns else ''} ON {table}"
        f" FOR EACH ROW {when} "
    )
    if dialect != "postgresql":
        return [f"{head}BEGIN {insert}; END"]
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {insert}; RETURN NULL; END $$",
        f"{head}EXECUTE FUNCTION {name}()",
    ]


def _once_a_statement(dialect: str) -> list[str]:
    """The scores of a post are written by one statement: one note for all of them, and not one for each.

    The scores of each request are looked up one by one, whatever PostgreSQL expects (``OFFSET 0``).
    """
    name = "day_scores_insert"
    insert = _INTO + _OF_REQUESTS.format(
        previewed=_PREVIEWED.format(row="made"), scores=_filled(dialect, _OF_REQUEST, "found")
    )
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {insert}; RETURN NULL; END $$",
        f"CREATE TRIGGER {name} AFTER INSERT ON scores REFERENCING NEW TABLE AS day_scores "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {name}()",
    ]


def _filled(dialect: str, rows: str, row: str) -> str:
    is_postgresql = dialect == "postgresql"

    def day(table: str) -> str:
        if is_postgresql:
            return f"CAST(floor(extract(epoch FROM {table}.created_at) / 86400) AS INTEGER)"
        return f"CAST(strftime('%s', substr({table}.created_at, 1, 10)) AS INTEGER) / 86400"

    return rows.format(
        row=row,
        day=day(row),
        day_of_scores=day("scores"),
        none="CAST(NULL AS UUID)" if is_postgresql else "NULL",
    )
