"""Alembic, run from code: there is no ini file to find or forget."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config


def config(connection: sa.Connection | None = None) -> Config:
    settings = Config()
    settings.set_main_option("script_location", str(Path(__file__).parent))
    settings.attributes["connection"] = connection
    return settings


def upgrade(engine: sa.Engine, revision: str = "head") -> None:
    """Bring the database to ``revision``. Two processes that start together take turns."""
    with engine.execution_options(writing=True).connect() as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(7241650001)"))
        command.upgrade(config(connection), revision)


def downgrade(engine: sa.Engine, revision: str) -> None:
    with engine.execution_options(writing=True).connect() as connection, connection.begin():
        command.downgrade(config(connection), revision)
