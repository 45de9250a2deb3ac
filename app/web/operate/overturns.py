"""Overturning all that a category or a rule did: looked at first, then with a reason, then watched."""

import uuid
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from flask import Response, g, url_for
from wtforms import BooleanField, Form, HiddenField, SelectField, StringField, TextAreaField
from wtforms.validators import ValidationError

from app.core import clock, limits
from app.core.errors import Invalid
from app.core.ids import new_id, parse_id
from app.core.models import Overturn
from app.core.permissions import Permission
from app.core.policies import policies
from app.core.review import overturn_search, overturns
from app.core.review.overturn_search import Criteria, Preview
from app.core.vocabulary import OverturnState
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import HIDDEN, category_name, is_veiled
from app.wiring import wired

BY = {"category": "A category", "rule": "A rule"}


class OverturnForm(Form):
    """What to overturn. ``once`` is this page's own: sent a second time, it begins nothing more."""

    category = SelectField("Category", validate_choice=False)
    rule = StringField("Rule", [forms.at_most(overturn_search.RULE_MAX, "Rule")])
    since = StringField("Since")
    with_reviewed = BooleanField("Also what people agreed to")
    reason = TextAreaField(
        "Reason", [forms.at_most(limits.REASON_MAX, "Reason")], filters=[forms.whole_lines]
    )
    once = HiddenField()

    def validate_since(self, field: StringField) -> None:
        """A day and a time, as the browser's own field sends them."""
        if _moment(field.data) is None:
            raise ValidationError("Enter a day and a time, such as 2026-05-31T14:00.")

    def validate_rule(self, field: StringField) -> None:
        """A category or a rule, not both."""
        if bool(self.category.data) == bool((field.data or "").strip()):
            raise ValidationError("Choose a category or enter a rule, not both.")

    def criteria(self) -> Criteria:
        """What was typed. Call it on a form that is filled in."""
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
    """The criteria, and what they find once they are given: all in the address, so that it can be looked at again."""
    form = forms.queried(OverturnForm)
    if not form.since.raw_data:  # nothing was asked yet
        return _show(form)
    return _show(form, status=200 if form.validate() else 422)


@web.post("/community/overturns")
@auth.needs(Permission.REVISE_POLICY)
def begin_overturn() -> Response:
    form = forms.posted(OverturnForm)
    is_valid = form.validate()
    if not (form.reason.data or "").strip():
        form.reason.errors = [*form.reason.errors, "Enter a reason."]
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
    return page.done(None, _url(begun), "Overturning has begun. You can leave this page: it goes on.")


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
        found = overturns.stop(session, auth.current_actor(), overturn_id)
    said = (
        "Stopped. What is overturned stays so."
        if found.state is OverturnState.STOPPED
        else "It had ended already."
    )
    return page.done(None, _url(found), said)


def _show(form: OverturnForm, *, status: int = 200) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    warn = auth.current_reader().account.content_warnings
    found: Preview | None = None
    with wired().database.reading() as session:
        names = [one.name for one in policies.current(session, community.id).categories]
        if form.since.data and not (form.since.errors or form.rule.errors):
            try:
                found = overturn_search.preview(session, actor, community.id, form.criteria())
            except Invalid as refusal:
                forms.explain(form, refusal)
                status = 422
        begun = overturns.recent(session, actor, community.id)
    gone = [form.category.data] if form.category.data and form.category.data not in names else []
    form.category.choices = forms.choices(
        {"": "None", **{one: category_name(one) for one in [*names, *gone]}}
    )
    if not form.once.data:
        form.once.data = str(new_id())
    return page.render(
        "operate/overturn.html",
        status=status,
        form=form,
        found=found,
        begun=begun,
        category_name=category_name,
        hidden=lambda action: HIDDEN if is_veiled(action.category, warn=warn) else "",
    )


def _show_one(overturn_id: uuid.UUID) -> Response:
    with wired().database.reading() as session:
        found = overturns.get(session, auth.current_actor(), overturn_id)
        auth.enter(found.community_id)
        failures = overturns.failures(session, found)
    return page.render(
        "operate/overturn_progress.html",
        "operate/_overturn_progress.html",
        found=found,
        failures=failures,
        category_name=category_name,
        may_stop=found.state is OverturnState.RUNNING
        and auth.may(Permission.REVISE_POLICY, found.community_id),
    )


def _url(found: Overturn) -> str:
    return url_for("web.overturn_page", overturn_id=found.id)


def _moment(typed: str | None) -> datetime | None:
    """What a browser's field for day and time sends, in the reader's timezone; None when it is none."""
    try:
        moment = datetime.fromisoformat((typed or "").strip())
    except ValueError:
        return None
    if moment.tzinfo is None:
        zone = g.get("timezone")
        moment = moment.replace(tzinfo=ZoneInfo(zone) if zone else UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return None
