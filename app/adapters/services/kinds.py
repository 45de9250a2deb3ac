"""All kinds of services that this installation knows: the shipped ones, and those of installed packages."""

import functools
import logging
from collections.abc import Mapping
from importlib.metadata import entry_points

from app.adapters.services import (
    azure_content_safety,
    chat_guard,
    embeddings,
    openai_moderation,
    own_model,
    perspective,
)
from app.core.services.kinds import ENTRY_POINTS, Kind

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
def known_kinds() -> Mapping[str, Kind]:
    """The kinds by name, looked for once: what is installed does not change while a process runs.

    A package that cannot be loaded, or takes a name that is taken, is logged and left out.
    """
    kinds = {kind.name: kind for kind in SHIPPED}
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
