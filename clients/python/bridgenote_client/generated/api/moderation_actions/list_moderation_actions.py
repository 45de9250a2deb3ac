import datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.action_state import ActionState
from ...models.action_tier import ActionTier
from ...models.error_document import ErrorDocument
from ...models.header_boolean import HeaderBoolean
from ...models.moderation_action_list import ModerationActionList
from ...models.undo_state import UndoState
from ...models.validation_error_document import ValidationErrorDocument
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filteraction_state: ActionState | Unset = UNSET,
    filteraction_tier: ActionTier | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    filterundo_state: UndoState | Unset = UNSET,
    community_server_id: UUID | Unset = UNSET,
    action_state: ActionState | Unset = UNSET,
    action_tier: ActionTier | Unset = UNSET,
    limit: int | Unset = UNSET,
    offset: int | Unset = UNSET,
    pagenumber: int | Unset = UNSET,
    pagesize: int | Unset = UNSET,
    pageafter: str | Unset = UNSET,
    pagebefore: str | Unset = UNSET,
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

    params: dict[str, Any] = {}

    json_filtercommunity_server_id: str | Unset = UNSET
    if not isinstance(filtercommunity_server_id, Unset):
        json_filtercommunity_server_id = str(filtercommunity_server_id)
    params["filter[community_server_id]"] = json_filtercommunity_server_id

    json_filteraction_state: str | Unset = UNSET
    if not isinstance(filteraction_state, Unset):
        json_filteraction_state = filteraction_state.value

    params["filter[action_state]"] = json_filteraction_state

    json_filteraction_tier: str | Unset = UNSET
    if not isinstance(filteraction_tier, Unset):
        json_filteraction_tier = filteraction_tier.value

    params["filter[action_tier]"] = json_filteraction_tier

    json_filterupdated_at_gte: str | Unset = UNSET
    if not isinstance(filterupdated_at_gte, Unset):
        json_filterupdated_at_gte = filterupdated_at_gte.isoformat()
    params["filter[updated_at__gte]"] = json_filterupdated_at_gte

    json_filterundo_state: str | Unset = UNSET
    if not isinstance(filterundo_state, Unset):
        json_filterundo_state = filterundo_state.value

    params["filter[undo_state]"] = json_filterundo_state

    json_community_server_id: str | Unset = UNSET
    if not isinstance(community_server_id, Unset):
        json_community_server_id = str(community_server_id)
    params["community_server_id"] = json_community_server_id

    json_action_state: str | Unset = UNSET
    if not isinstance(action_state, Unset):
        json_action_state = action_state.value

    params["action_state"] = json_action_state

    json_action_tier: str | Unset = UNSET
    if not isinstance(action_tier, Unset):
        json_action_tier = action_tier.value

    params["action_tier"] = json_action_tier

    params["limit"] = limit

    params["offset"] = offset

    params["page[number]"] = pagenumber

    params["page[size]"] = pagesize

    params["page[after]"] = pageafter

    params["page[before]"] = pagebefore

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/public/v1/moderation-actions",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorDocument | ModerationActionList | ValidationErrorDocument | None:
    if response.status_code == 200:
        response_200 = ModerationActionList.from_dict(response.json())

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

    if response.status_code == 406:
        response_406 = ErrorDocument.from_dict(response.json())

        return response_406

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
) -> Response[ErrorDocument | ModerationActionList | ValidationErrorDocument]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filteraction_state: ActionState | Unset = UNSET,
    filteraction_tier: ActionTier | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    filterundo_state: UndoState | Unset = UNSET,
    community_server_id: UUID | Unset = UNSET,
    action_state: ActionState | Unset = UNSET,
    action_tier: ActionTier | Unset = UNSET,
    limit: int | Unset = UNSET,
    offset: int | Unset = UNSET,
    pagenumber: int | Unset = UNSET,
    pagesize: int | Unset = UNSET,
    pageafter: str | Unset = UNSET,
    pagebefore: str | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> Response[ErrorDocument | ModerationActionList | ValidationErrorDocument]:
    """List moderation actions, newest first; bracketed and unbracketed filters combine with AND

     With `filter[updated_at__gte]` the list is in the order of changes, and `meta.next_since` is the
    value of the next call, which repeats up to a minute: deduplicate by id and `updated_at`.

    Args:
        filtercommunity_server_id (UUID | Unset):
        filteraction_state (ActionState | Unset): How far an action is. `proposed`: the
            integration is to carry it out, and answers with `applied`.

            `under_review` and `retro_review` (a second look) ask people. `confirmed`, `overturned`,
            `dismissed` and `scan_exempt` end it.
        filteraction_tier (ActionTier | Unset): How an action began: a score acted at once, or
            people were asked first.
        filterupdated_at_gte (datetime.datetime | Unset):
        filterundo_state (UndoState | Unset): Whether the integration has undone it. `impossible`:
            its platform cannot.
        community_server_id (UUID | Unset):
        action_state (ActionState | Unset): How far an action is. `proposed`: the integration is
            to carry it out, and answers with `applied`.

            `under_review` and `retro_review` (a second look) ask people. `confirmed`, `overturned`,
            `dismissed` and `scan_exempt` end it.
        action_tier (ActionTier | Unset): How an action began: a score acted at once, or people
            were asked first.
        limit (int | Unset):
        offset (int | Unset):
        pagenumber (int | Unset):
        pagesize (int | Unset):
        pageafter (str | Unset):
        pagebefore (str | Unset):
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
        Response[ErrorDocument | ModerationActionList | ValidationErrorDocument]
    """

    kwargs = _get_kwargs(
        filtercommunity_server_id=filtercommunity_server_id,
        filteraction_state=filteraction_state,
        filteraction_tier=filteraction_tier,
        filterupdated_at_gte=filterupdated_at_gte,
        filterundo_state=filterundo_state,
        community_server_id=community_server_id,
        action_state=action_state,
        action_tier=action_tier,
        limit=limit,
        offset=offset,
        pagenumber=pagenumber,
        pagesize=pagesize,
        pageafter=pageafter,
        pagebefore=pagebefore,
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
    *,
    client: AuthenticatedClient | Client,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filteraction_state: ActionState | Unset = UNSET,
    filteraction_tier: ActionTier | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    filterundo_state: UndoState | Unset = UNSET,
    community_server_id: UUID | Unset = UNSET,
    action_state: ActionState | Unset = UNSET,
    action_tier: ActionTier | Unset = UNSET,
    limit: int | Unset = UNSET,
    offset: int | Unset = UNSET,
    pagenumber: int | Unset = UNSET,
    pagesize: int | Unset = UNSET,
    pageafter: str | Unset = UNSET,
    pagebefore: str | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> ErrorDocument | ModerationActionList | ValidationErrorDocument | None:
    """List moderation actions, newest first; bracketed and unbracketed filters combine with AND

     With `filter[updated_at__gte]` the list is in the order of changes, and `meta.next_since` is the
    value of the next call, which repeats up to a minute: deduplicate by id and `updated_at`.

    Args:
        filtercommunity_server_id (UUID | Unset):
        filteraction_state (ActionState | Unset): How far an action is. `proposed`: the
            integration is to carry it out, and answers with `applied`.

            `under_review` and `retro_review` (a second look) ask people. `confirmed`, `overturned`,
            `dismissed` and `scan_exempt` end it.
        filteraction_tier (ActionTier | Unset): How an action began: a score acted at once, or
            people were asked first.
        filterupdated_at_gte (datetime.datetime | Unset):
        filterundo_state (UndoState | Unset): Whether the integration has undone it. `impossible`:
            its platform cannot.
        community_server_id (UUID | Unset):
        action_state (ActionState | Unset): How far an action is. `proposed`: the integration is
            to carry it out, and answers with `applied`.

            `under_review` and `retro_review` (a second look) ask people. `confirmed`, `overturned`,
            `dismissed` and `scan_exempt` end it.
        action_tier (ActionTier | Unset): How an action began: a score acted at once, or people
            were asked first.
        limit (int | Unset):
        offset (int | Unset):
        pagenumber (int | Unset):
        pagesize (int | Unset):
        pageafter (str | Unset):
        pagebefore (str | Unset):
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
        ErrorDocument | ModerationActionList | ValidationErrorDocument
    """

    return sync_detailed(
        client=client,
        filtercommunity_server_id=filtercommunity_server_id,
        filteraction_state=filteraction_state,
        filteraction_tier=filteraction_tier,
        filterupdated_at_gte=filterupdated_at_gte,
        filterundo_state=filterundo_state,
        community_server_id=community_server_id,
        action_state=action_state,
        action_tier=action_tier,
        limit=limit,
        offset=offset,
        pagenumber=pagenumber,
        pagesize=pagesize,
        pageafter=pageafter,
        pagebefore=pagebefore,
        x_adapter_platform=x_adapter_platform,
        x_adapter_user_id=x_adapter_user_id,
        x_adapter_username=x_adapter_username,
        x_adapter_trust_level=x_adapter_trust_level,
        x_adapter_admin=x_adapter_admin,
        x_adapter_moderator=x_adapter_moderator,
        x_adapter_scope=x_adapter_scope,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filteraction_state: ActionState | Unset = UNSET,
    filteraction_tier: ActionTier | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    filterundo_state: UndoState | Unset = UNSET,
    community_server_id: UUID | Unset = UNSET,
    action_state: ActionState | Unset = UNSET,
    action_tier: ActionTier | Unset = UNSET,
    limit: int | Unset = UNSET,
    offset: int | Unset = UNSET,
    pagenumber: int | Unset = UNSET,
    pagesize: int | Unset = UNSET,
    pageafter: str | Unset = UNSET,
    pagebefore: str | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> Response[ErrorDocument | ModerationActionList | ValidationErrorDocument]:
    """List moderation actions, newest first; bracketed and unbracketed filters combine with AND

     With `filter[updated_at__gte]` the list is in the order of changes, and `meta.next_since` is the
    value of the next call, which repeats up to a minute: deduplicate by id and `updated_at`.

    Args:
        filtercommunity_server_id (UUID | Unset):
        filteraction_state (ActionState | Unset): How far an action is. `proposed`: the
            integration is to carry it out, and answers with `applied`.

            `under_review` and `retro_review` (a second look) ask people. `confirmed`, `overturned`,
            `dismissed` and `scan_exempt` end it.
        filteraction_tier (ActionTier | Unset): How an action began: a score acted at once, or
            people were asked first.
        filterupdated_at_gte (datetime.datetime | Unset):
        filterundo_state (UndoState | Unset): Whether the integration has undone it. `impossible`:
            its platform cannot.
        community_server_id (UUID | Unset):
        action_state (ActionState | Unset): How far an action is. `proposed`: the integration is
            to carry it out, and answers with `applied`.

            `under_review` and `retro_review` (a second look) ask people. `confirmed`, `overturned`,
            `dismissed` and `scan_exempt` end it.
        action_tier (ActionTier | Unset): How an action began: a score acted at once, or people
            were asked first.
        limit (int | Unset):
        offset (int | Unset):
        pagenumber (int | Unset):
        pagesize (int | Unset):
        pageafter (str | Unset):
        pagebefore (str | Unset):
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
        Response[ErrorDocument | ModerationActionList | ValidationErrorDocument]
    """

    kwargs = _get_kwargs(
        filtercommunity_server_id=filtercommunity_server_id,
        filteraction_state=filteraction_state,
        filteraction_tier=filteraction_tier,
        filterupdated_at_gte=filterupdated_at_gte,
        filterundo_state=filterundo_state,
        community_server_id=community_server_id,
        action_state=action_state,
        action_tier=action_tier,
        limit=limit,
        offset=offset,
        pagenumber=pagenumber,
        pagesize=pagesize,
        pageafter=pageafter,
        pagebefore=pagebefore,
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
    *,
    client: AuthenticatedClient | Client,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filteraction_state: ActionState | Unset = UNSET,
    filteraction_tier: ActionTier | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    filterundo_state: UndoState | Unset = UNSET,
    community_server_id: UUID | Unset = UNSET,
    action_state: ActionState | Unset = UNSET,
    action_tier: ActionTier | Unset = UNSET,
    limit: int | Unset = UNSET,
    offset: int | Unset = UNSET,
    pagenumber: int | Unset = UNSET,
    pagesize: int | Unset = UNSET,
    pageafter: str | Unset = UNSET,
    pagebefore: str | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> ErrorDocument | ModerationActionList | ValidationErrorDocument | None:
    """List moderation actions, newest first; bracketed and unbracketed filters combine with AND

     With `filter[updated_at__gte]` the list is in the order of changes, and `meta.next_since` is the
    value of the next call, which repeats up to a minute: deduplicate by id and `updated_at`.

    Args:
        filtercommunity_server_id (UUID | Unset):
        filteraction_state (ActionState | Unset): How far an action is. `proposed`: the
            integration is to carry it out, and answers with `applied`.

            `under_review` and `retro_review` (a second look) ask people. `confirmed`, `overturned`,
            `dismissed` and `scan_exempt` end it.
        filteraction_tier (ActionTier | Unset): How an action began: a score acted at once, or
            people were asked first.
        filterupdated_at_gte (datetime.datetime | Unset):
        filterundo_state (UndoState | Unset): Whether the integration has undone it. `impossible`:
            its platform cannot.
        community_server_id (UUID | Unset):
        action_state (ActionState | Unset): How far an action is. `proposed`: the integration is
            to carry it out, and answers with `applied`.

            `under_review` and `retro_review` (a second look) ask people. `confirmed`, `overturned`,
            `dismissed` and `scan_exempt` end it.
        action_tier (ActionTier | Unset): How an action began: a score acted at once, or people
            were asked first.
        limit (int | Unset):
        offset (int | Unset):
        pagenumber (int | Unset):
        pagesize (int | Unset):
        pageafter (str | Unset):
        pagebefore (str | Unset):
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
        ErrorDocument | ModerationActionList | ValidationErrorDocument
    """

    return (
        await asyncio_detailed(
            client=client,
            filtercommunity_server_id=filtercommunity_server_id,
            filteraction_state=filteraction_state,
            filteraction_tier=filteraction_tier,
            filterupdated_at_gte=filterupdated_at_gte,
            filterundo_state=filterundo_state,
            community_server_id=community_server_id,
            action_state=action_state,
            action_tier=action_tier,
            limit=limit,
            offset=offset,
            pagenumber=pagenumber,
            pagesize=pagesize,
            pageafter=pageafter,
            pagebefore=pagebefore,
            x_adapter_platform=x_adapter_platform,
            x_adapter_user_id=x_adapter_user_id,
            x_adapter_username=x_adapter_username,
            x_adapter_trust_level=x_adapter_trust_level,
            x_adapter_admin=x_adapter_admin,
            x_adapter_moderator=x_adapter_moderator,
            x_adapter_scope=x_adapter_scope,
        )
    ).parsed
