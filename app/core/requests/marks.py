"""What the metadata of a submission may say to the service itself."""

from collections.abc import Mapping
from typing import Any

TEST_MARK = "bridgenote_test"
"""True in a submission's ``metadata``: it was sent to try the service out (Decision 0031)."""


def is_test(extra: Mapping[str, Any] | None) -> bool:
    """Whether a submission with this metadata is a test."""
    return extra is not None and extra.get(TEST_MARK) is True
