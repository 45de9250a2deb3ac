"""SQLite: an index of parts of words, so that a search need not read every post (docs/performance.md)"""

import logging

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

log = logging.getLogger("alembic.runtime.migration")

# By table: its key, the columns that are searched, and which rows have any text.
_SEARCHED = {
    "requests": ("id", ("content", "platform_author_id", "request_id", "platform_message_id"), "1 = 1"),
    "history_texts": ("entry_id", ("reason",), "{row}.reason <> ''"),
}


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    try:
        with op.get_bind().begin_nested():
            op.execute("CREATE VIRTUAL TABLE search_trial USING fts5(word, content='', tokenize='trigram')")
            op.execute("DROP TABLE search_trial")
    except sa.exc.DBAPIError as error:
        log.warning("Search stays without an index: this SQLite has no FTS5 with trigrams: %s", error.orig)
        return
    for table, (key, columns, condition) in _SEARCHED.items():
        search, numbers = f"search_{table}", f"search_{table}_rows"
        names = ", ".join(columns)
        # The index knows rows by number. The rowid of a table with another key may change, so the numbers are our own.
        op.execute(f"CREATE TABLE {numbers} (number INTEGER PRIMARY KEY, id CHAR(32) NOT NULL UNIQUE)")
        # Without a copy of the texts: what is removed is given along, so that the index can forget it.
        op.execute(f"CREATE VIRTUAL TABLE {search} USING fts5({names}, content='', tokenize='trigram')")

        def values(row: str, columns: tuple[str, ...] = columns) -> str:
            return ", ".join(f"{row}.{name}" for name in columns)

        added = (
            f"INSERT INTO {numbers} (id) SELECT NEW.{key} WHERE {condition.format(row='NEW')}; "  # noqa: S608
            f"INSERT INTO {search} (rowid, {names}) "
            f"SELECT number, {values('NEW')} FROM {numbers} WHERE id = NEW.{key};"
        )
        gone = (
            f"INSERT INTO {search} ({search}, rowid, {names}) "  # noqa: S608 - our own words
            f"SELECT 'delete', number, {values('OLD')} FROM {numbers} WHERE id = OLD.{key}; "
            f"DELETE FROM {numbers} WHERE id = OLD.{key};"
        )
        differs = " OR ".join(f"OLD.{name} IS NOT NEW.{name}" for name in columns)
        for event, when, body in (
            ("INSERT", "", added),
            ("DELETE", "", gone),
            (f"UPDATE OF {names}", f"WHEN {differs}", f"{gone} {added}"),
        ):
            op.execute(
                sa.text(
                    f"CREATE TRIGGER {search}_{event.split()[0].lower()} AFTER {event} ON {table} "
                    f"FOR EACH ROW {when} BEGIN {body} END"
                )
            )
        op.execute(
            f"INSERT INTO {numbers} (id) SELECT {key} FROM {table} WHERE {condition.format(row=table)}"  # noqa: S608
        )
        op.execute(
            f"INSERT INTO {search} (rowid, {names}) SELECT number, {values(table)} "  # noqa: S608 - our own words
            f"FROM {numbers} JOIN {table} ON {table}.{key} = {numbers}.id"
        )


def downgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    for table in _SEARCHED:
        for event in ("insert", "delete", "update"):
            op.execute(f"DROP TRIGGER IF EXISTS search_{table}_{event}")
        op.execute(f"DROP TABLE IF EXISTS search_{table}")
        op.execute(f"DROP TABLE IF EXISTS search_{table}_rows")
