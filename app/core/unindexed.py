"""A column for which SQLite looks for no index.

Our SQLite databases hold no statistics, so SQLite takes an index of the community for a narrow one, and reads every
row of the community where it should look up a few by their ids. PostgreSQL knows better, and sees the bare column.
"""

from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction


class unindexed(GenericFunction[Any]):
    """``unindexed(Action.community_id) == community_id``; in SQLite's words, ``+community_id = ?``."""

    inherit_cache = True

    def __init__(self, column: Any) -> None:
        super().__init__(column, type_=column.type)


@compiles(unindexed)
def _bare(element: unindexed, compiler: Any, **words: Any) -> str:
    return str(compiler.process(element.clauses, **words))


@compiles(unindexed, "sqlite")
def _hidden(element: unindexed, compiler: Any, **words: Any) -> str:
    return f"+{compiler.process(element.clauses, **words)}"
