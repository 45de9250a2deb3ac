"""Drafts that moderators ask for: seen by them alone, submitted as their own note with AI help, or discarded."""

import re
import uuid

import pytest
import sqlalchemy as sa

from app.core.errors import UpstreamTimeout
from app.core.factcheck import items
from app.core.factcheck.items import Item
from app.core.models import Action, AiDraft, Community, HistoryEntry, Note, NoteDraft
from app.core.notes.ai_notes import Draft, Post
from app.core.thresholds.routing import MISINFORMATION
from app.core.vocabulary import Classification
from app.web.item import note_forms
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import HTMX, Stage, Visit, Visitor

CLAIM = "Drinking seawater every morning cures diabetes within two weeks"
URL = "https://checks.example.org/seawater"


@pytest.fixture
def action_id(wiring: Wiring, stage: Stage) -> uuid.UUID:
    with wiring.database.writing() as session:
        items.keep(session, [Item("example", "sea-1", CLAIM, "False", URL, "Example Checks")])
    return stage.post(f"My aunt says: {CLAIM}", category="misinformation")


def drafts(wiring: Wiring) -> int:
    with wiring.database.reading() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(NoteDraft)) or 0


def test_a_draft_becomes_the_moderators_own_note_which_says_that_ai_helped(
    visit: Visit, moderator: Visitor, rater: Visitor, cast: Cast, wiring: Wiring, action_id: uuid.UUID
) -> None:
    path = f"/review/{action_id}"
    assert "Draft a note" in moderator.get(path).text
    assert "Draft a note" not in rater.get(path).text
    assert moderator.post(f"{path}/draft").status_code == 303
    page = moderator.get(path).text
    assert f"Example Checks rated a closely matching claim “{CLAIM}” False." in page
    assert "A draft by extractive-1, which only you see." in page
    assert re.search(r'<input checked [^>]*value="factual_error"', page), "what a fact-check found is ticked"
    for other in (rater, visit(cast.admin)):
        assert "closely matching claim" not in other.get(path).text
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Note).where(Note.rationale.is_(False))).all() == []
        draft_id = str(session.scalars(sa.select(NoteDraft.id)).one())

    typed = {
        "draft": draft_id,
        "classification": "MISINFORMED_OR_POTENTIALLY_MISLEADING",
        "why_misleading": "factual_error",
        "summary": "Seawater cures nothing; I checked it.",
        "sources": URL,
    }
    assert moderator.post(f"{path}/notes", **typed | {"summary": ""}).status_code == 422
    assert drafts(wiring) == 1, "a refused form keeps the draft"
    assert moderator.post(f"{path}/notes", **typed).status_code == 303
    assert drafts(wiring) == 0
    with wiring.database.reading() as session:
        note = session.scalars(sa.select(Note).where(Note.rationale.is_(False))).one()
        assert (note.ai_generated, note.ai_provider, note.ai_model) == (False, "builtin", "extractive-1")
        assert note.author_id == cast.moderator.profile_id
        assert session.get_one(AiDraft, note.id).prompt_version == "none"
        assert session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "note.ai_helped")).one()
    for page in (rater.get(path).text, rater.get(f"/notes/{note.id}").text):
        assert "Written with AI help: extractive-1" in page
    rated = {f"note-{note.id}-level": "HELPFUL", f"note-{note.id}-good": "clear"}
    assert moderator.post(f"/notes/{note.id}/rating", **rated).status_code == 403, "not by its writer"
    assert rater.post(f"/notes/{note.id}/rating", **rated).status_code == 303


def test_a_draft_is_discarded_and_a_note_without_one_has_no_ai_in_it(
    moderator: Visitor, wiring: Wiring, action_id: uuid.UUID
) -> None:
    path = f"/review/{action_id}"
    part = moderator.post(f"{path}/draft", HTMX)
    assert "Discard draft" in part.text
    assert moderator.post(f"{path}/draft").status_code == 303
    assert drafts(wiring) == 1, "a new draft takes the place of the old one"
    part = moderator.post(f"{path}/draft/discard", HTMX)
    assert "Draft a note" in part.text
    assert drafts(wiring) == 0
    typed = {"classification": "NOT_MISLEADING", "why_not_misleading": "opinion", "summary": "An opinion."}
    assert moderator.post(f"{path}/notes", draft=str(uuid.uuid4()), **typed).status_code == 303
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Note.ai_model).where(Note.rationale.is_(False))).one() is None
    assert "Draft a note" not in moderator.get(path).text, "one has written one's note already"


def test_a_provider_that_fails_says_so_and_switched_off_there_is_no_button(
    moderator: Visitor, wiring: Wiring, action_id: uuid.UUID
) -> None:
    class Failing:
        def write(self, post: Post, item: Item | None) -> Draft:
            raise UpstreamTimeout("AI provider did not answer in time")

    wiring.note_writer = Failing()
    path = f"/review/{action_id}"
    failed = moderator.post(f"{path}/draft", HTMX)
    assert failed.status_code == 409
    assert "No draft: AI provider did not answer in time." in failed.text
    with wiring.database.writing() as session:
        session.execute(sa.update(Community).values(ai_notes_enabled=False))
    assert "Draft a note" not in moderator.get(path).text
    assert moderator.post(f"{path}/draft").status_code == 403


def test_the_form_has_a_drafts_words_without_any_part_of_its_addresses() -> None:
    first, longer = "https://health.example/salt", "https://health.example/salt-and-more"
    draft = NoteDraft(
        id=uuid.uuid4(),
        summary=f"Salt {first} and water {longer} cure nothing. {longer}",
        classification=Classification.MISLEADING,
        sources=[first, longer],
    )
    form = note_forms.filled_from_draft(draft, Action(category=MISINFORMATION))
    assert form.summary.data == "Salt and water cure nothing."
    assert form.source_list == [first, longer]
