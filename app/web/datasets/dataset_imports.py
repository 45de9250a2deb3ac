"""One import of fact-checks: choose the columns of a CSV file, follow the reading, read the report, store."""

import uuid
from typing import Any

from flask import Response, url_for
from wtforms import Form, SelectField, StringField

from app.core import limits
from app.core.errors import Conflict, Invalid
from app.core.factcheck import columns, imports
from app.core.factcheck.imports import Upload
from app.core.models import DatasetImport
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, number
from app.core.vocabulary import AfterReading, ImportState
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.datasets.dataset_words import IMPORT_STATES, items, summary
from app.wiring import wired

COLUMN_WORDS = {
    "claim": lazy_gettext("Claim", "of a fact-check"),
    "rating": lazy_gettext("Rating"),
    "url": lazy_gettext("Address of the fact-check"),
    "publisher": lazy_gettext("Publisher"),
    "item_id": lazy_gettext("Id"),
    "dataset_name": lazy_gettext("Dataset"),
    "title": lazy_gettext("Title"),
    "language": lazy_gettext("Language"),
    "reviewed_on": lazy_gettext("Day"),
}


class ColumnsForm(Form):
    """Which column of a CSV file is what, and names for what no column says."""

    claim = SelectField(COLUMN_WORDS["claim"], validate_choice=False)
    rating = SelectField(COLUMN_WORDS["rating"], validate_choice=False)
    url = SelectField(COLUMN_WORDS["url"], validate_choice=False)
    publisher = SelectField(COLUMN_WORDS["publisher"], validate_choice=False)
    item_id = SelectField(COLUMN_WORDS["item_id"], validate_choice=False)
    dataset_name = SelectField(COLUMN_WORDS["dataset_name"], validate_choice=False)
    title = SelectField(COLUMN_WORDS["title"], validate_choice=False)
    language = SelectField(COLUMN_WORDS["language"], validate_choice=False)
    reviewed_on = SelectField(COLUMN_WORDS["reviewed_on"], validate_choice=False)
    dataset_for_all = StringField(
        lazy_gettext("Dataset of all rows"),
        [forms.at_most(limits.DATASET_NAME_MAX, lazy_gettext("Dataset"))],
        filters=[forms.trimmed],
    )
    publisher_for_all = StringField(
        lazy_gettext("Publisher of all rows"),
        [forms.at_most(limits.NAME_MAX, lazy_gettext("Publisher"))],
        filters=[forms.trimmed],
    )

    def offer(self, found: DatasetImport) -> None:
        """Offer the file's columns."""
        choices = forms.choices({"": "None", **{name: name for name in found.headers if name}})
        for member in columns.MEMBERS:
            self[member].choices = choices  # type: ignore[attr-defined]  # each of these is a SelectField

    @property
    def chosen(self) -> dict[str, str]:
        return {member: self[member].data for member in columns.MEMBERS if self[member].data}


@web.get("/datasets/imports/<uuid:import_id>")
def dataset_import(import_id: uuid.UUID) -> Response:
    return page.render("datasets/dataset_import.html", **_followed(import_id))


@web.get("/datasets/imports/<uuid:import_id>/progress")
@auth.passive
def dataset_import_progress(import_id: uuid.UUID) -> Response:
    """Return the part with the progress for polling; 204 if nothing changed."""
    context = _followed(import_id)
    if forms.query_arg("seen") == context["etag"]:
        return Response(status=204)
    part = "datasets/_dataset_import.html"
    if page.wants_part() and not context["running"]:
        # In the place of what was said at the start: "The file is being read."
        return page.done(part, _url(import_id), f"{context['state']}.", **context)
    return page.render("datasets/dataset_import.html", part, **context)


@web.post("/datasets/imports/<uuid:import_id>/columns")
def choose_import_columns(import_id: uuid.UUID) -> Response:
    form = forms.posted(ColumnsForm)
    context = _followed(import_id)
    found: DatasetImport = context["found"]
    form.offer(found)
    is_valid = form.validate()
    after = AfterReading.WAIT if found.feed_id is None else AfterReading.STORE
    upload = Upload(
        found.source,
        b"",
        form.dataset_for_all.data or "",
        form.publisher_for_all.data or "",
        after_reading=after,
    )
    if is_valid:
        try:
            with wired().database.writing() as session:
                imports.choose_columns(session, auth.current_actor(), import_id, form.chosen, upload)
            return page.done(None, _url(import_id), _("The columns are chosen."))
        except Invalid as refused:
            forms.explain(form, refused)
        except Conflict as refused:
            return page.render(
                "datasets/dataset_import.html", status=409, alert=f"{refused.detail}.", **_followed(import_id)
            )
    return page.render("datasets/dataset_import.html", status=422, **context | {"form": form})


@web.post("/datasets/imports/<uuid:import_id>/store")
def store_import(import_id: uuid.UUID) -> Response:
    try:
        with wired().database.writing() as session:
            imports.store(session, auth.current_actor(), import_id)
    except Conflict as refused:
        return page.render(
            "datasets/dataset_import.html", status=409, alert=f"{refused.detail}.", **_followed(import_id)
        )
    return page.done(None, _url(import_id), _("The import was started. You can leave this page."))


@web.post("/datasets/imports/<uuid:import_id>/stop")
def stop_import(import_id: uuid.UUID) -> Response:
    with wired().database.writing() as session:
        found = imports.stop(session, auth.current_actor(), import_id)
    is_stopped = found.state is ImportState.STOPPED
    message = _("Stopped. What is imported stays.") if is_stopped else _("It had ended already.")
    return page.done(None, _url(import_id), message)


def _followed(import_id: uuid.UUID) -> dict[str, Any]:
    with wired().database.reading() as session:
        found = imports.get(session, auth.current_actor(), import_id)
        auth.enter(found.community_id)
        refused = imports.refusals(session, found)
        undated = imports.undated(session, found)
    form = ColumnsForm(dataset_for_all=found.dataset_name, publisher_for_all=found.publisher, **found.columns)
    form.offer(found)
    return {
        "found": found,
        "refused": refused,
        "undated": undated,
        "form": form,
        "may_change": imports.may_change(auth.current_actor(), found),
        "state": IMPORT_STATES[found.state],
        "running": found.state in imports.RUNNING,
        "ended": found.state in imports.ENDED,
        "words": _words(found),
        "unknown": sorted(found.unknown.items(), key=lambda pair: (-pair[1], pair[0]))[:20],
        "share": _share(found),
        "etag": f"{found.state.value}-{found.records}-{found.stored}-{found.retired}",
        "items": items,
    }


def _words(found: DatasetImport) -> str:
    if found.state is ImportState.READING:
        return _("%(fact_checks)s read so far. Nothing is imported yet.", fact_checks=items(found.records))
    if found.state is ImportState.READ:
        return _(
            "The file holds %(fact_checks)s: %(figures)s. Nothing is imported yet.",
            fact_checks=items(found.records),
            figures=summary(found),
        )
    if found.state is ImportState.STORING:
        return _(
            "%(stored)s of %(fact_checks)s are imported. Posts are compared with them already; the others follow.",
            stored=number(found.stored),
            fact_checks=items(found.to_store),
        )
    if found.state is ImportState.FINISHED:
        return _("Imported: %(figures)s.", figures=summary(found))
    if found.state is ImportState.STOPPED:
        return _(
            "Stopped. %(fact_checks)s of %(all)s were imported, and stay.",
            fact_checks=items(found.stored),
            all=number(found.to_store),
        )
    return ""


def _share(found: DatasetImport) -> int:
    """How much of the work is done, in percent."""
    if found.state is ImportState.READING:
        return 100 * found.read_bytes // max(1, found.total_bytes)
    return 100 * (found.stored + found.retired) // max(1, found.to_store + found.retiring)


def _url(import_id: uuid.UUID) -> str:
    return url_for("web.dataset_import", import_id=import_id)
