"""A sign-in provider that these tests can make lie."""

import uuid
from collections.abc import Iterator

import pytest

from app.adapters.openid import HttpOpenId
from app.core.outbound import AllowList
from app.wiring import Wiring
from tests.lying_provider import LyingProvider, lying_provider
from tests.web.providers.visits import add


@pytest.fixture
def provider(wiring: Wiring) -> Iterator[LyingProvider]:
    """A provider that the service may reach."""
    with lying_provider() as provider:
        wiring.openid = HttpOpenId(AllowList.parse(provider.host), deadline=2)
        yield provider


@pytest.fixture
def provider_id(wiring: Wiring, provider: LyingProvider) -> uuid.UUID:
    """The provider's id here; it was tried and is enabled."""
    return add(wiring, provider)
