"""Datasets page: the fact-checks that posts are compared with, and importing more of them."""

import io
from collections.abc import Sequence
from typing import Any

from flask import Response, url_for
from wtforms import BooleanField, FileField, Form, HiddenField

from app.core import limits
from app.core.factcheck import datasets, reading
from app.core.factcheck.items import Imported
from app.core.factcheck.reading import Reading
from app.core.permissions import Permission
from app.web import auth, forms, page
from app.web.blueprint import web
from app.wiring import wired


class ImportForm(Form):
    """A file of fact-checks. ``check``: only validate the file, without importing it."""

    file = FileField("File")
    skip_bad = BooleanField("Import the good lines although others are bad")
    check = HiddenField()


@web.get("/datasets")
@auth.needs(Permission.REVISE_POLICY)
def list_datasets() -> Response:
    return _show(ImportForm())


@web.post("/datasets")
@auth.needs(Permission.REVISE_POLICY)
def import_dataset() -> Response:
    form = forms.posted(ImportForm)
    uploaded = forms.uploaded("file", limits.DATASET_FILE_BYTES)
    if uploaded is None:
        return _refuse(form, ["Choose a file."])
    if len(uploaded) > limits.DATASET_FILE_BYTES:
        return _refuse(form, [f"The file must be at most {limits.DATASET_FILE_BYTES // 1_048_576} MB."])
    parsed = reading.read(io.BytesIO(uploaded))
    if parsed.bad_lines and not form.skip_bad.data:
        return _refuse(form, _faults(parsed))
    if not parsed.items:
        return _refuse(form, _faults(parsed) or ["The file holds no items."])
    if form.check.data:
        return _show(form, checked=parsed)
    imported = _keep(parsed)
    left_out = f" {_lines(parsed.bad_lines)} left out." if parsed.bad_lines else ""
    note = f" {imported.taken:,} belong to somebody else and stay as they are." if imported.taken else ""
    message = f"{imported.new:,} new, {imported.changed:,} changed, {imported.unchanged:,} unchanged.{note}{left_out}"
    return page.done(None, url_for("web.list_datasets"), f"Imported: {message}")


def _keep(file: Reading) -> Imported:
    """Store the items, some hundreds in each transaction. Importing the same items again changes nothing."""
    actor, community = auth.current_actor(), auth.current_community()
    totals = Imported()
    for start in range(0, len(file.items), reading.CHUNK):
        with wired().database.writing() as session:
            totals += datasets.keep(session, actor, community.id, file.items[start : start + reading.CHUNK])
    with wired().database.writing() as session:
        names = {item.dataset_name for item in file.items}
        datasets.record(session, actor, community.id, sorted(names), totals)
    return totals


def _faults(file: Reading) -> list[str]:
    lines = [f"{fault[:1].upper()}{fault[1:]}." for fault in file.faults[: reading.SHOWN_FAULTS]]
    omitted = len(file.faults) - len(lines)
    return [*lines, f"… and {omitted:,} more."] if omitted > 0 else lines


def _refuse(form: ImportForm, problems: Sequence[str]) -> Response:
    form.file.errors = list(problems)
    return _show(form, status=422)


def _show(form: ImportForm, *, status: int = 200, checked: Reading | None = None) -> Response:
    with wired().database.reading() as session:
        rows = datasets.list_datasets(session, auth.current_actor(), auth.current_community().id)
    unknown: list[Any] = reading.unknown_ratings(checked.items).most_common(10) if checked else []
    return page.render(
        "operate/datasets.html",
        status=status,
        form=form,
        datasets=rows,
        checked=checked,
        left_out=_lines(checked.bad_lines) if checked and checked.bad_lines else "",
        unknown=unknown,
        serves_all=datasets.serves_all(auth.current_actor()),
        most=f"{limits.DATASET_FILE_BYTES // 1_048_576} MB",
    )


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
