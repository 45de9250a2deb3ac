from http import HTTPStatus
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.action_patch_attributes import ActionPatchAttributes
from ...models.action_patch_document import ActionPatchDocument
from ...models.error_document import ErrorDocument
from ...models.header_boolean import HeaderBoolean
from ...models.moderation_action_document import ModerationActionDocument
from ...models.validation_error_document import ValidationErrorDocument
from ...types import UNSET, Response, Unset


def _get_kwargs(
    action_id: UUID,
    *,
    body: ActionPatchAttributes | ActionPatchDocument | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(x_adapter_platform, Unset):
        headers["X-Adapter-Platform"] = x_adapter_platform

    if not isinstance(x_adapter_user_id, Unset):
        headers["X-Adapter-User-Id"] = x_adapter_user_id

    if not isinstance(x_adapter_username, Unset):
        headers["X-Adapter-Username"] = x_adapter_username

    if not isinstance(x_adapter_trust_level, Unset):
        headers["X-Adapter-Trust-Level"] = x_adapter_trust_level

    if not isinstance(x_adapter_admin, Unset):
        headers["X-Adapter-Admin"] = str(x_adapter_admin)

    if not isinstance(x_adapter_moderator, Unset):
        headers["X-Adapter-Moderator"] = str(x_adapter_moderator)

    if not isinstance(x_adapter_scope, Unset):
        headers["X-Adapter-Scope"] = x_adapter_scope

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/api/public/v1/moderation-actions/{action_id}".format(
            action_id=quote(str(action_id), safe=""),
        ),
    }

    if isinstance(body, ActionPatchAttributes | ActionPatchDocument):
        if isinstance(body, ActionPatchDocument):
            _kwargs["json"] = body.to_dict()
        else:
            _kwargs["json"] = body.to_dict()

        headers["Content-Type"] = "application/vnd.api+json"
    if isinstance(body, ActionPatchAttributes | ActionPatchDocument):
        if isinstance(body, ActionPatchDocument):
            _kwargs["json"] = body.to_dict()
        else:
            _kwargs["json"] = body.to_dict()

        headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorDocument | ModerationActionDocument | ValidationErrorDocument | None:
    if response.status_code == 200:
        response_200 = ModerationActionDocument.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = ErrorDocument.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = ErrorDocument.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = ErrorDocument.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = ErrorDocument.from_dict(response.json())

        return response_404

    if response.status_code == 406:
        response_406 = ErrorDocument.from_dict(response.json())

        return response_406

    if response.status_code == 409:
        response_409 = ErrorDocument.from_dict(response.json())

        return response_409

    if response.status_code == 413:
        response_413 = ErrorDocument.from_dict(response.json())

        return response_413

    if response.status_code == 415:
        response_415 = ErrorDocument.from_dict(response.json())

        return response_415

    if response.status_code == 422:
        response_422 = ValidationErrorDocument.from_dict(response.json())

        return response_422

    if response.status_code == 429:
        response_429 = ErrorDocument.from_dict(response.json())

        return response_429

    if response.status_code == 500:
        response_500 = ErrorDocument.from_dict(response.json())

        return response_500

    if response.status_code == 503:
        response_503 = ErrorDocument.from_dict(response.json())

        return response_503

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorDocument | ModerationActionDocument | ValidationErrorDocument]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    action_id: UUID,
    *,
    client: AuthenticatedClient | Client,
    body: ActionPatchAttributes | ActionPatchDocument | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> Response[ErrorDocument | ModerationActionDocument | ValidationErrorDocument]:
    """Acknowledge an action, appeal against it, make a moderator's move, change when a silence ends, or
    say whether an

     overturned action is undone.

    A moderator's decision may name the `category` that it is filed under, which the community's own
    model learns from. Repeating an acknowledgement, a move or an answer changes nothing and is 200.

    Args:
        action_id (UUID):
        x_adapter_platform (str | Unset):
        x_adapter_user_id (str | Unset):
        x_adapter_username (str | Unset):
        x_adapter_trust_level (str | Unset):
        x_adapter_admin (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_moderator (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_scope (str | Unset):
        body (ActionPatchAttributes | ActionPatchDocument): A document of JSON:API, or the
            attributes as a plain object.
        body (ActionPatchAttributes | ActionPatchDocument): A document of JSON:API, or the
            attributes as a plain object.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorDocument | ModerationActionDocument | ValidationErrorDocument]
    """

    kwargs = _get_kwargs(
        action_id=action_id,
        body=body,
        x_adapter_platform=x_adapter_platform,
        x_adapter_user_id=x_adapter_user_id,
        x_adapter_username=x_adapter_username,
        x_adapter_trust_level=x_adapter_trust_level,
        x_adapter_admin=x_adapter_admin,
        x_adapter_moderator=x_adapter_moderator,
        x_adapter_scope=x_adapter_scope,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    action_id: UUID,
    *,
    client: AuthenticatedClient | Client,
    body: ActionPatchAttributes | ActionPatchDocument | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> ErrorDocument | ModerationActionDocument | ValidationErrorDocument | None:
    """Acknowledge an action, appeal against it, make a moderator's move, change when a silence ends, or
    say whether an

     overturned action is undone.

    A moderator's decision may name the `category` that it is filed under, which the community's own
    model learns from. Repeating an acknowledgement, a move or an answer changes nothing and is 200.

    Args:
        action_id (UUID):
        x_adapter_platform (str | Unset):
        x_adapter_user_id (str | Unset):
        x_adapter_username (str | Unset):
        x_adapter_trust_level (str | Unset):
        x_adapter_admin (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_moderator (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_scope (str | Unset):
        body (ActionPatchAttributes | ActionPatchDocument): A document of JSON:API, or the
            attributes as a plain object.
        body (ActionPatchAttributes | ActionPatchDocument): A document of JSON:API, or the
            attributes as a plain object.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorDocument | ModerationActionDocument | ValidationErrorDocument
    """

    return sync_detailed(
        action_id=action_id,
        client=client,
        body=body,
        x_adapter_platform=x_adapter_platform,
        x_adapter_user_id=x_adapter_user_id,
        x_adapter_username=x_adapter_username,
        x_adapter_trust_level=x_adapter_trust_level,
        x_adapter_admin=x_adapter_admin,
        x_adapter_moderator=x_adapter_moderator,
        x_adapter_scope=x_adapter_scope,
    ).parsed


async def asyncio_detailed(
    action_id: UUID,
    *,
    client: AuthenticatedClient | Client,
    body: ActionPatchAttributes | ActionPatchDocument | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> Response[ErrorDocument | ModerationActionDocument | ValidationErrorDocument]:
    """Acknowledge an action, appeal against it, make a moderator's move, change when a silence ends, or
    say whether an

     overturned action is undone.

    A moderator's decision may name the `category` that it is filed under, which the community's own
    model learns from. Repeating an acknowledgement, a move or an answer changes nothing and is 200.

    Args:
        action_id (UUID):
        x_adapter_platform (str | Unset):
        x_adapter_user_id (str | Unset):
        x_adapter_username (str | Unset):
        x_adapter_trust_level (str | Unset):
        x_adapter_admin (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_moderator (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_scope (str | Unset):
        body (ActionPatchAttributes | ActionPatchDocument): A document of JSON:API, or the
            attributes as a plain object.
        body (ActionPatchAttributes | ActionPatchDocument): A document of JSON:API, or the
            attributes as a plain object.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorDocument | ModerationActionDocument | ValidationErrorDocument]
    """

    kwargs = _get_kwargs(
        action_id=action_id,
        body=body,
        x_adapter_platform=x_adapter_platform,
        x_adapter_user_id=x_adapter_user_id,
        x_adapter_username=x_adapter_username,
        x_adapter_trust_level=x_adapter_trust_level,
        x_adapter_admin=x_adapter_admin,
        x_adapter_moderator=x_adapter_moderator,
        x_adapter_scope=x_adapter_scope,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    action_id: UUID,
    *,
    client: AuthenticatedClient | Client,
    body: ActionPatchAttributes | ActionPatchDocument | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> ErrorDocument | ModerationActionDocument | ValidationErrorDocument | None:
    """Acknowledge an action, appeal against it, make a moderator's move, change when a silence ends, or
    say whether an

     overturned action is undone.

    A moderator's decision may name the `category` that it is filed under, which the community's own
    model learns from. Repeating an acknowledgement, a move or an answer changes nothing and is 200.

    Args:
        action_id (UUID):
        x_adapter_platform (str | Unset):
        x_adapter_user_id (str | Unset):
        x_adapter_username (str | Unset):
        x_adapter_trust_level (str | Unset):
        x_adapter_admin (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_moderator (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_scope (str | Unset):
        body (ActionPatchAttributes | ActionPatchDocument): A document of JSON:API, or the
            attributes as a plain object.
        body (ActionPatchAttributes | ActionPatchDocument): A document of JSON:API, or the
            attributes as a plain object.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorDocument | ModerationActionDocument | ValidationErrorDocument
    """

    return (
        await asyncio_detailed(
            action_id=action_id,
            client=client,
            body=body,
            x_adapter_platform=x_adapter_platform,
            x_adapter_user_id=x_adapter_user_id,
            x_adapter_username=x_adapter_username,
            x_adapter_trust_level=x_adapter_trust_level,
            x_adapter_admin=x_adapter_admin,
            x_adapter_moderator=x_adapter_moderator,
            x_adapter_scope=x_adapter_scope,
        )
    ).parsed
