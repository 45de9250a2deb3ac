"""What ``make bench-scale`` calls: every filter that a list declares, so that none is left out when one is added."""

from unittest.mock import MagicMock
from urllib.parse import parse_qs, urlsplit

from app.api.schemas.notes import NoteQuery
from app.api.schemas.reports import ReportQuery
from app.web.list_filters import HistoryForm, QueueForm, ReportsForm
from tools.bench.scale import lists


def test_every_declared_filter_is_asked_alone_and_beside_each_other() -> None:
    # A filter without a sample would end this with a KeyError.
    asked = list(lists.addresses(lists.samples(MagicMock()), "webhook"))
    alone: dict[str, set[str]] = {}
    pairs: dict[str, set[frozenset[str]]] = {}
    for one in asked:
        where = urlsplit(one.path)
        parameters = frozenset(parse_qs(where.query))
        if len(parameters) == 1:
            alone.setdefault(where.path, set()).update(parameters)
        if len(parameters) == 2:
            pairs.setdefault(where.path, set()).add(parameters)
    hidden = {"community"}
    assert alone["/review"] == {field.name for field in QueueForm()} - hidden
    assert alone["/reports"] == {field.name for field in ReportsForm()} - hidden
    assert alone["/history"] == {field.name for field in HistoryForm()} - hidden
    assert alone["/history.csv"] == alone["/history"], "its values of few and of none"
    assert {"filter[drawn_rater_id]", "filter[status]"} <= alone[f"{lists.PUBLIC}/notes"]
    bracketed = {info.alias for info in NoteQuery.model_fields.values() if "filter" in (info.alias or "")}
    assert alone[f"{lists.PUBLIC}/notes"] == bracketed - {"filter[community_server_id]"}
    declared = {info.alias for info in ReportQuery.model_fields.values() if "filter" in (info.alias or "")}
    assert alone[f"{lists.PUBLIC}/reports"] == declared - {"filter[community_server_id]"}
    assert frozenset({"category", "language"}) in pairs["/review"]
    assert frozenset({"q", "type"}) in pairs["/history"]
