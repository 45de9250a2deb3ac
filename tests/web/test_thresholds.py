"""Thresholds: saved as versions with a reason, stale saves, previews, the way back."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from app.core import policies
from app.core.policies import CategoryDraft
from app.core.vocabulary import Verb
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.web.conftest import SCORE, Stage, Visitor

Visit = Callable[[Person | None], Visitor]


def drafts(wiring: Wiring, cast: Cast) -> dict[str, CategoryDraft]:
    with wiring.database.reading() as session:
        policy = policies.current(session, cast.community_id)
        return {category.name: policies.draft_of(category) for category in policy.categories}


def version(wiring: Wiring, cast: Cast) -> int:
    with wiring.database.reading() as session:
        return policies.current(session, cast.community_id).version


def as_form(wiring: Wiring, cast: Cast, **changed: str) -> dict[str, str]:
    """What the page would send, with ``changed`` typed into it; a dash unticks."""
    sent = {"version": str(version(wiring, cast)), "reason": "Fewer false alarms"}
    for name, draft in drafts(wiring, cast).items():
        sent |= {
            f"{name}_tier2": f"{draft.tier2:g}",
            f"{name}_tier1": "" if draft.tier1 is None else f"{draft.tier1:g}",
            f"{name}_tier2_action": draft.tier2_action.value,
            f"{name}_tier1_action": draft.tier1_action.value,
        } | ({f"{name}_enabled": "y"} if draft.enabled else {})
    sent |= changed
    return {name: value for name, value in sent.items() if value != "-"}


MATRIX = [("rater", 403), ("moderator", 403), ("operator", 200), ("admin", 200), ("outsider", 404)]


@pytest.mark.parametrize(("who", "status"), [*MATRIX, (None, 303)])
def test_only_operators_and_above_see_the_thresholds(
    visit: Visit, cast: Cast, who: str | None, status: int
) -> None:
    visitor = visit(getattr(cast, who) if who else None)
    assert visitor.get("/thresholds?community=harbour-forum").status_code == status


@pytest.mark.parametrize("path", ["/thresholds", "/thresholds/1/revert"])
@pytest.mark.parametrize(("who", "status"), [*MATRIX, (None, 401)])
def test_only_operators_and_above_change_them(
    visit: Visit, cast: Cast, wiring: Wiring, path: str, who: str | None, status: int
) -> None:
    visitor = visit(getattr(cast, who) if who else None)
    answer = visitor.post(f"{path}?community=harbour-forum", **as_form(wiring, cast))
    assert answer.status_code == (303 if status == 200 else status)
    assert version(wiring, cast) == (2 if status == 200 else 1)


def test_saving_makes_a_version_that_says_who_and_why(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    before = drafts(wiring, cast)
    typed = as_form(
        wiring,
        cast,
        spam_tier1="0,9",
        spam_tier1_action="notify",
        toxicity_tier1="0.97",
        hate_enabled="-",
        pii_tier1="",
    )
    assert operator.post("/thresholds", **typed).status_code == 303
    after = drafts(wiring, cast)
    assert (after["spam"].tier1, after["spam"].tier1_action) == (0.9, Verb.NOTIFY)
    assert (after["toxicity"].tier1, after["pii"].tier1, after["hate"].enabled) == (0.97, None, False)
    assert after["threat"] == before["threat"]
    assert after["spam"].severity == before["spam"].severity
    page = operator.get("/thresholds").text
    assert "Version 2 is in force" in page
    assert "Fewer false alarms" in page
    assert "Spam, Tier 1: 0.95 → 0.9" in page


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"spam_tier2": "0.96"}, "Spam, Tier 2 must be at most Tier 1, which is 0.95."),
        ({"spam_tier2": "1.2"}, "Spam, Tier 2: enter a number from 0 to 1"),
        ({"spam_tier2": ""}, "Spam, Tier 2: enter a number from 0 to 1"),
        ({"spam_tier1": "nan"}, "Spam, Tier 1: enter a number from 0 to 1"),
        ({"spam_tier1": "high"}, "Spam, Tier 1: enter a number from 0 to 1"),
        ({"spam_tier1_action": "explode"}, "Not a valid choice"),
        ({"reason": ""}, "Enter a reason."),
        ({"reason": "  "}, "Reason must not be blank."),
    ],
)
def test_what_cannot_be_saved_is_named_beside_its_field_and_kept(
    visit: Visit, cast: Cast, wiring: Wiring, typed: dict[str, str], told: str
) -> None:
    answer = visit(cast.operator).post(
        "/thresholds", **as_form(wiring, cast, **{"toxicity_tier2": "0.61", **typed})
    )
    assert answer.status_code == 422
    assert told in answer.text
    assert "There is a problem" in answer.text
    assert 'value="0.61"' in answer.text
    assert version(wiring, cast) == 1


def test_a_save_based_on_an_older_version_gets_409_and_keeps_what_was_typed(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    mine = as_form(wiring, cast, spam_tier1="0.91", reason="My careful reason")
    visit(cast.admin).post("/thresholds", **as_form(wiring, cast, spam_tier1="0.99"))
    operator = visit(cast.operator)
    answer = operator.post("/thresholds", **mine)
    assert answer.status_code == 409
    assert "Admin saved version 2 in the meantime" in answer.text
    assert "My careful reason" in answer.text
    assert 'value="0.91"' in answer.text
    assert drafts(wiring, cast)["spam"].tier1 == 0.99
    based_on = re.search(r'name="version"[^>]* value="(\d+)"', answer.text)
    assert based_on
    assert operator.post("/thresholds", **(mine | {"version": based_on.group(1)})).status_code == 303
    assert drafts(wiring, cast)["spam"].tier1 == 0.91


def test_revert_restores_an_old_version_as_a_new_one(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    before = drafts(wiring, cast)
    operator.post("/thresholds", **as_form(wiring, cast, spam_tier1="0.7"))
    assert (
        operator.post("/thresholds/1/revert", **as_form(wiring, cast, reason="Too eager")).status_code == 303
    )
    assert drafts(wiring, cast) == before
    assert version(wiring, cast) == 3
    assert "Too eager" in operator.get("/thresholds").text


def test_revert_needs_a_reason_and_a_version_that_exists(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    operator = visit(cast.operator)
    assert operator.post("/thresholds/1/revert", **as_form(wiring, cast, reason="")).status_code == 422
    assert operator.post("/thresholds/99/revert", **as_form(wiring, cast)).status_code == 404
    assert version(wiring, cast) == 1


def test_a_revert_from_a_stale_page_gets_409(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    stale = as_form(wiring, cast)
    visit(cast.admin).post("/thresholds", **as_form(wiring, cast, spam_tier1="0.99"))
    assert visit(cast.operator).post("/thresholds/1/revert", **stale).status_code == 409
    assert version(wiring, cast) == 2


def test_the_preview_counts_stored_scores_before_and_after_and_changes_nothing(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    for _ in range(3):
        stage.post(category="spam")
    stage.post(category="spam", away=True)
    assert 0.55 < SCORE < 0.95
    typed = as_form(wiring, cast, spam_tier2="0.9", reason="")
    page = visit(cast.operator).post("/thresholds", preview="1", **typed).text
    assert cells(page, "Spam") == ["0", "0", "3", "0 (-3)"]
    assert version(wiring, cast) == 1
    assert 'value="0.9"' in page


def test_a_preview_of_impossible_values_names_them(visit: Visit, cast: Cast, wiring: Wiring) -> None:
    answer = visit(cast.operator).post(
        "/thresholds", preview="1", **as_form(wiring, cast, spam_tier2="0.99", reason="")
    )
    assert answer.status_code == 422
    assert "must be at most Tier 1" in answer.text
    assert "Enter a reason." not in answer.text


def cells(page: str, category: str) -> list[str]:
    row: Any = re.search(rf'<tr><th scope="row">{category}</th>(.*?)</tr>', page, re.S)
    assert row, "the preview has a row for the category"
    return [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row.group(1), re.S)]
