"""Settings of one's own."""

import re
import uuid
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.models import Account, Action, LinkCode, Profile, Request
from app.core.people import mailed_links, profiles
from app.core.permissions import SYSTEM
from app.core.upkeep import linking
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import at
from tests.web.conftest import Stage, Visit, Visitor, only_hold


def test_preferences_are_kept_and_used(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    visitor = visit(cast.rater)
    reply = visitor.post("/settings", theme="dark", timezone="Europe/Paris")
    assert reply.status_code == 303
    assert visitor.post("/settings/keys").status_code == 303
    with wiring.database.reading() as session:
        account = session.get_one(Account, cast.rater.account_id)
        assert (account.theme, account.timezone) == ("dark", "Europe/Paris")
        assert (account.shortcuts, account.content_warnings) == (False, True)
    text = visitor.get("/settings").text
    assert 'data-theme="dark"' in text
    assert 'data-keys="off"' in text
    assert "Your settings are saved." in text


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_moderators_choose_how_long_they_can_undo(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    moderator, kept = visit(cast.moderator), {"theme": "system", "timezone": "UTC"}
    assert "Seconds to undo a decision" in moderator.get("/settings").text
    assert "as your community has set, 10 seconds" in moderator.get("/settings").text
    assert "Seconds to undo a decision" not in visit(cast.rater).get("/settings").text
    for wrong in ("9", "61", "-5", "ten", "10.5"):
        refused = moderator.post("/settings", undo_seconds=wrong, **kept)
        assert refused.status_code == 422
        assert "Seconds to undo must be a whole number from 10 to 60." in refused.text
    for chosen, seconds in (("", 10), ("45", 45), (None, 45)):
        fields = kept if chosen is None else {**kept, "undo_seconds": chosen}
        assert moderator.post("/settings", **fields).status_code == 303
        moderator.post(f"/review/{action_id}/decide", verb="dismiss", reason="Banter", version="1")
        held = only_hold(wiring)
        assert held is not None
        assert round((held.due_at - clock.now()).total_seconds()) == seconds
        page = moderator.get(f"/review/{action_id}").text
        assert f"Sent in {seconds} seconds unless you undo." in page
        moderator.post(f"/holds/{held.id}/undo")
    assert 'value="45"' in moderator.get("/settings").text


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_moments_are_shown_in_the_readers_timezone(
    visit: Visit, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post()
    with wiring.database.writing() as session:
        request = session.get_one(Request, session.get_one(Action, action_id).request_id)
        request.platform_timestamp = datetime(2026, 1, 31, 22, 15, tzinfo=UTC)
    visitor = visit(cast.rater)
    for zone, written, day in (
        ("Asia/Kolkata", "1 Feb 2026, 03:45", "1 Feb 2026"),
        ("Etc/UTC", "31 Jan 2026, 22:15", "31 Jan 2026"),
    ):
        visitor.post("/settings", theme="system", timezone=zone)
        page, cards = visitor.get(f"/review/{action_id}").text, visitor.get("/help-needed").text
        for text, shown in ((page, written), (cards, day)):
            assert 'datetime="2026-01-31T22:15:00Z"' in text
            assert f">{shown}</time>" in text
            assert "data-local" not in text, "script leaves a chosen zone alone"
    visitor.post("/settings", theme="system", timezone="UTC")
    assert 'data-local="text"' in visitor.get(f"/review/{action_id}").text, "else times are the device's"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_typed_times_are_read_in_the_chosen_timezone_else_the_browsers_else_utc_which_pages_say(
    visit: Visit, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    at(datetime(2026, 3, 1, 15, 30, tzinfo=UTC))  # 00:30 on 2 March in Tokyo
    stage.post()
    at(datetime(2026, 3, 2, 12, 0, tzinfo=UTC))
    operator = visit(cast.operator)

    def is_read_in(hour: int) -> bool:
        """Whether "12:00" on an empty day is still to come, and begins so many hours before 12:00 UTC."""
        early, late = (f"2026-03-02T{hour + more:02}:00" for more in (0, 1))
        url = "/community/overturns?category=toxicity&since="
        return [operator.get(url + since).status_code for since in (early, late)] == [200, 422]

    def begins_in_tokyo() -> bool:
        return "No actions in this period" not in operator.get("/history?from=2026-03-02").text

    page = operator.get("/community/overturns").text
    assert "In UTC. <a" in page
    assert "data-asks-zone" in page
    assert "Days are read in UTC." in operator.get("/history").text
    assert is_read_in(12)
    assert not begins_in_tokyo()
    operator.client.set_cookie("bridgenote_zone", "Asia/Tokyo")
    page = operator.get("/community/overturns").text
    assert "In your timezone, Asia/Tokyo." in page
    assert "Days are read in UTC." not in operator.get("/history").text
    assert is_read_in(21)
    assert begins_in_tokyo()
    for nonsense in ("../etc/passwd", "Mars/Base", "Europe", "x" * 3000):
        operator.client.set_cookie("bridgenote_zone", nonsense)
        assert "In UTC. <a" in operator.get("/community/overturns").text
    operator.client.set_cookie("bridgenote_zone", "Asia/Tokyo")
    with wiring.database.writing() as session:
        session.get_one(Account, cast.operator.account_id).timezone = "Europe/Paris"
    page = operator.get("/community/overturns").text
    assert "In your timezone, Europe/Paris." in page
    assert "data-asks-zone" not in page, "script takes the cookie away"
    assert is_read_in(13)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_sensitive_posts_are_veiled_everywhere_unless_the_reader_wants_to_see_them(
    visit: Visit, cast: Cast, stage: Stage
) -> None:
    action_id = stage.post("A threat of violence.", category="threat")
    visitor = visit(cast.rater)
    for wanted, veils in (({"content_warnings": "y"}, 1), ({}, 0)):
        visitor.post("/settings/reading", **wanted)
        for path in ("/help-needed", f"/review/{action_id}"):
            assert visitor.get(path).text.count(">Show content<") == veils, path


@pytest.mark.parametrize(
    "fields", [{"theme": "pink"}, {"timezone": "Mars/Base"}, {"timezone": "../etc/passwd"}]
)
def test_nonsense_is_refused(visit: Visit, cast: Cast, wiring: Wiring, fields: dict[str, str]) -> None:
    reply = visit(cast.rater).post("/settings", **{"theme": "light", "timezone": "UTC"} | fields)
    assert reply.status_code == 422
    with wiring.database.reading() as session:
        assert session.get_one(Account, cast.rater.account_id).theme == "system"


def test_each_part_saves_its_own_and_keeps_the_rest(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    visitor = visit(cast.operator)

    def kept() -> tuple[object, ...]:
        with wiring.database.reading() as session:
            account = session.get_one(Account, cast.operator.account_id)
            return account.theme, account.languages, account.shortcuts, account.digest, account.attention_mail

    before = kept()
    assert visitor.post("/settings", theme="dark").status_code == 303
    assert visitor.post("/settings/reading", languages="de", content_warnings="y").status_code == 303
    assert kept() == ("dark", ["de"], *before[2:])
    assert visitor.post("/settings/mail", digest="weekly").status_code == 303
    assert kept() == ("dark", ["de"], before[2], "weekly", False)
    for part in ("", "/reading", "/keys", "/mail", "/account"):
        page = visitor.get(f"/settings{part}").text
        assert re.search(rf'<a href="/settings{part}" aria-current="page">', page), part


def _shown_code(page: str) -> str:
    found = re.findall(
        rf"(?<![\w-])[{mailed_links.ALPHABET}]{{4}}-[{mailed_links.ALPHABET}]{{4}}(?![\w-])", page
    )
    assert len(found) == 1
    return str(found[0])


def test_a_code_is_shown_once_and_a_new_one_takes_its_place(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    visitor = visit(cast.rater)
    answer = visitor.post("/settings/link-code")
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    first = _shown_code(answer.text)
    assert first not in visitor.get("/settings").text
    second = _shown_code(visitor.post("/settings/link-code").text)
    assert second != first
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(LinkCode.id))) == 1


def _link(visitor: Visitor, wiring: Wiring, user_id: str) -> uuid.UUID:
    code = _shown_code(visitor.post("/settings/link-code").text)
    with wiring.database.writing() as session:
        profile = profiles.ensure(session, "discourse", user_id, display_name="Ann <of the forum>")
        return linking.link(session, SYSTEM, profile, code).id


def test_linked_profiles_are_listed_and_only_their_owner_unlinks_them(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    visitor = visit(cast.rater)
    assert "No profile is linked yet." in visitor.get("/settings").text
    profile_id = _link(visitor, wiring, "forum-user-7")
    page = visitor.get("/settings").text
    assert "forum-user-7" in page
    assert "Ann &lt;of the forum&gt;" in page
    unlink = f"/settings/linked/{profile_id}/unlink"
    assert visit(cast.moderator).post(unlink).status_code == 404
    assert visitor.post(unlink).status_code == 303
    assert visitor.post(unlink).status_code == 404
    assert "forum-user-7" not in visitor.get("/settings").text.replace("Unlinked: discourse, Ann", "")
    with wiring.database.reading() as session:
        assert session.get_one(Profile, profile_id).account_id is None


def test_nobody_unlinks_the_profile_of_the_account_itself(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    answer = visit(cast.rater).post(f"/settings/linked/{cast.rater.profile_id}/unlink")
    assert answer.status_code == 404
    with wiring.database.reading() as session:
        assert session.get_one(Profile, cast.rater.profile_id).account_id == cast.rater.account_id
