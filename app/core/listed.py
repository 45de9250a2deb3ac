"""Conditions on many values, with the same statement however many they are.

``IN`` with a parameter for each value is another statement for each number of values: SQLAlchemy and the driver read it
again, the database plans it again, and for five hundred words that takes longer than the search.
"""

import json
import uuid
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, Session


def is_one_of(
    session: Session,
    column: InstrumentedAttribute[Any],
    values: Collection[str] | Collection[int] | Collection[uuid.UUID],
) -> sa.ColumnElement[bool]:
    """Whether ``column`` is one of ``values``: text, whole numbers or ids."""
    if session.get_bind().dialect.name == "postgresql":
        return column == sa.any_(sa.literal(list(values), sa.ARRAY(column.type)))
    # SQLite stores an id as its hexadecimal digits.
    written = [value.hex if isinstance(value, uuid.UUID) else value for value in values]
    listed = sa.func.json_each(json.dumps(written, ensure_ascii=False)).table_valued("value")
    condition: sa.ColumnElement[bool] = column.in_(sa.select(listed.c.value))
    return condition
