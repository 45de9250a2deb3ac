"""My impact: the numbers, the rows behind each, and answers that can be changed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import actions
from app.core.history.reason import NO_REASON, Reason
from app.core.models import Action, Note, Profile, Rating
from app.core.notes import notes, verdicts
from app.core.people import profiles
from app.core.permissions import SYSTEM
from app.core.vocabulary import Classification, HelpfulnessLevel, ReviewGroup
from app.wiring import Wiring
from tests import factories
from tests.cast import PLATFORM, Cast
from tests.web.conftest import Stage, Visitor

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Its SQL is tested in ``tests/unit/test_impact.py``, on both databases."""
H, N = HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL
EMPTY = "Impact appears after a first note gets a status."


def test_it_begins_empty_and_tells_only_what_is_decided(rater: Visitor, stage: Stage) -> None:
    assert EMPTY in rater.get("/me").text
    action_id = stage.post("Somebody wrote this")
    rater.post(f"/review/{action_id}/answer", answer="no")
    stage.rate(action_id, H, H, H)
    page = rater.get("/me").text
    assert EMPTY in page
    assert "No status yet" in page
    assert "Somebody wrote this" in page
    assert f'href="/review/{action_id}" aria-label="Change answer' in page
    stage.rate(action_id, *[H] * 30)
    page = rater.get("/me").text
    assert EMPTY not in page
    assert "Opposite view" in page
    assert "\u22121" in page
    assert "Somebody wrote this" in rater.get("/me?show=mismatched").text
    assert "Somebody wrote this" not in rater.get("/me?show=matched").text


def test_an_answer_can_be_changed_until_the_note_locks(
    rater: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    rater.post(f"/review/{action_id}/answer", answer="yes")
    assert "Change answer" in rater.get("/me").text
    with wiring.database.writing() as session:
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        verdicts.force_publish(session, factories.integration(cast), note, reason=Reason("Known"))
    page = rater.get("/me").text
    assert "Same view as others" in page
    assert "Change answer" not in page


def test_a_rating_that_does_not_count_says_why(rater: Visitor, wiring: Wiring, stage: Stage) -> None:
    action_id = stage.post()
    rater.post(f"/review/{action_id}/answer", answer="yes")
    assert "Not counted" not in rater.get("/me").text
    for excluded, told in (("submitter", "you submitted the post"), ("once", "an earlier rule left it out")):
        with wiring.database.writing() as session:
            session.execute(sa.update(Rating).values(exclusion_reason=excluded))
        assert f"Not counted: {told}" in rater.get("/me").text


def test_notes_of_ones_own_stand_behind_the_writing_impact(
    moderator: Visitor, rater: Visitor, cast: Cast, wiring: Wiring
) -> None:
    with wiring.database.writing() as session:
        me = session.get_one(Profile, cast.rater.profile_id)
        kind = Classification.MISLEADING
        mine = notes.write(session, SYSTEM, cast.community_id, me, "Mine is <i>good</i>", kind)
        notes.write(
            session, SYSTEM, cast.community_id, profiles.ensure(session, PLATFORM, "other"), "Theirs", kind
        )
        verdicts.force_publish(session, factories.integration(cast), mine, reason=Reason("Known"))
    page = rater.get("/me?show=notes-helpful").text
    assert "Mine is &lt;i&gt;good&lt;/i&gt;" in page
    assert "Theirs" not in page
    assert EMPTY in moderator.get("/me").text, "nobody else's numbers"


def test_what_staff_took_over_or_the_platform_withdrew_is_not_linked(
    rater: Visitor, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post("Somebody wrote this")
    rater.post(f"/review/{action_id}/answer", answer="yes")
    with wiring.database.writing() as session:
        actions.send_to_staff(session, SYSTEM, session.get_one(Action, action_id), reason=NO_REASON)
    assert f'href="/review/{action_id}"' not in rater.get("/me").text
    assert rater.get(f"/review/{action_id}").status_code == 404


def test_sensitive_posts_stay_veiled_and_nonsense_is_refused_by_name(
    rater: Visitor, outsider: Visitor, stage: Stage
) -> None:
    action_id = stage.post("I know where you live", category="threat")
    rater.post(f"/review/{action_id}/answer", answer="yes", seen=str(action_id))
    page = rater.get("/me").text
    assert "I know where you live" not in page
    assert "Content hidden" in page
    for query in (
        "show=nonsense",
        "show=notes-nonsense",
        "after=nonsense",
        "from=9999-12-31",
        "from=0001-01-01",
    ):
        assert rater.get(f"/me?{query}").status_code == 422, query
    assert outsider.get("/me?community=harbour-forum").status_code == 404


def test_the_page_costs_the_same_however_many_rows(
    rater: Visitor, stage: Stage, statements: Callable[[], Any]
) -> None:
    costs: list[int] = []
    for _ in range(2):
        for _ in range(len(costs) * 3 + 1):
            rater.post(f"/review/{stage.post()}/answer", answer="yes")
        with statements() as seen:
            assert rater.get("/me").status_code == 200
        costs.append(len(seen))
    assert costs[0] == costs[1]


def test_a_rating_that_did_not_count_says_why(
    rater: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    changed, final, locked = (stage.note(stage.post()) for _ in range(3))
    diverted = stage.post("This went to the moderators")
    for note_id in (changed, final, locked):
        fields = {f"note-{note_id}-level": "HELPFUL", f"note-{note_id}-good": "clear"}
        rater.post(f"/notes/{note_id}/rating", **fields)
    with wiring.database.writing() as session:
        session.get_one(Note, changed).version += 1
        session.get_one(Note, final).status_locked_at = clock.now() - timedelta(hours=1)
        staff = factories.integration(cast)
        verdicts.force_publish(session, staff, session.get_one(Note, locked), reason=Reason("Known"))
    rater.post(f"/help-needed/{diverted}", answer="yes")
    with wiring.database.writing() as session:
        session.get_one(Action, diverted).review_group = ReviewGroup.STAFF
    page = rater.get("/me").text
    for why in (
        "it was for an earlier text of the note",
        "the status was final by then",
        "a moderator decided, not the ratings",
        "the review went to the moderators",
    ):
        assert page.count(f"Not counted: {why}") == 1, why
    assert "The note was changed after you rated it" in page
    assert page.count("Not counted:") == 4
