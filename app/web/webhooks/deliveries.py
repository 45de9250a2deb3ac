"""Deliveries pages for operators: list, details with attempts, replay of one delivery."""

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from flask import Response, g, url_for
from wtforms import DateField, HiddenField, SearchField, SelectField
from wtforms.validators import Optional

from app.core import clock, texts
from app.core.errors import Conflict
from app.core.ids import parse_id
from app.core.models import Attempt, Community, Delivery, Webhook
from app.core.paging import Slice
from app.core.permissions import Permission
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.vocabulary import DeliveryState, EventName
from app.core.webhooks import catalogue, deliveries, payloads, replays, signing
from app.core.webhooks import registrations as webhooks
from app.core.webhooks.deliveries import Filters, Subjects
from app.process.replica_reads import may_be_old
from app.web import auth, community_choice, curl_command, cursor_links, filter_forms, forms, page
from app.web.blueprint import web
from app.web.filter_forms import ALL, Days, FilterForm, typed, with_query
from app.web.filters import state_word
from app.web.forms import at_most, choices
from app.web.webhooks import catalogue as webhooks_catalogue
from app.web.webhooks.endpoints import place_of
from app.wiring import wired

PAGE_SIZE = 50
_NO_URL = "https://YOUR_URL"
_YOUR_QUERY = "YOUR_QUERY"


class RangeForm(Days, FilterForm):
    """A selection of deliveries in the URL. From and To are whole days in the reader's time zone."""

    community = HiddenField()
    webhook = SelectField(lazy_gettext("Webhook"), validate_choice=False, name="endpoint")
    event = SelectField(
        lazy_gettext("Event"),
        choices=lambda: choices(ALL | catalogue.labels()),
        default="",
    )
    from_day = DateField(lazy_gettext("From"), [Optional()], name="from")
    to_day = DateField(lazy_gettext("To"), [Optional()], name="to")

    def offer(self, rows: Sequence[Webhook]) -> None:
        """Set the choices to the community's webhooks; a removed one is offered if it is selected."""
        webhooks_by_id = {str(row.id): place_of(row) for row in rows}
        selected = self.webhook.data
        if selected and selected not in webhooks_by_id:
            webhooks_by_id[selected] = _("A removed webhook")
        self.webhook.choices = choices(ALL | webhooks_by_id)

    def filters(self, *states: DeliveryState, about: str | None = None) -> Filters:
        """Return the filters. Call it only on a valid form."""
        return Filters(
            states=states,
            webhook_id=(parse_id(self.webhook.data) or uuid.UUID(int=0)) if self.webhook.data else None,
            event=EventName(self.event.data) if self.event.data else None,
            about=about,
            since=self.since,
            until=self.until,
        )


class DeliveriesForm(RangeForm):
    """The filters of the list."""

    q = SearchField(lazy_gettext("Id"), [at_most(255, lazy_gettext("Id"))])
    state = SelectField(
        lazy_gettext("State"),
        choices=choices(ALL | {state.value: state_word(state) for state in DeliveryState}),
        default="",
    )

    def all_filters(self) -> Filters:
        """Return all filters, with state and search. Call it only on a valid form."""
        states = (DeliveryState(self.state.data),) if self.state.data else ()
        return self.filters(*states, about=typed(self.q) or None)


@web.get("/deliveries")
@auth.needs(Permission.MANAGE_WEBHOOKS)
@may_be_old
def deliveries_page() -> Response:
    form = forms.queried(DeliveriesForm)
    holds = form.validate()
    actor, community = auth.current_actor(), auth.current_community()
    page_slice = Slice(size=PAGE_SIZE, **cursor_links.cursors())
    with wired().database.reading() as session:
        form.offer(webhooks.visible(session, actor, community.id))
        filters = form.all_filters() if holds else Filters()
        listed = deliveries.listing(
            session, actor, community.id, filters, page_slice, most=deliveries.MOST_MATCHING
        )
        known = deliveries.subjects(session, [line.delivery.event for line in listed.rows])
        running = [
            replay for replay in replays.recent(session, actor, community.id) if replay.finished_at is None
        ]
    path, query = url_for("web.deliveries_page"), form.query()
    return page.render(
        "webhooks/deliveries.html",
        status=200 if holds else 422,
        filters=form,
        chips=filter_forms.chips(form, path),
        rows=listed.rows,
        about=lambda event: webhooks_catalogue.in_words(event, known),
        running=running,
        place_of=place_of,
        event_words=catalogue.labels(),
        now=clock.now(),
        links=cursor_links.links(
            path,
            listed,
            lambda count: ngettext("%(num)s delivery", "%(num)s deliveries", count),
            **query,
        ),
        range_url=with_query(
            url_for("web.replay_range"), {k: v for k, v in query.items() if k not in {"q", "state"}}
        ),
        clear_url=url_for("web.deliveries_page", **community_choice.carried()),
        is_narrowed=form.is_narrowed,
    )


@web.get("/deliveries/<uuid:delivery_id>")
def delivery_page(delivery_id: uuid.UUID) -> Response:
    with wired().database.reading() as session:
        delivery = deliveries.get(session, auth.current_actor(), delivery_id)
        auth.enter(delivery.community_id)
        tried = deliveries.attempts_of(session, delivery)
        known = deliveries.subjects(session, [delivery.event])
    return page.render("webhooks/delivery.html", **_shown(delivery, tried, known), **_sent(delivery))


@web.get("/deliveries/<uuid:delivery_id>/attempts")
@auth.passive
def delivery_attempts(delivery_id: uuid.UUID) -> Response:
    """Return the part with the delivery's attempts for polling; 204 if nothing changed."""
    with wired().database.reading() as session:
        delivery = deliveries.get(session, auth.current_actor(), delivery_id)
        tried = deliveries.attempts_of(session, delivery)
        known = deliveries.subjects(session, [delivery.event])
    url = url_for("web.delivery_page", delivery_id=delivery_id)
    if forms.query_arg("seen") == _etag(delivery, tried):
        return Response(status=204)
    if delivery.state is DeliveryState.DUE and page.wants_part():
        return page.render(
            "webhooks/delivery.html", "webhooks/_delivery.html", **_shown(delivery, tried, known)
        )
    message = f"{state_word(delivery.state)}{f': {outcome_words(tried[-1])}' if tried else ''}."
    return page.done("webhooks/_delivery.html", url, message, **_shown(delivery, tried, known))


@web.post("/deliveries/<uuid:delivery_id>/replay")
def replay_delivery(delivery_id: uuid.UUID) -> Response:
    url = url_for("web.delivery_page", delivery_id=delivery_id)
    try:
        with wired().database.writing() as session:
            deliveries.replay(session, auth.current_actor(), delivery_id)
    except Conflict as refusal:
        return page.done(None, url, f"{refusal.detail}.", status=409)
    return page.done(None, url, _("It is sent again, with the same event id."))


def attention(community: Community | None) -> dict[str, tuple[int | str | None, str]]:
    """Return what operators should look at: for the view that shows it, a number and what it counts."""
    if community is None or not auth.may(Permission.MANAGE_WEBHOOKS, community.id):
        return {}
    if "attention" not in g:
        with wired().database.reading() as session:
            g.attention = deliveries.need_attention(session, auth.current_actor(), community.id)
    dead, disabled = g.attention
    most = deliveries.MOST_COUNTED
    return {
        "web.deliveries_page": (f"{most}+" if dead > most else dead or None, _("failed or parked")),
        "web.endpoints": (disabled or None, _("disabled")),
    }


def outcome_words(attempt: Attempt) -> str:
    """Return the outcome of an attempt: the response's status, or why there was none."""
    outcome = (
        _("answered %(status)s", status=attempt.status)
        if attempt.status is not None
        else attempt.error or _("no answer")
    )
    return _(
        "%(outcome)s in %(milliseconds)s ms", outcome=outcome, milliseconds=texts.number(attempt.milliseconds)
    )


def _shown(delivery: Delivery, tried: Sequence[Attempt], known: Subjects) -> dict[str, Any]:
    """Return the context of the part that follows a delivery."""
    webhook = delivery.webhook
    return {
        "delivery": delivery,
        "tried": tried,
        "now": clock.now(),
        "event_word": catalogue.EVENTS[delivery.event.name].label,
        "about": webhooks_catalogue.in_words(delivery.event, known),
        "place": place_of(webhook),
        "is_waiting": delivery.state is DeliveryState.DUE and delivery.due_at is not None,
        "may_replay": delivery.state in deliveries.REPLAYABLE
        and webhook.is_active
        and webhook.deleted_at is None,
        "poll_url": url_for("web.delivery_attempts", delivery_id=delivery.id, seen=_etag(delivery, tried)),
    }


def _sent(delivery: Delivery) -> dict[str, Any]:
    """Return the exact payload, a readable form of it, and the headers without the signature."""
    event = delivery.event
    payload = payloads.as_subscribed(payloads.veiled(event.payload), delivery.webhook.events)
    return {
        "exact": signing.canonical(payload).decode(),
        "readable": json.dumps(payload, indent=2, ensure_ascii=False, sort_keys=True),
        "headers": signing.same_headers(str(event.id), payloads.name_of(payload)),
        "stamped": signing.STAMPED,
        "body_fields": (signing.TIMESTAMP_FIELD, signing.SIGNATURE_FIELD),
        "curl": _curl_command(delivery, payload),
        "is_veiled": event.name is EventName.PANEL_DRAWN,
    }


def _curl_command(delivery: Delivery, payload: Mapping[str, Any]) -> str:
    """Return the command for this payload. A removed webhook's URL is a placeholder.

    The URL's query string may contain the receiver's token, so it is a placeholder too.
    """
    return curl_command.post(
        _receiver(delivery),
        signing.same_headers(str(delivery.event_id), payloads.name_of(payload)),
        signing.canonical(payload).decode(),
        option="--data-binary",
    )


def _receiver(delivery: Delivery) -> str:
    if delivery.webhook.deleted_at is not None:
        return _NO_URL
    parts = urlsplit(delivery.webhook.url)
    return parts._replace(query=_YOUR_QUERY if parts.query else "").geturl()


def _etag(delivery: Delivery, tried: Sequence[Attempt]) -> str:
    """Return a version of the part's content; changes whenever the part would look different."""
    return f"{delivery.state}-{len(tried)}-{int(delivery.due_at.timestamp()) if delivery.due_at else 0}"
