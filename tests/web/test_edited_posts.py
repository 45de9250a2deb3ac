"""A post that is edited while people judge it: moderators see what was changed, raters are asked about the newest."""

import uuid
from collections.abc import Callable

import pytest
import sqlalchemy as sa

from app.core.history.reason import Reason
from app.core.models import Action, HistoryEntry, Hold, Note, Notice, Panel, Rating
from app.core.panels import opening
from app.core.requests import submitting
from app.core.review import holds
from app.core.vocabulary import ActionState, ActionVerb, HelpfulnessLevel, PanelOutcome
from app.web.item.versions import COMPARED, compared
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visitor

YES, NO = HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL
FIRST = "You are an idiot and everybody here knows it"
SECOND = "You are a <b>liar</b> and a moron, as everybody knows who met you at the quay"

Edits = Callable[..., uuid.UUID]


@pytest.fixture
def edited(wiring: Wiring, jobs: InlineEngine, cast: Cast) -> Edits:
    """Submit a text of the message ``m-1`` and have it scored; return its request's id."""

    def submit(request_id: str, text: str, *, runs: bool = True) -> uuid.UUID:
        with wiring.database.writing() as session:
            submission = submitting.Submission(request_id, "author-1", text, platform_message_id="m-1")
            made = submitting.submit(session, factories.integration(cast), cast.community_id, submission)
            made_id = made.request.id
        if runs:
            jobs.run_all()
        return made_id

    return submit


def item(wiring: Wiring) -> Action:
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Action)).one()


def rated(wiring: Wiring, action_id: uuid.UUID) -> tuple[int, int]:
    """The rationale's version and how many ratings count for it."""
    with wiring.database.reading() as session:
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        return note.version, note.ratings_count


def test_moderators_see_what_was_changed_escaped(moderator: Visitor, wiring: Wiring, edited: Edits) -> None:
    edited("p-1", FIRST)
    page = f"/review/{item(wiring).id}"
    assert "Edited while it waits" not in moderator.get(page).text
    edited("p-2", SECOND)
    text = moderator.get(page).text
    assert "Edited while it waits" in text
    assert "<del>an idiot</del>" in text
    assert "&lt;" in text
    assert "<b>liar" not in text
    assert "The text before" in text
    assert "The post was edited" in text
    assert "About the text that came first." in text
    edited("p-3", FIRST)
    assert "Edited while it waits, 2 times" in moderator.get(page).text


@pytest.mark.both_databases
def test_raters_read_the_newest_text_and_are_asked_again(
    rater: Visitor, cast: Cast, wiring: Wiring, stage: Stage, edited: Edits
) -> None:
    edited("p-1", FIRST)
    action_id = item(wiring).id
    rater.post(f"/review/{action_id}/answer", answer="yes")
    stage.rate(action_id, YES, YES)
    assert rated(wiring, action_id) == (1, 3)
    assert FIRST not in rater.get("/help-needed").text
    edit = edited("p-2", SECOND)
    assert rated(wiring, action_id) == (2, 0), "answers about the earlier text do not count"
    asked = rater.get("/help-needed").text
    assert "as everybody knows who met you" in asked
    assert FIRST not in asked
    page = rater.get(f"/review/{action_id}").text
    assert "You said" not in page
    assert "Edited while it waits" not in page, "which other text there was would influence them"
    assert f'name="edit" value="{edit}"' in page
    late = rater.post(f"/review/{action_id}/answer", HTMX, answer="no")
    assert late.status_code == 409, "they read the text before"
    assert "edited meanwhile" in late.text
    assert rated(wiring, action_id) == (2, 0)
    assert stage.own_rating(action_id, cast.rater) is YES
    rater.post(f"/help-needed/{action_id}", HTMX, answer="no", card=str(action_id), edit=str(edit))
    rater.post(f"/review/{action_id}/answer", HTMX, answer="no", edit=str(edit))
    assert rated(wiring, action_id) == (2, 1)
    assert stage.own_rating(action_id, cast.rater) is NO


@pytest.mark.both_databases
def test_answers_about_both_texts_never_decide_together(
    wiring: Wiring, cast: Cast, stage: Stage, edited: Edits
) -> None:
    edited("p-1", FIRST)
    action_id = item(wiring).id
    factories.rate(wiring, cast, action_id, "HHHH")
    edited("p-2", SECOND)
    factories.rate(wiring, cast, action_id, "H", first=4)
    assert item(wiring).action_state is ActionState.UNDER_REVIEW
    factories.rate(wiring, cast, action_id, "HHHH", first=5)
    assert item(wiring).action_state is ActionState.PROPOSED
    with wiring.database.reading() as session:
        versions = sorted(session.scalars(sa.select(Rating.note_version)))
    assert versions == [1] * 4 + [2] * 5, "earlier answers stay as they were given"


def test_the_queue_shows_the_newest_text(moderator: Visitor, wiring: Wiring, edited: Edits) -> None:
    edited("p-1", FIRST)
    edited("p-2", SECOND)
    text = moderator.get("/review").text
    assert "as everybody knows who met you" in text
    assert FIRST not in text


@pytest.mark.both_databases
def test_a_decision_about_the_earlier_text_that_can_still_be_undone_lapses(
    moderator: Visitor, wiring: Wiring, cast: Cast, edited: Edits
) -> None:
    edited("p-1", FIRST)
    with wiring.database.writing() as session:
        action = session.scalars(sa.select(Action)).one()
        actor = factories.moderator(cast)
        holds.hold(
            session, actor, ActionVerb.FORCE_PUBLISH, action=action, reason=Reason("Insult"), seconds=60
        )
    edited("p-2", SECOND)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Hold)).all() == []
        assert "hold.lapsed" in set(session.scalars(sa.select(HistoryEntry.what)))
        assert session.scalars(sa.select(Notice).where(Notice.account_id == cast.moderator.account_id)).all()
    assert item(wiring).action_state is ActionState.UNDER_REVIEW


def test_a_stale_form_of_a_moderator_is_refused(moderator: Visitor, wiring: Wiring, edited: Edits) -> None:
    edited("p-1", FIRST)
    seen = item(wiring)
    edited("p-2", SECOND)
    reply = moderator.post(
        f"/review/{seen.id}/decide", verb="force_publish", reason="Insult", version=str(seen.version)
    )
    assert reply.status_code == 409
    assert item(wiring).action_state is ActionState.UNDER_REVIEW


@pytest.mark.both_databases
def test_a_panel_is_drawn_again_for_the_newest_text(
    wiring: Wiring, jobs: InlineEngine, edited: Edits
) -> None:
    edited("p-1", FIRST)
    with wiring.database.writing() as session:
        opening.open_panel(session, session.scalars(sa.select(Action)).one(), "in doubt", earlier=None)
    # Scored before the job of panels looks at the first one: there is nobody to draw.
    jobs.run_now("score_request", request_id=str(edited("p-2", SECOND, runs=False)))
    with wiring.database.reading() as session:
        panels = session.scalars(sa.select(Panel).order_by(Panel.opened_at)).all()
    assert panels[0].outcome is PanelOutcome.OVERTAKEN
    assert [panel.ended_at is None for panel in panels] == [False, True]


@pytest.mark.parametrize(
    ("before", "after", "marked"),
    [
        ("one two three", "one two three", "one two three"),
        ("one two three", "one 2 three", "one <del>two</del><ins>2</ins> three"),
        ("one two", "one two three", "one two<ins> three</ins>"),
        ("a cold wet day", "a warm dry day", "a <del>cold wet</del><ins>warm dry</ins> day"),
        ("it rains", "it <i>rains</i>", "it <ins>&lt;i&gt;</ins>rains<ins>&lt;/i&gt;</ins>"),
        ("<script>x", "y", "<del>&lt;script&gt;x</del><ins>y</ins>"),
    ],
)
def test_changed_words_are_marked_and_escaped(before: str, after: str, marked: str) -> None:
    assert compared(before, after) == marked


def test_long_texts_are_compared_only_where_they_differ() -> None:
    long = "word " * (4 * COMPARED)
    assert compared(f"{long}ends", f"{long}begins") is not None
    assert compared(long, "other " * (4 * COMPARED)) is None
