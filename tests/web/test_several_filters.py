"""Filters that hold several values: in the page, in its address, in the file, in what is saved under a name."""

import csv
import io
import re
import uuid
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.models import Action, HistoryEntry, SavedFilter
from app.core.review import verbs
from app.core.vocabulary import ActionState, ActionType
from app.web.history import actions as history_page
from app.web.moderate import review as review_page
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.web.conftest import Stage, Visitor

KINDS = (ActionType.HIDE, ActionType.WARN, ActionType.DELETE)


def export(visitor: Visitor, query: str = "") -> list[tuple[str, str]]:
    """The type and the state of each change in the file, oldest first."""
    answer = visitor.get(f"/history.csv{query}")
    assert answer.status_code == 200
    rows = list(csv.DictReader(io.StringIO(answer.data.decode("utf-8-sig"))))
    return [(row["action_type"], row["state"]) for row in reversed(rows)]


def ticked(page: str, name: str) -> set[str]:
    boxes = re.findall(r"<input[^>]*>", page)
    return {
        unescape(found[1])
        for box in boxes
        if f'name="{name}"' in box and "checked" in box and (found := re.search(r'value="([^"]*)"', box))
    }


def posts(page: str) -> set[str]:
    """The posts that a list shows, of those that a test named "Post …"."""
    return set(re.findall(r"Post [a-z]+", page))


def address_of(page: str, words: str) -> str:
    found = re.search(rf'<a[^>]*href="([^"]+)"[^>]*>(?:(?!</a>).)*{words}', page)
    assert found, f"no link {words}"
    return unescape(found[1])


@pytest.fixture
def kinds(wiring: Wiring, cast: Cast, stage: Stage) -> dict[ActionType, uuid.UUID]:
    """A post under review of each of three types; the one to delete was dismissed."""
    found = {kind: stage.post(f"Post {kind.value}") for kind in KINDS}
    with wiring.database.writing() as session:
        for kind, action_id in found.items():
            session.get_one(Action, action_id).action_type = kind
            # An entry repeats the type, which no verb ever changes.
            entries = sa.update(HistoryEntry).where(HistoryEntry.object_id == action_id)
            session.execute(entries.values(action_type=kind.value))
    with wiring.database.writing() as session:
        last = session.get_one(Action, found[ActionType.DELETE])
        verbs.change_action(session, factories.integration(cast), last, ActionState.DISMISSED)
    return found


FOUND: list[tuple[str, list[tuple[str, str]]]] = [
    ("?type=hide&type=warn", [("hide", "under_review"), ("warn", "under_review")]),
    (
        "?type=warn&type=delete",
        [("warn", "under_review"), ("delete", "under_review"), ("delete", "dismissed")],
    ),
    ("?type=hide&type=delete&state=dismissed", [("delete", "dismissed")]),
    (
        "?state=dismissed&state=under_review&type=delete",
        [("delete", "under_review"), ("delete", "dismissed")],
    ),
    ("?state=applied&state=overturned", []),
    ("?type=hide", [("hide", "under_review")]),
    ("?type=hide&type=hide", [("hide", "under_review")]),
    ("?type=&state=dismissed&q=", [("delete", "dismissed")]),
]


@pytest.mark.both_databases
@pytest.mark.usefixtures("kinds")
def test_the_history_is_filtered_by_several_types_and_states(moderator: Visitor) -> None:
    for query, found in FOUND:
        assert export(moderator, query) == found, query
        page = moderator.get(f"/history{query}").text
        assert posts(page) == {f"Post {kind}" for kind, _ in found}, query
        for name in ("type", "state"):
            asked = set(re.findall(rf"\b{name}=(\w+)", query))
            assert ticked(page, name) == asked, query


@pytest.mark.both_databases
def test_the_history_is_filtered_by_several_categories(moderator: Visitor, stage: Stage) -> None:
    for category in ("spam", "toxicity", "misinformation"):
        stage.post(f"Post {category}", category=category)
    query = "?category=spam&category=misinformation"
    assert len(export(moderator, query)) == 2
    page = moderator.get(f"/history{query}").text
    assert posts(page) == {"Post spam", "Post misinformation"}
    assert ticked(page, "category") == {"spam", "misinformation"}


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("?type=hide&type=explode", "Type cannot be “explode”. Choose from the list."),
        ("?state=exploded", "State cannot be “exploded”. Choose from the list."),
        ("?type=<b>&type=hide", "Type cannot be “&lt;b&gt;”. Choose from the list."),
    ],
)
@pytest.mark.parametrize("path", ["/history", "/history.csv"])
def test_an_unknown_value_is_named_with_its_field(
    moderator: Visitor, path: str, query: str, told: str
) -> None:
    answer = moderator.get(f"{path}{query}")
    assert answer.status_code == 422
    assert told in answer.text


@pytest.mark.parametrize("path", ["/history", "/history.csv", "/review"])
def test_an_unknown_category_finds_nothing_and_stays_to_be_unticked(
    moderator: Visitor, stage: Stage, path: str
) -> None:
    stage.post("Post one")
    answer = moderator.get(f"{path}?category=nothing-like-it%00")
    assert answer.status_code == 200
    assert posts(answer.text) == set()
    if path != "/history.csv":
        assert ticked(answer.text, "category") == {"nothing-like-it"}


@pytest.mark.both_databases
@pytest.mark.usefixtures("kinds")
def test_pages_entries_tabs_and_the_file_keep_every_value(
    moderator: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_page, "PAGE_SIZE", 1)
    query = "type=hide&type=warn&state=dismissed&state=under_review"
    page = moderator.get(f"/history?community=harbour-forum&{query}").text
    assert posts(page) == {"Post warn"}
    older = re.search(r'rel="next" href="([^"]+)"', page)
    assert older
    second = moderator.get(unescape(older[1])).text
    assert posts(second) == {"Post hide"}
    assert ticked(second, "type") == {"hide", "warn"}
    assert ticked(second, "state") == {"dismissed", "under_review"}
    file = moderator.get(address_of(page, "Export CSV")).text
    assert len(list(csv.DictReader(io.StringIO(file)))) == 2
    entry = re.search(r'href="(/history/[0-9a-f-]{36}[^"]*)"', page)
    assert entry
    back = address_of(moderator.get(unescape(entry[1])).text, "Action history</a>")
    assert ticked(moderator.get(back).text, "type") == {"hide", "warn"}
    nothing = moderator.get(f"/history?community=harbour-forum&{query}&q=nothing+like+it").text
    assert address_of(nothing, "Clear filters") == "/history?community=harbour-forum"


def test_several_values_cost_no_more_queries_than_none(
    moderator: Visitor, kinds: dict[ActionType, uuid.UUID], statements: Callable[[], Any]
) -> None:
    with statements() as plain:
        moderator.get("/history")
    with statements() as narrowed:
        page = moderator.get("/history?type=hide&type=warn&type=delete&state=under_review&state=dismissed")
    assert len(posts(page.text)) == len(kinds)
    assert len(narrowed) == len(plain)


@pytest.mark.both_databases
def test_the_queue_is_filtered_by_several_categories_wherever_one_goes(
    moderator: Visitor, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_page, "PAGE_SIZE", 1)
    for category in ("spam", "toxicity", "misinformation"):
        stage.post(f"Post {category}", category=category)
    query = "category=misinformation&category=spam"
    page = moderator.get(f"/review?{query}").text
    assert posts(page) == {"Post misinformation"}, "the graver one first"
    assert "2 posts wait" in page
    assert ticked(page, "category") == {"spam", "misinformation"}
    following = re.search(r'rel="next" href="([^"]+)"', page)
    assert following
    assert posts(moderator.get(unescape(following[1])).text) == {"Post spam"}
    # Into an item and back, and on to the next one, the filters go along.
    opened = moderator.post(f"/review/next?{query}").headers["Location"]
    assert query in opened
    item = moderator.get(opened).text
    assert address_of(item, "Review queue</a>") == f"/review?{query}"
    asked = re.search(r'hx-get="(/review/new-count[^"]+)"', page)
    assert asked
    assert query in unescape(asked[1])


def test_several_categories_are_saved_under_a_name_and_what_was_saved_with_one_still_works(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    for category in ("spam", "toxicity", "misinformation"):
        stage.post(f"Post {category}", category=category)
    moderator.post("/review/filters?category=misinformation&category=spam&sort=newest", name="Night shift")
    with wiring.database.writing() as session:
        session.add(
            SavedFilter(
                community_id=cast.community_id,
                account_id=cast.moderator.account_id,
                name="As before",
                query={"category": "toxicity"},
            )
        )
    page = moderator.get("/review").text
    for name, found in (
        ("Night shift", {"Post spam", "Post misinformation"}),
        ("As before", {"Post toxicity"}),
    ):
        opened = moderator.get(address_of(page, name)).text
        assert posts(opened) == found
        assert re.search(rf'aria-current="true"[^>]*><bdi>{name}', opened), "it is shown as the present one"
        assert "Delete filter" in opened
    swapped = moderator.get("/review?sort=newest&category=spam&category=misinformation").text
    assert re.search(r'aria-current="true"[^>]*><bdi>Night shift', swapped), (
        "the order in the address is nothing"
    )


GERMAN_POST = "Post german: Die Fähre legt heute um sieben ab, also seid bitte etwas früher am Anleger."
ENGLISH_POST = "Post english: The ferry leaves at seven today, so please be at the quay a little earlier."


@pytest.mark.both_databases
def test_the_language_of_a_post_is_shown_and_filters_queue_and_history(
    moderator: Visitor, stage: Stage
) -> None:
    english = stage.post(ENGLISH_POST)
    assert 'name="language"' not in moderator.get("/review").text, "there is only one to choose from"
    german, short = stage.post(GERMAN_POST), stage.post("Post short")
    for action_id, words in ((english, "English"), (german, "German"), (short, "Not known")):
        assert f"<dt>Language</dt><dd>{words}</dd>" in moderator.get(f"/review/{action_id}").text
    for path in ("/review", "/history"):
        page = moderator.get(path).text
        assert posts(page) == {"Post english", "Post german", "Post short"}, path
        assert ticked(page, "language") == set()
        page = moderator.get(f"{path}?language=de&language=und").text
        assert posts(page) == {"Post german", "Post short"}, path
        assert ticked(page, "language") == {"de", "und"}
        assert posts(moderator.get(f"{path}?language=en&q=ferry").text) == {"Post english"}, path
        assert posts(moderator.get(f"{path}?language=fr").text) == set(), path
    assert len(export(moderator, "?language=de")) == 1
    chosen = moderator.get("/review?language=de&language=en").text
    assert "in German or English" in chosen
    moderator.post("/review/filters?language=de&language=en", name="Both")
    assert posts(moderator.get(address_of(moderator.get("/review").text, "Both")).text) == {
        "Post english",
        "Post german",
    }


@pytest.mark.parametrize(
    ("role", "path", "first", "second"),
    [
        ("moderator", "/history", "author=gull", "from=2026-03-01"),
        ("operator", "/history/settings", "area=thresholds", "actor=adm"),
        ("operator", "/deliveries", "event=webhook.test", "state=dead"),
        ("moderator", "/insights", "from=2026-03-01", "to=2026-03-02"),
        ("moderator", "/reports", "tab=open&category=spam", ""),
        ("admin", "/people", "q=moderator", ""),
    ],
)
def test_a_chip_takes_its_filter_out_of_the_address_and_leaves_the_others(
    visit: Callable[..., Visitor], cast: Cast, role: str, path: str, first: str, second: str
) -> None:
    visitor = visit(getattr(cast, role))
    kept = ["community=harbour-forum", *first.split("&"), *filter(None, [second])]
    page = visitor.get(f"{path}?{'&'.join(kept)}").text
    chips = re.search(r'<ul class="chips".*?</ul>', page, re.DOTALL)
    assert chips
    links = [unescape(url) for url in re.findall(r'href="([^"]+)"><span class="vh">Remove', chips[0])]
    narrowing = [one for one in kept if not one.startswith(("community=", "tab="))]
    left = sorted(tuple(sorted(link.partition("?")[2].split("&"))) for link in links)
    assert left == sorted(tuple(sorted(one for one in kept if one != gone)) for gone in narrowing)
    for link in links:
        assert visitor.get(link).status_code == 200
    plain = visitor.get(f"{path}?community=harbour-forum").text
    assert 'class="chips"' not in plain


@pytest.mark.parametrize(
    "path", ["/review?category=", "/review?language=", "/history?category=", "/history?state="]
)
def test_an_address_of_thousands_of_values_makes_no_page_of_megabytes(moderator: Visitor, path: str) -> None:
    name = path.partition("?")[2]
    page = moderator.get(path + f"&{name}".join(["y" * 5_000, *(f"x{number}" for number in range(2_000))]))
    assert page.status_code in {200, 422}
    assert len(page.data) < 1_000_000
    assert page.text.count("Remove the filter") <= 100
