"""Silences with an end by API: recorded, acknowledged, lifted early, ended by the service."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.models import Event, Webhook
from app.core.vocabulary import EventName
from app.jobs import upkeep
from app.wiring import Wiring
from tests import clocks
from tests.api.conftest import Api
from tests.api.test_moderation_actions import acting
from tests.cast import Cast

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
PATH = "/moderation-actions"


@pytest.fixture(autouse=True)
def webhook(wiring: Wiring, cast: Cast) -> None:
    """A webhook that names the event: without one it is not written."""
    with wiring.database.writing() as session:
        hook = {
            "url": "https://forum.example.org/",
            "secret": b"sealed",
            "events": ["moderation_action.ended"],
        }
        session.add(Webhook(community_id=cast.community_id, **hook))


def later(**time: float) -> str:
    return clock.iso(clock.now() + timedelta(**time))


def record(api: Api, action_type: str = "silence", **more: Any) -> Any:
    api.submit("post-1")
    body = {"action_type": action_type, "request_id": "post-1", "community_server_id": "forum-1", **more}
    return api.post(PATH, json=body)


def shown(answer: Any) -> Any:
    return answer.json["data"]["attributes"]


def standing(api: Api) -> Any:
    return shown(api.get("/requests/post-1"))["standing"]


def test_a_recorded_silence_ends_by_itself(api: Api, wiring: Wiring) -> None:
    until = later(days=1)
    made = record(api, until=until)
    assert made.status_code == 201
    assert (shown(made)["until"], shown(made)["ended_at"]) == (until, None)
    assert standing(api) == "silenced"
    clocks.advance(days=1)
    upkeep.sweep(wiring)
    after = shown(api.get(f"{PATH}/{made.json['data']['id']}"))
    assert (after["action_state"], after["ended_at"]) == ("applied", clock.iso(clock.now()))
    assert standing(api) == "up"


@pytest.mark.parametrize(
    ("action_type", "until", "why"),
    [
        ("silence", "2020-01-01T00:00:00Z", "must not be in the past"),
        ("warn", "2999-01-01T00:00:00Z", "belongs to a silence only"),
        ("hide", "2999-01-01T00:00:00Z", "belongs to a silence only"),
        ("silence", "next week", "ISO"),
    ],
)
def test_an_end_that_makes_no_sense_is_422_and_names_it(
    api: Api, action_type: str, until: str, why: str
) -> None:
    answer = record(api, action_type, until=until)
    assert answer.status_code == 422
    (problem,) = answer.json["detail"]
    assert problem["loc"] == ["body", "until"]
    assert why in problem["msg"]


def test_staff_change_the_end_and_lift_it(api: Api, wiring: Wiring) -> None:
    url = f"{PATH}/{record(api, until=later(days=30)).json['data']['id']}"
    unexplained = api.patch(url, json={"until": None})
    assert unexplained.status_code == 422
    assert unexplained.json["detail"][0]["loc"] == ["body", "reason"]
    without = api.patch(url, json={"until": None, "reason": "Again and again"})
    assert shown(without)["until"] is None
    now = clock.iso(clock.now())
    lifted = api.patch(url, json={"until": now, "reason": "They apologised"})
    assert lifted.status_code == 200
    assert shown(lifted)["ended_at"] is not None
    assert shown(lifted)["action_state"] == "applied"
    assert api.patch(url, json={"until": now, "reason": "They apologised"}).status_code == 200, "repeated"
    assert api.patch(url, json={"until": later(days=1), "reason": "No"}).status_code == 409
    with wiring.database.reading() as session:
        names = session.scalars(sa.select(Event.name).where(Event.name == EventName.ACTION_ENDED)).all()
    assert len(names) == 1


def test_only_staff_lift(api: Api) -> None:
    url = f"{PATH}/{record(api, until=later(days=30)).json['data']['id']}"
    body = {"until": later(days=1), "reason": "Why not"}
    assert api.call("PATCH", url, json=body, headers=acting("7", Moderator="false")).status_code == 403
    assert api.call("PATCH", url, json=body, headers=acting("8", Moderator="true")).status_code == 200


def test_an_end_needs_a_silence_that_is_in_force(api: Api) -> None:
    url = f"{PATH}/{record(api, until=later(days=30)).json['data']['id']}"
    assert api.patch(url, json={"action_state": "overturned", "reason": "A quotation"}).status_code == 200
    assert api.patch(url, json={"until": later(days=1), "reason": "Shorter"}).status_code == 409
    hide = f"{PATH}/{record(api, 'hide').json['data']['id']}"
    answer = api.patch(hide, json={"until": later(days=1), "reason": "Shorter"})
    assert answer.status_code == 422
    moved = api.patch(hide, json={"action_state": "retro_review", "until": later(days=1), "reason": "Look"})
    assert moved.json["detail"][0]["loc"] == ["body", "until"]


def test_a_change_names_what_to_change(api: Api) -> None:
    url = f"{PATH}/{record(api).json['data']['id']}"
    assert api.patch(url, json={"reason": "For nothing"}).json["detail"][0]["loc"] == ["body", "action_state"]
