"""How an author stands in a community, for staff alone (docs/moderate/authors.md)."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.models import Profile
from app.wiring import Wiring
from tests import clocks
from tests.api.conftest import SPAM, Api, acting
from tests.cast import PLATFORM, Cast
from tests.inline_engine import InlineEngine
from tests.unit.test_strikes import give_points

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def profile(api: Api, user_id: str = "gull", platform: str = PLATFORM) -> str:
    query = {"platform": platform, "platform_user_id": user_id, "provider_scope": "forum-1"}
    return str(api.get("/user-profiles/lookup", query_string=query).json["data"]["id"])


def standing(api: Api, profile_id: str, **headers: str) -> Any:
    return api.call("GET", f"/user-profiles/{profile_id}/standing", headers=headers)


def test_it_counts_posts_and_strikes_and_says_until_when(
    api: Api, wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    give_points(wiring, cast, 2)
    for number in range(2):
        api.submit(f"spam-{number}", SPAM, platform_author_id="gull")
    jobs.run_all()
    action_id = api.get("/moderation-actions").json["data"][0]["id"]
    api.patch(f"/moderation-actions/{action_id}", json={"action_state": "applied"})
    until = clock.iso(clock.now() + timedelta(days=1))
    silence = {
        "action_type": "silence",
        "request_id": "spam-0",
        "community_server_id": "forum-1",
        "until": until,
    }
    assert api.post("/moderation-actions", json=silence).status_code == 201
    answer = standing(api, profile(api))
    assert answer.status_code == 200, answer.text
    shown = answer.json["data"]["attributes"]
    assert {name: shown[name] for name in shown if name not in {"created_at", "updated_at"}} == {
        "posts": 2,
        "hidden": 1,
        "open": 0,
        "reports": 0,
        "strikes": [
            {
                "points": 2,
                "category": "spam",
                "action_id": action_id,
                "expires_at": shown["strikes"][0]["expires_at"],
            }
        ],
        "is_silenced": True,
        "silenced_until": until,
    }
    clocks.advance(days=91)
    assert standing(api, profile(api)).json["data"]["attributes"]["strikes"] == []


def test_who_wrote_nothing_stands_at_zero_and_an_unknown_profile_is_404(api: Api) -> None:
    quiet = standing(api, profile(api, "quiet")).json["data"]["attributes"]
    assert (quiet["posts"], quiet["strikes"], quiet["is_silenced"]) == (0, [], False)
    assert standing(api, "019a8e10-22bb-7a88-83f5-b1a09f8e7d62").status_code == 404


def test_only_staff_may_ask(api: Api, wiring: Wiring) -> None:
    of_gull = profile(api)
    member, moderator = acting("7", Moderator="false"), acting("8", Moderator="true")
    assert standing(api, of_gull, **member).status_code == 403
    assert standing(api, of_gull, **moderator).status_code == 200
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Profile)) >= 1


def test_the_community_is_named_where_a_key_has_several(api: Api, wiring: Wiring, cast: Cast) -> None:
    of_gull = profile(api)
    several = api.with_key(wiring, [cast.community_id, cast.other_community_id])
    answer = standing(several, of_gull)
    assert answer.status_code == 422
    assert answer.json["detail"][0]["loc"] == ["query", "community_server_id"]
    named = several.get(f"/user-profiles/{of_gull}/standing?community_server_id={cast.community_id}")
    assert named.status_code == 200
    other = several.get(f"/user-profiles/{of_gull}/standing?community_server_id={cast.other_community_id}")
    assert other.status_code == 404
