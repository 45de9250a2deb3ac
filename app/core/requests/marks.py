"""Marks in a submission's metadata that are meant for this service."""

from collections.abc import Mapping
from typing import Any

TEST_MARK = "bridgenote_test"
"""True in a submission's ``metadata``: it was sent to try out the service (docs/run/first-hour.md)."""


def is_test(extra: Mapping[str, Any] | None) -> bool:
    """Whether a submission with this metadata is a test."""
    return extra is not None and extra.get(TEST_MARK) is True
