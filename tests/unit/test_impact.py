"""What became of one's ratings and notes (docs/develop/consensus.md), told only once it can be told."""

import itertools
import uuid

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.history.reason import Reason
from app.core.models import Action, Note, Profile, Rating, Request
from app.core.notes import notes, ratings, verdicts
from app.core.paging import Page, Slice
from app.core.people import profiles
from app.core.permissions import Actor
from app.core.raters import answers, impact
from app.core.raters.impact import Impact, NoteOutcome, RatingOutcome, RatingRow
from app.core.vocabulary import (
    ActionState,
    ActionTier,
    Classification,
    HelpfulnessLevel,
    NoteStatus,
    Role,
)
from app.wiring import Wiring
from tests import factories
from tests.cast import PLATFORM, Cast

pytestmark = pytest.mark.both_databases

H, S, N = HelpfulnessLevel.HELPFUL, HelpfulnessLevel.SOMEWHAT_HELPFUL, HelpfulnessLevel.NOT_HELPFUL


def rater(cast: Cast) -> Actor:
    return Actor(
        kind="account",
        name="Rater",
        account_id=cast.rater.account_id,
        profile_id=cast.rater.profile_id,
        roles={cast.community_id: Role.RATER},
        communities=frozenset({cast.community_id}),
    )


def rate(wiring: Wiring, cast: Cast, note_id: uuid.UUID, level: HelpfulnessLevel) -> None:
    with wiring.database.writing() as session:
        me = session.get_one(Profile, cast.rater.profile_id)
        ratings.rate(session, rater(cast), session.get_one(Note, note_id), me, level)


def listed(
    session: Session, cast: Cast, part: Slice | None = None, became: RatingOutcome | None = None
) -> Page[RatingRow]:
    """A page of the rater's answers with this outcome, or of all, with what they are about."""
    found = answers.page(session, rater(cast), cast.community_id, None, part or Slice(), became=became)
    given = {one.id: one for one in session.scalars(sa.select(Rating))}
    rows = impact.rating_rows(session, [given[row.id] for row in found.rows])
    return Page(rows, found.count, found.part, found.previous, found.next)


def settled(
    wiring: Wiring, cast: Cast, number: int, *, helpful: bool | None, mine: bool = False
) -> uuid.UUID:
    """A note that staff published or dismissed, or (None) nobody decided about."""
    with wiring.database.writing() as session:
        author = (
            session.get_one(Profile, cast.rater.profile_id)
            if mine
            else profiles.ensure(session, PLATFORM, f"author-{number}")
        )
        staff = factories.integration(cast)
        note = notes.write(
            session, staff, cast.community_id, author, f"Note {number}", Classification.MISLEADING
        )
        if helpful is not None:
            (verdicts.force_publish if helpful else verdicts.dismiss)(
                session, staff, note, reason=Reason("Known")
            )
        return note.id


def test_numbers_and_their_rows_follow_the_formula(wiring: Wiring, cast: Cast) -> None:
    given = [(H, True), (N, False), (N, True), (H, False), (S, True), (H, None), (N, None)]
    for number, (level, helpful) in enumerate(given):
        note_id = settled(wiring, cast, number, helpful=None)
        rate(wiring, cast, note_id, level)
        if helpful is not None:
            with wiring.database.writing() as session:
                verb = verdicts.force_publish if helpful else verdicts.dismiss
                verb(
                    session,
                    factories.integration(cast),
                    session.get_one(Note, note_id),
                    reason=Reason("Known"),
                )
    for number, helpful in enumerate([True, True, False, None]):
        settled(wiring, cast, 100 + number, helpful=helpful, mine=True)
    with wiring.database.reading() as session:
        found = impact.for_actor(session, rater(cast), cast.community_id)
        assert found == Impact(
            matched=2,
            decided=0,
            mismatched=1,
            twice=1,
            neutral=1,
            after=0,
            waiting=2,
            notes_helpful=2,
            notes_not_helpful=1,
            notes_waiting=1,
        )
        assert (found.rating, found.writing) == (2 - 1 - 2, 2 - 1)
        for became, count in zip(RatingOutcome, (2, 0, 1, 1, 1, 0, 2, 0), strict=True):
            page = listed(session, cast, became=became)
            assert page.count == len(page.rows) == count, became
            assert {row.became for row in page.rows} <= {became}
        for wrote, count in zip(NoteOutcome, (2, 1, 1), strict=True):
            page_of_notes = impact.notes(session, rater(cast), cast.community_id, Slice(), wrote)
            assert {row.became for row in page_of_notes.rows} == {wrote}
            assert page_of_notes.count == count


def test_what_is_judged_is_the_rating_as_it_was_before_the_outcome_could_be_seen(
    wiring: Wiring, cast: Cast
) -> None:
    before, late = settled(wiring, cast, 1, helpful=None), settled(wiring, cast, 2, helpful=None)

    def found_helpful() -> None:
        with wiring.database.writing() as session:
            for note_id in (before, late):
                session.get_one(Note, note_id).status = NoteStatus.CURRENTLY_RATED_HELPFUL

    rate(wiring, cast, before, N)
    for note_id in (before, late):
        found_helpful()
        rate(wiring, cast, note_id, H)  # a status so few ratings do not bear falls again
    found_helpful()
    with wiring.database.reading() as session:
        found = impact.for_actor(session, rater(cast), cast.community_id)
        assert (found.matched, found.mismatched, found.after) == (0, 1, 1)
        rows = listed(session, cast).rows
        assert {row.note.id: row.became for row in rows} == {
            before: RatingOutcome.MISMATCHED,
            late: RatingOutcome.AFTER,
        }


def test_pages_follow_one_another_without_a_gap_while_others_come(wiring: Wiring, cast: Cast) -> None:
    for number in range(5):
        rate(wiring, cast, settled(wiring, cast, number, helpful=None), H)
    seen: list[uuid.UUID] = []
    cursor = None
    with wiring.database.reading() as session:
        before = list(session.scalars(sa.select(Rating.id).order_by(Rating.created_at.desc())))
    for number in range(3):
        with wiring.database.reading() as session:
            page = listed(session, cast, Slice(size=2, after=cursor))
            seen += [row.rating.id for row in page.rows]
            cursor = page.next
        rate(wiring, cast, settled(wiring, cast, 10 + number, helpful=None), H)
    assert seen == before


def test_nothing_is_told_of_an_item_that_people_still_review(wiring: Wiring, cast: Cast) -> None:
    """The rows and the counting agree in every state of an item, by whichever tier it was decided."""
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.reading() as session:
        note_id = session.get_one(Action, action_id).note_id
    assert note_id is not None
    rate(wiring, cast, note_id, H)
    with wiring.database.writing() as session:
        session.get_one(Note, note_id).status = NoteStatus.CURRENTLY_RATED_HELPFUL
    told = set()
    for state, tier in itertools.product(ActionState, [None, *ActionTier]):
        with wiring.database.writing() as session:
            session.execute(
                sa.update(Action).where(Action.id == action_id).values(action_state=state, action_tier=tier)
            )
        with wiring.database.reading() as session:
            (row,) = listed(session, cast).rows
            counted = impact.for_actor(session, rater(cast), cast.community_id)
            assert counted.matched == (row.became is RatingOutcome.MATCHED), (state, tier)
            assert counted.waiting == (row.became is RatingOutcome.WAITING), (state, tier)
            if counted.matched:
                told.add((state, tier))
    hidden = {(state, tier) for state, tier in itertools.product(ActionState, [None, *ActionTier])} - told
    assert hidden == {
        *itertools.product((ActionState.UNDER_REVIEW, ActionState.RETRO_REVIEW), [None, *ActionTier]),
        (ActionState.PROPOSED, ActionTier.IMMEDIATE),
        (ActionState.APPLIED, ActionTier.IMMEDIATE),
    }


def test_only_ones_own_present_ratings_in_this_community_count(wiring: Wiring, cast: Cast) -> None:
    note_id = settled(wiring, cast, 1, helpful=None)
    rate(wiring, cast, note_id, H)
    with wiring.database.writing() as session:
        staff = factories.integration(cast)
        notes.edit(session, staff, session.get_one(Note, note_id), "Another text")
        verdicts.force_publish(session, staff, session.get_one(Note, note_id), reason=Reason("Known"))
    settled(wiring, cast, 2, helpful=True)
    with wiring.database.reading() as session:
        assert not impact.for_actor(session, rater(cast), cast.community_id).has_begun
        assert session.scalar(sa.select(sa.func.count()).select_from(Request)) == 0
