"""What the guards of the house share."""

from collections.abc import Iterator

import pytest

from tests.house import source


@pytest.fixture(scope="package", autouse=True)
def trees() -> Iterator[None]:
    """Kept while guards run one after the other, and no longer."""
    yield
    source.forget()
