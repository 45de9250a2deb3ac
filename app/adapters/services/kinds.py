"""All kinds of services that this installation knows: the shipped ones, and those of installed packages."""

import functools
import logging
from collections.abc import Mapping
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
from app.core.services.kinds import ENTRY_POINTS, Kind

log = logging.getLogger(__name__)

SHIPPED = (
    openai_moderation.KIND,
    azure_content_safety.KIND,
    perspective.KIND,
    chat_guard.KIND,
    own_model.KIND,
    onnx_model.KIND,
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
