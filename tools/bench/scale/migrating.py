"""Takes a filled database back to the baseline and up again, and looks whether everything is still there."""

import time
from collections.abc import Callable, Mapping

import sqlalchemy as sa

from app import migrations
from app.core.db import Base
from app.core.history import chain
from app.core.models import Community, RaterDay, Rating
from app.core.periods import day_of_column
from app.jobs.tables import is_foreign
from app.wiring import Wiring

BEFORE = migrations.BASELINE
"""The newest revision of the version before: to be moved on when a version is released."""


def there_and_back(wiring: Wiring) -> Mapping[str, float]:
    """The seconds of each step. Raises ``AssertionError`` if the database is not what it was.

    A database of the version before is made by going back from this one: the generator knows only the newest tables.
    """
    engine = wiring.database.engine
    seconds: dict[str, float] = {}

    def timed(name: str, step: Callable[[], None]) -> None:
        begin = time.perf_counter()
        step()
        seconds[name] = time.perf_counter() - begin
        # Compiled statements name columns that may be gone.
        engine.dispose()

    timed(f"back to {BEFORE}", lambda: migrations.downgrade(engine, BEFORE))
    held = contents(engine)
    assert held["requests"][0] > 0
    timed("up", lambda: migrations.upgrade(engine))
    check(wiring)
    timed("back", lambda: migrations.downgrade(engine, BEFORE))
    assert contents(engine) == held, "the version before finds its rows as it left them"
    timed("up again", lambda: migrations.upgrade(engine))
    check(wiring)
    with wiring.database.reading() as session:
        for community_id in session.scalars(sa.select(Community.id)).all():
            assert chain.verify(session, community_id)[1] is None
    return seconds


def contents(engine: sa.Engine) -> dict[str, tuple[int, ...]]:
    """For each table the number of rows, and the characters of each column together."""
    found: dict[str, tuple[int, ...]] = {}
    with engine.connect() as connection:
        inspector = sa.inspect(connection)
        for name in inspector.get_table_names():
            if is_foreign(name, None) or name == "alembic_version":
                continue
            table = sa.table(name, *(sa.column(column["name"]) for column in inspector.get_columns(name)))
            lengths = (sa.func.sum(sa.func.length(sa.cast(column, sa.Text))) for column in table.columns)
            row = connection.execute(sa.select(sa.func.count(), *lengths).select_from(table)).one()
            found[name] = tuple(int(value or 0) for value in row)
    return found


def check(wiring: Wiring) -> None:
    """This version's tables are there, and the days of all ratings."""
    assert Base.metadata.tables.keys() <= set(sa.inspect(wiring.database.engine).get_table_names())
    with wiring.database.reading() as session:
        days = sa.select(Rating.community_id, day_of_column(Rating.created_at), Rating.rater_id).distinct()
        noted = session.execute(sa.select(RaterDay.community_id, RaterDay.day, RaterDay.rater_id)).all()
        assert noted
        assert set(noted) == set(session.execute(days).all())
