"""Fixtures of the tests of fact-checks."""

import pytest

from app.core.permissions import Actor
from app.core.vocabulary import Role
from tests.cast import Cast


@pytest.fixture
def operator(cast: Cast) -> Actor:
    return Actor(
        kind="account",
        name="Olga",
        account_id=cast.operator.account_id,
        roles={cast.community_id: Role.OPERATOR},
        communities=frozenset({cast.community_id}),
    )
