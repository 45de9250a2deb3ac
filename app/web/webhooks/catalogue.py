"""The event catalogue: every event, when it is sent, who gets it, its fields and a sample."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import Response

from app.core.permissions import Permission
from app.core.vocabulary import EventName
from app.core.webhooks import catalogue, payloads, samples, signing
from app.core.webhooks.catalogue import Field, Receivers
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.webhooks.forms import EVENT_WORDS

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

    name: EventName
    words: str
    when: str
    receivers: str
    fields: Sequence[Field]
    readable: str
    exact: str
    sent_as: str | None


@web.get("/endpoints/events")
@auth.needs(Permission.MANAGE_WEBHOOKS)
def event_catalogue() -> Response:
    platform = auth.current_community().platform
    return page.render(
        "webhooks/catalogue.html",
        events=[_sample_event(name, platform) for name in EventName],
        opened=forms.query_arg("event"),
        secret=samples.SECRET,
        body_fields=(signing.TIMESTAMP_FIELD, signing.SIGNATURE_FIELD),
    )


def _sample_event(name: EventName, platform: str) -> SampleEvent:
    sample = payloads.as_subscribed(samples.payload(name, platform), None)
    sent_as = payloads.name_of(sample)
    return SampleEvent(
        name=name,
        words=EVENT_WORDS[name],
        when=catalogue.WHEN[name],
        receivers=RECEIVER_WORDS[catalogue.receivers(name)],
        fields=catalogue.fields(name, sample),
        readable=json.dumps(samples.signed(sample), indent=2, ensure_ascii=False),
        exact=signing.sign_body(sample, samples.SECRET, samples.TIMESTAMP).decode(),
        sent_as=sent_as if sent_as != name else None,
    )
