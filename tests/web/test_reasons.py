"""Reasons and policies: operators write what moderators choose from; history tells what they changed."""

import re

import pytest
import sqlalchemy as sa

from app.core.models import HistoryEntry, Hold, ReasonTemplate
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import HTMX, Stage, Visit, Visitor

BANTER = {"title": "Banter", "text": "Friends teasing each other.", "category": ""}


def added(visitor: Visitor, wiring: Wiring, **fields: str) -> ReasonTemplate:
    given = {**BANTER, **fields}
    assert visitor.post("/reasons", **given).status_code == 303
    with wiring.database.reading() as session:
        found = sa.select(ReasonTemplate).where(ReasonTemplate.title == given["title"])
        return session.scalars(found).one()


def told(wiring: Wiring) -> list[tuple[str, dict[str, object], dict[str, object]]]:
    with wiring.database.reading() as session:
        entries = session.scalars(
            sa.select(HistoryEntry).where(HistoryEntry.object_type == "reason").order_by(HistoryEntry.number)
        )
        return [(one.what, one.before, one.after) for one in entries]


@pytest.mark.parametrize(
    ("who", "status"),
    [("rater", 403), ("moderator", 403), ("operator", 200), ("admin", 200), ("outsider", 404), (None, 303)],
)
def test_only_operators_and_above_open_the_page(
    visit: Visit, cast: Cast, who: str | None, status: int
) -> None:
    visitor = visit(getattr(cast, who) if who else None)
    assert visitor.get("/reasons?community=harbour-forum").status_code == status


def test_a_moderator_cannot_change_what_they_choose_from(
    moderator: Visitor, operator: Visitor, outsider: Visitor, wiring: Wiring
) -> None:
    reason = added(operator, wiring)
    for path in ("/reasons", f"/reasons/{reason.id}", f"/reasons/{reason.id}/retire"):
        assert moderator.post(path, **BANTER).status_code == 403, path
    assert outsider.post(f"/reasons/{reason.id}", **BANTER).status_code == 404
    assert outsider.get(f"/reasons/{reason.id}").status_code == 404
    assert [what for what, _, _ in told(wiring)] == ["reason.added"]


def test_adding_changing_retiring_and_bringing_back_are_told_with_before_and_after(
    operator: Visitor, wiring: Wiring
) -> None:
    reason = added(operator, wiring)
    operator.post(
        f"/reasons/{reason.id}",
        title="Banter",
        text="Nobody is hurt.",
        category="toxicity",
        version="1",
        why="Clearer words",
    )
    silent = operator.post(
        f"/reasons/{reason.id}", title="Banter", text="Nobody is hurt at all.", version="2"
    )
    assert (silent.status_code, "Enter a reason." in silent.text) == (422, True)
    silent = operator.post(f"/reasons/{reason.id}/retire")
    assert (silent.status_code, "Enter a reason." in silent.text) == (422, True)
    operator.post(f"/reasons/{reason.id}/retire", why="Nobody used it")
    operator.post(f"/reasons/{reason.id}/restore", why="Somebody missed it")
    assert told(wiring) == [
        ("reason.added", {}, {"title": "Banter", "text": "Friends teasing each other.", "category": None}),
        (
            "reason.revised",
            {"text": "Friends teasing each other.", "category": None},
            {"text": "Nobody is hurt.", "category": "toxicity"},
        ),
        ("reason.retired", {"active": True}, {"active": False}),
        ("reason.restored", {"active": False}, {"active": True}),
    ]
    page = operator.get(f"/reasons/{reason.id}").text
    assert "Text: “Friends teasing each other.” → “Nobody is hurt.”" in page
    assert "Category: Any → Toxicity" in page
    whole = operator.get("/history/settings?area=reasons").text
    for why in ("Clearer words", "Nobody used it", "Somebody missed it"):
        assert (why in page, why in whole) == (True, True)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"title": ""}, "Enter a title."),
        ({"title": "x" * 101}, "Title must be at most 100 characters; it has 101."),
        ({"title": "BANTER"}, "is another reason&#39;s already"),
        ({"text": "  "}, "Text must not be blank."),
        ({"text": "x" * 2_001}, "Text must be at most 2,000 characters; it has 2,001."),
        ({"category": "No Such!"}, "Category must be lower case letters"),
    ],
)
def test_a_reason_that_cannot_be_kept_is_named_and_the_rest_is_kept(
    operator: Visitor, wiring: Wiring, fields: dict[str, str], words: str
) -> None:
    added(operator, wiring)
    answer = operator.post(
        "/reasons", **{"title": "Another", "text": "A text to keep", "category": "", **fields}
    )
    assert answer.status_code == 422
    assert words in answer.text
    assert len(told(wiring)) == 1
    if "text" not in fields:
        assert "A text to keep" in answer.text


def test_two_operators_change_one_reason_and_the_second_hears_who_was_first(
    operator: Visitor, admin: Visitor, wiring: Wiring
) -> None:
    reason = added(operator, wiring)
    admin.post(f"/reasons/{reason.id}", title="Banter", text="The admin's text", version="1", why="Mine")
    theirs = {"title": "Banter", "text": "The operator's text", "version": "1", "why": "Theirs"}
    answer = operator.post(f"/reasons/{reason.id}", **theirs)
    assert answer.status_code == 409
    assert "(Admin, just now)" in answer.text
    assert "The operator&#39;s text" in answer.text
    assert 'name="version" type="hidden" value="2"' in answer.text


def test_moderators_choose_from_the_reasons_in_use_that_suit_the_item(
    moderator: Visitor, operator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    added(operator, wiring, title="For all", text="Suits everything")
    added(operator, wiring, title="For insults", text="An insult", category="toxicity")
    added(operator, wiring, title="For spam", text="An advertisement", category="spam")
    retired = added(operator, wiring, title="Retired", text="No longer used")
    operator.post(f"/reasons/{retired.id}/retire", why="Not used")
    page = moderator.get(f"/review/{stage.post()}").text
    assert page.index("For insults") < page.index("For all")
    assert "For spam" not in page
    assert "Retired" not in page


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("", "Friends teasing each other."),
        ("See the thread.", "Friends teasing each other.\nSee the thread."),
        ("Friends teasing each other. And more.", "Friends teasing each other. And more."),
    ],
)
@pytest.mark.parametrize("several", [False, True], ids=["one", "bulk"])
def test_without_script_the_chosen_text_is_put_before_what_was_typed(
    moderator: Visitor,
    operator: Visitor,
    wiring: Wiring,
    stage: Stage,
    typed: str,
    expected: str,
    several: bool,
) -> None:
    reason = added(operator, wiring)
    action_id = stage.post()
    form = {"reason": typed, "template": str(reason.id)}
    if several:
        answer = moderator.post("/review/dismiss", item=f"{action_id}.1", **form)
    else:
        answer = moderator.post(f"/review/{action_id}/decide", verb="dismiss", version="1", **form)
    assert answer.status_code == 303
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Hold.reason)).one() == expected


@pytest.mark.parametrize("template", ["nonsense", "00000000-0000-7000-8000-000000000009", "foreign"])
def test_a_template_that_is_not_ours_adds_nothing(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, template: str
) -> None:
    if template == "foreign":
        with wiring.database.writing() as session:
            row = ReasonTemplate(community_id=cast.other_community_id, title="Theirs", text="Their words")
            session.add(row)
            session.flush()
            template = str(row.id)
    action_id = stage.post()
    answer = moderator.post(
        f"/review/{action_id}/decide", HTMX, verb="dismiss", version="1", reason="", template=template
    )
    assert answer.status_code == 422
    assert "Enter a reason." in answer.text
    assert "Their words" not in answer.text


def test_a_reason_is_the_default_of_one_decision_in_its_category(
    moderator: Visitor, operator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post("Sharp words")
    general = added(operator, wiring, verb="dismiss")
    own = added(operator, wiring, title="Sharp", category="toxicity", verb="dismiss")
    added(operator, wiring, title="Plain", category="toxicity")
    again = operator.post("/reasons", **{**BANTER, "title": "Twice", "verb": "dismiss"})
    assert again.status_code == 422
    assert "Default for is taken in this category already, by “Banter”." in again.text
    assert operator.post("/reasons", **{**BANTER, "title": "Odd", "verb": "reopen"}).status_code == 422

    def defaults(path: str) -> list[str]:
        return re.findall(
            r'value="([^"]+)"\s+(?:data-fills="reason"\s+)?data-text="[^"]*" data-default="dismiss"',
            moderator.get(path).text,
        )

    assert defaults(f"/review/{action_id}") == [str(own.id), str(general.id)], (
        "the category's own comes first"
    )
    assert defaults("/review") == [str(general.id)], "several items may be of several categories"
    operator.post(f"/reasons/{general.id}", **BANTER, verb="", why="No longer", version="1")
    assert defaults("/review") == []
    assert told(wiring)[-1][1:] == ({"verb": "dismiss"}, {"verb": None})
    assert "Default for: Dismiss → No decision" in operator.get(f"/reasons/{general.id}").text
