"""Every list with every filter that it declares: alone and in pairs, with a value of many rows, of few and of none.

A filter that is declared and has no ``Sample`` here ends the walk with a ``KeyError``.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from itertools import combinations
from typing import Any
from urllib.parse import urlencode

from wtforms import Form

from app.api import webhooks
from app.api.schemas.actions import ActionQuery
from app.api.schemas.notes import NoteQuery
from app.api.schemas.reports import ReportQuery
from app.api.schemas.requests import RequestQuery
from app.api.schemas.webhooks import DeliveryQuery
from app.api.shapes import Query
from app.core import clock
from app.web.datasets.datasets import SearchForm
from app.web.history.settings import SettingHistoryForm
from app.web.list_filters import HistoryForm, QueueForm, ReportsForm, SecondLookForm
from app.web.webhooks.deliveries import DeliveriesForm

PUBLIC = "/api/public/v1"
_NO_FILTERS = {"community", "community_server_id", "number", "size", "after", "before", "limit", "offset"}
_PAIRS = (("many", "many"), ("many", "few"), ("few", "many"), ("many", "none"), ("none", "many"))


@dataclass(frozen=True)
class Sample:
    """Values of one filter: what many rows have, few, and none. Empty: the filter has no such value."""

    many: str = ""
    few: str = ""
    none: str = ""


@dataclass(frozen=True)
class Named:
    """An address to call. ``group``: the calls of which only the most expensive are printed."""

    name: str
    path: str
    group: str
    everywhere: bool = False


def addresses(samples: Mapping[str, Sample], webhook: object) -> Iterator[Named]:
    """Each list whole, by one filter and by two; those of the API also by a key of all communities."""
    lists: dict[str, tuple[str, Callable[[], Form] | type[Query]]] = {
        "queue": ("/review", QueueForm),
        "second look": ("/second-look", SecondLookForm),
        "history": ("/history", HistoryForm),
        "history, CSV": ("/history.csv", HistoryForm),
        "settings": ("/history/settings", SettingHistoryForm),
        "deliveries": ("/deliveries", DeliveriesForm),
        "datasets": ("/datasets", SearchForm),
        "reports": ("/reports", ReportsForm),
        "API requests": (f"{PUBLIC}/requests", RequestQuery),
        "API notes": (f"{PUBLIC}/notes", NoteQuery),
        "API reports": (f"{PUBLIC}/reports", ReportQuery),
        "API actions": (f"{PUBLIC}/moderation-actions", ActionQuery),
        "API deliveries": (f"{webhooks.PREFIX}/{webhook}/deliveries", DeliveryQuery),
    }
    for name, (path, declared) in lists.items():
        filters = {
            parameter: samples.get(f"{name.split(',')[0]} {short}") or samples[short]
            for parameter, short in _declared(declared).items()
        }
        is_file = path.endswith(".csv")
        if not is_file:
            yield Named(name, path, name)
        for number, words in ((1, "a filter"), (2, "two filters")):
            for query in _queries(filters, number):
                if is_file and all(filters[key].many == value for key, value in query.items()):
                    # It has nearly everything, and takes as long.
                    continue
                asked = f"{name}, {' '.join(f'{key}={value}' for key, value in query.items())}"
                where, group = f"{path}?{urlencode(query)}", f"{name}, {words}"
                yield Named(asked, where, group)
                if name.startswith("API"):
                    yield Named(f"{asked}, everywhere", where, f"{group}, everywhere", everywhere=True)


def _queries(filters: Mapping[str, Sample], number: int) -> Iterator[dict[str, str]]:
    kinds = _PAIRS if number == 2 else [(field.name,) for field in fields(Sample)]
    for names in combinations(filters, number):
        for wanted in kinds:
            query = {name: getattr(filters[name], kind) for name, kind in zip(names, wanted, strict=True)}
            if all(query.values()):
                yield query


def _declared(form: Any) -> dict[str, str]:
    """The parameters of the filters that a form or a schema declares, each with its name without brackets."""
    if issubclass(form, Form):
        return {field.name: field.name for field in form() if field.name not in _NO_FILTERS}
    found: dict[str, str] = {}
    for name, info in form.model_fields.items():
        parameter = info.alias or name
        short = parameter.removeprefix("filter[").removesuffix("]")
        if name not in _NO_FILTERS and short not in (*_NO_FILTERS, *found.values()):
            found[parameter] = short
    return found


def samples(found: Any) -> dict[str, Sample]:
    """By the name of a filter, or of a list and a filter; ``found`` are ids in this database."""

    def day(days: int) -> str:
        return f"{clock.now() - timedelta(days=days):%Y-%m-%d}"

    def moment(days: int) -> str:
        return clock.iso(clock.now() - timedelta(days=days))

    since = Sample(moment(200), moment(1), moment(-1))
    until = Sample(moment(0), moment(299), moment(900))
    return {
        "q": Sample("harbour", "meteor", "zeppelin"),
        "category": Sample("spam", "doxxing", "none"),
        "language": Sample("en", "fi", "xx"),
        "author": Sample("author-busy", "author-7", "nobody"),
        "channel": Sample("channel-7", "channel-quiet", "none"),
        "claimed_by": Sample("nobody", "", "me"),
        "snoozed": Sample(none="1"),
        "overdue": Sample(none="1"),
        "sort": Sample("oldest", "score"),
        "queue sort": Sample("oldest", "ratings"),
        "type": Sample("hide", "warn", "delete"),
        "actor": Sample("Moderator", "", "nobody"),
        "mine": Sample(none="1"),
        "history since": Sample(moment(299), moment(1), moment(-1)),
        "state": Sample("applied", "retro_review", "scan_exempt"),
        "second look state": Sample("retro_review", "applied"),
        "deliveries state": Sample("delivered", "dead", "parked"),
        "API deliveries state": Sample("delivered", "dead", "parked"),
        "tab": Sample("resolved", "open"),
        "reporter": Sample(str(found.busy), str(found.rater)),
        "API reports state": Sample("upheld", "open", "withdrawn"),
        "API reports category": Sample("spam", "doxxing", "none"),
        "reporter_id": Sample(str(found.busy), str(found.rater), "nobody"),
        "reported_at__gte": since,
        "reported_at__lte": until,
        "from": Sample(day(299), day(1), day(-1)),
        "to": Sample(day(-2), day(298)),
        "deliveries q": Sample("", str(found.post), "none"),
        "area": Sample("thresholds", "", "keys"),
        "endpoint": Sample(str(found.webhook), str(found.quiet_webhook)),
        "event": Sample("moderation.decision", "", "webhook.test"),
        "datasets q": Sample("ferry", "199", "zeppelin"),
        "dataset": Sample("checks-0", "", "none"),
        "rating": Sample("false", "", "retired"),
        "status": Sample("COMPLETED", "IN_PROGRESS", "FAILED"),
        "API notes status": Sample("CURRENTLY_RATED_HELPFUL", "NEEDS_MORE_RATINGS"),
        "status__neq": Sample("NEEDS_MORE_RATINGS", "CURRENTLY_RATED_HELPFUL"),
        "requested_by": Sample("bench", "rare-importer", "nobody"),
        "dataset_name": Sample("checks", "", "none"),
        "dataset_item_id": Sample("", "check-100", "none"),
        "duplicate_of": Sample(none=str(found.post)),
        "requested_at__gte": since,
        "requested_at__lte": until,
        "completed_at__gte": since,
        "created_at__gte": since,
        "created_at__lte": until,
        "updated_at__gte": since,
        "since": Sample(),
        "classification": Sample("MISINFORMED_OR_POTENTIALLY_MISLEADING", "NOT_MISLEADING"),
        "kind": Sample("rationale", "note"),
        "author_id": Sample(str(found.author), str(found.drawn), "nobody"),
        "request_id": Sample("", str(found.post), "none"),
        "platform_message_id": Sample("", f"m-{found.post_of_note}", "none"),
        "rater_id": Sample(str(found.busy), str(found.rater), "nobody"),
        "drawn_rater_id": Sample(str(found.drawn), "", "nobody"),
        "rater_id__not_in": Sample(str(found.rater), str(found.busy)),
        "action_state": Sample("confirmed", "retro_review", "scan_exempt"),
        "action_tier": Sample("tier_2_consensus", "tier_1_immediate"),
        "undo_state": Sample("", "", "proposed"),
    }
