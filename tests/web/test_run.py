"""A rater's run: notes among the posts, Undo, the next cards, breaks."""

import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock, limits
from app.core.models import Account, Action, Note, Rating, Request
from app.core.vocabulary import HelpfulnessLevel, NoteStatus, ReviewGroup
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.web.conftest import HTMX, Stage, Visit, Visitor

YES, NO, UNSURE = (HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL, HelpfulnessLevel.SOMEWHAT_HELPFUL)
CARD = re.compile(r'name="card" value="([^"]+)"')
"""The ids of the cards on a page."""
BOTH = pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "part"])
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def shown(visitor: Visitor, path: str = "/help-needed", **headers: str) -> list[str]:
    return CARD.findall(visitor.get(path, **headers).text)


def given(wiring: Wiring, note_id: uuid.UUID, person: Person) -> tuple[HelpfulnessLevel, list[str]] | None:
    with wiring.database.reading() as session:
        rating = session.scalars(
            sa.select(Rating).where(Rating.note_id == note_id, Rating.rater_id == person.profile_id)
        ).one_or_none()
        return (rating.helpfulness_level, list(rating.reasons)) if rating else None


def fields(note_id: uuid.UUID, level: str, **points: str) -> dict[str, str]:
    """A rating of a note that was read."""
    return {f"note-{note_id}-level": level, "seen": str(note_id)} | {
        f"note-{note_id}-{name}": value for name, value in points.items()
    }


@BOTH
def test_an_answer_is_taken_back_and_the_card_stands_there_again(
    rater: Visitor, cast: Cast, stage: Stage, headers: dict[str, str]
) -> None:
    action_id = stage.post("Take me back")
    rater.post(f"/help-needed/{action_id}", answer="yes")
    after = rater.get(f"/help-needed?done={action_id}").text
    assert f'action="/help-needed/{action_id}/undo"' in after, "without script the page offers it"
    reply = rater.post(f"/help-needed/{action_id}/undo", headers)
    assert stage.own_rating(action_id, cast.rater) is None
    assert shown(rater) == [str(action_id)]
    if headers:
        assert CARD.findall(reply.text) == [str(action_id)]
        assert ">0 today</a>, 1 left" in reply.text
    rater.post(f"/help-needed/{action_id}", skip="1")
    assert shown(rater) == []
    rater.post(f"/help-needed/{action_id}/undo", headers)
    assert shown(rater) == [str(action_id)]


@BOTH
def test_an_answer_that_decided_cannot_be_taken_back(
    rater: Visitor, cast: Cast, stage: Stage, headers: dict[str, str]
) -> None:
    action_id = stage.post()
    stage.rate(action_id, YES, YES, YES, YES)
    assert "/undo" not in rater.post(f"/help-needed/{action_id}", HTMX, answer="yes").text
    reply = rater.post(f"/help-needed/{action_id}/undo", headers)
    assert reply.status_code == (409 if headers else 303)
    assert stage.own_rating(action_id, cast.rater) is YES


def test_only_ones_own_answer_can_be_taken_back(
    moderator: Visitor, rater: Visitor, outsider: Visitor, cast: Cast, stage: Stage
) -> None:
    action_id = stage.post()
    rater.post(f"/help-needed/{action_id}", answer="yes")
    moderator.post(f"/help-needed/{action_id}/undo")
    assert stage.own_rating(action_id, cast.rater) is YES
    assert outsider.post(f"/help-needed/{action_id}/undo").status_code == 404


def test_a_page_has_three_cards_and_each_answer_brings_the_one_that_is_missing(
    rater: Visitor, stage: Stage
) -> None:
    ids = {str(stage.post()) for _ in range(5)}
    first = shown(rater)
    assert len(first) == 3
    assert "More come as you answer or skip." in rater.get("/help-needed").text
    answered, *still = first
    sent = {"card": [answered, *still], "place": ["1", "2", "3"], "answer": "yes"}
    reply = rater.post(f"/help-needed/{answered}", HTMX, **sent).text
    (fourth,) = CARD.findall(reply)
    assert fourth in ids - {*first}
    assert "Post 4: " in reply
    assert "More come" in reply
    sent = {"card": [*still, fourth], "place": ["2", "3", "4"], "skip": "1"}
    reply = rater.post(f"/help-needed/{still[0]}", HTMX, **sent).text
    assert {*first, fourth, *CARD.findall(reply)} == ids
    assert "More come" not in reply
    # A card that was taken back is a fourth: nothing is missing then.
    four = {"card": [answered, *ids - {answered, still[0]}], "answer": "no"}
    assert CARD.findall(rater.post(f"/help-needed/{answered}", HTMX, **four).text) == []
    without_script = rater.post(f"/help-needed/{still[1]}", answer="no")
    assert len(CARD.findall(rater.get(without_script.location).text)) == 2


def test_the_end_of_a_run_says_what_was_answered_today_and_what_that_decided(
    rater: Visitor, stage: Stage
) -> None:
    assert "Nothing needs your help. Next check in 15 s." in rater.get("/help-needed").text
    open_, decided = stage.post(), stage.post()
    assert "That was all." not in rater.post(f"/help-needed/{open_}", HTMX, answer="yes").text
    last = rater.post(f"/help-needed/{decided}", HTMX, answer="yes").text
    assert "That was all." in last
    assert ">2 answers today</a>; others still have to answer before they decide something." in last
    stage.rate(decided, *[YES] * 30)
    end = rater.get("/help-needed").text
    today = re.search(r'href="(/me[^"]*)">2 answers today</a>; <a href="(/me[^"]*)">1 of them decided', end)
    assert today is not None
    rows, decided_rows = (rater.get(url.replace("&amp;", "&")).text for url in today.groups())
    for action_id, page in ((open_, rows), (decided, rows), (decided, decided_rows)):
        assert f'href="/review/{action_id}"' in page
    assert f'href="/review/{open_}"' not in decided_rows
    assert "That was all." not in rater.post(f"/help-needed/{open_}/undo", HTMX).text


def test_notes_come_in_the_same_run_and_never_ones_own(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post("The post above it")
    theirs, own, locked = stage.note(action_id), stage.note(action_id, 1), stage.note(action_id, 2)
    with wiring.database.writing() as session:
        session.get_one(Note, own).author_id = cast.rater.profile_id
        session.get_one(Note, locked).locked = True
        session.get_one(Note, theirs).ai_generated = True
    page = rater.get("/help-needed").text
    assert {*CARD.findall(page)} == {str(action_id), str(theirs)}
    card = page[page.index(f'id="card-{theirs}"') :]
    card = card[: card.index("</article>")]
    assert "The post above it" in card.replace("<mark>", "").replace("</mark>", "")
    assert "AI-written" in card
    assert ">0 today</a>, 2 left" in page


@BOTH
@pytest.mark.parametrize(
    ("level", "points", "stored"),
    [
        ("HELPFUL", {"good": "clear", "bad": "biased"}, (YES, ["clear"])),
        ("NOT_HELPFUL", {"good": "clear", "bad": "biased"}, (NO, ["biased"])),
        ("SOMEWHAT_HELPFUL", {"good": "clear", "bad": "biased"}, (UNSURE, ["clear", "biased"])),
        ("HELPFUL", {"bad": "biased"}, None),
        ("NOT_HELPFUL", {}, None),
        ("", {"good": "clear"}, None),
    ],
)
def test_a_note_is_rated_with_reasons_of_the_side_that_was_chosen(
    rater: Visitor,
    cast: Cast,
    stage: Stage,
    wiring: Wiring,
    headers: dict[str, str],
    level: str,
    points: dict[str, str],
    stored: Any,
) -> None:
    note_id = stage.note(stage.post())
    reply = rater.post(f"/help-needed/notes/{note_id}", headers, **fields(note_id, level, **points))
    assert given(wiring, note_id, cast.rater) == stored
    if stored is None:
        assert reply.status_code == 422
        assert CARD.findall(reply.text).count(str(note_id)) == 1
        assert "There is a problem" in reply.text
    else:
        assert str(note_id) not in shown(rater)
        rater.post(f"/help-needed/notes/{note_id}/undo", headers)
        assert given(wiring, note_id, cast.rater) is None
        assert str(note_id) in shown(rater)


@BOTH
def test_a_note_about_an_unseen_post_is_not_rated(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring, headers: dict[str, str]
) -> None:
    action_id = stage.post("A threat.", category="threat")
    note_id = stage.note(action_id)
    path, rating = f"/help-needed/notes/{note_id}", fields(note_id, "HELPFUL", good="clear")
    refused = rater.post(path, headers, **rating)
    assert refused.status_code == 422
    assert "Choose “Show content” first" in refused.text
    assert given(wiring, note_id, cast.rater) is None
    rater.post(path, headers, **rating | {"seen": [str(note_id), str(action_id)]})
    assert given(wiring, note_id, cast.rater) == (YES, ["clear"])


@BOTH
def test_a_note_that_was_not_read_to_its_end_is_not_rated_and_what_was_chosen_stays(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring, headers: dict[str, str]
) -> None:
    note_id = stage.note(stage.post())
    path = f"/help-needed/notes/{note_id}"
    rating = fields(note_id, "HELPFUL", good="clear")
    for seen in ("", str(uuid.uuid4())):
        refused = rater.post(path, headers, **rating | {"seen": seen})
        assert refused.status_code == 422
        assert "Read the note first" in refused.text
        assert re.search(r'value="HELPFUL"[^>]*checked|checked[^>]*value="HELPFUL"', refused.text)
    assert given(wiring, note_id, cast.rater) is None
    assert rater.post(path, headers, skip="1").status_code in (200, 303), "skipping needs no reading"


def test_the_page_says_for_a_browser_without_script_that_the_note_above_the_answers_was_read(
    visit: Visit, cast: Cast, stage: Stage
) -> None:
    note_id = stage.note(stage.post())
    assert f'data-seen="{note_id}"' in visit(cast.rater).get("/help-needed").text
    sent = re.search(
        rf'name="seen"\s+value="([^"]*)"\s+data-seen="{note_id}"', visit(cast.rater).get("/help-needed").text
    )
    assert sent is not None
    assert sent[1] == str(note_id)


def test_a_skipped_note_is_not_offered_again_until_that_is_undone(rater: Visitor, stage: Stage) -> None:
    note_id = stage.note(stage.post())
    assert "Skipped." in rater.post(f"/help-needed/notes/{note_id}", HTMX, skip="1").text
    assert str(note_id) not in shown(rater)
    rater.post(f"/help-needed/notes/{note_id}/undo")
    assert str(note_id) in shown(rater)


def test_notes_on_posts_that_staff_review_or_that_are_gone_are_not_in_the_run(
    rater: Visitor, stage: Stage, wiring: Wiring
) -> None:
    actions = [stage.post() for _ in range(2)]
    staffs, gone = (stage.note(one) for one in actions)
    with wiring.database.writing() as session:
        session.get_one(Action, actions[0]).review_group = ReviewGroup.STAFF
        request = session.get_one(Request, session.get_one(Action, actions[1]).request_id)
        request.withdrawn_at = clock.now()
    assert not {str(staffs), str(gone)} & {*shown(rater)}
    for note_id in (staffs, gone):
        assert rater.post(f"/help-needed/notes/{note_id}/undo", HTMX).status_code == 404


def test_being_asked_about_a_note_does_not_tell_its_status(
    rater: Visitor, stage: Stage, wiring: Wiring
) -> None:
    post = stage.post()
    notes = [stage.note(post, number) for number in range(3)]
    near, far, open_ = notes
    with wiring.database.writing() as session:
        for note_id, score in ((near, 0.41), (far, 0.9)):
            note = session.get_one(Note, note_id)
            note.status, note.intercept, note.ratings_count = NoteStatus.CURRENTLY_RATED_HELPFUL, score, 6
    cards = shown(rater)
    assert len(cards) == 3
    assert str(near) in cards
    assert str(open_) in cards
    assert str(far) not in cards, "no single rating can change it"


def test_posts_in_the_readers_language_come_first(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    german, english, unknown = (stage.post(f"Post {number}") for number in range(3))
    stage.rate(german, YES, YES, YES)
    with wiring.database.writing() as session:
        for action_id, tag in ((german, "de"), (english, "en"), (unknown, "und")):
            action = session.get_one(Action, action_id)
            action.language = session.get_one(Request, action.request_id).language = tag
    assert shown(rater)[0] == str(german), "where one more rating helps most, without a language"
    assert shown(rater, **{"Accept-Language": "en-GB,en;q=0.9"})[-1] == str(german)
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).languages = ["de"]
    assert shown(rater, **{"Accept-Language": "en-GB"})[-1] == str(english), (
        "the setting goes before the browser"
    )


def test_nobody_is_asked_about_categories_that_they_prefer_not_to_see(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    spam, threat = stage.post(category="spam"), stage.post(category="threat")
    stage.note(threat)
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).avoided_categories = ["threat"]
    page = rater.get("/help-needed").text
    assert CARD.findall(page) == [str(spam)]
    assert ">0 today</a>, 1 left" in page
    assert rater.get(
        f"/help-needed/new-count?since={clock.iso(clock.now() - timedelta(hours=1))}"
    ).text.count("1 new")


def test_a_break_is_offered_after_many_answers_and_after_severe_posts(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BREAK_AFTER", 3)

    def offered(category: str) -> bool:
        action_id = stage.post(category=category)
        seen = {"seen": str(action_id)}
        return "data-pause" in rater.post(f"/help-needed/{action_id}", HTMX, answer="yes", **seen).text

    assert [offered("spam") for _ in range(4)] == [False, False, True, False]
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).break_after_severe = 1
    assert [offered(name) for name in ("threat", "spam", "spam", "threat")] == [True, True, False, True]
    with wiring.database.writing() as session:
        session.get_one(Account, cast.rater.account_id).break_after_severe = 0
    assert [offered(name) for name in ("spam", "threat")] == [True, False]


def test_more_notes_cost_no_more_queries(rater: Visitor, stage: Stage, statements: Callable[[], Any]) -> None:
    action_id = stage.post()
    stage.note(action_id)
    with statements() as for_one:
        rater.get("/help-needed")
    for number in range(1, 6):
        stage.note(action_id, number)
    stage.note(stage.post())
    with statements() as for_seven:
        rater.get("/help-needed")
    assert len(for_seven) <= len(for_one)


def test_a_reader_chooses_languages_categories_and_when_a_break_is_offered(
    rater: Visitor, cast: Cast, wiring: Wiring
) -> None:
    chosen = {"languages": ["de", "fr"], "avoided": ["threat", "no_such_category"], "break_after_severe": "3"}
    assert rater.post("/settings/reading", **chosen).status_code == 303

    def kept() -> tuple[list[str], list[str], int | None]:
        with wiring.database.reading() as session:
            account = session.get_one(Account, cast.rater.account_id)
            return account.languages, account.avoided_categories, account.break_after_severe

    assert kept() == (["de", "fr"], ["threat"], 3)
    assert "German, French" in rater.get("/settings/reading").text
    for wrong in ({"languages": ["xx"]}, {"break_after_severe": "101"}, {"break_after_severe": "-1"}):
        assert rater.post("/settings/reading", **wrong).status_code == 422
    assert kept() == (["de", "fr"], ["threat"], 3)
    rater.post("/settings/reading", break_after_severe="")
    assert kept() == ([], [], None)


def test_my_impact_says_how_much_of_what_was_answered_today(
    moderator: Visitor, rater: Visitor, stage: Stage
) -> None:
    spam, threat = stage.post(category="spam"), stage.post(category="threat")
    rater.post(f"/help-needed/{spam}", answer="yes")
    rater.post(f"/help-needed/{threat}", answer="no", seen=str(threat))
    rater.post(f"/help-needed/{(skipped := stage.post())}", skip="1")
    rater.post(f"/help-needed/{threat}", skip="1")
    page = rater.get("/me").text
    today = re.findall(r'<a href="(/me\?[^"]*)"[^>]*>(2 answers|1 of them|1 skipped|1)</a>', page)
    shown_rows = [
        [
            str(one)
            for one in (spam, threat, skipped)
            if f'href="/review/{one}"' in rater.get(unescape(url)).text
        ]
        for url, _ in today
    ]
    assert [words for _, words in today][:1] == ["2 answers"]
    assert [str(spam), str(threat)] in shown_rows
    assert [str(threat)] in shown_rows
    assert [str(skipped)] in shown_rows
    assert re.search(r"<dt>Threat</dt>\s*<dd><a [^>]*>1</a></dd>", page)
    assert "Nothing answered yet." in moderator.get("/me").text
