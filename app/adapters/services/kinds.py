"""All kinds of services that this installation knows, and the account of their calls."""

import functools
import logging
import uuid
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points

from app.adapters.services import (
    azure_content_safety,
    chat_guard,
    embeddings,
    onnx_model,
    openai_moderation,
    own_model,
    perspective,
)
from app.adapters.services.onnx_files import ModelLimits
from app.core.db import Database
from app.core.services import calls
from app.core.services.calls import Call
from app.core.services.kinds import ENTRY_POINTS, Kind


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


log = logging.getLogger(__name__)

SHIPPED = (
    openai_moderation.KIND,
    azure_content_safety.KIND,
    perspective.KIND,
    chat_guard.KIND,
    own_model.KIND,
    embeddings.KIND,
)


@functools.cache
def known_kinds(models: ModelLimits = ModelLimits()) -> Mapping[str, Kind]:  # noqa: B008  # it is immutable
    """The kinds by name, looked for once: what is installed does not change while a process runs.

    ``models`` is what the installation allows to models of files.
    A package that cannot be loaded, or takes a name that is taken, is logged and left out.
    """
    kinds = {kind.name: kind for kind in (*SHIPPED, onnx_model.kind(models))}
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        try:
            kind = entry.load()
        except Exception:
            log.exception("the classifier %s cannot be loaded", entry.name)
            continue
        if not isinstance(kind, Kind) or kind.name in kinds:
            log.error("the classifier %s is no Kind with a name of its own", entry.name)
            continue
        kinds[kind.name] = kind
    return kinds
