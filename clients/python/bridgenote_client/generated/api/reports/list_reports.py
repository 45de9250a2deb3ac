import datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.error_document import ErrorDocument
from ...models.header_boolean import HeaderBoolean
from ...models.report_list import ReportList
from ...models.report_state import ReportState
from ...models.validation_error_document import ValidationErrorDocument
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    pagenumber: int | Unset = 1,
    pagesize: int | Unset = 20,
    pageafter: str | Unset = UNSET,
    pagebefore: str | Unset = UNSET,
    filterstate: ReportState | Unset = UNSET,
    filtercategory: str | Unset = UNSET,
    filterreporter_id: str | Unset = UNSET,
    filterrequest_id: str | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterreported_at_gte: datetime.datetime | Unset = UNSET,
    filterreported_at_lte: datetime.datetime | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
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

    json_filterstate: str | Unset = UNSET
    if not isinstance(filterstate, Unset):
        json_filterstate = filterstate.value

    params["filter[state]"] = json_filterstate

    params["filter[category]"] = filtercategory

    params["filter[reporter_id]"] = filterreporter_id

    params["filter[request_id]"] = filterrequest_id

    json_filtercommunity_server_id: str | Unset = UNSET
    if not isinstance(filtercommunity_server_id, Unset):
        json_filtercommunity_server_id = str(filtercommunity_server_id)
    params["filter[community_server_id]"] = json_filtercommunity_server_id

    json_filterreported_at_gte: str | Unset = UNSET
    if not isinstance(filterreported_at_gte, Unset):
        json_filterreported_at_gte = filterreported_at_gte.isoformat()
    params["filter[reported_at__gte]"] = json_filterreported_at_gte

    json_filterreported_at_lte: str | Unset = UNSET
    if not isinstance(filterreported_at_lte, Unset):
        json_filterreported_at_lte = filterreported_at_lte.isoformat()
    params["filter[reported_at__lte]"] = json_filterreported_at_lte

    json_filterupdated_at_gte: str | Unset = UNSET
    if not isinstance(filterupdated_at_gte, Unset):
        json_filterupdated_at_gte = filterupdated_at_gte.isoformat()
    params["filter[updated_at__gte]"] = json_filterupdated_at_gte

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/public/v1/reports",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorDocument | ReportList | ValidationErrorDocument | None:
    if response.status_code == 200:
        response_200 = ReportList.from_dict(response.json())

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
) -> Response[ErrorDocument | ReportList | ValidationErrorDocument]:
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
    filterstate: ReportState | Unset = UNSET,
    filtercategory: str | Unset = UNSET,
    filterreporter_id: str | Unset = UNSET,
    filterrequest_id: str | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterreported_at_gte: datetime.datetime | Unset = UNSET,
    filterreported_at_lte: datetime.datetime | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> Response[ErrorDocument | ReportList | ValidationErrorDocument]:
    """List reports, newest first

     With `filter[updated_at__gte]` the list is in the order of changes, and `meta.next_since` is the
    value of the next call, which repeats up to a minute: deduplicate by id and `updated_at`.

    Args:
        pagenumber (int | Unset):  Default: 1.
        pagesize (int | Unset):  Default: 20.
        pageafter (str | Unset):
        pagebefore (str | Unset):
        filterstate (ReportState | Unset): How far a report is. `upheld`: the platform acted;
            `rejected`: the post stays; `undecided`: no decision.
        filtercategory (str | Unset):
        filterreporter_id (str | Unset):
        filterrequest_id (str | Unset):
        filtercommunity_server_id (UUID | Unset):
        filterreported_at_gte (datetime.datetime | Unset):
        filterreported_at_lte (datetime.datetime | Unset):
        filterupdated_at_gte (datetime.datetime | Unset):
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
        Response[ErrorDocument | ReportList | ValidationErrorDocument]
    """

    kwargs = _get_kwargs(
        pagenumber=pagenumber,
        pagesize=pagesize,
        pageafter=pageafter,
        pagebefore=pagebefore,
        filterstate=filterstate,
        filtercategory=filtercategory,
        filterreporter_id=filterreporter_id,
        filterrequest_id=filterrequest_id,
        filtercommunity_server_id=filtercommunity_server_id,
        filterreported_at_gte=filterreported_at_gte,
        filterreported_at_lte=filterreported_at_lte,
        filterupdated_at_gte=filterupdated_at_gte,
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
    filterstate: ReportState | Unset = UNSET,
    filtercategory: str | Unset = UNSET,
    filterreporter_id: str | Unset = UNSET,
    filterrequest_id: str | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterreported_at_gte: datetime.datetime | Unset = UNSET,
    filterreported_at_lte: datetime.datetime | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> ErrorDocument | ReportList | ValidationErrorDocument | None:
    """List reports, newest first

     With `filter[updated_at__gte]` the list is in the order of changes, and `meta.next_since` is the
    value of the next call, which repeats up to a minute: deduplicate by id and `updated_at`.

    Args:
        pagenumber (int | Unset):  Default: 1.
        pagesize (int | Unset):  Default: 20.
        pageafter (str | Unset):
        pagebefore (str | Unset):
        filterstate (ReportState | Unset): How far a report is. `upheld`: the platform acted;
            `rejected`: the post stays; `undecided`: no decision.
        filtercategory (str | Unset):
        filterreporter_id (str | Unset):
        filterrequest_id (str | Unset):
        filtercommunity_server_id (UUID | Unset):
        filterreported_at_gte (datetime.datetime | Unset):
        filterreported_at_lte (datetime.datetime | Unset):
        filterupdated_at_gte (datetime.datetime | Unset):
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
        ErrorDocument | ReportList | ValidationErrorDocument
    """

    return sync_detailed(
        client=client,
        pagenumber=pagenumber,
        pagesize=pagesize,
        pageafter=pageafter,
        pagebefore=pagebefore,
        filterstate=filterstate,
        filtercategory=filtercategory,
        filterreporter_id=filterreporter_id,
        filterrequest_id=filterrequest_id,
        filtercommunity_server_id=filtercommunity_server_id,
        filterreported_at_gte=filterreported_at_gte,
        filterreported_at_lte=filterreported_at_lte,
        filterupdated_at_gte=filterupdated_at_gte,
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
    filterstate: ReportState | Unset = UNSET,
    filtercategory: str | Unset = UNSET,
    filterreporter_id: str | Unset = UNSET,
    filterrequest_id: str | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterreported_at_gte: datetime.datetime | Unset = UNSET,
    filterreported_at_lte: datetime.datetime | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> Response[ErrorDocument | ReportList | ValidationErrorDocument]:
    """List reports, newest first

     With `filter[updated_at__gte]` the list is in the order of changes, and `meta.next_since` is the
    value of the next call, which repeats up to a minute: deduplicate by id and `updated_at`.

    Args:
        pagenumber (int | Unset):  Default: 1.
        pagesize (int | Unset):  Default: 20.
        pageafter (str | Unset):
        pagebefore (str | Unset):
        filterstate (ReportState | Unset): How far a report is. `upheld`: the platform acted;
            `rejected`: the post stays; `undecided`: no decision.
        filtercategory (str | Unset):
        filterreporter_id (str | Unset):
        filterrequest_id (str | Unset):
        filtercommunity_server_id (UUID | Unset):
        filterreported_at_gte (datetime.datetime | Unset):
        filterreported_at_lte (datetime.datetime | Unset):
        filterupdated_at_gte (datetime.datetime | Unset):
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
        Response[ErrorDocument | ReportList | ValidationErrorDocument]
    """

    kwargs = _get_kwargs(
        pagenumber=pagenumber,
        pagesize=pagesize,
        pageafter=pageafter,
        pagebefore=pagebefore,
        filterstate=filterstate,
        filtercategory=filtercategory,
        filterreporter_id=filterreporter_id,
        filterrequest_id=filterrequest_id,
        filtercommunity_server_id=filtercommunity_server_id,
        filterreported_at_gte=filterreported_at_gte,
        filterreported_at_lte=filterreported_at_lte,
        filterupdated_at_gte=filterupdated_at_gte,
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
    filterstate: ReportState | Unset = UNSET,
    filtercategory: str | Unset = UNSET,
    filterreporter_id: str | Unset = UNSET,
    filterrequest_id: str | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterreported_at_gte: datetime.datetime | Unset = UNSET,
    filterreported_at_lte: datetime.datetime | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> ErrorDocument | ReportList | ValidationErrorDocument | None:
    """List reports, newest first

     With `filter[updated_at__gte]` the list is in the order of changes, and `meta.next_since` is the
    value of the next call, which repeats up to a minute: deduplicate by id and `updated_at`.

    Args:
        pagenumber (int | Unset):  Default: 1.
        pagesize (int | Unset):  Default: 20.
        pageafter (str | Unset):
        pagebefore (str | Unset):
        filterstate (ReportState | Unset): How far a report is. `upheld`: the platform acted;
            `rejected`: the post stays; `undecided`: no decision.
        filtercategory (str | Unset):
        filterreporter_id (str | Unset):
        filterrequest_id (str | Unset):
        filtercommunity_server_id (UUID | Unset):
        filterreported_at_gte (datetime.datetime | Unset):
        filterreported_at_lte (datetime.datetime | Unset):
        filterupdated_at_gte (datetime.datetime | Unset):
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
        ErrorDocument | ReportList | ValidationErrorDocument
    """

    return (
        await asyncio_detailed(
            client=client,
            pagenumber=pagenumber,
            pagesize=pagesize,
            pageafter=pageafter,
            pagebefore=pagebefore,
            filterstate=filterstate,
            filtercategory=filtercategory,
            filterreporter_id=filterreporter_id,
            filterrequest_id=filterrequest_id,
            filtercommunity_server_id=filtercommunity_server_id,
            filterreported_at_gte=filterreported_at_gte,
            filterreported_at_lte=filterreported_at_lte,
            filterupdated_at_gte=filterupdated_at_gte,
            x_adapter_platform=x_adapter_platform,
            x_adapter_user_id=x_adapter_user_id,
            x_adapter_username=x_adapter_username,
            x_adapter_trust_level=x_adapter_trust_level,
            x_adapter_admin=x_adapter_admin,
            x_adapter_moderator=x_adapter_moderator,
            x_adapter_scope=x_adapter_scope,
        )
    ).parsed
