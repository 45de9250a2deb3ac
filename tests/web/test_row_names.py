"""Lists as they are heard: no two boxes, buttons or links of a page have the same name and lead elsewhere."""

import re
import uuid
from collections import Counter
from html import unescape

import pytest

from app.core.history.reason import Reason
from app.core.models import Action
from app.core.permissions import SYSTEM
from app.core.requests import submitting
from app.core.review import verbs
from app.core.vocabulary import ActionState
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.web.conftest import HTMX, FixedClassifier, Stage, Visitor

ALIKE = "You are such an idiot, and everybody here has known it for years"


def labels(page: str, verb: str) -> list[str]:
    return [unescape(one) for one in re.findall(rf'aria-label="({verb}: [^"]+)"', page)]


def links(page: str) -> list[str]:
    """The names of the links that open a row."""
    found = re.findall(r"<a ([^>]*data-row-link[^>]*)>(.*?)</a>", page, re.DOTALL)
    named = [re.search(r'aria-label="([^"]*)"', attributes) for attributes, _ in found]
    inner = [re.sub(r"<[^>]+>", "", words) for _, words in found]
    return [unescape(name[1] if name else words) for name, words in zip(named, inner, strict=True)]


def repeated(names: list[str]) -> list[str]:
    return [name for name, count in Counter(name.casefold() for name in names).items() if count > 1]


@pytest.fixture
def alike(wiring: Wiring, stage: Stage) -> list[uuid.UUID]:
    """Four posts that begin alike: two of one author, one of another, one that is also of another category."""
    found = []
    for number, author in enumerate(("kim", "kim", "lee", "lee")):
        stage.made += 1
        category = "misinformation" if number == 3 else "toxicity"
        wiring.classifiers = [FixedClassifier(category=category)]
        submission = submitting.Submission(
            f"alike-{number}", "poster", f"{ALIKE} ({number})", platform_author_id=author
        )
        with wiring.database.writing() as session:
            submitting.submit(session, SYSTEM, stage.cast.community_id, submission)
        stage.jobs.run_all()
    with wiring.database.reading() as session:
        for action in session.query(Action).filter(Action.community_id == stage.cast.community_id):
            found.append(action.id)
    return found


@pytest.mark.usefixtures("alike")
def test_rows_of_the_queue_that_begin_alike_have_names_of_their_own(moderator: Visitor, stage: Stage) -> None:
    stage.post("Something else entirely")
    page = moderator.get("/review").text
    for verb in ("Select", "Claim"):
        names = labels(page, verb)
        assert len(names) == 5
        assert repeated(names) == []
        assert f"{verb}: Something else entirely" in names, "what is alone stays short"
        assert sum("by kim" in name for name in names) == 2
    assert repeated(links(page)) == []


def test_a_row_that_is_swapped_alone_keeps_a_name_of_its_own(
    moderator: Visitor, alike: list[uuid.UUID]
) -> None:
    rows = [moderator.post(f"/review/{action_id}/claim?at=queue", _headers=HTMX).text for action_id in alike]
    names = [name for row in rows for name in labels(row, "Release")]
    assert len(names) == 4
    assert repeated(names) == []


def test_veiled_rows_are_told_apart_without_their_words(moderator: Visitor, stage: Stage) -> None:
    for _ in range(3):
        stage.post(ALIKE, category="threat")
    page = moderator.get("/review").text
    names = labels(page, "Select")
    assert len(names) == 3
    assert repeated(names) == []
    assert ALIKE[:20] not in page


def test_rows_of_the_history_and_second_looks_have_names_of_their_own(
    moderator: Visitor, cast: Cast, wiring: Wiring, alike: list[uuid.UUID]
) -> None:
    for action_id in alike:
        for state in (ActionState.PROPOSED, ActionState.APPLIED, ActionState.RETRO_REVIEW):
            with wiring.database.writing() as session:
                action = session.get_one(Action, action_id)
                verbs.change_action(
                    session, factories.integration(cast), action, state, reason=Reason("Again")
                )
    history = moderator.get("/history").text
    assert len(links(history)) == 16
    assert repeated(links(history)) == []
    assert len(labels(history, "Overturn")) == 4
    assert repeated(labels(history, "Overturn")) == []
    looks = links(moderator.get("/second-look").text)
    assert len(looks) == 4
    assert repeated(looks) == []
