"""Deliveries, for operators: what was sent where, what came of it, one sent again."""

import json
import uuid
from collections.abc import Sequence
from typing import Any

from flask import Response, g, url_for
from wtforms import DateField, HiddenField, SearchField, SelectField
from wtforms.validators import Optional

from app.core import clock
from app.core.errors import Conflict
from app.core.ids import parse_id
from app.core.models import Attempt, Community, Delivery, Endpoint
from app.core.paging import Slice
from app.core.permissions import Permission
from app.core.vocabulary import DeliveryState, EventName
from app.core.webhooks import deliveries, payloads, replays, signing
from app.core.webhooks import endpoints as webhooks
from app.core.webhooks.deliveries import Filters
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.filter_forms import ALL, Days, FilterForm, Query, encoded, typed
from app.web.filters import state_word
from app.web.forms import at_most, choices
from app.web.webhooks.endpoints import place_of
from app.web.webhooks.forms import EVENT_WORDS
from app.wiring import wired

PAGE_SIZE = 50


class RangeForm(Days, FilterForm):
    """Which deliveries, in the address. From and To are whole days of the reader's timezone."""

    community = HiddenField()
    endpoint = SelectField("Webhook", validate_choice=False)
    event = SelectField(
        "Event",
        choices=choices(ALL | {one.value: words for one, words in EVENT_WORDS.items()}),
        default="",
    )
    from_day = DateField("From", [Optional()], name="from")
    to_day = DateField("To", [Optional()], name="to")

    def offer(self, rows: Sequence[Endpoint]) -> None:
        """Offer the community's webhooks; one that was removed stays while it is asked for."""
        known = {str(row.id): place_of(row) for row in rows}
        asked = self.endpoint.data
        if asked and asked not in known:
            known[asked] = "A removed webhook"
        self.endpoint.choices = choices(ALL | known)

    def wanted(self, state: DeliveryState | None = None, about: str | None = None) -> Filters:
        """What a valid form asks for."""
        return Filters(
            state=state,
            endpoint_id=(parse_id(self.endpoint.data) or uuid.UUID(int=0)) if self.endpoint.data else None,
            event=EventName(self.event.data) if self.event.data else None,
            about=about,
            since=self.since,
            until=self.until,
        )


class DeliveriesForm(RangeForm):
    """The log's filters."""

    q = SearchField("Id", [at_most(255, "Id")])
    state = SelectField(
        "State",
        choices=choices(ALL | {one.value: state_word(one) for one in DeliveryState}),
        default="",
    )

    def asked(self) -> Filters:
        """What a valid form asks for."""
        return self.wanted(DeliveryState(self.state.data) if self.state.data else None, typed(self.q) or None)


@web.get("/deliveries")
@auth.needs(Permission.MANAGE_WEBHOOKS)
def deliveries_page() -> Response:
    form = forms.queried(DeliveriesForm)
    holds = forms.filled_in(form)
    actor, community = auth.current_actor(), auth.current_community()
    wanted = Slice(
        size=PAGE_SIZE,
        after=forms.from_address("after") or None,
        before=forms.from_address("before") or None,
    )
    with wired().database.reading() as session:
        form.offer(webhooks.visible(session, actor, community.id))
        filters = form.asked() if holds else Filters()
        found = deliveries.listing(session, actor, community.id, filters, wanted)
        running = [one for one in replays.recent(session, actor, community.id) if one.finished_at is None]
    query = form.query()
    return page.render(
        "webhooks/deliveries.html",
        status=200 if holds else 422,
        filters=form,
        rows=found.rows,
        running=running,
        place_of=place_of,
        event_words=EVENT_WORDS,
        now=clock.now(),
        links=page.PageLinks(
            previous=_address(query, before=found.previous) if found.previous else None,
            next=_address(query, after=found.next) if found.next else None,
            summary=f"{found.count:,} {'delivery' if found.count == 1 else 'deliveries'}",
        ),
        range_url=_address({k: v for k, v in query.items() if k not in {"q", "state"}}, "web.replay_range"),
        clear_url=_address({k: v for k, v in query.items() if k == "community"}),
        is_narrowed=any(name != "community" for name in query),
    )


@web.get("/deliveries/<uuid:delivery_id>")
def delivery_page(delivery_id: uuid.UUID) -> Response:
    with wired().database.reading() as session:
        delivery = deliveries.get(session, auth.current_actor(), delivery_id)
        auth.enter(delivery.community_id)
        tried = deliveries.attempts_of(session, delivery)
    return page.render("webhooks/delivery.html", **_shown(delivery, tried), **_sent(delivery))


@web.get("/deliveries/<uuid:delivery_id>/attempts")
@auth.passive
def delivery_attempts(delivery_id: uuid.UUID) -> Response:
    """What became of it since the page was made; 204 while nothing did."""
    with wired().database.reading() as session:
        delivery = deliveries.get(session, auth.current_actor(), delivery_id)
        tried = deliveries.attempts_of(session, delivery)
    address = url_for("web.delivery_page", delivery_id=delivery_id)
    if forms.from_address("seen") == _edition(delivery, tried):
        return Response(status=204)
    if delivery.state is DeliveryState.DUE and page.wants_part():
        return page.render("webhooks/delivery.html", "webhooks/_delivery.html", **_shown(delivery, tried))
    message = f"{state_word(delivery.state)}{f': {outcome_words(tried[-1])}' if tried else ''}."
    return page.done("webhooks/_delivery.html", address, message, **_shown(delivery, tried))


@web.post("/deliveries/<uuid:delivery_id>/replay")
def replay_delivery(delivery_id: uuid.UUID) -> Response:
    address = url_for("web.delivery_page", delivery_id=delivery_id)
    try:
        with wired().database.writing() as session:
            deliveries.replay(session, auth.current_actor(), delivery_id)
    except Conflict as refusal:
        return page.done(None, address, f"{refusal.detail}.", status=409)
    return page.done(None, address, "It is sent again, with the same event id.")


def attention(community: Community | None) -> dict[str, tuple[int | str | None, str]]:
    """What operators must look after, by the view that shows it: a count and what it counts."""
    if community is None or not auth.may(Permission.MANAGE_WEBHOOKS, community.id):
        return {}
    if "attention" not in g:
        with wired().database.reading() as session:
            g.attention = deliveries.need_attention(session, auth.current_actor(), community.id)
    dead, disabled = g.attention
    most = deliveries.MOST_COUNTED
    return {
        "web.deliveries_page": (f"{most}+" if dead > most else dead or None, "failed or parked"),
        "web.endpoints": (disabled or None, "disabled"),
    }


def outcome_words(attempt: Attempt) -> str:
    """What came of an attempt: the answer's status, or why there was none."""
    said = f"answered {attempt.status}" if attempt.status is not None else attempt.error or "no answer"
    return f"{said} in {attempt.milliseconds:,} ms"


def _shown(delivery: Delivery, tried: Sequence[Attempt]) -> dict[str, Any]:
    """What the part needs that follows a delivery while it is on its way."""
    endpoint = delivery.endpoint
    return {
        "delivery": delivery,
        "tried": tried,
        "now": clock.now(),
        "event_word": EVENT_WORDS[delivery.event.name],
        "place": place_of(endpoint),
        "is_waiting": delivery.state is DeliveryState.DUE and delivery.due_at is not None,
        "may_replay": delivery.state in deliveries.REPLAYABLE
        and endpoint.is_active
        and endpoint.deleted_at is None,
        "poll_url": url_for("web.delivery_attempts", delivery_id=delivery.id, seen=_edition(delivery, tried)),
    }


def _sent(delivery: Delivery) -> dict[str, Any]:
    """The payload's exact bytes and a readable form of it, and the headers without what signs."""
    event = delivery.event
    payload = payloads.as_subscribed(event.payload, delivery.endpoint.events)
    return {
        "exact": signing.canonical(payload).decode(),
        "readable": json.dumps(payload, indent=2, ensure_ascii=False, sort_keys=True),
        "headers": signing.same_headers(str(event.id), payloads.name_of(payload)),
        "stamped": signing.STAMPED,
        "body_fields": (signing.TIMESTAMP_FIELD, signing.SIGNATURE_FIELD),
    }


def _edition(delivery: Delivery, tried: Sequence[Attempt]) -> str:
    """Changes with whatever the part shows."""
    return f"{delivery.state}-{len(tried)}-{int(delivery.due_at.timestamp()) if delivery.due_at else 0}"


def _address(query: Query, endpoint: str = "web.deliveries_page", **more: str | None) -> str:
    whole = {**query, **{name: value for name, value in more.items() if value is not None}}
    return url_for(endpoint) + (f"?{encoded(whole)}" if whole else "")
