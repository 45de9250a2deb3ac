"""Insights lead somewhere: what needs attention first, the period before, and the rows behind each figure."""

import html
import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from app.core import clock
from app.core.history.reason import Reason
from app.core.models import Action, Community, InsightGroup, InsightOutcome, InsightSlot, Request, Rollup
from app.core.periods import slot_of
from app.core.permissions import Actor
from app.core.review import verbs
from app.core.vocabulary import ActionState, Role
from app.jobs.communities import roll_up
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.clocks import advance, at
from tests.web.conftest import Stage, Visitor

Visit = Callable[[Person | None], Visitor]
NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
MOST_NODES = 1_500
CALM = "Nothing needs attention"


def decide(wiring: Wiring, cast: Cast, action_id: uuid.UUID, state: ActionState) -> None:
    """Let the moderator decide."""
    moderator = Actor(
        kind="account",
        name="Moderator",
        account_id=cast.moderator.account_id,
        roles={cast.community_id: Role.MODERATOR},
        communities=frozenset({cast.community_id}),
    )
    with wiring.database.writing() as session:
        verbs.change_action(
            session, moderator, session.get_one(Action, action_id), state, reason=Reason("Because")
        )


def main(page: str) -> str:
    return page[page.index("<h1") : page.index("</main>")]


def links(page: str) -> dict[str, str]:
    """Address by the words or the name of each link in the page itself."""
    found = re.findall(r'<a [^>]*?href="([^"]+)"([^>]*)>(.*?)</a>', main(page), re.DOTALL)
    named = {}
    for url, rest, words in found:
        name = re.search(r'aria-label="([^"]+)"', rest)
        text = name.group(1) if name else re.sub(r"<[^>]+>", "", words)
        named.setdefault(html.unescape(text).strip(), html.unescape(url))
    return named


def words(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", main(page))))


def busy_month(wiring: Wiring, cast: Cast) -> None:
    """A month of counted days with six decided reviews each, a dozen categories and more channels than are shown."""
    at(NOW)
    end = slot_of(NOW)
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"moderator_figures": True}
        own = {"community_id": cast.community_id}
        session.add(Rollup(**own, end=end, changes_until=NOW))
        for day in range(60):
            slot = end - 96 * (day + 1)
            session.add(
                InsightSlot(
                    **own,
                    slot=slot,
                    submitted=9,
                    reviewed=6,
                    ratings=20,
                    opened=6,
                    closed=6,
                    waits="60,70,80,90,100,110",
                )
            )
        for number in range(12):
            name = f"category_{number}"
            row = {"slot": end - 100, "name": name, "total": 50 - number, "of_which": 3}
            session.add(InsightOutcome(**own, **row, kind="category"))
            session.add(InsightOutcome(**own, **row, kind="classifier"))
        for number in range(25):
            row = {"slot": end - 100, "total": 50 - number, "of_which": 3}
            session.add(InsightGroup(**own, **row, name=f"channel-{number}", kind="channel"))
        name = cast.moderator.account_id.hex
        session.add(
            InsightGroup(
                **own, slot=end - 100, name=name, kind="moderator", total=3, of_which=1, waits="60,70,80"
            )
        )


def test_what_needs_attention_comes_first_and_leads_to_its_rows(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    at(NOW - timedelta(days=40))
    assert CALM in visit(cast.moderator).get("/insights").text
    stage.post("Waits for long")
    sent = stage.post("Sent and never confirmed")
    decide(wiring, cast, sent, ActionState.PROPOSED)
    at(NOW)
    stage.post("Has time")
    page = visit(cast.moderator).get("/insights").text
    assert CALM not in page
    text = words(page)
    assert text.index("What needs attention") < text.index("7 days") < text.index("Submitted")
    assert "1 review is past the target time of its category, by 39 d." in text
    assert "1 decision was sent more than 1 h ago and the platform has not confirmed it" in text
    assert text.index("1 review is past") < text.index("1 decision was sent")
    moderator = visit(cast.moderator)
    late = moderator.get(links(page)["Show what is overdue"]).text
    assert "Waits for long" in late
    assert "Has time" not in late
    assert "Sent and never confirmed" in moderator.get(links(page)["Show what was sent"]).text
    # Also where the period itself has nothing to show.
    old = moderator.get("/insights?from=2020-01-01&to=2020-01-31").text
    assert "Nothing to show for this period" in old
    assert "1 review is past" in words(old)


def test_only_those_who_may_see_webhooks_and_settings_are_led_there(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        community.paused_at, community.paused_by = clock.now(), "Olivia"
    for who, name, target in (
        (cast.operator, "Resume them", "/community/danger"),
        (cast.moderator, "Show what waits", "/review?sort=newest"),
    ):
        page = visit(who).get("/insights").text
        assert "Automatic actions are paused for 1 min, by Olivia." in words(page)
        assert links(page)[name] == target
        assert visit(who).get(target).status_code == 200


@pytest.mark.both_databases
def test_each_figure_says_what_it_was_before_and_leads_to_its_rows(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    at(NOW - timedelta(days=35))
    earlier = stage.post("Decided before the period")
    decide(wiring, cast, earlier, ActionState.PROPOSED)
    at(NOW - timedelta(days=2))
    dismissed, acted = stage.post("Kept at last"), stage.post("Hidden at last")
    with wiring.database.writing() as session:
        request_id = session.get_one(Action, acted).request_id
        session.get_one(Request, request_id).platform_channel_id = "market"
    advance(hours=2)
    decide(wiring, cast, dismissed, ActionState.DISMISSED)
    decide(wiring, cast, acted, ActionState.PROPOSED)
    at(NOW)
    for is_counted in (False, True):
        if is_counted:
            roll_up(wiring.database)
        moderator = visit(cast.moderator)
        page = moderator.get("/insights").text
        text = words(page)
        assert "Up from 1 in the 30 days before" in text
        assert "Up from 0 s in the 30 days before" in text
        assert "9 of 10 within 2 h, of 2 decided" in text
        assert "The same when it began" in text
        assert "The same of 1 in the 30 days before" in text
        assert "By week, because on most days fewer than 5 reviews were decided" in text
        assert "24 Mar 2026" in text
        assert "1 Mar 2026 (2 d)" in text
        assert "The target of" in text
        assert "0.0 % of 1" in text
        named = links(page)
        assert named["Time to decision: 2 h"] == "#time"
        decided = moderator.get(named["Show the rows: Time to decision"]).text
        assert "Kept at last" in decided
        assert "Decided before the period" not in decided
        assert "Hidden at last" in moderator.get(named["Toxicity"]).text
        assert named["#market"] == "/review?channel=market"
        for name, url in named.items():
            if url.startswith("#"):
                assert f'<div id="{url[1:]}">' in page, "a figure opens its chart"
            else:
                assert moderator.get(url).status_code == 200, name


def test_figures_by_moderator_are_shown_once_an_operator_wants_them(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    busy_month(wiring, cast)
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {}
    operator, moderator = visit(cast.operator), visit(cast.moderator)
    assert "Decisions by moderator" not in moderator.get("/insights").text
    assert moderator.get("/insights.csv?table=moderators").status_code == 404
    page = operator.get("/community/keeping").text
    assert "figures about named people" in page
    fields = dict(re.findall(r'name="(\w+)"[^>]*value="([^"]*)"', page))
    version = re.search(r'name="version"[^>]*value="([^"]+)"', page)
    assert version
    with wiring.database.reading() as session:
        name = session.get_one(Community, cast.community_id).name
    typed = {key: value for key, value in fields.items() if key not in ("csrf_token", "reason")}
    answer = operator.post(
        "/community/keeping",
        **typed | {"name": name, "moderator_figures": "y", "reason": "We agreed", "version": version[1]},
    )
    assert answer.status_code == 303, answer.text[:300]
    with wiring.database.reading() as session:
        assert session.get_one(Community, cast.community_id).settings["moderator_figures"] is True
    page = moderator.get("/insights").text
    assert "Decisions by moderator" in page
    file = moderator.get("/insights.csv?table=moderators").data.decode("utf-8-sig")
    assert file.splitlines() == [
        "moderator,decisions,median_seconds,overturned,rate",
        "Moderator,3,70,1,0.3333",
    ]
    assert links(page)["Moderator"] == "/history?actor=Moderator&from=2026-03-01&to=2026-03-30"
    assert "Figures by moderator" in operator.get("/history/settings").text


def test_a_busy_month_stays_small_and_its_files_have_all_of_it(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    busy_month(wiring, cast)
    moderator = visit(cast.moderator)
    page = moderator.get("/insights").text
    assert len(re.findall(r"<[a-z]", page)) <= MOST_NODES
    assert "By week" not in page
    assert "(6 decided)" in html.unescape(page)
    assert page.count(">#channel-") == 20
    whole = moderator.get(links(page)["Show all 30 days"]).text
    assert "1 Mar 2026" in words(whole)
    assert "Show all" not in whole
    for key, count in (("volume", 30), ("time", 30), ("channels", 20), ("categories", 12)):
        lines = moderator.get(f"/insights.csv?table={key}").text.splitlines()
        assert len(lines) == count + 1, key
    assert "The target of" in words(page)
