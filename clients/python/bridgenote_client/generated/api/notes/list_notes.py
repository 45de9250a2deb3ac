import datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.classification import Classification
from ...models.error_document import ErrorDocument
from ...models.header_boolean import HeaderBoolean
from ...models.note_kind import NoteKind
from ...models.note_list import NoteList
from ...models.note_status import NoteStatus
from ...models.validation_error_document import ValidationErrorDocument
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    pagenumber: int | Unset = 1,
    pagesize: int | Unset = 20,
    pageafter: str | Unset = UNSET,
    pagebefore: str | Unset = UNSET,
    filterstatus: NoteStatus | Unset = UNSET,
    filterstatus_neq: NoteStatus | Unset = UNSET,
    filterclassification: Classification | Unset = UNSET,
    filterkind: NoteKind | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterauthor_id: str | Unset = UNSET,
    filterrequest_id: str | Unset = UNSET,
    filterplatform_message_id: str | Unset = UNSET,
    filtercreated_at_gte: datetime.datetime | Unset = UNSET,
    filtercreated_at_lte: datetime.datetime | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    filterrater_id: str | Unset = UNSET,
    filterdrawn_rater_id: str | Unset = UNSET,
    filterrater_id_not_in: str | Unset = UNSET,
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

    json_filterstatus_neq: str | Unset = UNSET
    if not isinstance(filterstatus_neq, Unset):
        json_filterstatus_neq = filterstatus_neq.value

    params["filter[status__neq]"] = json_filterstatus_neq

    json_filterclassification: str | Unset = UNSET
    if not isinstance(filterclassification, Unset):
        json_filterclassification = filterclassification.value

    params["filter[classification]"] = json_filterclassification

    json_filterkind: str | Unset = UNSET
    if not isinstance(filterkind, Unset):
        json_filterkind = filterkind.value

    params["filter[kind]"] = json_filterkind

    json_filtercommunity_server_id: str | Unset = UNSET
    if not isinstance(filtercommunity_server_id, Unset):
        json_filtercommunity_server_id = str(filtercommunity_server_id)
    params["filter[community_server_id]"] = json_filtercommunity_server_id

    params["filter[author_id]"] = filterauthor_id

    params["filter[request_id]"] = filterrequest_id

    params["filter[platform_message_id]"] = filterplatform_message_id

    json_filtercreated_at_gte: str | Unset = UNSET
    if not isinstance(filtercreated_at_gte, Unset):
        json_filtercreated_at_gte = filtercreated_at_gte.isoformat()
    params["filter[created_at__gte]"] = json_filtercreated_at_gte

    json_filtercreated_at_lte: str | Unset = UNSET
    if not isinstance(filtercreated_at_lte, Unset):
        json_filtercreated_at_lte = filtercreated_at_lte.isoformat()
    params["filter[created_at__lte]"] = json_filtercreated_at_lte

    json_filterupdated_at_gte: str | Unset = UNSET
    if not isinstance(filterupdated_at_gte, Unset):
        json_filterupdated_at_gte = filterupdated_at_gte.isoformat()
    params["filter[updated_at__gte]"] = json_filterupdated_at_gte

    params["filter[rater_id]"] = filterrater_id

    params["filter[drawn_rater_id]"] = filterdrawn_rater_id

    params["filter[rater_id__not_in]"] = filterrater_id_not_in

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/public/v1/notes",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ErrorDocument | NoteList | ValidationErrorDocument | None:
    if response.status_code == 200:
        response_200 = NoteList.from_dict(response.json())

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
) -> Response[ErrorDocument | NoteList | ValidationErrorDocument]:
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
    filterstatus: NoteStatus | Unset = UNSET,
    filterstatus_neq: NoteStatus | Unset = UNSET,
    filterclassification: Classification | Unset = UNSET,
    filterkind: NoteKind | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterauthor_id: str | Unset = UNSET,
    filterrequest_id: str | Unset = UNSET,
    filterplatform_message_id: str | Unset = UNSET,
    filtercreated_at_gte: datetime.datetime | Unset = UNSET,
    filtercreated_at_lte: datetime.datetime | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    filterrater_id: str | Unset = UNSET,
    filterdrawn_rater_id: str | Unset = UNSET,
    filterrater_id_not_in: str | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> Response[ErrorDocument | NoteList | ValidationErrorDocument]:
    """List notes, newest first. `filter[kind]=note` leaves out rationales, which are never shown to
    members

     With `filter[updated_at__gte]` the list is in the order of changes, and `meta.next_since` is the
    value of the next call, which repeats up to a minute: deduplicate by id and `updated_at`.

    Args:
        pagenumber (int | Unset):  Default: 1.
        pagesize (int | Unset):  Default: 20.
        pageafter (str | Unset):
        pagebefore (str | Unset):
        filterstatus (NoteStatus | Unset): What ratings of a note came to, or what a moderator
            decided. Only `CURRENTLY_RATED_HELPFUL` is published.
        filterstatus_neq (NoteStatus | Unset): What ratings of a note came to, or what a moderator
            decided. Only `CURRENTLY_RATED_HELPFUL` is published.
        filterclassification (Classification | Unset): What a note says of its post.
        filterkind (NoteKind | Unset): A note that a person or a model wrote, or the service's
            rationale for an action.
        filtercommunity_server_id (UUID | Unset):
        filterauthor_id (str | Unset):
        filterrequest_id (str | Unset):
        filterplatform_message_id (str | Unset):
        filtercreated_at_gte (datetime.datetime | Unset):
        filtercreated_at_lte (datetime.datetime | Unset):
        filterupdated_at_gte (datetime.datetime | Unset):
        filterrater_id (str | Unset):
        filterdrawn_rater_id (str | Unset):
        filterrater_id_not_in (str | Unset):
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
        Response[ErrorDocument | NoteList | ValidationErrorDocument]
    """

    kwargs = _get_kwargs(
        pagenumber=pagenumber,
        pagesize=pagesize,
        pageafter=pageafter,
        pagebefore=pagebefore,
        filterstatus=filterstatus,
        filterstatus_neq=filterstatus_neq,
        filterclassification=filterclassification,
        filterkind=filterkind,
        filtercommunity_server_id=filtercommunity_server_id,
        filterauthor_id=filterauthor_id,
        filterrequest_id=filterrequest_id,
        filterplatform_message_id=filterplatform_message_id,
        filtercreated_at_gte=filtercreated_at_gte,
        filtercreated_at_lte=filtercreated_at_lte,
        filterupdated_at_gte=filterupdated_at_gte,
        filterrater_id=filterrater_id,
        filterdrawn_rater_id=filterdrawn_rater_id,
        filterrater_id_not_in=filterrater_id_not_in,
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
    filterstatus: NoteStatus | Unset = UNSET,
    filterstatus_neq: NoteStatus | Unset = UNSET,
    filterclassification: Classification | Unset = UNSET,
    filterkind: NoteKind | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterauthor_id: str | Unset = UNSET,
    filterrequest_id: str | Unset = UNSET,
    filterplatform_message_id: str | Unset = UNSET,
    filtercreated_at_gte: datetime.datetime | Unset = UNSET,
    filtercreated_at_lte: datetime.datetime | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    filterrater_id: str | Unset = UNSET,
    filterdrawn_rater_id: str | Unset = UNSET,
    filterrater_id_not_in: str | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> ErrorDocument | NoteList | ValidationErrorDocument | None:
    """List notes, newest first. `filter[kind]=note` leaves out rationales, which are never shown to
    members

     With `filter[updated_at__gte]` the list is in the order of changes, and `meta.next_since` is the
    value of the next call, which repeats up to a minute: deduplicate by id and `updated_at`.

    Args:
        pagenumber (int | Unset):  Default: 1.
        pagesize (int | Unset):  Default: 20.
        pageafter (str | Unset):
        pagebefore (str | Unset):
        filterstatus (NoteStatus | Unset): What ratings of a note came to, or what a moderator
            decided. Only `CURRENTLY_RATED_HELPFUL` is published.
        filterstatus_neq (NoteStatus | Unset): What ratings of a note came to, or what a moderator
            decided. Only `CURRENTLY_RATED_HELPFUL` is published.
        filterclassification (Classification | Unset): What a note says of its post.
        filterkind (NoteKind | Unset): A note that a person or a model wrote, or the service's
            rationale for an action.
        filtercommunity_server_id (UUID | Unset):
        filterauthor_id (str | Unset):
        filterrequest_id (str | Unset):
        filterplatform_message_id (str | Unset):
        filtercreated_at_gte (datetime.datetime | Unset):
        filtercreated_at_lte (datetime.datetime | Unset):
        filterupdated_at_gte (datetime.datetime | Unset):
        filterrater_id (str | Unset):
        filterdrawn_rater_id (str | Unset):
        filterrater_id_not_in (str | Unset):
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
        ErrorDocument | NoteList | ValidationErrorDocument
    """

    return sync_detailed(
        client=client,
        pagenumber=pagenumber,
        pagesize=pagesize,
        pageafter=pageafter,
        pagebefore=pagebefore,
        filterstatus=filterstatus,
        filterstatus_neq=filterstatus_neq,
        filterclassification=filterclassification,
        filterkind=filterkind,
        filtercommunity_server_id=filtercommunity_server_id,
        filterauthor_id=filterauthor_id,
        filterrequest_id=filterrequest_id,
        filterplatform_message_id=filterplatform_message_id,
        filtercreated_at_gte=filtercreated_at_gte,
        filtercreated_at_lte=filtercreated_at_lte,
        filterupdated_at_gte=filterupdated_at_gte,
        filterrater_id=filterrater_id,
        filterdrawn_rater_id=filterdrawn_rater_id,
        filterrater_id_not_in=filterrater_id_not_in,
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
    filterstatus: NoteStatus | Unset = UNSET,
    filterstatus_neq: NoteStatus | Unset = UNSET,
    filterclassification: Classification | Unset = UNSET,
    filterkind: NoteKind | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterauthor_id: str | Unset = UNSET,
    filterrequest_id: str | Unset = UNSET,
    filterplatform_message_id: str | Unset = UNSET,
    filtercreated_at_gte: datetime.datetime | Unset = UNSET,
    filtercreated_at_lte: datetime.datetime | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    filterrater_id: str | Unset = UNSET,
    filterdrawn_rater_id: str | Unset = UNSET,
    filterrater_id_not_in: str | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> Response[ErrorDocument | NoteList | ValidationErrorDocument]:
    """List notes, newest first. `filter[kind]=note` leaves out rationales, which are never shown to
    members

     With `filter[updated_at__gte]` the list is in the order of changes, and `meta.next_since` is the
    value of the next call, which repeats up to a minute: deduplicate by id and `updated_at`.

    Args:
        pagenumber (int | Unset):  Default: 1.
        pagesize (int | Unset):  Default: 20.
        pageafter (str | Unset):
        pagebefore (str | Unset):
        filterstatus (NoteStatus | Unset): What ratings of a note came to, or what a moderator
            decided. Only `CURRENTLY_RATED_HELPFUL` is published.
        filterstatus_neq (NoteStatus | Unset): What ratings of a note came to, or what a moderator
            decided. Only `CURRENTLY_RATED_HELPFUL` is published.
        filterclassification (Classification | Unset): What a note says of its post.
        filterkind (NoteKind | Unset): A note that a person or a model wrote, or the service's
            rationale for an action.
        filtercommunity_server_id (UUID | Unset):
        filterauthor_id (str | Unset):
        filterrequest_id (str | Unset):
        filterplatform_message_id (str | Unset):
        filtercreated_at_gte (datetime.datetime | Unset):
        filtercreated_at_lte (datetime.datetime | Unset):
        filterupdated_at_gte (datetime.datetime | Unset):
        filterrater_id (str | Unset):
        filterdrawn_rater_id (str | Unset):
        filterrater_id_not_in (str | Unset):
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
        Response[ErrorDocument | NoteList | ValidationErrorDocument]
    """

    kwargs = _get_kwargs(
        pagenumber=pagenumber,
        pagesize=pagesize,
        pageafter=pageafter,
        pagebefore=pagebefore,
        filterstatus=filterstatus,
        filterstatus_neq=filterstatus_neq,
        filterclassification=filterclassification,
        filterkind=filterkind,
        filtercommunity_server_id=filtercommunity_server_id,
        filterauthor_id=filterauthor_id,
        filterrequest_id=filterrequest_id,
        filterplatform_message_id=filterplatform_message_id,
        filtercreated_at_gte=filtercreated_at_gte,
        filtercreated_at_lte=filtercreated_at_lte,
        filterupdated_at_gte=filterupdated_at_gte,
        filterrater_id=filterrater_id,
        filterdrawn_rater_id=filterdrawn_rater_id,
        filterrater_id_not_in=filterrater_id_not_in,
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
    filterstatus: NoteStatus | Unset = UNSET,
    filterstatus_neq: NoteStatus | Unset = UNSET,
    filterclassification: Classification | Unset = UNSET,
    filterkind: NoteKind | Unset = UNSET,
    filtercommunity_server_id: UUID | Unset = UNSET,
    filterauthor_id: str | Unset = UNSET,
    filterrequest_id: str | Unset = UNSET,
    filterplatform_message_id: str | Unset = UNSET,
    filtercreated_at_gte: datetime.datetime | Unset = UNSET,
    filtercreated_at_lte: datetime.datetime | Unset = UNSET,
    filterupdated_at_gte: datetime.datetime | Unset = UNSET,
    filterrater_id: str | Unset = UNSET,
    filterdrawn_rater_id: str | Unset = UNSET,
    filterrater_id_not_in: str | Unset = UNSET,
    x_adapter_platform: str | Unset = UNSET,
    x_adapter_user_id: str | Unset = UNSET,
    x_adapter_username: str | Unset = UNSET,
    x_adapter_trust_level: str | Unset = UNSET,
    x_adapter_admin: HeaderBoolean | Unset = UNSET,
    x_adapter_moderator: HeaderBoolean | Unset = UNSET,
    x_adapter_scope: str | Unset = UNSET,
) -> ErrorDocument | NoteList | ValidationErrorDocument | None:
    """List notes, newest first. `filter[kind]=note` leaves out rationales, which are never shown to
    members

     With `filter[updated_at__gte]` the list is in the order of changes, and `meta.next_since` is the
    value of the next call, which repeats up to a minute: deduplicate by id and `updated_at`.

    Args:
        pagenumber (int | Unset):  Default: 1.
        pagesize (int | Unset):  Default: 20.
        pageafter (str | Unset):
        pagebefore (str | Unset):
        filterstatus (NoteStatus | Unset): What ratings of a note came to, or what a moderator
            decided. Only `CURRENTLY_RATED_HELPFUL` is published.
        filterstatus_neq (NoteStatus | Unset): What ratings of a note came to, or what a moderator
            decided. Only `CURRENTLY_RATED_HELPFUL` is published.
        filterclassification (Classification | Unset): What a note says of its post.
        filterkind (NoteKind | Unset): A note that a person or a model wrote, or the service's
            rationale for an action.
        filtercommunity_server_id (UUID | Unset):
        filterauthor_id (str | Unset):
        filterrequest_id (str | Unset):
        filterplatform_message_id (str | Unset):
        filtercreated_at_gte (datetime.datetime | Unset):
        filtercreated_at_lte (datetime.datetime | Unset):
        filterupdated_at_gte (datetime.datetime | Unset):
        filterrater_id (str | Unset):
        filterdrawn_rater_id (str | Unset):
        filterrater_id_not_in (str | Unset):
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
        ErrorDocument | NoteList | ValidationErrorDocument
    """

    return (
        await asyncio_detailed(
            client=client,
            pagenumber=pagenumber,
            pagesize=pagesize,
            pageafter=pageafter,
            pagebefore=pagebefore,
            filterstatus=filterstatus,
            filterstatus_neq=filterstatus_neq,
            filterclassification=filterclassification,
            filterkind=filterkind,
            filtercommunity_server_id=filtercommunity_server_id,
            filterauthor_id=filterauthor_id,
            filterrequest_id=filterrequest_id,
            filterplatform_message_id=filterplatform_message_id,
            filtercreated_at_gte=filtercreated_at_gte,
            filtercreated_at_lte=filtercreated_at_lte,
            filterupdated_at_gte=filterupdated_at_gte,
            filterrater_id=filterrater_id,
            filterdrawn_rater_id=filterdrawn_rater_id,
            filterrater_id_not_in=filterrater_id_not_in,
            x_adapter_platform=x_adapter_platform,
            x_adapter_user_id=x_adapter_user_id,
            x_adapter_username=x_adapter_username,
            x_adapter_trust_level=x_adapter_trust_level,
            x_adapter_admin=x_adapter_admin,
            x_adapter_moderator=x_adapter_moderator,
            x_adapter_scope=x_adapter_scope,
        )
    ).parsed
