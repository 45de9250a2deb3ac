from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_document import ErrorDocument
from ...models.header_boolean import HeaderBoolean
from ...models.note_document import NoteDocument
from ...types import UNSET, Response, Unset


def _get_kwargs(
    request_id: str,
    *,
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
        "method": "post",
        "url": "/api/public/v1/requests/{request_id}/ai-notes".format(
            request_id=quote(str(request_id), safe=""),
        ),
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorDocument | NoteDocument | None:
    if response.status_code == 201:
        response_201 = NoteDocument.from_dict(response.json())

        return response_201

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

    if response.status_code == 429:
        response_429 = ErrorDocument.from_dict(response.json())

        return response_429

    if response.status_code == 500:
        response_500 = ErrorDocument.from_dict(response.json())

        return response_500

    if response.status_code == 502:
        response_502 = ErrorDocument.from_dict(response.json())

        return response_502

    if response.status_code == 503:
        response_503 = ErrorDocument.from_dict(response.json())

        return response_503

    if response.status_code == 504:
        response_504 = ErrorDocument.from_dict(response.json())

        return response_504

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ErrorDocument | NoteDocument]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    request_id: str,
    *,
    client: AuthenticatedClient | Client,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> Response[ErrorDocument | NoteDocument]:
    """Have an AI note drafted for a request. It starts unrated; people decide whether it is shown. No body

    Args:
        request_id (str):
        x_adapter_platform (str | Unset):
        x_adapter_user_id (str | Unset):
        x_adapter_username (str | Unset):
        x_adapter_trust_level (str | Unset):
        x_adapter_admin (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_moderator (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_scope (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorDocument | NoteDocument]
    """

    kwargs = _get_kwargs(
        request_id=request_id,
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
    request_id: str,
    *,
    client: AuthenticatedClient | Client,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> ErrorDocument | NoteDocument | None:
    """Have an AI note drafted for a request. It starts unrated; people decide whether it is shown. No body

    Args:
        request_id (str):
        x_adapter_platform (str | Unset):
        x_adapter_user_id (str | Unset):
        x_adapter_username (str | Unset):
        x_adapter_trust_level (str | Unset):
        x_adapter_admin (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_moderator (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_scope (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorDocument | NoteDocument
    """

    return sync_detailed(
        request_id=request_id,
        client=client,
        x_adapter_platform=x_adapter_platform,
        x_adapter_user_id=x_adapter_user_id,
        x_adapter_username=x_adapter_username,
        x_adapter_trust_level=x_adapter_trust_level,
        x_adapter_admin=x_adapter_admin,
        x_adapter_moderator=x_adapter_moderator,
        x_adapter_scope=x_adapter_scope,
    ).parsed


async def asyncio_detailed(
    request_id: str,
    *,
    client: AuthenticatedClient | Client,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> Response[ErrorDocument | NoteDocument]:
    """Have an AI note drafted for a request. It starts unrated; people decide whether it is shown. No body

    Args:
        request_id (str):
        x_adapter_platform (str | Unset):
        x_adapter_user_id (str | Unset):
        x_adapter_username (str | Unset):
        x_adapter_trust_level (str | Unset):
        x_adapter_admin (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_moderator (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_scope (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ErrorDocument | NoteDocument]
    """

    kwargs = _get_kwargs(
        request_id=request_id,
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
    request_id: str,
    *,
    client: AuthenticatedClient | Client,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> ErrorDocument | NoteDocument | None:
    """Have an AI note drafted for a request. It starts unrated; people decide whether it is shown. No body

    Args:
        request_id (str):
        x_adapter_platform (str | Unset):
        x_adapter_user_id (str | Unset):
        x_adapter_username (str | Unset):
        x_adapter_trust_level (str | Unset):
        x_adapter_admin (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_moderator (HeaderBoolean | Unset): Yes or no, as text in a header.
        x_adapter_scope (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ErrorDocument | NoteDocument
    """

    return (
        await asyncio_detailed(
            request_id=request_id,
            client=client,
            x_adapter_platform=x_adapter_platform,
            x_adapter_user_id=x_adapter_user_id,
            x_adapter_username=x_adapter_username,
            x_adapter_trust_level=x_adapter_trust_level,
            x_adapter_admin=x_adapter_admin,
            x_adapter_moderator=x_adapter_moderator,
            x_adapter_scope=x_adapter_scope,
        )
    ).parsed
