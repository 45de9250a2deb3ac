"""Drawn panels in the API: who is drawn, and how many answered once it is decided."""

from typing import Any

import pytest
import sqlalchemy as sa

from app.core.models import Action, Profile
from app.jobs import communities as panel_jobs
from app.wiring import Wiring
from tests.api.conftest import INSULT, Api, acting
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.panels import register, seated, set_up, settle_in_on_platform

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def test_platform_users_find_what_they_are_drawn_for_and_stats_tell_of_the_panel_once_it_decided(
    api: Api, wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    names = settle_in_on_platform(wiring, cast, 20)
    register(wiring, cast, "http://127.0.0.1/drawn", ["panel.drawn"])
    set_up(wiring, cast, who_decides="panel")
    api.submit("queued", INSULT)
    jobs.run_all()
    panel_jobs.sweep_panels(wiring.database)
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action)).one()
        holders = set(
            session.scalars(
                sa.select(Profile.platform_user_id).where(Profile.id.in_(seated(wiring, action.id)))
            )
        )
    note_id = str(action.note_id)

    def drawn_for(name: str, **call: Any) -> list[str]:
        return [
            one["id"]
            for one in api.get("/notes", query_string={"filter[drawn_rater_id]": name}, **call).json["data"]
        ]

    assert len(holders) == 12
    found = {name for name in names if drawn_for(name) == [note_id]}
    assert found == holders
    first, *others = sorted(holders)
    assert drawn_for(first, instead=cast.read_only_headers) == []
    assert drawn_for(first, instead=cast.foreign_headers) == []

    def rate(name: str, level: str, **call: Any) -> None:
        attributes = {"note_id": note_id, "helpfulness_level": level, "rater_id": name}
        body = {"data": {"type": "ratings", "attributes": attributes}}
        answer = api.post("/ratings", json=body, **call)
        assert answer.status_code == 201, answer.json

    def stats() -> dict[str, Any]:
        attributes: dict[str, Any] = api.get(f"/notes/{note_id}/ratings/stats").json["data"]["attributes"]
        return attributes

    for name in (others[0], next(name for name in names if name not in holders)):
        rate(name, "NOT_HELPFUL", headers=acting(name))
    assert drawn_for(others[0]) == []
    assert "panel" not in stats()
    note = api.get(f"/notes/{note_id}").json["data"]["attributes"]
    assert (note["helpfulness_score"], note["status"]) == (0, "NEEDS_MORE_RATINGS")
    for name in others[1:7]:
        rate(name, "NOT_HELPFUL")  # without X-Adapter-Platform: a user of the community's own platform
    assert stats()["panel"] == {"seats": 12, "answered": 7}
    assert drawn_for(first) == []
