"""Feeds of fact-checks: add one, see the results of its fetches, change, pause and remove it."""

import uuid
from typing import Any

from flask import Response, url_for
from wtforms import BooleanField, Form, SelectField, StringField
from wtforms.validators import InputRequired

from app.core import limits
from app.core.errors import Conflict, Invalid
from app.core.factcheck import datasets, feed_fetches, feeds
from app.core.factcheck.feeds import FeedDraft
from app.core.permissions import Permission
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.datasets.dataset_words import EVERY, FEED_OUTCOMES
from app.wiring import wired


class FeedForm(Form):
    """The settings of a feed."""

    url = StringField(
        lazy_gettext("Address"),
        [
            InputRequired(lazy_gettext("Enter the address of the feed.")),
            forms.at_most(limits.SOURCE_MAX, lazy_gettext("Address")),
        ],
        filters=[forms.trimmed],
    )
    dataset_name = StringField(
        lazy_gettext("Dataset"),
        [
            InputRequired(lazy_gettext("Name the dataset.")),
            forms.at_most(limits.DATASET_NAME_MAX, lazy_gettext("Dataset")),
        ],
        filters=[forms.trimmed],
    )
    publisher = StringField(
        lazy_gettext("Publisher"),
        [forms.at_most(limits.NAME_MAX, lazy_gettext("Publisher"))],
        filters=[forms.trimmed],
    )
    hours = SelectField(lazy_gettext("Fetch it"), choices=forms.choices(EVERY), default="24")
    retires = BooleanField(lazy_gettext("Retire fact-checks that the feed does not hold any more"))

    def draft(self) -> FeedDraft:
        """Return the typed settings. Call it only on a valid form."""
        return FeedDraft(
            url=self.url.data or "",
            dataset_name=self.dataset_name.data or "",
            publisher=self.publisher.data or "",
            hours=int(self.hours.data),
            retires=bool(self.retires.data),
        )


@web.get("/datasets/feeds/new")
@auth.needs(Permission.REVISE_POLICY)
def new_feed() -> Response:
    return _new(FeedForm())


@web.post("/datasets/feeds/new")
@auth.needs(Permission.REVISE_POLICY)
def add_feed() -> Response:
    form = forms.posted(FeedForm)
    if not form.validate():
        return _new(form, status=422)
    try:
        with wired().database.writing() as session:
            feed = feeds.add(
                session, auth.current_actor(), wired().allow, auth.current_community().id, form.draft()
            )
    except Invalid as refused:
        forms.explain(form, refused)
        return _new(form, status=422)
    except Conflict as refused:
        return _new(form, status=409, alert=f"{refused.detail}.")
    return page.done(None, _url(feed.id), _("The feed is added, and fetched now for the first time."))


@web.get("/datasets/feeds/<uuid:feed_id>")
def dataset_feed(feed_id: uuid.UUID) -> Response:
    return _show(feed_id)


@web.post("/datasets/feeds/<uuid:feed_id>")
def revise_feed(feed_id: uuid.UUID) -> Response:
    form = forms.posted(FeedForm)
    if not form.validate():
        return _show(feed_id, form, status=422)
    try:
        with wired().database.writing() as session:
            feeds.revise(session, auth.current_actor(), wired().allow, feed_id, form.draft())
    except Invalid as refused:
        forms.explain(form, refused)
        return _show(feed_id, form, status=422)
    except Conflict as refused:
        return _show(feed_id, form, status=409, alert=f"{refused.detail}.")
    return page.done(None, _url(feed_id), _("The feed is changed."))


@web.post("/datasets/feeds/<uuid:feed_id>/look")
def fetch_feed(feed_id: uuid.UUID) -> Response:
    with wired().database.writing() as session:
        feeds.fetch_now(session, auth.current_actor(), feed_id)
    return page.done(
        None, _url(feed_id), _("The feed will be fetched now. Reload the page to see the result.")
    )


@web.post("/datasets/feeds/<uuid:feed_id>/pause")
def pause_feed(feed_id: uuid.UUID) -> Response:
    is_paused = forms.posted_values("paused") == ["1"]
    with wired().database.writing() as session:
        feeds.pause(session, auth.current_actor(), feed_id, paused=is_paused)
    return page.done(None, _url(feed_id), _("Paused.") if is_paused else _("The feed is fetched again."))


@web.post("/datasets/feeds/<uuid:feed_id>/remove")
def remove_feed(feed_id: uuid.UUID) -> Response:
    with wired().database.writing() as session:
        feeds.remove(session, auth.current_actor(), feed_id)
    return page.done(None, url_for("web.list_datasets"), _("The feed is removed. Its fact-checks stay."))


def _new(form: FeedForm, **options: Any) -> Response:
    serves_all = datasets.serves_all(auth.current_actor())
    return page.render("datasets/new_feed.html", form=form, serves_all=serves_all, **options)


def _show(feed_id: uuid.UUID, form: FeedForm | None = None, **options: Any) -> Response:
    with wired().database.reading() as session:
        feed = feeds.get(session, auth.current_actor(), feed_id)
        auth.enter(feed.community_id)
        checks = feed_fetches.checks(session, feed)
    filled = FeedForm(
        url=feed.url,
        dataset_name=feed.dataset_name,
        publisher=feed.publisher,
        hours=str(feed.hours),
        retires=feed.retires,
    )
    return page.render(
        "datasets/feed.html",
        feed=feed,
        form=form or filled,
        checks=checks,
        may_change=feeds.may_change(auth.current_actor(), feed),
        outcomes=FEED_OUTCOMES,
        every=EVERY[str(feed.hours)],
        **options,
    )


def _url(feed_id: uuid.UUID) -> str:
    return url_for("web.dataset_feed", feed_id=feed_id)
