"""Insights: figures over a period in the reader's days, the same on the page and in the files."""

import csv
import io
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import acknowledgements
from app.core.history.reason import Reason
from app.core.models import Account, Action
from app.core.permissions import SYSTEM, Actor
from app.core.requests import submitting
from app.core.review import verbs
from app.core.vocabulary import ActionState, HelpfulnessLevel
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.inline_engine import InlineEngine
from tests.web.conftest import FixedClassifier, Stage, Visitor

Visit = Callable[[Person | None], Visitor]
H, N = HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL
PERIOD = "?from=2026-03-28&to=2026-03-30"


def at(text: str) -> None:
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    clock.set_source(lambda: moment)


def table(visitor: Visitor, name: str, query: str = PERIOD) -> list[list[str]]:
    """The rows of a file, without its header."""
    answer = visitor.get(f"/insights.csv{query}&table={name}")
    assert answer.status_code == 200, answer.text[:200]
    assert "attachment" in answer.headers["Content-Disposition"]
    return list(csv.reader(io.StringIO(answer.data.decode("utf-8-sig"))))[1:]


def scored(wiring: Wiring, jobs: InlineEngine, cast: Cast, post: str, **how: Any) -> uuid.UUID:
    """A post scored by a classifier of these qualities; its request's id."""
    wiring.classifiers = [FixedClassifier(**how)]
    with wiring.database.writing() as session:
        made = submitting.submit(
            session, SYSTEM, cast.community_id, submitting.Submission(post, "poster", post)
        )
    jobs.run_all()
    return made.request.id


def test_only_moderators_and_above_read_insights_and_periods_are_checked(visit: Visit, cast: Cast) -> None:
    for who, status in ((cast.rater, 403), (cast.operator, 200), (cast.outsider, 404), (None, 303)):
        for path in ("/insights", "/insights.csv"):
            answer = visit(who).get(f"{path}?community={cast.community_id}&table=volume")
            assert answer.status_code == status, (path, who)
    moderator = visit(cast.moderator)
    assert "Nothing to show for this period" in moderator.get("/insights?days=7").text
    assert moderator.get("/insights.csv?table=secrets").status_code == 404
    for query in (
        "from=2026-03-02&to=2026-03-01",
        "from=2001-01-01&to=2026-01-01",
        "days=5",
        "from=1000-01-01",
    ):
        for path in (f"/insights?{query}", f"/insights.csv?{query}&table=volume"):
            answer = moderator.get(path)
            assert answer.status_code == 422, path
            assert "There is a problem" in answer.text


@pytest.mark.both_databases
def test_each_figure_counts_what_happened_in_the_readers_days(
    visit: Visit,
    cast: Cast,
    wiring: Wiring,
    stage: Stage,
    jobs: InlineEngine,
    statements: Callable[[], Any],
) -> None:
    with wiring.database.writing() as session:
        session.get_one(Account, cast.moderator.account_id).timezone = "Europe/Berlin"
    # In Berlin the clocks go forward on the 29th: that day ends at 22:00 UTC, the one before ended at 23:00.
    at("2026-03-20T12:00")
    stage.post("Waits from before the period")
    at("2026-03-27T23:30")
    early = stage.post("Half past midnight on the 28th")
    at("2026-03-28T01:30")
    stage.rate(early, H, H, H, H, H, N)
    at("2026-03-29T21:30")
    scored(wiring, jobs, cast, "nothing", score_given=0.1)
    at("2026-03-29T22:30")
    at_once = scored(
        wiring,
        jobs,
        cast,
        "at once",
        category="spam",
        score_given=0.99,
        name="=HYPERLINK()",
        tier1_categories=frozenset({"spam"}),
    )
    at("2026-03-30T22:30")
    stage.post("The day after the last")
    with wiring.database.writing() as session:
        action = session.scalars(sa.select(Action).where(Action.request_id == at_once)).one()
        adapter = Actor(kind="key", name="Adapter", communities=frozenset({cast.community_id}))
        acknowledgements.acknowledge(session, adapter, action, "1")
        verbs.change_action(session, SYSTEM, action, ActionState.OVERTURNED, reason=Reason("A mistake"))

    moderator = visit(cast.moderator)
    moderator.get(f"/insights{PERIOD}")
    with statements() as seen:
        page = moderator.get(f"/insights{PERIOD}").text
    assert len(seen) < 45, "with the period before, and what needs attention"
    assert table(moderator, "volume") == [
        ["2026-03-30", "1", "1", "0", "0", "0", "1"],
        ["2026-03-29", "1", "0", "0", "1", "0", "1"],
        ["2026-03-28", "1", "0", "1", "0", "0", "1"],
    ]
    assert table(moderator, "time")[2] == ["2026-03-28", "1", "7200", "7200"]
    assert table(moderator, "backlog") == [
        ["2026-03-30", "0", "0", "1"],
        ["2026-03-29", "0", "0", "1"],
        ["2026-03-28", "1", "1", "1"],
    ]
    assert table(moderator, "raters")[2] == ["2026-03-28", "6", "6"]
    assert table(moderator, "agreement")[2] == ["2026-03-28", "6", "5", "1", "0"]
    assert ["spam", "1", "1", "1.0000"] in table(moderator, "categories")
    assert ["'=HYPERLINK()", "1", "1", "1.0000"] in table(moderator, "classifiers")
    for words in ("2 h", "days in Europe/Berlin", "<title id=", "<desc id=", "Export CSV: Agreement"):
        assert words in page, words
    assert "style=" not in page
    # For a reader in UTC the first post belongs to the 27th.
    volume = table(visit(cast.operator), "volume", "?from=2026-03-27&to=2026-03-30")
    assert [row[1] for row in volume] == ["1", "2", "0", "1"]
    weeks = table(moderator, "volume", "?from=2026-01-01&to=2026-03-30")
    assert len(weeks) == 13
    assert sum(int(row[1]) for row in weeks) == 4
