"""Datasets page: search and import the fact-checks that posts are compared with; one of them, and retiring it."""

import json
import uuid
from typing import Any

from flask import Response, make_response, url_for
from sqlalchemy.orm import Session
from wtforms import BooleanField, FileField, Form, HiddenField, SearchField, SelectField, StringField

from app.core import limits
from app.core.errors import Conflict, Invalid, NotFound
from app.core.factcheck import datasets, feed_fetches, feeds, imports, items, samples, spaces
from app.core.factcheck.datasets import Results, Search
from app.core.factcheck.imports import Upload
from app.core.models import Action, FactCheckItem
from app.core.permissions import Permission
from app.core.review import fact_check_posts
from app.core.services import calls
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, number
from app.core.vocabulary import AfterReading, ClaimRating
from app.process.replica_reads import may_be_old
from app.web import auth, community_choice, csv_files, filter_forms, forms, page, veils
from app.web.blueprint import web
from app.web.categories import HIDDEN
from app.web.datasets.dataset_words import IMPORT_STATES, RATINGS, rating_words
from app.web.filter_forms import FilterForm, typed, with_query
from app.web.filters import day_words
from app.web.services.service_words import progress_line
from app.wiring import wired

_UNKNOWN = "unknown"
_RETIRED = "retired"


class ImportForm(Form):
    """A file of fact-checks. ``check``: only read the file and report, without storing it."""

    file = FileField(lazy_gettext("File"))
    dataset_name = StringField(
        lazy_gettext("Dataset"),
        [forms.at_most(limits.DATASET_NAME_MAX, lazy_gettext("Dataset"))],
        filters=[forms.trimmed],
    )
    publisher = StringField(
        lazy_gettext("Publisher"),
        [forms.at_most(limits.NAME_MAX, lazy_gettext("Publisher"))],
        filters=[forms.trimmed],
    )
    skip_bad = BooleanField(lazy_gettext("Import the good lines although others are bad"))
    check = HiddenField()


class SearchForm(FilterForm):
    """The search of fact-checks; in the page's URL."""

    community = HiddenField()
    q = SearchField(lazy_gettext("Search"))
    dataset = SelectField(lazy_gettext("In dataset"), validate_choice=False)
    rating = SelectField(
        lazy_gettext("Rating"),
        choices=forms.choices(
            {
                "": lazy_gettext("All"),
                **RATINGS,
                _UNKNOWN: lazy_gettext("Not understood"),
                _RETIRED: lazy_gettext("Retired"),
            }
        ),
        validate_choice=False,
    )

    def wanted(self) -> Search:
        """Return the search; values that are none of the choices match everything."""
        rating = self.rating.data or ""
        return Search(
            text=typed(self.q)[:200],
            dataset=self.dataset.data or "",
            rating=ClaimRating(rating) if rating in RATINGS else None,
            is_unknown=rating == _UNKNOWN,
            is_retired=rating == _RETIRED,
            page=forms.number(forms.query_arg("page")) or 1,
        )


@web.get("/datasets")
@auth.needs(Permission.REVISE_POLICY)
@may_be_old
def list_datasets() -> Response:
    return _show(ImportForm())


@web.post("/datasets")
@auth.needs(Permission.REVISE_POLICY)
def import_dataset() -> Response:
    form = forms.posted(ImportForm)
    uploaded = forms.uploaded("file", limits.DATASET_FILE_BYTES)
    is_valid = form.validate()
    if uploaded is None:
        form.file.errors = [_("Choose a file.")]
    elif len(uploaded) > limits.DATASET_FILE_BYTES:
        form.file.errors = [f"{limits.DATASET_FILE_TOO_LARGE}."]
    if uploaded is None or form.file.errors or not is_valid:
        return _show(form, status=422)
    after = AfterReading.STORE if form.skip_bad.data else AfterReading.STORE_IF_ALL_GOOD
    upload = Upload(
        forms.uploaded_name("file"),
        uploaded,
        form.dataset_name.data or "",
        form.publisher.data or "",
        after_reading=AfterReading.WAIT if form.check.data else after,
    )
    try:
        with wired().database.writing() as session:
            begun = imports.begin(session, auth.current_actor(), auth.current_community().id, upload)
    except Invalid as refused:
        forms.explain(form, refused, sentences=("file",))
        return _show(form, status=422)
    return page.done(None, url_for("web.dataset_import", import_id=begun.id), _("The file has arrived."))


@web.get("/datasets/sample.csv")
@auth.needs(Permission.REVISE_POLICY)
def sample_csv() -> Response:
    return csv_files.attachment(
        [samples.SAMPLE[0], *(row.values() for row in samples.SAMPLE)], "fact-checks.csv"
    )


@web.get("/datasets/sample.jsonl")
@auth.needs(Permission.REVISE_POLICY)
def sample_json_lines() -> Response:
    response = make_response("".join(f"{json.dumps(row)}\n" for row in samples.SAMPLE))
    response.headers["Content-Type"] = "application/jsonl; charset=utf-8"
    response.headers["Content-Disposition"] = 'attachment; filename="fact-checks.jsonl"'
    return response


def _show(form: ImportForm, *, status: int = 200) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    filters = forms.queried(SearchForm)
    wanted = filters.wanted()
    with wired().database.reading() as session:
        rows = datasets.list_datasets(session, actor, community.id)
        found = datasets.search(session, actor, community.id, wanted)
        begun = imports.recent(session, actor, community.id)
        feed_rows = feeds.visible(session, actor, community.id)
        last = feed_fetches.last_checks(session, feed_rows)
        progress = spaces.progress(session, wired().services, community.id)
        today = calls.period(session, [one.service.id for one in progress], 1)
    filters.dataset.choices = forms.choices({"": _("All"), **{row.name: row.name for row in rows}})
    return page.render(
        "datasets/datasets.html",
        status=status,
        form=form,
        filters=filters,
        chips=filter_forms.chips(filters, url_for("web.list_datasets")),
        clear_url=url_for("web.list_datasets", **community_choice.carried()),
        datasets=rows,
        found=found,
        links=_links(found, filters),
        begun=begun,
        feeds=feed_rows,
        last_checks=last,
        vectors=[progress_line(one, today[one.service.id]) for one in progress],
        states=IMPORT_STATES,
        rating_words=rating_words,
        serves_all=datasets.serves_all(actor),
        most=f"{limits.DATASET_FILE_BYTES // 1_048_576} MB",
    )


def _links(found: Results, filters: SearchForm) -> page.PageLinks:
    def url(number: int) -> str | None:
        is_there = 1 <= number <= found.pages
        target = with_query(url_for("web.list_datasets"), {**filters.query(), "page": str(number)})
        return f"{target}#items-title" if is_there else None

    first = (found.page - 1) * datasets.PAGE
    summary = (
        _(
            "%(first)s to %(last)s of %(all)s",
            first=number(first + 1),
            last=number(first + len(found.rows)),
            all=number(found.count),
        )
        if found.rows
        else _("None")
    )
    return page.PageLinks(url(found.page - 1), url(found.page + 1), summary)


@web.get("/datasets/items/<uuid:item_id>")
@auth.needs(Permission.REVISE_POLICY)
def dataset_item(item_id: uuid.UUID) -> Response:
    return _item_page(item_id)


@web.post("/datasets/items/<uuid:item_id>/retire")
@auth.needs(Permission.REVISE_POLICY)
def retire_item(item_id: uuid.UUID) -> Response:
    return _change_item(item_id, _("Retired. It matches no new post, and stays readable."))


@web.post("/datasets/items/<uuid:item_id>/bring-back")
@auth.needs(Permission.REVISE_POLICY)
def bring_item_back(item_id: uuid.UUID) -> Response:
    return _change_item(item_id, _("It matches posts again."), back=True)


def _change_item(item_id: uuid.UUID, message: str, *, back: bool = False) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    change = items.bring_back if back else items.retire
    try:
        with wired().database.writing() as session:
            change(session, actor, community.id, _find_item(session, item_id))
    except Conflict as refused:
        return _item_page(item_id, status=409, alert=f"{refused.detail}.")
    return page.done(None, url_for("web.dataset_item", item_id=item_id), message)


def _find_item(session: Session, item_id: uuid.UUID) -> FactCheckItem:
    found = items.get(session, auth.current_actor(), auth.current_community().id, item_id)
    if found is None:
        raise NotFound("fact-check")
    return found


def _item_page(item_id: uuid.UUID, **options: Any) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        item = _find_item(session, item_id)
        matches = fact_check_posts.matches(session, actor, community.id, item)

    def hidden(action: Action | None) -> str:
        return HIDDEN if action is not None and veils.hides(action) else ""

    return page.render(
        "datasets/dataset_item.html",
        item=item,
        reviewed_on=day_words(item.reviewed_on) if item.reviewed_on else "",
        matches=matches,
        rating_words=rating_words,
        hidden=hidden,
        may_change=items.may_change(actor, item),
        **options,
    )
