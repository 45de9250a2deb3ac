"""the scores that routed each post, in one row a post; no more notes of which packed days of scores have changed"""

import importlib
from collections.abc import Iterator
from itertools import groupby, islice
from operator import attrgetter
from typing import Any

import numpy as np
import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None

_PARTS = 10_000
_BATCH = 5_000
_PREVIEWED = "is_highest = 1 AND score > 0 OR is_acting = 1"
_COLUMNS = "community_id, created_at, request_id, category, score, tier1_capable, is_highest, is_acting"
_NOTED = ("scores", "moderation_actions")
"""The tables whose triggers noted changes of packed days of scores."""


def upgrade() -> None:
    post_scores = op.create_table(
        "post_scores",
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("scored_at", UtcDateTime(), nullable=False),
        sa.Column("categories", sa.Text(), nullable=False),
        sa.Column("scores", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("request_id", name="pk_post_scores"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_post_scores_request_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_post_scores_community_id"),
    )
    posts = _posts(op.get_bind())
    while rows := list(islice(posts, _BATCH)):
        op.bulk_insert(post_scores, rows)
    op.create_index("ix_post_scores_community_id_scored_at", "post_scores", ["community_id", "scored_at"])
    op.drop_index("ix_scores_previewed", "scores")
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    for table in _NOTED:
        for event in ("insert", "update", "delete"):
            name = f"day_{table}_{event}"
            op.execute(f"DROP TRIGGER {name} ON {table}" if is_postgresql else f"DROP TRIGGER {name}")
            if is_postgresql:
                op.execute(f"DROP FUNCTION {name}()")
    for table in ("day_changes", "packed_days"):
        op.execute(f"DELETE FROM {table} WHERE kind = 'scores'")  # noqa: S608 - names of ours


def downgrade() -> None:
    baseline = importlib.import_module("app.migrations.versions.0060_baseline")
    for statement in baseline.day_triggers(op.get_bind().dialect.name):
        if any(f" day_{table}_" in statement for table in _NOTED):
            op.execute(sa.text(statement))
    op.create_index(
        "ix_scores_previewed",
        "scores",
        _COLUMNS.split(", "),
        sqlite_where=sa.text(_PREVIEWED),
        postgresql_where=sa.text(_PREVIEWED.replace(" = 1", "")),
    )
    op.drop_table("post_scores")


def _posts(connection: sa.Connection) -> Iterator[dict[str, Any]]:
    """The rows of ``post_scores`` for the scores that are stored, by request; ids of requests are in order of time."""
    scores = sa.table(
        "scores",
        sa.column("request_id", sa.Uuid),
        sa.column("community_id", sa.Uuid),
        sa.column("category", sa.Text),
        sa.column("score", sa.Float),
        sa.column("tier1_capable", sa.Boolean),
        sa.column("is_highest", sa.Boolean),
        sa.column("is_acting", sa.Boolean),
        sa.column("created_at", UtcDateTime),
    )
    marked = sa.or_(sa.and_(scores.c.is_highest, scores.c.score > 0), scores.c.is_acting)
    found = connection.execute(
        sa.select(scores).where(marked).order_by(scores.c.request_id), execution_options={"yield_per": _BATCH}
    )
    for request_id, of_request in groupby(found, attrgetter("request_id")):
        rows = list(of_request)
        highest = {row.category: row for row in rows if row.is_highest}
        acting = {row.category: row.score for row in rows if row.is_acting}
        acting |= {name: row.score for name, row in highest.items() if row.tier1_capable}
        entries = {
            name: (round(row.score * _PARTS), round(acting.get(name, 0.0) * _PARTS))
            for name, row in highest.items()
        }
        names = sorted(name for name, (score, _) in entries.items() if score > 0)
        if names:
            yield {
                "request_id": request_id,
                "community_id": rows[0].community_id,
                "scored_at": min(row.created_at for row in rows),
                "categories": " ".join(names),
                "scores": np.array([entries[name] for name in names], "<u2").tobytes(),
            }
