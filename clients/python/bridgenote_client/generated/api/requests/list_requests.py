import datetime
from http import HTTPStatus
from typing import Any, Literal
from uuid import UUID

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_document import ErrorDocument
from ...models.header_boolean import HeaderBoolean
from ...models.request_list import RequestList
from ...models.request_status import RequestStatus
from ...models.validation_error_document import ValidationErrorDocument
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    pagenumber: int | Unset = 1,
    pagesize: int | Unset = 20,
    pageafter: str | Unset = UNSET,
    pagebefore: str | Unset = UNSET,
    filterstatus: RequestStatus | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterrequested_by: str | Unset = UNSET,
    filterdataset_name: str | Unset = UNSET,
    filterdataset_item_id: str | Unset = UNSET,
    filterduplicate_of: UUID | Unset = UNSET,
    filterrequested_at_gte: datetime.datetime | Unset = UNSET,
    filterrequested_at_lte: datetime.datetime | Unset = UNSET,
    filtercompleted_at_gte: datetime.datetime | Unset = UNSET,
    status: Literal["decided"] | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    community_server_id: UUID | Unset = UNSET,
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

    params["page[number]"] = pagenumber

    params["page[size]"] = pagesize

    params["page[after]"] = pageafter

    params["page[before]"] = pagebefore

    json_filterstatus: str | Unset = UNSET
    if not isinstance(filterstatus, Unset):
        json_filterstatus = filterstatus.value

    params["filter[status]"] = json_filterstatus

    json_filtercommunity_server_id: str | Unset = UNSET
    if not isinstance(filtercommunity_server_id, Unset):
        json_filtercommunity_server_id = str(filtercommunity_server_id)
    params["filter[community_server_id]"] = json_filtercommunity_server_id

    params["filter[requested_by]"] = filterrequested_by

    params["filter[dataset_name]"] = filterdataset_name

    params["filter[dataset_item_id]"] = filterdataset_item_id

    json_filterduplicate_of: str | Unset = UNSET
    if not isinstance(filterduplicate_of, Unset):
        json_filterduplicate_of = str(filterduplicate_of)
    params["filter[duplicate_of]"] = json_filterduplicate_of

    json_filterrequested_at_gte: str | Unset = UNSET
    if not isinstance(filterrequested_at_gte, Unset):
        json_filterrequested_at_gte = filterrequested_at_gte.isoformat()
    params["filter[requested_at__gte]"] = json_filterrequested_at_gte

    json_filterrequested_at_lte: str | Unset = UNSET
    if not isinstance(filterrequested_at_lte, Unset):
        json_filterrequested_at_lte = filterrequested_at_lte.isoformat()
    params["filter[requested_at__lte]"] = json_filterrequested_at_lte

    json_filtercompleted_at_gte: str | Unset = UNSET
    if not isinstance(filtercompleted_at_gte, Unset):
        json_filtercompleted_at_gte = filtercompleted_at_gte.isoformat()
    params["filter[completed_at__gte]"] = json_filtercompleted_at_gte

    params["status"] = status

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_community_server_id: str | Unset = UNSET
    if not isinstance(community_server_id, Unset):
        json_community_server_id = str(community_server_id)
    params["community_server_id"] = json_community_server_id

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/public/v1/requests",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorDocument | RequestList | ValidationErrorDocument | None:
    if response.status_code == 200:
        response_200 = RequestList.from_dict(response.json())

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
) -> Response[ErrorDocument | RequestList | ValidationErrorDocument]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    pagenumber: int | Unset = 1,
    pagesize: int | Unset = 20,
    pageafter: str | Unset = UNSET,
    pagebefore: str | Unset = UNSET,
    filterstatus: RequestStatus | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterrequested_by: str | Unset = UNSET,
    filterdataset_name: str | Unset = UNSET,
    filterdataset_item_id: str | Unset = UNSET,
    filterduplicate_of: UUID | Unset = UNSET,
    filterrequested_at_gte: datetime.datetime | Unset = UNSET,
    filterrequested_at_lte: datetime.datetime | Unset = UNSET,
    filtercompleted_at_gte: datetime.datetime | Unset = UNSET,
    status: Literal["decided"] | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    community_server_id: UUID | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> Response[ErrorDocument | RequestList | ValidationErrorDocument]:
    """List requests, newest first; with `status=decided` the catch-up poll, oldest decision first

     With `filter[completed_at__gte]` it is oldest completion first, and `meta.next_since` is the value
    of the next call, which repeats up to a minute: deduplicate by id.

    Args:
        pagenumber (int | Unset):  Default: 1.
        pagesize (int | Unset):  Default: 20.
        pageafter (str | Unset):
        pagebefore (str | Unset):
        filterstatus (RequestStatus | Unset): How far a request is. It stays `IN_PROGRESS` while
            people review it; `FAILED`: it could not be scored.
        filtercommunity_server_id (UUID | Unset):
        filterrequested_by (str | Unset):
        filterdataset_name (str | Unset):
        filterdataset_item_id (str | Unset):
        filterduplicate_of (UUID | Unset):
        filterrequested_at_gte (datetime.datetime | Unset):
        filterrequested_at_lte (datetime.datetime | Unset):
        filtercompleted_at_gte (datetime.datetime | Unset):
        status (Literal['decided'] | Unset):
        since (datetime.datetime | Unset):
        community_server_id (UUID | Unset):
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
        Response[ErrorDocument | RequestList | ValidationErrorDocument]
    """

    kwargs = _get_kwargs(
        pagenumber=pagenumber,
        pagesize=pagesize,
        pageafter=pageafter,
        pagebefore=pagebefore,
        filterstatus=filterstatus,
        filtercommunity_server_id=filtercommunity_server_id,
        filterrequested_by=filterrequested_by,
        filterdataset_name=filterdataset_name,
        filterdataset_item_id=filterdataset_item_id,
        filterduplicate_of=filterduplicate_of,
        filterrequested_at_gte=filterrequested_at_gte,
        filterrequested_at_lte=filterrequested_at_lte,
        filtercompleted_at_gte=filtercompleted_at_gte,
        status=status,
        since=since,
        community_server_id=community_server_id,
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
    pagenumber: int | Unset = 1,
    pagesize: int | Unset = 20,
    pageafter: str | Unset = UNSET,
    pagebefore: str | Unset = UNSET,
    filterstatus: RequestStatus | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterrequested_by: str | Unset = UNSET,
    filterdataset_name: str | Unset = UNSET,
    filterdataset_item_id: str | Unset = UNSET,
    filterduplicate_of: UUID | Unset = UNSET,
    filterrequested_at_gte: datetime.datetime | Unset = UNSET,
    filterrequested_at_lte: datetime.datetime | Unset = UNSET,
    filtercompleted_at_gte: datetime.datetime | Unset = UNSET,
    status: Literal["decided"] | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    community_server_id: UUID | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> ErrorDocument | RequestList | ValidationErrorDocument | None:
    """List requests, newest first; with `status=decided` the catch-up poll, oldest decision first

     With `filter[completed_at__gte]` it is oldest completion first, and `meta.next_since` is the value
    of the next call, which repeats up to a minute: deduplicate by id.

    Args:
        pagenumber (int | Unset):  Default: 1.
        pagesize (int | Unset):  Default: 20.
        pageafter (str | Unset):
        pagebefore (str | Unset):
        filterstatus (RequestStatus | Unset): How far a request is. It stays `IN_PROGRESS` while
            people review it; `FAILED`: it could not be scored.
        filtercommunity_server_id (UUID | Unset):
        filterrequested_by (str | Unset):
        filterdataset_name (str | Unset):
        filterdataset_item_id (str | Unset):
        filterduplicate_of (UUID | Unset):
        filterrequested_at_gte (datetime.datetime | Unset):
        filterrequested_at_lte (datetime.datetime | Unset):
        filtercompleted_at_gte (datetime.datetime | Unset):
        status (Literal['decided'] | Unset):
        since (datetime.datetime | Unset):
        community_server_id (UUID | Unset):
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
        ErrorDocument | RequestList | ValidationErrorDocument
    """

    return sync_detailed(
        client=client,
        pagenumber=pagenumber,
        pagesize=pagesize,
        pageafter=pageafter,
        pagebefore=pagebefore,
        filterstatus=filterstatus,
        filtercommunity_server_id=filtercommunity_server_id,
        filterrequested_by=filterrequested_by,
        filterdataset_name=filterdataset_name,
        filterdataset_item_id=filterdataset_item_id,
        filterduplicate_of=filterduplicate_of,
        filterrequested_at_gte=filterrequested_at_gte,
        filterrequested_at_lte=filterrequested_at_lte,
        filtercompleted_at_gte=filtercompleted_at_gte,
        status=status,
        since=since,
        community_server_id=community_server_id,
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
    pagenumber: int | Unset = 1,
    pagesize: int | Unset = 20,
    pageafter: str | Unset = UNSET,
    pagebefore: str | Unset = UNSET,
    filterstatus: RequestStatus | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterrequested_by: str | Unset = UNSET,
    filterdataset_name: str | Unset = UNSET,
    filterdataset_item_id: str | Unset = UNSET,
    filterduplicate_of: UUID | Unset = UNSET,
    filterrequested_at_gte: datetime.datetime | Unset = UNSET,
    filterrequested_at_lte: datetime.datetime | Unset = UNSET,
    filtercompleted_at_gte: datetime.datetime | Unset = UNSET,
    status: Literal["decided"] | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    community_server_id: UUID | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> Response[ErrorDocument | RequestList | ValidationErrorDocument]:
    """List requests, newest first; with `status=decided` the catch-up poll, oldest decision first

     With `filter[completed_at__gte]` it is oldest completion first, and `meta.next_since` is the value
    of the next call, which repeats up to a minute: deduplicate by id.

    Args:
        pagenumber (int | Unset):  Default: 1.
        pagesize (int | Unset):  Default: 20.
        pageafter (str | Unset):
        pagebefore (str | Unset):
        filterstatus (RequestStatus | Unset): How far a request is. It stays `IN_PROGRESS` while
            people review it; `FAILED`: it could not be scored.
        filtercommunity_server_id (UUID | Unset):
        filterrequested_by (str | Unset):
        filterdataset_name (str | Unset):
        filterdataset_item_id (str | Unset):
        filterduplicate_of (UUID | Unset):
        filterrequested_at_gte (datetime.datetime | Unset):
        filterrequested_at_lte (datetime.datetime | Unset):
        filtercompleted_at_gte (datetime.datetime | Unset):
        status (Literal['decided'] | Unset):
        since (datetime.datetime | Unset):
        community_server_id (UUID | Unset):
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
        Response[ErrorDocument | RequestList | ValidationErrorDocument]
    """

    kwargs = _get_kwargs(
        pagenumber=pagenumber,
        pagesize=pagesize,
        pageafter=pageafter,
        pagebefore=pagebefore,
        filterstatus=filterstatus,
        filtercommunity_server_id=filtercommunity_server_id,
        filterrequested_by=filterrequested_by,
        filterdataset_name=filterdataset_name,
        filterdataset_item_id=filterdataset_item_id,
        filterduplicate_of=filterduplicate_of,
        filterrequested_at_gte=filterrequested_at_gte,
        filterrequested_at_lte=filterrequested_at_lte,
        filtercompleted_at_gte=filtercompleted_at_gte,
        status=status,
        since=since,
        community_server_id=community_server_id,
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
    pagenumber: int | Unset = 1,
    pagesize: int | Unset = 20,
    pageafter: str | Unset = UNSET,
    pagebefore: str | Unset = UNSET,
    filterstatus: RequestStatus | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterrequested_by: str | Unset = UNSET,
    filterdataset_name: str | Unset = UNSET,
    filterdataset_item_id: str | Unset = UNSET,
    filterduplicate_of: UUID | Unset = UNSET,
    filterrequested_at_gte: datetime.datetime | Unset = UNSET,
    filterrequested_at_lte: datetime.datetime | Unset = UNSET,
    filtercompleted_at_gte: datetime.datetime | Unset = UNSET,
    status: Literal["decided"] | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    community_server_id: UUID | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> ErrorDocument | RequestList | ValidationErrorDocument | None:
    """List requests, newest first; with `status=decided` the catch-up poll, oldest decision first

     With `filter[completed_at__gte]` it is oldest completion first, and `meta.next_since` is the value
    of the next call, which repeats up to a minute: deduplicate by id.

    Args:
        pagenumber (int | Unset):  Default: 1.
        pagesize (int | Unset):  Default: 20.
        pageafter (str | Unset):
        pagebefore (str | Unset):
        filterstatus (RequestStatus | Unset): How far a request is. It stays `IN_PROGRESS` while
            people review it; `FAILED`: it could not be scored.
        filtercommunity_server_id (UUID | Unset):
        filterrequested_by (str | Unset):
        filterdataset_name (str | Unset):
        filterdataset_item_id (str | Unset):
        filterduplicate_of (UUID | Unset):
        filterrequested_at_gte (datetime.datetime | Unset):
        filterrequested_at_lte (datetime.datetime | Unset):
        filtercompleted_at_gte (datetime.datetime | Unset):
        status (Literal['decided'] | Unset):
        since (datetime.datetime | Unset):
        community_server_id (UUID | Unset):
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
        ErrorDocument | RequestList | ValidationErrorDocument
    """

    return (
        await asyncio_detailed(
            client=client,
            pagenumber=pagenumber,
            pagesize=pagesize,
            pageafter=pageafter,
            pagebefore=pagebefore,
            filterstatus=filterstatus,
            filtercommunity_server_id=filtercommunity_server_id,
            filterrequested_by=filterrequested_by,
            filterdataset_name=filterdataset_name,
            filterdataset_item_id=filterdataset_item_id,
            filterduplicate_of=filterduplicate_of,
            filterrequested_at_gte=filterrequested_at_gte,
            filterrequested_at_lte=filterrequested_at_lte,
            filtercompleted_at_gte=filtercompleted_at_gte,
            status=status,
            since=since,
            community_server_id=community_server_id,
            x_adapter_platform=x_adapter_platform,
            x_adapter_user_id=x_adapter_user_id,
            x_adapter_username=x_adapter_username,
            x_adapter_trust_level=x_adapter_trust_level,
            x_adapter_admin=x_adapter_admin,
            x_adapter_moderator=x_adapter_moderator,
            x_adapter_scope=x_adapter_scope,
        )
    ).parsed
