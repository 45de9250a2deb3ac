"""How many generated values or random changes a test tries: ten times as many in `make faults` as in `make test`."""

import os
from collections.abc import Callable
from typing import Any

from hypothesis import settings

LONG = 10
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "short")
"""``long`` in `make faults`."""

# How long one value takes tells nothing on a machine that others use too.
settings.register_profile("short", max_examples=100, deadline=None)
settings.register_profile("long", max_examples=100 * LONG, deadline=None)


def examples(count: int) -> Callable[[Any], Any]:
    """So many values in `make test`."""
    return settings(max_examples=turns(count), deadline=None)


def turns(count: int) -> int:
    """So many turns of random changes in `make test`."""
    return count * LONG if PROFILE == "long" else count
