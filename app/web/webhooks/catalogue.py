"""The event catalogue: every event, when it is sent, who gets it, its fields and a sample."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import Response

from app.core.permissions import Permission
from app.core.webhooks import catalogue, payloads, signing
from app.core.webhooks.catalogue import EventKind, Receivers, Row
from app.web import auth, forms, page
from app.web.blueprint import web

RECEIVER_WORDS: Mapping[Receivers, str] = {
    Receivers.SUBSCRIBED: "Webhooks that get all events, and those that chose it",
    Receivers.NAMED: "Only webhooks that chose it; all events is not enough",
    Receivers.ONE: "Only the webhook that you send it to",
}


@dataclass(frozen=True)
class SampleEvent:
    """An event with a sample of its body: ``readable``, and ``exact`` as it is signed and sent.

    ``sent_as`` is the name in the sample if it is another one than ``name``.
    """

    name: str
    words: str
    when: str
    receivers: str
    fields: Sequence[Row]
    readable: str
    exact: str
    sent_as: str | None


@web.get("/endpoints/events")
@auth.needs(Permission.MANAGE_WEBHOOKS)
def event_catalogue() -> Response:
    platform = auth.current_community().platform
    return page.render(
        "webhooks/catalogue.html",
        events=[_sample_event(kind, platform) for kind in catalogue.EVENTS.values()],
        opened=forms.query_arg("event"),
        secret=catalogue.SECRET,
        body_fields=(signing.TIMESTAMP_FIELD, signing.SIGNATURE_FIELD),
    )


def _sample_event(kind: EventKind, platform: str) -> SampleEvent:
    sample = payloads.as_subscribed(catalogue.sample(kind.name, platform), None)
    sent_as = payloads.name_of(sample)
    return SampleEvent(
        name=kind.name,
        words=kind.label,
        when=kind.when,
        receivers=RECEIVER_WORDS[kind.receivers],
        fields=catalogue.fields(kind.name, sample),
        readable=json.dumps(catalogue.signed(sample), indent=2, ensure_ascii=False),
        exact=signing.sign_body(sample, catalogue.SECRET, catalogue.TIMESTAMP).decode(),
        sent_as=sent_as if sent_as != kind.name else None,
    )
