"""The event catalogue: every event with a sample that has the fields of what is really sent."""

import html
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import sqlalchemy as sa

from app.api.documents import events as document_events
from app.api.schemas.webhooks import WebhookRegistration
from app.core import clock
from app.core.ids import new_id
from app.core.models import Action, Community, Event, Note, Panel, Report, Webhook
from app.core.permissions import SYSTEM
from app.core.review import verbs
from app.core.vocabulary import ActionState, ActionType, AttentionReason, EventName, ReportState
from app.core.webhooks import catalogue, events, payloads, signing
from app.core.webhooks.catalogue import EventKind, Receivers
from app.core.webhooks.shapes import Field, Shape
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast, Person
from tests.web.conftest import Stage, Visitor
from tests.web.hooks import Hooks

Visit = Callable[[Person | None], Visitor]


def keys(value: Any) -> Any:
    """The members of a body at every level, without their values."""
    if isinstance(value, Mapping):
        return {name: keys(inner) for name, inner in value.items()}
    return None


@pytest.mark.parametrize("platform", ["forum", payloads.DISCOURSE])
def test_samples_have_the_keys_of_what_is_really_built(
    wiring: Wiring, cast: Cast, stage: Stage, platform: str
) -> None:
    webhook_id = Hooks(wiring, cast.community_id).register()
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).platform = platform
    kept, overturned, dismissed = stage.post(), stage.post(), stage.post()
    ways = {
        kept: (ActionState.PROPOSED, ActionState.APPLIED, ActionState.RETRO_REVIEW, ActionState.CONFIRMED),
        overturned: (ActionState.PROPOSED, ActionState.APPLIED, ActionState.OVERTURNED),
        dismissed: (ActionState.DISMISSED,),
    }
    for action_id, states in ways.items():
        for state in states:
            actor = factories.integration(cast) if state is ActionState.APPLIED else SYSTEM
            with wiring.database.writing() as session:
                verbs.change_action(session, actor, session.get_one(Action, action_id), state)
    with wiring.database.writing() as session:
        session.get_one(Webhook, webhook_id).events = catalogue.opt_in()
    opened = stage.post()
    with wiring.database.writing() as session:
        verbs.change_action(session, SYSTEM, session.get_one(Action, opened), ActionState.DISMISSED)
        action = session.get_one(Action, kept)
        note = session.get_one(Note, action.note_id)
        events.emit_note(session, note)
        events.emit_test(session, session.get_one(Webhook, webhook_id))
        events.emit_panel(session, Panel(note_id=note.id), action, ["7"], clock.now())
        community = session.get_one(Community, cast.community_id)
        report = Report(
            id=new_id(),
            community_id=cast.community_id,
            report_id="r-1",
            reporter_ref="7",
            request_id=action.request_id,
            state=ReportState.REJECTED,
            outcome_text="It stays.",
        )
        events.emit_report(session, report)
        events.emit_action(session, EventName.ACTION_ENDED, _ended_silence(action))
        events.emit_attention(session, community, AttentionReason.BACKLOG, clock.now(), 7)
    with wiring.database.reading() as session:
        built = {event.name: event.payload for event in session.scalars(sa.select(Event))}
    assert set(built) == set(EventName)
    for name, payload in built.items():
        assert keys(catalogue.sample(name, platform)) == keys(payload), name


def _ended_silence(action: Action) -> Action:
    return Action(
        id=action.id,
        community_id=action.community_id,
        request_id=action.request_id,
        action_type=ActionType.SILENCE,
        action_state=ActionState.APPLIED,
        evidence=action.evidence,
        decided_verb="silence",
        until=clock.now(),
        ended_at=clock.now(),
    )


def test_every_field_of_every_sample_is_explained() -> None:
    for name in EventName:
        for platform in ("forum", payloads.DISCOURSE):
            sample = catalogue.sample(name, platform)
            assert next(field.path for field in catalogue.fields(name, sample)) in {"event", "event_type"}


def test_the_page_lists_every_event_with_a_sample_whose_signature_holds(visit: Visit, cast: Cast) -> None:
    page = visit(cast.operator).get("/endpoints/events?event=note.status_changed").text
    for name in EventName:
        part = page.split(f'<details id="{name}"')[1].split("</details>")[0]
        readable, exact = (
            html.unescape(text.split(">", 1)[1].split("</pre>")[0]) for text in part.split("<pre")[1:]
        )
        assert json.loads(readable) == json.loads(exact)
        assert signing.verify_body(exact.encode(), catalogue.SECRET, catalogue.TIMESTAMP)
        assert part.startswith(" open") is (name is EventName.NOTE_STATUS)
    assert "Only webhooks that chose it" in page.split('<details id="panel.drawn"')[1].split("</details>")[0]
    assert 'href="/endpoints/events"' in visit(cast.operator).get("/endpoints").text


def test_an_event_that_is_declared_is_everywhere(
    visit: Visit, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Field(
        "data", {"type": "object"}, "", fields=(Field("count", {"type": "integer"}, "Posts of the day."),)
    )
    day_ended = EventKind(
        name="day.ended",
        label="The day is over",
        when="A day ended.",
        shape=Shape("DayEvent", "A day.", (Field("event", {"type": "string"}, "The event's name."), count)),
        sample=lambda _community: {"event": "day.ended", "data": {"count": 7}},
        receivers=Receivers.NAMED,
    )
    monkeypatch.setitem(catalogue.EVENTS, "day.ended", day_ended)
    operator = visit(cast.operator)
    listed = operator.get("/endpoints/events").text.split('<details id="day.ended"')[1]
    for part in ("The day is over", "A day ended.", "Only webhooks that chose it", "Posts of the day."):
        assert part in listed, part
    form = operator.get("/endpoints").text
    assert "The day is over, only sent when ticked (day.ended)" in form
    named = (
        "community.attention, day.ended, moderation_action.ended, panel.drawn, report.resolved, "
        "request.completed and review.opened"
    )
    assert f"Except {named}." in form
    assert "The day is over" in operator.get("/deliveries?state=dead").text, "the filter offers it"
    registered = operator.post(
        "/endpoints", url="http://127.0.0.1/days", how="generate", events="day.ended", all_events=""
    )
    assert "day.ended" in registered.text
    delivery = document_events.webhooks()["day.ended"]["post"]
    assert delivery["requestBody"]["content"]["application/json"]["example"]["data"] == {"count": 7}
    assert document_events.schemas()["DayEventSubject"]["required"] == ["count"]
    assert "day.ended" in WebhookRegistration.model_json_schema()["$defs"]["EventName"]["enum"]
    assert not catalogue.is_wanted("day.ended", None)
    assert catalogue.is_wanted("day.ended", ["day.ended"])
