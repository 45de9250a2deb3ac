"""Why this status: for raters only after the decision, for moderators always."""

import pytest

from app.core.vocabulary import HelpfulnessLevel
from app.wiring import Wiring
from tests.web.conftest import HTMX, Stage, Visitor

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Its SQL is tested in ``tests/unit/test_explanations.py``, on both databases."""
H, N = HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL
TITLE = "Why this status"


def test_an_items_raters_see_it_once_it_is_decided(moderator: Visitor, rater: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    path = f"/review/{action_id}"
    rater.post(f"{path}/answer", answer="yes")
    stage.rate(action_id, H, N)
    assert TITLE not in rater.get(path).text, "answered, but not decided"
    assert TITLE in moderator.get(path).text
    stage.rate(action_id, *[N] * 20)
    page = rater.get(path).text
    assert TITLE in page
    assert "All raters: 1 yes, 0 not sure, " in page
    assert "Nothing: a request is decided once." in page


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "part"])
def test_a_notes_raters_see_it_once_they_rated_it_and_it_has_a_status(
    rater: Visitor, wiring: Wiring, stage: Stage, headers: dict[str, str]
) -> None:
    note_id = stage.note(stage.post())
    path = f"/notes/{note_id}"
    prefix = f"note-{note_id}-"
    rating = {f"{prefix}level": "HELPFUL", f"{prefix}good": "clear", f"{prefix}on": "note"}
    stage.rate_note(note_id, *[H] * 4)
    assert TITLE not in rater.get(path).text
    stage.rate_note(note_id, *[H] * 10)
    before = rater.get(path)
    assert TITLE not in before.text, "it has a status, and this reader is still to be asked"
    answer = rater.post(f"{path}/rating", headers, **rating)
    shown = answer if headers else rater.get(path)
    assert TITLE in shown.text
    assert "All raters: 11 helpful, 0 somewhat, 0 not helpful" in shown.text


def test_before_a_status_even_those_who_rated_or_wrote_it_see_nothing(
    moderator: Visitor, rater: Visitor, stage: Stage
) -> None:
    note_id = stage.note(stage.post())
    prefix = f"note-{note_id}-"
    rating = {f"{prefix}level": "NOT_HELPFUL", f"{prefix}bad": "unclear", f"{prefix}on": "note"}
    rater.post(f"/notes/{note_id}/rating", None, **rating)
    page = rater.get(f"/notes/{note_id}").text
    assert TITLE not in page
    assert "1 of 5 ratings" in page
    moderators = moderator.get(f"/notes/{note_id}").text
    assert TITLE in moderators
    assert "4 more ratings: before that no note gets a status." in moderators
