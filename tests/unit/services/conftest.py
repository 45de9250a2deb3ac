"""A stub service, and connections to it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from app.adapters.services.kinds import SHIPPED
from app.core.services.kinds import Adapter, Connection
from app.core.webhooks.sending import AllowList
from tests.stub_services import Stub, serving

KINDS = {kind.name: kind for kind in SHIPPED}
PATHS = {"openai_moderation": "/v1", "azure_content_safety": "", "chat_guard": "/v1", "http": "/score"}
Connect = Callable[..., Adapter]


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving() as started:
        yield started


@pytest.fixture
def connect(stub: Stub) -> Connect:
    """``connect(kind, **options)``: an adapter that reaches the stub."""

    def connected(kind: str, deadline: float = 5.0, **options: str) -> Adapter:
        given: dict[str, Any] = {
            "url": stub.url(PATHS[kind]),
            "model": "model-1",
            "key": "sk-secret",
            "options": options,
            "categories": tuple(KINDS[kind].category_map(options)),
            "deadline": deadline,
            "allow": AllowList.parse("127.0.0.1"),
        }
        return KINDS[kind].connect(Connection(**given))

    return connected
