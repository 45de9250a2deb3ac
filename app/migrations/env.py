"""Alembic's environment: always online, on the connection that ``app.migrations`` hands over."""

from typing import Any

from alembic import context

from app.core import models
from app.core.db import Base
from app.jobs.tables import is_foreign


def _ours(entity: Any, name: str | None, kind: str, _reflected: bool, _compare_to: Any) -> bool:
    """The job engine keeps its own tables in the same database; they are its own business."""
    return not (kind == "table" and name is not None and is_foreign(name, getattr(entity, "schema", None)))


def _run() -> None:
    connection = context.config.attributes["connection"]
    assert models is not None  # noqa: S101 - the import is what fills the metadata
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=True,
        include_object=_ours,
        transaction_per_migration=False,
        compare_type=True,
    )
    context.run_migrations()


_run()
