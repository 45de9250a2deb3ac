"""Notes: written, previewed, rated, edited (docs/develop/design-system.md)."""

import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import limits
from app.core.models import Action, Note, Rating
from app.core.vocabulary import Classification, HelpfulnessLevel, NoteStatus
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.web.conftest import HTMX, Stage, Visit, Visitor

HELPFUL = HelpfulnessLevel.HELPFUL
NOTE: dict[str, Any] = {
    "classification": Classification.MISLEADING.value,
    "why_misleading": ["factual_error", "unverified"],
    "summary": "The minutes say otherwise.",
    "sources": "https://example.org/minutes\r\n\r\nhttps://example.org/minutes\r\nhttps://example.org/b",
}
FINE: dict[str, Any] = {
    "classification": Classification.NOT_MISLEADING.value,
    "why_not_misleading": ["correct"],
    "summary": "It is right.",
}


def _people_notes(wiring: Wiring) -> list[Note]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(Note).where(Note.rationale.is_(False))))


def _rating_fields(note_id: uuid.UUID, **fields: Any) -> dict[str, Any]:
    return {f"note-{note_id}-{name}": value for name, value in fields.items()}


def _rating(wiring: Wiring, note_id: uuid.UUID, person: Person) -> Rating | None:
    with wiring.database.reading() as session:
        return session.scalars(
            sa.select(Rating).where(Rating.note_id == note_id, Rating.rater_id == person.profile_id)
        ).first()


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["form", "htmx"])
def test_a_note_is_kept_with_reasons_and_sources(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring, headers: dict[str, str]
) -> None:
    action_id = stage.post(category="misinformation")
    reply = rater.post(f"/review/{action_id}/notes", headers, **NOTE)
    (note,) = _people_notes(wiring)
    assert note.summary == "The minutes say otherwise."
    assert note.classification is Classification.MISLEADING
    assert note.reasons == ["factual_error", "unverified"]
    assert note.sources == ["https://example.org/minutes", "https://example.org/b"]
    assert note.author_id == cast.rater.profile_id
    if headers:
        assert "The minutes say otherwise." in reply.text
        assert "<html" not in reply.text
    else:
        assert reply.location == f"/review/{action_id}#note-{note.id}"


def test_a_note_that_defends_a_post_needs_no_source(rater: Visitor, stage: Stage, wiring: Wiring) -> None:
    action_id = stage.post(category="misinformation")
    assert rater.post(f"/review/{action_id}/notes", **FINE).status_code == 303
    (note,) = _people_notes(wiring)
    assert (note.reasons, note.sources) == (["correct"], [])


@pytest.mark.parametrize(
    ("category", "asks"), [("misinformation", True), ("toxicity", False), ("spam", False)]
)
def test_only_misinformation_is_asked_whether_it_misleads(
    rater: Visitor, stage: Stage, wiring: Wiring, category: str, asks: bool
) -> None:
    action_id = stage.post(category=category)
    page = rater.get(f"/review/{action_id}").text
    assert ("This post is" in page) is asks
    assert ("Your note" in page) is asks
    assert ("What should readers know?" in page) is not asks
    reply = rater.post(f"/review/{action_id}/notes", summary="He apologised the same evening.")
    assert reply.status_code == (422 if asks else 303)
    if asks:
        return
    (note,) = _people_notes(wiring)
    assert (note.classification, note.reasons) == (Classification.NOT_MISLEADING, [])
    for path in (f"/review/{action_id}", f"/notes/{note.id}"):
        assert "isleading" not in rater.get(path).text, "nobody asked"
    edited = rater.post(f"/notes/{note.id}/edit", summary="He apologised.", sources="https://example.org/a")
    assert edited.status_code == 303
    (note,) = _people_notes(wiring)
    assert (note.summary, note.sources) == ("He apologised.", ["https://example.org/a"])


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"classification": ""}, "Say whether the post is misleading."),
    ({"classification": "NONSENSE"}, "Not a valid choice"),
    ({"why_misleading": []}, "Choose at least one reason why it is misleading."),
    ({"why_misleading": ["nonsense"]}, "not a valid choice"),
    ({"summary": ""}, "Write the note."),
    ({"summary": "   \n "}, "Write the note."),
    ({"summary": "x" * (limits.FORM_SUMMARY_MAX + 1)}, "at most 1,000 characters; it has 1,001"),
    ({"summary": "a NUL \x00 inside"}, "must not contain NUL"),
    ({"sources": ""}, "Give at least one source"),
    ({"sources": "http://example.org/"}, "begins with https://"),
    ({"sources": "javascript:alert(1)"}, "begins with https://"),
    ({"sources": "https://user@example.org/"}, "begins with https://"),
    ({"sources": "https://example.org/" + "x" * limits.SOURCE_MAX}, "at most 2,048 characters"),
    ({"sources": "\n".join(f"https://example.org/{n}" for n in range(11))}, "at most 10 sources"),
]


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "part"])
def test_what_is_wrong_with_a_note_is_named_and_the_text_kept(
    rater: Visitor, stage: Stage, wiring: Wiring, headers: dict[str, str]
) -> None:
    action_id = stage.post(category="misinformation")
    for change, complaint in MISTAKES:
        fields = NOTE | change
        reply = rater.post(f"/review/{action_id}/notes", headers, **fields)
        assert reply.status_code == 422, complaint
        assert complaint in reply.text
        if fields["summary"].strip() and "\x00" not in fields["summary"]:
            assert fields["summary"] in reply.text, complaint
    assert _people_notes(wiring) == []


def test_a_note_may_be_as_long_as_the_limit_counted_with_plain_line_ends(
    rater: Visitor, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post()
    text = "x\r\n" * (limits.FORM_SUMMARY_MAX // 2)
    assert rater.post(f"/review/{action_id}/notes", **NOTE | {"summary": text}).status_code == 303
    (note,) = _people_notes(wiring)
    assert note.summary == text.replace("\r\n", "\n")


def test_a_preview_shows_the_note_and_keeps_nothing(
    visit: Visit, cast: Cast, stage: Stage, wiring: Wiring
) -> None:
    action_id = stage.post()
    for headers in ({}, HTMX):
        reply = visit(cast.rater).post(f"/review/{action_id}/notes", headers, preview="1", **NOTE)
        assert reply.status_code == 200
        assert "This is not saved yet." in reply.text
        assert reply.text.count("The minutes say otherwise.") == 2, "in the preview and in the form"
    assert _people_notes(wiring) == []


def test_a_second_note_is_refused_and_its_text_kept(rater: Visitor, stage: Stage, wiring: Wiring) -> None:
    action_id = stage.post()
    rater.post(f"/review/{action_id}/notes", **NOTE)
    reply = rater.post(f"/review/{action_id}/notes", HTMX, **NOTE | {"summary": "A second thought."})
    assert reply.status_code == 409
    assert "A second thought." in reply.text
    assert len(_people_notes(wiring)) == 1


def test_markup_in_a_note_is_shown_as_text(rater: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    attack = "<script>alert(1)</script>"
    note_id = stage.note(action_id, text=attack)
    for path in (f"/review/{action_id}", f"/notes/{note_id}"):
        assert attack not in rater.get(path).text
        assert "&lt;script&gt;alert(1)" in rater.get(path).text


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["form", "htmx"])
def test_a_note_is_rated_with_reasons(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring, headers: dict[str, str]
) -> None:
    note_id = stage.note(stage.post())
    fields = _rating_fields(note_id, level="HELPFUL", good=["clear"], bad=["misses_point"], on="note")
    reply = rater.post(f"/notes/{note_id}/rating", headers, **fields)
    assert reply.status_code == (200 if headers else 303)
    rating = _rating(wiring, note_id, cast.rater)
    assert rating is not None
    assert rating.helpfulness_level is HELPFUL
    assert rating.reasons == ["clear"], "those of the other side are hidden once a level is chosen"


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["form", "htmx"])
@pytest.mark.parametrize("on", ["item", "note"])
def test_a_rating_is_taken_back_where_it_was_given(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring, headers: dict[str, str], on: str
) -> None:
    action_id = stage.post()
    note_id = stage.note(action_id)
    path = f"/review/{action_id}" if on == "item" else f"/notes/{note_id}"
    assert "rating/undo" not in rater.get(path).text
    rater.post(f"/notes/{note_id}/rating", **_rating_fields(note_id, level="HELPFUL", good=["clear"]))
    assert f"/notes/{note_id}/rating/undo" in rater.get(path).text
    undone = rater.post(f"/notes/{note_id}/rating/undo", headers, **_rating_fields(note_id, on=on))
    assert _rating(wiring, note_id, cast.rater) is None
    assert [one.ratings_count for one in _people_notes(wiring)] == [0]
    if headers:
        page = undone.text
    else:
        assert undone.location.partition("#")[0] == path
        page = rater.get(path).text
    assert "Undone. Your rating is taken back." in page
    assert "Rate this note" in page
    assert "You rated it" not in page
    again = rater.post(f"/notes/{note_id}/rating/undo", headers, **_rating_fields(note_id, on=on))
    assert again.status_code == (200 if headers else 303), "a second press changes nothing"


@pytest.mark.parametrize(
    ("closed", "why"),
    [
        ({"locked": True}, "A moderator decided about this note"),
        ({"status": NoteStatus.CURRENTLY_RATED_NOT_HELPFUL}, "The note has its status now"),
    ],
)
def test_a_rating_stays_once_its_outcome_can_be_seen(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring, closed: dict[str, Any], why: str
) -> None:
    note_id = stage.note(stage.post())
    rater.post(f"/notes/{note_id}/rating", **_rating_fields(note_id, level="HELPFUL", good=["clear"]))
    with wiring.database.writing() as session:
        session.execute(sa.update(Note).where(Note.id == note_id).values(closed))
    refused = rater.post(f"/notes/{note_id}/rating/undo", HTMX, **_rating_fields(note_id, on="note"))
    assert refused.status_code == 409
    assert why in refused.text
    assert _rating(wiring, note_id, cast.rater) is not None
    page = rater.get(f"/notes/{note_id}").text
    assert "rating/undo" not in page
    assert why in page
    in_run = rater.post(f"/help-needed/notes/{note_id}/undo", HTMX)
    assert in_run.status_code == 409
    assert in_run.text.count(why) == 2, "the refusal, and the line of the card"
    assert _rating(wiring, note_id, cast.rater) is not None
    line = rater.get(f"/help-needed?done={note_id}").text
    assert "/undo" not in line
    assert why in line


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"good": ["clear"]}, "Say whether the note is helpful."),
        ({"level": "SOMEWHAT_HELPFUL"}, "Choose at least one reason"),
        ({"level": "GREAT", "good": ["clear"]}, "Not a valid choice"),
    ],
)
def test_a_rating_needs_a_level_and_a_reason(
    visit: Visit, cast: Cast, stage: Stage, wiring: Wiring, fields: dict[str, Any], complaint: str
) -> None:
    note_id = stage.note(stage.post())
    for on in ("item", "note"):
        for headers in ({}, HTMX):
            sent = _rating_fields(note_id, on=on, **fields)
            reply = visit(cast.rater).post(f"/notes/{note_id}/rating", headers, **sent)
            assert reply.status_code == 422
            assert complaint in reply.text
    assert _rating(wiring, note_id, cast.rater) is None


def test_ones_own_note_cannot_be_rated(rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring) -> None:
    action_id = stage.post()
    rater.post(f"/review/{action_id}/notes", **NOTE)
    (note,) = _people_notes(wiring)
    assert "Submit rating" not in rater.get(f"/notes/{note.id}").text
    fields = _rating_fields(note.id, level="HELPFUL", good=["clear"])
    assert rater.post(f"/notes/{note.id}/rating", **fields).status_code == 403
    assert _rating(wiring, note.id, cast.rater) is None


def test_a_notes_status_waits_for_ones_own_rating(rater: Visitor, stage: Stage) -> None:
    action_id = stage.post()
    note_id = stage.note(action_id)
    stage.rate_note(note_id, *[HELPFUL] * 5)
    for path in (f"/notes/{note_id}", f"/review/{action_id}"):
        assert "Currently rated helpful" not in rater.get(path).text
    rater.post(f"/notes/{note_id}/rating", **_rating_fields(note_id, level="HELPFUL", good=["clear"]))
    text = rater.get(f"/notes/{note_id}").text
    assert "Currently rated helpful" in text
    assert "Enough people found it helpful" in text


def test_its_author_edits_a_note(rater: Visitor, stage: Stage, wiring: Wiring) -> None:
    action_id = stage.post(category="misinformation")
    rater.post(f"/review/{action_id}/notes", **NOTE)
    (note,) = _people_notes(wiring)
    stage.rate_note(note.id, HELPFUL)
    page = rater.get(f"/notes/{note.id}/edit").text
    assert "their ratings stop counting" in page
    assert "https://example.org/minutes" in page
    refused = rater.post(f"/notes/{note.id}/edit", **NOTE | {"summary": "Clearer.", "sources": ""})
    assert refused.status_code == 422
    assert "Give at least one source" in refused.text
    assert "Clearer." in refused.text
    changes = {"summary": "Clearer.", "why_misleading": ["outdated"], "sources": "https://example.org/c"}
    assert rater.post(f"/notes/{note.id}/edit", **NOTE | changes).location == f"/notes/{note.id}"
    (changed,) = _people_notes(wiring)
    assert (changed.summary, changed.version, changed.ratings_count) == ("Clearer.", 2, 0)
    assert (changed.reasons, changed.sources) == (["outdated"], ["https://example.org/c"])


def test_other_sources_alone_make_a_note_another_one(rater: Visitor, stage: Stage, wiring: Wiring) -> None:
    rater.post(f"/review/{stage.post()}/notes", **NOTE)
    (note,) = _people_notes(wiring)
    stage.rate_note(note.id, HELPFUL)
    rater.post(f"/notes/{note.id}/edit", **NOTE | {"why_misleading": ["satire"]})
    assert [one.version for one in _people_notes(wiring)] == [1]
    rater.post(f"/notes/{note.id}/edit", **NOTE | {"sources": "https://example.org/elsewhere"})
    assert [(one.version, one.ratings_count) for one in _people_notes(wiring)] == [(2, 0)]


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["form", "htmx"])
def test_what_comes_after_a_moderators_word_is_told_so_and_nothing_typed_is_lost(
    rater: Visitor, cast: Cast, stage: Stage, wiring: Wiring, headers: dict[str, str]
) -> None:
    action_id = stage.post()
    other_id = stage.note(action_id)
    rater.post(f"/review/{action_id}/notes", **NOTE)
    with wiring.database.writing() as session:
        notes = session.scalars(sa.select(Note).where(Note.rationale.is_(False))).all()
        for note in notes:
            note.locked = True
        own_id = next(note.id for note in notes if note.author_id == cast.rater.profile_id)
    edited = rater.post(f"/notes/{own_id}/edit", headers, **NOTE | {"summary": "Typed meanwhile."})
    assert edited.status_code == 409
    assert "Typed meanwhile." in edited.text
    fields = _rating_fields(other_id, level="HELPFUL", good=["clear"], on="note")
    rated = rater.post(f"/notes/{other_id}/rating", headers, **fields)
    assert rated.status_code == (409 if headers else 303)
    told = rated.text if headers else rater.get(rated.location).text
    assert "Your rating was not needed any more" in told
    assert _rating(wiring, other_id, cast.rater) is None


def test_nobody_else_edits_it(visit: Visit, cast: Cast, stage: Stage, wiring: Wiring) -> None:
    note_id = stage.note(stage.post())
    for person in (cast.rater, cast.admin):
        visitor = visit(person)
        assert visitor.get(f"/notes/{note_id}/edit").status_code == 403
        fields = {"summary": "Mine now.", "classification": Classification.MISLEADING.value}
        assert visitor.post(f"/notes/{note_id}/edit", **fields).status_code == 403
    (note,) = _people_notes(wiring)
    assert note.summary == "A member explains."


def test_the_rationale_is_shown_with_its_post(rater: Visitor, stage: Stage, wiring: Wiring) -> None:
    action_id = stage.post()
    with wiring.database.reading() as session:
        note_id = session.get_one(Action, action_id).note_id
    assert note_id is not None
    assert rater.get(f"/notes/{note_id}").location == f"/review/{action_id}"
    assert rater.get(f"/notes/{note_id}/edit").status_code == 403
    fields = _rating_fields(note_id, level="HELPFUL", good=["clear"])
    assert rater.post(f"/notes/{note_id}/rating", **fields).status_code == 404
