"""The event catalogue: every event, when it is sent, who gets it, its fields and a sample; what an event is about."""

import json
from collections.abc import Mapping
from typing import Any

from flask import Response, url_for

from app.core.models import Event
from app.core.permissions import Permission
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import EventName
from app.core.webhooks import catalogue, payloads, signing
from app.core.webhooks.catalogue import EventKind, Receivers
from app.core.webhooks.deliveries import Subjects
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.filters import excerpt
from app.web.item import pending_undo

RECEIVER_WORDS: Mapping[Receivers, str] = {
    Receivers.SUBSCRIBED: lazy_gettext("Webhooks that get all events, and those that chose it"),
    Receivers.NAMED: lazy_gettext("Only webhooks that chose it; all events is not enough"),
    Receivers.ONE: lazy_gettext("Only the webhook that you send it to"),
}


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


def _sample_event(kind: EventKind, platform: str) -> dict[str, Any]:
    """An event with a sample of its body: ``readable``, and ``exact`` as it is signed and sent.

    ``sent_as`` is the name in the sample if it is another one.
    """
    sample = payloads.as_subscribed(catalogue.sample(kind.name, platform), None)
    sent_as = payloads.name_of(sample)
    return {
        "name": kind.name,
        "words": kind.label,
        "when": kind.when,
        "receivers": RECEIVER_WORDS[kind.receivers],
        "fields": catalogue.fields(kind.name, sample),
        "readable": json.dumps(catalogue.signed(sample), indent=2, ensure_ascii=False),
        "exact": signing.sign_body(sample, catalogue.SECRET, catalogue.TIMESTAMP).decode(),
        "sent_as": sent_as if sent_as != kind.name else None,
    }


LENGTH = 60
"""How many characters of a post or a note are quoted."""


def in_words(event: Event, subjects: Subjects) -> tuple[str, str | None]:
    """Return what this event is about, and its page; None if there is none or the reader may not see it.

    A sensitive post is named by its author and category, as everywhere.
    """
    if event.name is EventName.TEST:
        return _("A test, about no post"), None
    may_open = auth.may(Permission.SEE_QUEUE, event.community_id)
    action = subjects.actions.get(event.action_id) if event.action_id is not None else None
    if action is not None:
        url = url_for("web.item", action_id=action.id) if may_open else None
        return pending_undo.capitalised(pending_undo.in_words(action, LENGTH)), url
    note = subjects.notes.get(event.note_id) if event.note_id is not None else None
    if note is not None:
        words, url = excerpt(note.summary, LENGTH), url_for("web.note", note_id=note.id) if may_open else None
        return _("Note “%(words)s”", words=words) if words else _("A note"), url
    if event.request_id is None:
        return _("The community as a whole"), None
    own_id = subjects.requests.get(event.request_id)
    return _("The post %(length)s", length=excerpt(own_id, LENGTH)) if own_id is not None else _(
        "A post"
    ), None
