"""Drawn panels: who decides a review is drawn by lot (docs/moderate/panels.md)."""

import hashlib
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import acknowledgements, actions
from app.core.errors import NotFound
from app.core.helpfulness import rating_snapshots
from app.core.history.reason import Reason
from app.core.models import (
    Account,
    Action,
    HistoryEntry,
    Membership,
    Note,
    Panel,
    PanelRoll,
    PanelSeat,
    Profile,
    Request,
)
from app.core.notes import notes, verdicts
from app.core.panels import draw, opening, panels, results, seats, tending
from app.core.panels.draw import Side
from app.core.permissions import SYSTEM, Actor
from app.core.raters import digests, help_needed, run
from app.core.scoring import Camps, Regime
from app.core.thresholds.routing import MISINFORMATION
from app.core.vocabulary import (
    ActionState,
    Classification,
    NoteStatus,
    PanelOutcome,
    ReviewGroup,
    Role,
    SeatState,
)
from app.jobs import communities as jobs
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.panels import answer, member, reviewed, run_jobs, seated, set_up, settle_in, state_of

pytestmark = pytest.mark.both_databases


@pytest.fixture
def people(wiring: Wiring, cast: Cast) -> list[uuid.UUID]:
    return settle_in(wiring, cast, 40)


def later(**by: float) -> None:
    """Move the clock; it is put right after each test."""
    moment: datetime = clock.now() + timedelta(**by)
    clock.set_source(lambda: moment)


def panel_of(wiring: Wiring, action_id: uuid.UUID) -> Panel:
    with wiring.database.reading() as session:
        panel = panels.newest(session, action_id)
        assert panel is not None
        return panel


def test_a_panel_alone_decides_and_volunteers_are_only_told_of(
    wiring: Wiring, cast: Cast, people: list[uuid.UUID]
) -> None:
    set_up(wiring, cast, who_decides="panel")
    action_id, note_id = reviewed(wiring, cast)
    drawn = seated(wiring, action_id)
    assert len(set(drawn)) == 12
    volunteers = [person for person in people if person not in drawn]
    answer(wiring, cast, note_id, volunteers, "N" * 15)
    assert state_of(wiring, action_id)[0] is ActionState.UNDER_REVIEW, "fifteen volunteers decide nothing"
    answer(wiring, cast, note_id, drawn, "HHHHHH")
    with wiring.database.reading() as session:
        note = session.get_one(Note, note_id)
        assert (note.status, note.helpfulness_score) == (NoteStatus.NEEDS_MORE_RATINGS, 0)
        action = session.get_one(Action, action_id)
        assert results.decided(session, note_id) is None
        closes_at = results.closes_at(session, action)
    assert closes_at == panel_of(wiring, action_id).opened_at + timedelta(days=7)
    answer(wiring, cast, note_id, drawn[6:], "H")
    assert state_of(wiring, action_id)[0] is ActionState.PROPOSED, "seven of twelve are enough"
    with wiring.database.reading() as session:
        assert session.get_one(Note, note_id).status is NoteStatus.CURRENTLY_RATED_HELPFUL
        told = results.decided(session, note_id)
    assert told is not None
    assert (told.seats, told.answered, told.volunteers.not_helpful) == (12, 7, 15)
    assert panels.explained(told.panel, told.volunteers, told.reason) == (
        "Volunteers: 0 yes, 15 no; a drawn panel decided (7 yes, 0 no)."
    )
    # What volunteers say afterwards neither changes the status nor opens a second look.
    factories.rate(wiring, cast, action_id, "N" * 10)
    assert state_of(wiring, action_id)[0] is ActionState.PROPOSED
    assert set(seated(wiring, action_id, SeatState.CLOSED)) == set(drawn[7:])


def test_the_draw_is_committed_before_anybody_answers(
    wiring: Wiring, cast: Cast, people: list[uuid.UUID]
) -> None:
    set_up(wiring, cast, who_decides="panel")
    action_id, _ = reviewed(wiring, cast)
    panel = panel_of(wiring, action_id)
    with wiring.database.reading() as session:
        entries = {
            entry.what: entry.after
            for entry in session.scalars(sa.select(HistoryEntry).where(HistoryEntry.object_id == action_id))
        }
        roll = session.get_one(PanelRoll, panel.roll_id)
        raters = roll.raters
    assert entries["action.panel_opened"]["seed_sha256"] == hashlib.sha256(panel.seed).hexdigest()
    assert entries["action.panel_drawn"]["eligible_sha256"] == hashlib.sha256(raters).hexdigest()
    assert panel.seed.hex() not in str(entries)
    expected = draw.order(panel.seed, raters).sides[Side.UNKNOWN]
    assert seated(wiring, action_id) == expected[:12]
    assert set(expected) == set(people), "the cast is new, has not practised and was never here"


def test_a_seat_lapses_and_the_next_is_drawn_until_moderators_decide(
    wiring: Wiring, cast: Cast, people: list[uuid.UUID]
) -> None:
    set_up(wiring, cast, who_decides="panel", panel_hours=24)
    action_id, note_id = reviewed(wiring, cast)
    first = seated(wiring, action_id)
    answer(wiring, cast, note_id, first, "HN")
    later(hours=25)
    jobs.sweep_panels(wiring.database)
    second = seated(wiring, action_id)
    assert len(second) == 10
    assert not set(second) & set(first)
    assert set(seated(wiring, action_id, SeatState.LAPSED)) == set(first[2:])
    answer(wiring, cast, note_id, first[2:], "H" * 10)
    assert state_of(wiring, action_id)[0] is ActionState.UNDER_REVIEW, "they are too late, and volunteers now"
    later(hours=25)
    jobs.sweep_panels(wiring.database)
    later(hours=25)
    jobs.sweep_panels(wiring.database)
    assert len(seated(wiring, action_id, SeatState.OPEN, SeatState.LAPSED, SeatState.ANSWERED)) == 36
    later(hours=25)
    jobs.sweep_panels(wiring.database)
    assert state_of(wiring, action_id) == (ActionState.UNDER_REVIEW, ReviewGroup.STAFF)
    assert panel_of(wiring, action_id).outcome is PanelOutcome.STAFF


def test_after_seven_days_moderators_decide(wiring: Wiring, cast: Cast, people: list[uuid.UUID]) -> None:
    set_up(wiring, cast, who_decides="panel", panel_hours=168)
    action_id, _ = reviewed(wiring, cast)
    later(days=7)
    jobs.sweep_panels(wiring.database)
    assert state_of(wiring, action_id) == (ActionState.UNDER_REVIEW, ReviewGroup.STAFF)


def test_a_full_panel_that_disagrees_gets_as_many_seats_again(
    wiring: Wiring, cast: Cast, people: list[uuid.UUID]
) -> None:
    set_up(wiring, cast, who_decides="panel", panel_seats=7)
    action_id, note_id = reviewed(wiring, cast)
    answer(wiring, cast, note_id, seated(wiring, action_id), "HHNNNNH")
    run_jobs(wiring)
    assert len(seated(wiring, action_id)) == 7
    answer(wiring, cast, note_id, seated(wiring, action_id), "NNNN")
    assert state_of(wiring, action_id)[0] is ActionState.UNDER_REVIEW
    assert panels.enough(14) == 9
    answer(wiring, cast, note_id, seated(wiring, action_id), "N")
    assert state_of(wiring, action_id)[0] is ActionState.DISMISSED


def test_declining_gives_the_seat_to_the_next_person(
    wiring: Wiring, cast: Cast, people: list[uuid.UUID]
) -> None:
    set_up(wiring, cast, who_decides="panel")
    action_id, _ = reviewed(wiring, cast)
    first = seated(wiring, action_id)
    stranger = next(person for person in people if person not in first)
    owner = member(wiring, cast, first[0])
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        for _ in range(2):
            seats.decline(session, owner, action, first[0])
        with pytest.raises(NotFound):
            seats.decline(session, member(wiring, cast, stranger), action, stranger)
        assert seats.open_for(session, first[0], cast.community_id) == []
        assert [one.action_id for one in seats.open_for(session, first[1], cast.community_id)] == [action_id]
    run_jobs(wiring)
    now_seated = seated(wiring, action_id)
    assert len(now_seated) == 12
    assert first[0] not in now_seated


def test_in_doubt_a_panel_decides_and_without_doubt_everybody(
    wiring: Wiring, cast: Cast, people: list[uuid.UUID]
) -> None:
    set_up(wiring, cast, who_decides="panel_when_needed")
    action_id, note_id = reviewed(wiring, cast)
    answer(wiring, cast, note_id, people, "HHHH")
    with wiring.database.reading() as session:
        assert panels.newest(session, action_id) is None, "nothing is about to be decided"
    answer(wiring, cast, note_id, people[4:], "H")
    run_jobs(wiring)
    assert "Too few ratings" in panel_of(wiring, action_id).reason, "the cold regime is a reason"
    drawn = seated(wiring, action_id)
    assert len(drawn) == 12
    assert not set(drawn) & set(people[:5]), "who rated already is not asked"
    answer(wiring, cast, note_id, drawn, "N" * 7)
    assert state_of(wiring, action_id)[0] is ActionState.DISMISSED


def test_with_fewer_than_fifteen_people_everybody_decides(wiring: Wiring, cast: Cast) -> None:
    people = settle_in(wiring, cast, 14)
    set_up(wiring, cast, who_decides="panel_when_needed")
    action_id, note_id = reviewed(wiring, cast)
    answer(wiring, cast, note_id, people, "HHHHH")
    run_jobs(wiring)
    assert panel_of(wiring, action_id).outcome is PanelOutcome.TOO_FEW
    assert seated(wiring, action_id, every=True) == []
    assert state_of(wiring, action_id)[0] is ActionState.PROPOSED
    # From now on the community is known to be too small, and a review is decided with its last rating.
    other_id, other_note = reviewed(wiring, cast, "post-2")
    answer(wiring, cast, other_note, people, "HHHHH")
    assert state_of(wiring, other_id)[0] is ActionState.PROPOSED


@pytest.mark.parametrize(
    ("count", "ends"),
    [(14, ActionState.DISMISSED), (15, ActionState.UNDER_REVIEW)],
    ids=["too few", "enough"],
)
def test_a_note_that_says_not_misleading_decides_only_where_no_panel_can_be_drawn(
    wiring: Wiring, cast: Cast, count: int, ends: ActionState
) -> None:
    people = settle_in(wiring, cast, count)
    set_up(wiring, cast, who_decides="panel_when_needed")
    action_id, _ = reviewed(wiring, cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        action.category = MISINFORMATION
        said = notes.write(
            session,
            SYSTEM,
            cast.community_id,
            session.get_one(Profile, cast.operator.profile_id),
            "It is true.",
            Classification.NOT_MISLEADING,
            request=session.get_one(Request, action.request_id),
        )
    answer(wiring, cast, said.id, people, "HHHHH")
    assert state_of(wiring, action_id)[0] is ActionState.UNDER_REVIEW, "a panel is to decide"
    run_jobs(wiring)
    # What the community chooses now is for later reviews: an open panel still decides this one.
    set_up(wiring, cast)
    answer(wiring, cast, said.id, people[5:], "H" if count == 15 else "")
    assert state_of(wiring, action_id)[0] is ends


def test_nobody_has_more_than_three_open_seats_and_people_who_left_have_none(
    wiring: Wiring, cast: Cast
) -> None:
    people = settle_in(wiring, cast, 16)
    set_up(wiring, cast, who_decides="panel", panel_seats=12)
    first, _ = reviewed(wiring, cast)
    with wiring.database.writing() as session:
        gone = session.get_one(Profile, next(one for one in people if one not in seated(wiring, first)))
        session.execute(sa.delete(Membership).where(Membership.account_id == gone.account_id))
    actions = [first] + [reviewed(wiring, cast, f"post-{number}")[0] for number in range(2, 7)]
    held = Counter(person for action_id in actions for person in seated(wiring, action_id))
    assert max(held.values()) == 3
    assert gone.id not in held
    with wiring.database.reading() as session:
        reasons = set(
            session.scalars(sa.select(PanelSeat.passed_over).where(PanelSeat.passed_over.is_not(None)))
        )
    assert reasons <= {"three_open_seats", "gone"}
    assert "three_open_seats" in reasons


def test_a_panel_waits_for_people_who_have_too_many_seats(wiring: Wiring, cast: Cast) -> None:
    settle_in(wiring, cast, 15)
    set_up(wiring, cast, who_decides="panel", panel_seats=15, panel_hours=168)
    earlier = [reviewed(wiring, cast, f"post-{number}")[0] for number in range(3)]
    waiting, _ = reviewed(wiring, cast, "post-last")
    assert seated(wiring, waiting, every=True) == []
    assert state_of(wiring, waiting)[1] is ReviewGroup.COMMUNITY
    with wiring.database.writing() as session:
        for action_id in earlier:
            actions.send_to_staff(
                session, SYSTEM, session.get_one(Action, action_id), reason=Reason("too hard")
            )
    later(minutes=61)
    jobs.sweep_panels(wiring.database)
    drawn = seated(wiring, waiting)
    assert len(drawn) == 15
    panel = panel_of(wiring, waiting)
    with wiring.database.reading() as session:
        raters = session.get_one(PanelRoll, panel.roll_id).raters
    everybody = seated(wiring, waiting, every=True)
    assert everybody == draw.order(panel.seed, raters).sides[Side.UNKNOWN][: len(everybody)]


def test_seats_of_reviews_that_are_over_make_nobody_busy(wiring: Wiring, cast: Cast) -> None:
    settle_in(wiring, cast, 15)
    set_up(wiring, cast, who_decides="panel", panel_seats=15)
    over = [reviewed(wiring, cast, f"post-{number}")[0] for number in range(3)]
    waiting = factories.scored_action(wiring, cast, request_id="post-4")
    with wiring.database.writing() as session:
        for action_id in over:
            actions.send_to_staff(
                session, SYSTEM, session.get_one(Action, action_id), reason=Reason("too hard")
            )
        # Their panels are not ended yet when the next one is drawn.
        assert opening.open_missing(session, cast.community_id) == 1
        still_open = sa.update(Panel).where(Panel.action_id.in_(over))
        session.execute(still_open.values(due_at=clock.now() + timedelta(hours=1)))
        tending.advance(session, cast.community_id)
    assert len(seated(wiring, waiting)) == 15


def test_whoever_avoids_a_category_is_neither_drawn_for_it_nor_shown_it(wiring: Wiring, cast: Cast) -> None:
    people = settle_in(wiring, cast, 20)

    def avoid(profile_id: uuid.UUID, categories: list[str]) -> None:
        with wiring.database.writing() as session:
            account_id = session.get_one(Profile, profile_id).account_id
            session.get_one(Account, account_id).avoided_categories = categories

    set_up(wiring, cast, who_decides="panel", panel_seats=20)
    action_id, note_id = reviewed(wiring, cast)
    with wiring.database.reading() as session:
        category = session.get_one(Action, action_id).category
    assert category is not None
    avoid(people[0], [category])
    second_id, _ = reviewed(wiring, cast, "post-2")
    assert people[0] not in seated(wiring, second_id)
    with wiring.database.reading() as session:
        reasons = sa.select(PanelSeat.passed_over).where(PanelSeat.profile_id == people[0])
        assert set(session.scalars(reasons)) == {None, "avoids_category"}
        # They have a seat of the first panel, and are not shown what they avoid since.
        assert people[0] in seated(wiring, action_id)
        shown = [run.drawn_items(session, cast.community_id, person) for person in people[:2]]
    assert shown == [[], [action_id, second_id]]
    with wiring.database.writing() as session:
        session.get_one(Note, note_id).locked = True
    with wiring.database.writing() as session:
        assert run.drawn_items(session, cast.community_id, people[1]) == [second_id]
        # A digest is sent for a seat although its item was skipped before.
        account_id = session.get_one(Profile, people[1]).account_id
        assert account_id is not None
        account = session.get_one(Account, account_id)
        for skipped in (action_id, second_id):
            help_needed.skip(
                session, member(wiring, cast, people[1]), session.get_one(Action, skipped), people[1]
            )
        assert [count for _, count in digests.waiting_for(session, account)] == [1]


def test_a_second_look_at_what_a_panel_decided_needs_a_panel_again(
    wiring: Wiring, cast: Cast, people: list[uuid.UUID]
) -> None:
    set_up(wiring, cast, who_decides="panel_when_needed")
    action_id, note_id = reviewed(wiring, cast)
    answer(wiring, cast, note_id, people, "HHHHH")
    run_jobs(wiring)
    drawn = seated(wiring, action_id)
    answer(wiring, cast, note_id, drawn, "H" * 7)
    later(minutes=1)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        acknowledgements.acknowledge(session, factories.integration(cast), action)
        actions.open_second_look(session, SYSTEM, action, reason=Reason("an appeal"))
    others = [one for one in people[5:] if one not in drawn]
    answer(wiring, cast, note_id, others[:1], "N")
    assert state_of(wiring, action_id)[0] is ActionState.RETRO_REVIEW
    run_jobs(wiring)
    second = seated(wiring, action_id)
    assert len(second) == 12
    assert not set(second) & {*drawn[:7], *people[:5]}
    answer(wiring, cast, note_id, second, "N" * 7)
    assert state_of(wiring, action_id)[0] is ActionState.OVERTURNED


def test_a_panel_says_nothing_about_a_later_review_that_it_did_not_decide(
    wiring: Wiring, cast: Cast, people: list[uuid.UUID]
) -> None:
    set_up(wiring, cast, who_decides="panel")
    action_id, note_id = reviewed(wiring, cast)
    answer(wiring, cast, note_id, seated(wiring, action_id), "H" * 7)
    later(minutes=1)

    def told() -> tuple[bool, bool]:
        with wiring.database.reading() as session:
            snapshot = rating_snapshots.take(session, cast.community_id, Regime.COLD, Camps())
        with wiring.database.reading() as session:
            return results.decided(session, note_id) is not None, bool(snapshot.panels)

    assert told() == (True, True)
    set_up(wiring, cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        acknowledgements.acknowledge(session, factories.integration(cast), action)
        actions.open_second_look(session, SYSTEM, action, reason=Reason("an appeal"))
        actions.confirm(session, SYSTEM, action, reason=Reason("a moderator's decision"))
    assert told() == (False, False)
    factories.rate(wiring, cast, action_id, "N" * 8)
    with wiring.database.reading() as session:
        assert session.get_one(Note, note_id).status is not NoteStatus.CURRENTLY_RATED_HELPFUL


def test_a_rating_looks_for_a_panel_once(wiring: Wiring, cast: Cast, people: list[uuid.UUID]) -> None:
    _, note_id = reviewed(wiring, cast)
    looked: list[str] = []

    def note_down(*execution: Any) -> None:
        if "FROM panels" in execution[2]:
            looked.append(execution[2])

    sa.event.listen(sa.Engine, "before_cursor_execute", note_down)
    try:
        answer(wiring, cast, note_id, people, "HHHHH")
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note_down)
    assert len(looked) == 5, "everybody decides here, and each of the five ratings looked once"


def test_a_moderator_who_decides_ends_the_panel(wiring: Wiring, cast: Cast, people: list[uuid.UUID]) -> None:
    set_up(wiring, cast, who_decides="panel")
    action_id, note_id = reviewed(wiring, cast)
    drawn = seated(wiring, action_id)
    moderator = Actor(
        kind="account",
        name="Moderator",
        account_id=cast.moderator.account_id,
        roles={cast.community_id: Role.MODERATOR},
        communities=frozenset({cast.community_id}),
    )
    with wiring.database.writing() as session:
        verdicts.dismiss(session, moderator, session.get_one(Note, note_id))
        assert seats.open_for(session, drawn[0], cast.community_id) == []
    with wiring.database.writing() as session:
        session.execute(sa.update(Panel).values(due_at=clock.now()))
    jobs.sweep_panels(wiring.database)
    assert panel_of(wiring, action_id).outcome is PanelOutcome.OVERTAKEN


@pytest.mark.parametrize("is_back", [False, True], ids=["clock goes on", "clock was moved back"])
def test_a_review_that_ended_without_its_panel_leaves_room_for_the_next(
    wiring: Wiring, cast: Cast, people: list[uuid.UUID], is_back: bool
) -> None:
    set_up(wiring, cast, who_decides="panel")
    action_id, note_id = reviewed(wiring, cast)
    other_id, _ = reviewed(wiring, cast, "post-2")
    first = panel_of(wiring, action_id)
    later(minutes=-5 if is_back else 5)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        acknowledgements.acknowledge(session, factories.integration(cast), action)
        actions.open_second_look(session, SYSTEM, action, reason=Reason("an appeal"))
        # Before the job had its turn.
        assert opening.open_missing(session, cast.community_id) == 1
    answer(wiring, cast, note_id, people, "H")
    second = panel_of(wiring, action_id)
    assert second.id != first.id
    run_jobs(wiring)
    assert len(seated(wiring, action_id)) == 12
    with wiring.database.reading() as session:
        assert session.get_one(Panel, first.id).outcome is PanelOutcome.OVERTAKEN
    assert panel_of(wiring, action_id).id == second.id
    # Escalation, too, ends a panel as soon as the job runs, and without the sweep.
    with wiring.database.writing() as session:
        actions.send_to_staff(session, SYSTEM, session.get_one(Action, other_id), reason=Reason("too hard"))
    run_jobs(wiring)
    assert panel_of(wiring, other_id).outcome is PanelOutcome.OVERTAKEN


def test_a_panel_that_cannot_be_opened_keeps_no_other_from_its_turn(
    wiring: Wiring, cast: Cast, people: list[uuid.UUID]
) -> None:
    set_up(wiring, cast, who_decides="panel", panel_hours=1)
    action_id, _ = reviewed(wiring, cast)
    first = seated(wiring, action_id)
    factories.scored_action(wiring, cast, request_id="post-2")
    later(hours=2)

    def refuse(*_: object) -> None:
        raise RuntimeError("the disk is full")

    sa.event.listen(Panel, "before_insert", refuse)
    try:
        jobs.sweep_panels(wiring.database)
    finally:
        sa.event.remove(Panel, "before_insert", refuse)
    assert len(seated(wiring, action_id)) == 12
    assert not set(seated(wiring, action_id)) & set(first)


def test_two_jobs_at_once_and_one_that_dies_give_nobody_a_seat_twice(
    wiring: Wiring, cast: Cast, people: list[uuid.UUID]
) -> None:
    set_up(wiring, cast, who_decides="panel")
    actions = [factories.scored_action(wiring, cast, request_id=f"post-{number}") for number in range(3)]
    with suppress(RuntimeError), wiring.database.writing() as session:
        opening.open_missing(session, cast.community_id)
        assert tending.advance(session, cast.community_id).panels == 3
        raise RuntimeError("killed before the commit")
    assert seated(wiring, actions[0]) == []
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(jobs.tend_panels, wiring.database, cast.community_id) for _ in range(4)]:
            done.result()
    for action_id in actions:
        assert len(set(seated(wiring, action_id))) == len(seated(wiring, action_id)) == 12
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Panel)) == 3
