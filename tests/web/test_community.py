"""The community's page: saved with a reason, told in the history, stale saves, who may."""

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from app.core import communities
from app.core.communities import REVISED, Draft
from app.core.models import Community, HistoryEntry, HistoryText
from app.core.permissions import SYSTEM
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.web.conftest import Visitor

Visit = Callable[[Person | None], Visitor]
URL = "/community?community=harbour-forum"


def as_form(wiring: Wiring, cast: Cast, **changed: str) -> dict[str, str]:
    """What the page would send, with ``changed`` typed into it; a dash unticks."""
    draft = in_force(wiring, cast)
    sent = {
        "name": draft.name,
        "description": draft.description or "",
        "policy_text": draft.policy_text or "",
        "version": draft.edition,
        "reason": "Agreed in the spring meeting",
    } | ({"ai_notes_enabled": "y"} if draft.ai_notes_enabled else {})
    return {name: value for name, value in (sent | changed).items() if value != "-"}


def in_force(wiring: Wiring, cast: Cast) -> Draft:
    with wiring.database.reading() as session:
        return communities.draft_of(session.get_one(Community, cast.community_id))


def told(wiring: Wiring) -> list[tuple[HistoryEntry, HistoryText]]:
    with wiring.database.reading() as session:
        rows = session.execute(
            sa.select(HistoryEntry, HistoryText).join(HistoryText).where(HistoryEntry.what == REVISED)
        )
        return [(entry, text) for entry, text in rows]


MATRIX = [("rater", 403), ("moderator", 403), ("operator", 200), ("admin", 200), ("outsider", 404)]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("who", "status"), [*MATRIX, (None, 303)])
def test_only_operators_and_above_see_and_save_it(
    visit: Visit, cast: Cast, wiring: Wiring, who: str | None, status: int
) -> None:
    visitor = visit(getattr(cast, who) if who else None)
    assert visitor.get(URL).status_code == status
    saved = visitor.post(URL, **as_form(wiring, cast, name="Taken over"))
    assert saved.status_code == {200: 303, 303: 401}.get(status, status)
    assert (in_force(wiring, cast).name == "Taken over") is (status == 200)
    if status != 404 and who:
        assert (">Community<" in visitor.get("/settings").text) is (status == 200), (
            "the navigation says so too"
        )


def test_what_is_saved_holds_and_the_history_keeps_before_after_and_why(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    operator = visit(cast.operator)
    typed = as_form(wiring, cast, policy_text="Be kind.\r\nCite sources.", ai_notes_enabled="-")
    assert operator.post("/community", **typed).status_code == 303
    assert in_force(wiring, cast) == Draft("Harbour forum", None, "Be kind.\nCite sources.", False)
    ((entry, text),) = told(wiring)
    assert entry.before == {"policy_text": None, "ai_notes_enabled": True}
    assert entry.after == {"policy_text": "Be kind.\nCite sources.", "ai_notes_enabled": False}
    assert (entry.account_id, text.reason) == (cast.operator.account_id, "Agreed in the spring meeting")
    page = operator.get("/community").text
    assert "AI notes: on → off" in page
    assert "Policy text: empty → Be kind. Cite sources." in page
    assert operator.post("/community", **as_form(wiring, cast)).status_code == 303
    assert len(told(wiring)) == 1, "nothing was changed, so nothing is told"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": ""}, "Enter a name."),
        ({"name": "   "}, "Name must not be blank."),
        ({"name": "x" * 256}, "Name must be at most 255 characters; it has 256."),
        ({"description": "x" * 5_001}, "Description must be at most 5,000 characters; it has 5,001."),
        ({"policy_text": "x" * 20_001}, "Policy text must be at most 20,000 characters; it has 20,001."),
        ({"policy_text": "a\x00b"}, "Policy text must not contain NUL characters."),
        ({"reason": ""}, "Enter a reason."),
        ({"reason": " "}, "Reason must not be blank."),
    ],
)
def test_what_cannot_be_kept_is_said_beside_its_field_and_the_rest_stays(
    visit: Visit, cast: Cast, wiring: Wiring, changed: dict[str, str], said: str
) -> None:
    typed = as_form(wiring, cast, **{"description": "Kept while typing"} | changed)
    answer = visit(cast.operator).post("/community", **typed)
    assert answer.status_code == 422
    assert said in answer.text
    assert "Kept while typing" in answer.text or "description" in changed
    assert told(wiring) == []


def test_a_save_from_an_older_page_is_409_and_saving_again_is_a_decision(
    visit: Visit, cast: Cast, wiring: Wiring
) -> None:
    stale = as_form(wiring, cast, name="My name")
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        communities.rename(session, SYSTEM, community, "The platform's name", {"members": 3})
    operator = visit(cast.operator)
    answer = operator.post("/community", **stale)
    assert answer.status_code == 409
    assert 'value="My name"' in answer.text
    assert in_force(wiring, cast).name == "The platform's name"
    again = stale | {"version": in_force(wiring, cast).edition}
    assert again["version"] in answer.text
    assert operator.post("/community", **again).status_code == 303
    assert in_force(wiring, cast).name == "My name"
