"""Datasets: the fact-checks that posts are compared with, and importing more of them."""

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
    """A file of fact-checks. ``check``: only say what an import would find."""

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
    given = forms.uploaded("file", limits.DATASET_FILE_BYTES)
    if given is None:
        return _refuse(form, ["Choose a file."])
    if len(given) > limits.DATASET_FILE_BYTES:
        return _refuse(form, [f"The file must be at most {limits.DATASET_FILE_BYTES // 1_048_576} MB."])
    found = reading.read(io.BytesIO(given))
    if found.bad_lines and not form.skip_bad.data:
        return _refuse(form, _faults(found))
    if not found.items:
        return _refuse(form, _faults(found) or ["The file holds no items."])
    if form.check.data:
        return _show(form, checked=found)
    done = _keep(found)
    left_out = f" {_lines(found.bad_lines)} left out." if found.bad_lines else ""
    taken = f" {done.taken:,} belong to somebody else and stay as they are." if done.taken else ""
    message = f"{done.new:,} new, {done.changed:,} changed, {done.unchanged:,} unchanged.{taken}{left_out}"
    return page.done(None, url_for("web.list_datasets"), f"Imported: {message}")


def _keep(found: Reading) -> Imported:
    """Some hundreds in each transaction; repeating an import repeats nothing."""
    actor, community = auth.current_actor(), auth.current_community()
    done = Imported()
    for start in range(0, len(found.items), reading.CHUNK):
        with wired().database.writing() as session:
            done += datasets.keep(session, actor, community.id, found.items[start : start + reading.CHUNK])
    with wired().database.writing() as session:
        names = {item.dataset_name for item in found.items}
        datasets.record(session, actor, community.id, sorted(names), done)
    return done


def _faults(found: Reading) -> list[str]:
    told = [f"{fault[:1].upper()}{fault[1:]}." for fault in found.faults[: reading.SHOWN_FAULTS]]
    left = len(found.faults) - len(told)
    return [*told, f"… and {left:,} more."] if left > 0 else told


def _refuse(form: ImportForm, problems: Sequence[str]) -> Response:
    form.file.errors = list(problems)
    return _show(form, status=422)


def _show(form: ImportForm, *, status: int = 200, checked: Reading | None = None) -> Response:
    with wired().database.reading() as session:
        found = datasets.every(session, auth.current_actor(), auth.current_community().id)
    unknown: list[Any] = reading.unknown_ratings(checked.items).most_common(10) if checked else []
    return page.render(
        "operate/datasets.html",
        status=status,
        form=form,
        datasets=found,
        checked=checked,
        left_out=_lines(checked.bad_lines) if checked and checked.bad_lines else "",
        unknown=unknown,
        serves_all=datasets.serves_all(auth.current_actor()),
        most=f"{limits.DATASET_FILE_BYTES // 1_048_576} MB",
    )


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
