"""Saved filters above the review queue: whose they are, who sees them, who may delete them."""

import re
import uuid

import pytest
import sqlalchemy as sa

from app.core import limits
from app.core.models import HistoryEntry, SavedFilter
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import Stage, Visit, Visitor


def kept(wiring: Wiring) -> dict[str, SavedFilter]:
    with wiring.database.reading() as session:
        return {one.name: one for one in session.scalars(sa.select(SavedFilter))}


def links(page: str) -> dict[str, str]:
    """The links above the queue: name → address."""
    _, _, rest = page.partition('aria-label="Saved filters"')
    found = re.findall(r'<a href="([^"]+)"[^>]*><bdi>([^<]+)</bdi>', rest.partition("</nav>")[0])
    return {name: address.replace("&amp;", "&") for address, name in found}


@pytest.mark.both_databases
def test_filters_are_kept_under_a_name_and_their_link_asks_for_the_same(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    stage.post("Buy followers here", category="spam")
    stage.post("You are an idiot", category="toxicity")
    answer = moderator.post("/review/filters?category=spam&sort=newest&q=buy", name="Spam <first>")
    assert answer.headers["Location"] == "/review?q=buy&category=spam&sort=newest"
    (address,) = links(moderator.get("/review").text).values()
    page = moderator.get(address).text
    assert "Buy followers here" in page
    assert "You are an idiot" not in page
    assert "Spam &lt;first&gt;" in page
    assert "Delete filter" in page
    assert "Save filter" not in page

    # Under the same name it is replaced.
    moderator.post("/review/filters?category=toxicity", name="Spam <first>")
    assert kept(wiring)["Spam <first>"].query == {"category": "toxicity"}


def test_ones_own_are_seen_by_oneself_and_shared_ones_by_the_communitys_moderators(
    moderator: Visitor, operator: Visitor, outsider: Visitor, stage: Stage
) -> None:
    stage.post()
    moderator.post("/review/filters?sort=newest", name="Mine")
    moderator.post("/review/filters?sort=score", name="Ours", shared="y")
    assert set(links(moderator.get("/review").text)) == {"Mine", "Ours"}
    assert set(links(operator.get("/review").text)) == {"Ours"}
    assert links(outsider.get("/review").text) == {}


@pytest.mark.parametrize(
    ("who", "name", "status"),
    [
        ("moderator", "Mine", 303),
        ("moderator", "Ours", 303),
        ("operator", "Ours", 303),
        ("operator", "Mine", 404),
        ("other", "Ours", 403),
        ("outsider", "Ours", 404),
        ("rater", "Ours", 403),
    ],
)
def test_one_deletes_ones_own_and_an_operator_any_that_is_shared(
    visit: Visit, cast: Cast, wiring: Wiring, who: str, name: str, status: int
) -> None:
    owner = visit(cast.operator if who == "other" else cast.moderator)
    owner.post("/review/filters?sort=newest", name="Mine")
    owner.post("/review/filters?sort=score", name="Ours", shared="y")
    visitor = visit(cast.moderator if who == "other" else getattr(cast, who))
    answer = visitor.post(f"/review/filters/{kept(wiring)[name].id}/delete?sort=score")
    assert answer.status_code == status
    assert (name in kept(wiring)) is (status != 303)
    if status == 303:
        assert answer.headers["Location"] == "/review?sort=score"
    with wiring.database.reading() as session:
        told = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "filter.deleted")).all()
    assert [one.before["name"] for one in told] == (["Ours"] if (who, status) == ("operator", 303) else [])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "Enter a name."),
        ("   ", "Filter name must not be blank."),
        ("x" * 61, "Filter name must be at most 60 characters; it has 61."),
        ("nul\x00", "must not contain NUL"),
    ],
)
def test_a_name_that_cannot_be_kept_is_named(
    moderator: Visitor, wiring: Wiring, stage: Stage, name: str, told: str
) -> None:
    stage.post()
    answer = moderator.post("/review/filters?category=spam", name=name)
    assert answer.status_code == 422
    assert told in answer.text
    assert kept(wiring) == {}


@pytest.mark.both_databases
def test_nobody_keeps_more_than_a_few(
    moderator: Visitor, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "OWN_FILTERS", limits.OWN_FILTERS._replace(number=2))
    stage.post()
    for number in range(2):
        moderator.post("/review/filters?sort=newest", name=f"Number {number}")
    answer = moderator.post("/review/filters?sort=newest", name="One more")
    assert answer.status_code == 422
    assert "delete one first" in answer.text


def test_an_unknown_filter_is_not_found(moderator: Visitor) -> None:
    assert moderator.post(f"/review/filters/{uuid.uuid4()}/delete").status_code == 404
