"""Imports every module of the generated client, then submits a post with it, reads it and lists its actions.

    python call.py URL KEY COMMUNITY

prints what it imported and what it read, as JSON. Runs in the environment of scripts/clients, not in ours.
"""

import importlib
import json
import pkgutil
import sys
import time
from typing import Any

from bridgenote_client import generated
from bridgenote_client.generated import AuthenticatedClient, models
from bridgenote_client.generated.api.moderation_actions import list_moderation_actions
from bridgenote_client.generated.api.requests import create_request, read_request
from bridgenote_client.generated.models import (
    ErrorDocument,
    ModerationActionList,
    RequestCreate,
    RequestCreateAttributes,
    RequestCreateResource,
    RequestDocument,
    RequestStatus,
)
from bridgenote_client.generated.types import Unset

url, key, community = sys.argv[1:]
modules = [
    importlib.import_module(module.name).__name__
    for module in pkgutil.walk_packages(generated.__path__, f"{generated.__name__}.")
]


def read(client: AuthenticatedClient) -> RequestDocument:
    document = read_request.sync("from-python", client=client)
    assert isinstance(document, RequestDocument), document
    return document


def call(client: AuthenticatedClient) -> dict[str, Any]:
    attributes = RequestCreateAttributes(
        request_id="from-python",
        requested_by="ann",
        community_server_id=community,
        original_message_content="You are an idiot and everybody here knows it",
    )
    resource = RequestCreateResource(type_="requests", attributes=attributes)
    created = create_request.sync_detailed(client=client, body=RequestCreate(data=resource))
    assert isinstance(created.parsed, RequestDocument), created
    end = time.monotonic() + 90
    while isinstance((document := read(client)).data.attributes.action_id, Unset):
        assert document.data.attributes.status in (RequestStatus.PENDING, RequestStatus.IN_PROGRESS), document
        assert time.monotonic() < end, document
        time.sleep(0.1)
    actions = list_moderation_actions.sync(client=client)
    assert isinstance(actions, ModerationActionList), actions
    unknown = read_request.sync("of-nobody", client=client)
    assert isinstance(unknown, ErrorDocument), unknown
    return {
        "created": created.status_code,
        "id": str(document.data.id),
        "actions": [action.attributes.request_id for action in actions.data],
        "refused": unknown.detail,
    }


with AuthenticatedClient(base_url=url, token=key) as client:
    print(json.dumps({"modules": modules, "models": models.__all__, **call(client)}))
