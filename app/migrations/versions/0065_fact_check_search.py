"""the databases' own full-text search for fact-checks, in place of the service's own index of words"""

import sqlalchemy as sa
from alembic import op

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None

_TEXT = "claim || ' ' || coalesce(title, '')"


def upgrade() -> None:
    # One count of numbers for all items; a vector of an item's present text stays one.
    op.execute(
        "UPDATE fact_check_vectors SET number = CASE WHEN number = (SELECT number FROM fact_check_items "
        "WHERE fact_check_items.id = fact_check_vectors.item_id) THEN 0 ELSE -1 END"
    )
    op.execute(
        "UPDATE fact_check_items SET number = ranked.place FROM ("
        "SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM fact_check_items) AS ranked "
        "WHERE ranked.id = fact_check_items.id"
    )
    op.execute(
        "UPDATE fact_check_vectors SET number = (SELECT number FROM fact_check_items "
        "WHERE fact_check_items.id = fact_check_vectors.item_id) WHERE number = 0"
    )
    op.drop_index("ix_fact_check_items_community_id_number", "fact_check_items")
    op.drop_index("ix_fact_check_items_waiting", "fact_check_items")
    op.create_index("ix_fact_check_items_number", "fact_check_items", ["number", "community_id"])
    is_serving = sa.text("retired_at IS NULL")
    op.create_index(
        "ix_fact_check_items_serving",
        "fact_check_items",
        ["community_id"],
        sqlite_where=is_serving,
        postgresql_where=is_serving,
    )
    op.drop_table("fact_check_postings")
    if op.get_bind().dialect.name == "postgresql":
        _search_on_postgresql()
    else:
        _search_on_sqlite()


def _search_on_postgresql() -> None:
    op.execute(
        "CREATE TABLE search_fact_checks (item integer NOT NULL, words tsvector NOT NULL, "
        "CONSTRAINT pk_search_fact_checks PRIMARY KEY (item))"
    )
    op.execute(
        r"INSERT INTO search_fact_checks (item, words) SELECT number, "  # noqa: S608 - our own words
        rf"to_tsvector('english', regexp_replace({_TEXT}, '\W+|_+', ' ', 'g')) "
        r"FROM fact_check_items WHERE retired_at IS NULL"
    )
    op.execute("CREATE INDEX ix_search_fact_checks_words ON search_fact_checks USING gin (words)")
    # Which words are common is read from the statistics.
    op.execute("ANALYZE search_fact_checks")
    # Copies of vectors that versions before made for the extension pgvector.
    op.execute("DROP SCHEMA IF EXISTS bridgenote_vectors CASCADE")


def _search_on_sqlite() -> None:
    try:
        op.execute("CREATE VIRTUAL TABLE search_fact_checks USING fts5(words, tokenize='porter unicode61')")
    except sa.exc.OperationalError as error:
        raise RuntimeError(
            "This SQLite has no full-text search (FTS5), which finding fact-checks needs: use a Python whose "
            f"sqlite3 has it, or PostgreSQL ({error.orig})"
        ) from error
    op.execute(
        f"INSERT INTO search_fact_checks (rowid, words) SELECT number, {_TEXT} "  # noqa: S608 - our own words
        "FROM fact_check_items WHERE retired_at IS NULL"
    )


def downgrade() -> None:
    op.execute("DROP TABLE search_fact_checks")
    op.create_table(
        "fact_check_postings",
        sa.Column("owner", sa.Uuid(), nullable=False),
        sa.Column("word", sa.String(40), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "word", "block", name="pk_fact_check_postings"),
    )
    op.drop_index("ix_fact_check_items_serving", "fact_check_items")
    op.drop_index("ix_fact_check_items_number", "fact_check_items")
    # The version before indexes what has no number, in the background; -1 is what no post matches.
    op.execute("UPDATE fact_check_items SET number = CASE WHEN retired_at IS NULL THEN NULL ELSE -1 END")
    op.create_index("ix_fact_check_items_community_id_number", "fact_check_items", ["community_id", "number"])
    is_waiting = sa.text("number IS NULL")
    op.create_index(
        "ix_fact_check_items_waiting",
        "fact_check_items",
        ["id"],
        sqlite_where=is_waiting,
        postgresql_where=is_waiting,
    )
