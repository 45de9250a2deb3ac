"""Overturns all actions of a category or a rule: preview, reason, then progress."""

import uuid
from datetime import UTC, datetime

from flask import Response, url_for
from wtforms import BooleanField, Form, HiddenField, SelectField, StringField
from wtforms.validators import ValidationError

from app.core import clock
from app.core.errors import Invalid
from app.core.ids import new_id, parse_id
from app.core.models import Overturn
from app.core.permissions import Permission
from app.core.review import overturn_search, overturns
from app.core.review.overturn_search import Criteria, Preview
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds import threshold_sets
from app.core.vocabulary import OverturnState
from app.web import auth, forms, page, reader_zone
from app.web.blueprint import web
from app.web.categories import HIDDEN, category_name
from app.web.veils import is_veiled
from app.wiring import wired


class OverturnForm(Form):
    """What to overturn. ``once`` is unique to the page: posting the form a second time starts nothing."""

    category = SelectField(lazy_gettext("Category"), validate_choice=False)
    rule = StringField(lazy_gettext("Rule"), [forms.at_most(overturn_search.RULE_MAX, lazy_gettext("Rule"))])
    since = StringField(lazy_gettext("Since"))
    with_reviewed = BooleanField(lazy_gettext("Also what people agreed to"))
    reason = forms.reason_field(required=False)
    once = HiddenField()

    def validate_since(self, field: StringField) -> None:
        """Require date and time in the format of the browser's field."""
        if _moment(field.data) is None:
            raise ValidationError(_("Enter a day and a time, such as 2026-05-31T14:00."))

    def validate_rule(self, field: StringField) -> None:
        """Require a category or a rule, not both."""
        if bool(self.category.data) == bool((field.data or "").strip()):
            raise ValidationError(_("Choose a category or enter a rule, not both."))

    def criteria(self) -> Criteria:
        """Return the typed criteria. Call it only on a valid form."""
        since = _moment(self.since.data)
        return Criteria(
            since=since or clock.now(),
            category=self.category.data or None,
            rule=(self.rule.data or "").strip() or None,
            with_reviewed=bool(self.with_reviewed.data),
        )


@web.get("/community/overturns")
@auth.needs(Permission.REVISE_POLICY)
def new_overturn() -> Response:
    """Show the criteria and a preview of what they match. All are in the URL, so that the page can be reloaded."""
    form = forms.queried(OverturnForm)
    if not form.since.raw_data:  # the form was not submitted yet
        return _show(form)
    return _show(form, status=200 if form.validate() else 422)


@web.post("/community/overturns")
@auth.needs(Permission.REVISE_POLICY)
@auth.asks_again()
def begin_overturn() -> Response:
    form = forms.posted(OverturnForm)
    is_valid = form.validate()
    if not (form.reason.data or "").strip():
        form.reason.errors = [*form.reason.errors, _("Enter a reason.")]
    if not is_valid or form.reason.errors:
        return _show(form, status=422)
    try:
        with wired().database.writing() as session:
            begun = overturns.begin(
                session,
                auth.current_actor(),
                auth.current_community().id,
                form.criteria(),
                form.reason.data or "",
                overturn_id=parse_id(form.once.data or ""),
            )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(form, status=422)
    return page.done(None, _url(begun), _("Overturning has begun. You can leave this page: it goes on."))


@web.get("/community/overturns/<uuid:overturn_id>")
def overturn_page(overturn_id: uuid.UUID) -> Response:
    return _show_one(overturn_id)


@web.get("/community/overturns/<uuid:overturn_id>/progress")
@auth.passive
def overturn_progress(overturn_id: uuid.UUID) -> Response:
    return _show_one(overturn_id)


@web.post("/community/overturns/<uuid:overturn_id>/stop")
def stop_overturn(overturn_id: uuid.UUID) -> Response:
    with wired().database.writing() as session:
        overturn = overturns.stop(session, auth.current_actor(), overturn_id)
    message = (
        _("Stopped. What is overturned stays so.")
        if overturn.state is OverturnState.STOPPED
        else _("It had ended already.")
    )
    return page.done(None, _url(overturn), message)


def _show(form: OverturnForm, *, status: int = 200) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    preview: Preview | None = None
    with wired().database.reading() as session:
        names = [category.name for category in threshold_sets.current(session, community.id).categories]
        if form.since.data and not (form.since.errors or form.rule.errors):
            try:
                preview = overturn_search.preview(session, actor, community.id, form.criteria())
            except Invalid as refusal:
                forms.explain(form, refusal)
                status = 422
        begun = overturns.recent(session, actor, community.id)
    gone = [form.category.data] if form.category.data and form.category.data not in names else []
    form.category.choices = forms.choices(
        {"": _("None"), **{name: category_name(name) for name in [*names, *gone]}}
    )
    if not form.once.data:
        form.once.data = str(new_id())
    return page.render(
        "community/overturn.html",
        status=status,
        form=form,
        found=preview,
        begun=begun,
        hidden=lambda action: HIDDEN if is_veiled(action.category) else "",
    )


def _show_one(overturn_id: uuid.UUID) -> Response:
    with wired().database.reading() as session:
        overturn = overturns.get(session, auth.current_actor(), overturn_id)
        auth.enter(overturn.community_id)
        failures = overturns.failures(session, overturn)
    return page.render(
        "community/overturn_progress.html",
        "community/_overturn_progress.html",
        found=overturn,
        failures=failures,
        may_stop=overturn.state is OverturnState.RUNNING
        and auth.may(Permission.REVISE_POLICY, overturn.community_id),
    )


def _url(overturn: Overturn) -> str:
    return url_for("web.overturn_page", overturn_id=overturn.id)


def _moment(typed: str | None) -> datetime | None:
    """Parse the value of a date-and-time field in the reader's time zone; None if it is invalid."""
    try:
        moment = datetime.fromisoformat((typed or "").strip())
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=reader_zone.zone())
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None
