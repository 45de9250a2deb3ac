"""The account of services' calls in the database; each entry is a short transaction of its own."""

import uuid
from collections.abc import Callable

from app.core.db import Database
from app.core.services import calls
from app.core.services.calls import Call


class DatabaseLedger:
    """Implements ``core.services.calls.Ledger``. Never used within a writing transaction."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    def reserve(self, service_id: uuid.UUID, most: int | None, price: float) -> bool:
        with self._database().writing() as session:
            return calls.reserve(session, service_id, most, price)

    def finish(self, service_id: uuid.UUID, call: Call) -> None:
        with self._database().writing() as session:
            calls.finish(session, service_id, call)
