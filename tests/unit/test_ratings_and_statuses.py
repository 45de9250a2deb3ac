"""What ratings and refits do to a note's status, and what they leave alone (docs/develop/consensus.md)."""

import uuid
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import acknowledgements, actions
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.errors import Forbidden, Invalid
from app.core.helpfulness import refits
from app.core.history.reason import Reason
from app.core.models import Action, Community, Decision, Event, HistoryEntry, Note, Profile, Rating
from app.core.notes import notes, ratings, verdicts
from app.core.people import accounts, profiles
from app.core.permissions import SYSTEM, Actor
from app.core.review import holds
from app.core.vocabulary import (
    ActionState,
    ActionVerb,
    Classification,
    EventName,
    HelpfulnessLevel,
    NoteStatus,
)
from app.jobs import rescoring
from app.wiring import Wiring
from tests import factories
from tests.camps import Camps, populate
from tests.cast import PLATFORM, Cast
from tests.clocks import advance
from tests.panels import LEVELS

pytestmark = pytest.mark.both_databases

NMR = NoteStatus.NEEDS_MORE_RATINGS
HELPFUL = NoteStatus.CURRENTLY_RATED_HELPFUL
NOT_HELPFUL = NoteStatus.CURRENTLY_RATED_NOT_HELPFUL


def setting(wiring: Wiring, cast: Cast, **values: float) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = values


def a_note(wiring: Wiring, cast: Cast, text: str = "It is a joke.") -> uuid.UUID:
    with wiring.database.writing() as session:
        author = profiles.ensure(session, PLATFORM, f"writer-{uuid.uuid4()}")
        who = factories.integration(cast, profile_id=author.id)
        return notes.write(session, who, cast.community_id, author, text, Classification.MISLEADING).id


def rate(wiring: Wiring, cast: Cast, note_id: uuid.UUID, levels: str, raters: list[uuid.UUID]) -> None:
    for letter, rater_id in zip(levels, raters, strict=False):
        with wiring.database.writing() as session:
            note, rater = session.get_one(Note, note_id), session.get_one(Profile, rater_id)
            who = factories.integration(cast, staff=False, profile_id=rater_id)
            ratings.rate(session, who, note, rater, LEVELS[letter])


def people(wiring: Wiring, count: int) -> list[uuid.UUID]:
    with wiring.database.writing() as session:
        return [profiles.ensure(session, PLATFORM, f"rater-{number}").id for number in range(count)]


def read(wiring: Wiring, note_id: uuid.UUID) -> Note:
    with wiring.database.reading() as session:
        return session.get_one(Note, note_id)


def status(wiring: Wiring, note_id: uuid.UUID) -> NoteStatus:
    return read(wiring, note_id).status


def refit(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        refits.ask(session, cast.community_id)
    assert rescoring.refit(wiring.database, cast.community_id)


def moderator(wiring: Wiring, cast: Cast) -> Actor:
    with wiring.database.reading() as session:
        account = accounts.get(session, cast.moderator.account_id)
        return accounts.actor_for(account, cast.moderator.profile_id)


def two_camps(wiring: Wiring, cast: Cast) -> Camps:
    return populate(wiring.database, cast.community_id, raters=28, notes=20, ratings=340)


def test_a_refit_settles_what_one_camp_had_decided_and_leaves_what_people_and_age_decided(
    wiring: Wiring, cast: Cast
) -> None:
    camps = two_camps(wiring, cast)
    plain, forced, dismissed, held, old = (a_note(wiring, cast) for _ in range(5))
    for note_id in (plain, forced, dismissed, held, old):
        rate(wiring, cast, note_id, "HHHHH", camps.first)
        assert status(wiring, note_id) is HELPFUL  # nobody can tell the camps apart yet
    staff = moderator(wiring, cast)
    with wiring.database.writing() as session:
        verdicts.force_publish(session, staff, session.get_one(Note, forced), reason=Reason("true"))
        verdicts.dismiss(session, staff, session.get_one(Note, dismissed), reason=Reason("off topic"))
        holds.hold(
            session, staff, ActionVerb.FORCE_PUBLISH, note=session.get_one(Note, held), reason=Reason("true")
        )
        session.get_one(Note, old).created_at = clock.now() - timedelta(days=14, seconds=1)
    refit(wiring, cast)
    assert [status(wiring, one) for one in (plain, forced, dismissed, held, old)] == [
        NMR,
        HELPFUL,
        NOT_HELPFUL,
        HELPFUL,
        HELPFUL,
    ]
    assert read(wiring, plain).factor != 0
    with wiring.database.reading() as session:
        entry = session.scalars(
            sa.select(HistoryEntry)
            .where(HistoryEntry.object_id == plain)
            .order_by(HistoryEntry.number.desc())
        ).first()
        assert entry is not None
        assert (entry.what, entry.before, entry.cause) == (
            "note.needs_more_ratings",
            {"status": HELPFUL},
            "refit 1",
        )
        told = session.scalars(
            sa.select(Event.payload).where(Event.note_id == plain, Event.name == EventName.NOTE_STATUS)
        ).all()
        assert len(told) == 2
    with wiring.database.writing() as session:
        held_row = holds.for_subject(session, note_id=held)
        assert held_row is not None
        holds.undo(session, staff, held_row.id)
    assert status(wiring, held) is NMR  # now it follows


def test_an_applied_action_whose_note_falls_at_a_refit_is_looked_at_again_and_never_decided_twice(
    wiring: Wiring, cast: Cast
) -> None:
    camps = two_camps(wiring, cast)
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.reading() as session:
        note_id = session.get_one(Action, action_id).note_id
    assert note_id is not None
    rate(wiring, cast, note_id, "HHHHH", camps.first)
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, action_id))
    refit(wiring, cast)
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert action.action_state is ActionState.RETRO_REVIEW
        assert session.get_one(Note, note_id).status is NMR
    rate(wiring, cast, note_id, "NNNNNNNN", camps.second)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Decision.decision)).all() == ["hide"]
        names = session.scalars(sa.select(Event.name)).all()
        assert names.count(EventName.DECISION) == 1


def test_a_note_stays_helpful_within_a_hundredth_of_the_threshold_but_does_not_become_so_there(
    wiring: Wiring, cast: Cast
) -> None:
    setting(wiring, cast, helpful_at=0.37)
    five = people(wiring, 5)
    was, never = a_note(wiring, cast), a_note(wiring, cast)
    rate(wiring, cast, was, "HHHHH", five)
    rate(wiring, cast, was, "N", five)  # four of five: 0.364
    rate(wiring, cast, never, "NHHHH", five)
    assert (status(wiring, was), status(wiring, never)) == (HELPFUL, NMR)
    assert (read(wiring, was).status_rule, read(wiring, was).helpfulness_score) == ("cold:inertia", 71)
    rate(wiring, cast, was, "NN", five)
    assert status(wiring, was) is NMR


def test_a_community_that_waits_publishes_only_what_stays_helpful(wiring: Wiring, cast: Cast) -> None:
    setting(wiring, cast, stabilisation_minutes=30)
    raters = people(wiring, 6)
    stays, falls = a_note(wiring, cast), a_note(wiring, cast)
    for note_id in (stays, falls):
        rate(wiring, cast, note_id, "HHHHH", raters)
    waiting = read(wiring, stays)
    assert (waiting.status, waiting.status_rule, waiting.helpfulness_score) == (NMR, verdicts.STABILISING, 86)
    advance(minutes=29)
    rate(wiring, cast, falls, "NN", raters)
    rescoring.sweep(wiring.database)
    assert status(wiring, stays) is NMR
    advance(minutes=1)
    rescoring.sweep(wiring.database)
    published, fallen = read(wiring, stays), read(wiring, falls)
    assert (published.status, published.helpful_pending_since) == (HELPFUL, None)
    assert (fallen.status, fallen.helpful_pending_since) == (NMR, None)


def test_an_archived_community_publishes_nothing_and_is_not_fitted_until_it_is_opened_again(
    wiring: Wiring, cast: Cast
) -> None:
    setting(wiring, cast, stabilisation_minutes=30)
    note_id = a_note(wiring, cast)
    rate(wiring, cast, note_id, "HHHHH", people(wiring, 5))
    with wiring.database.writing() as session:
        refits.ask(session, cast.community_id)
        session.get_one(Community, cast.community_id).archived_at = clock.now()
    advance(hours=2)
    rescoring.sweep(wiring.database)
    assert status(wiring, note_id) is NMR
    with wiring.database.reading() as session:
        assert refits.due(session) == []
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).archived_at = None
    with wiring.database.reading() as session:
        assert refits.due(session) == [cast.community_id]
    rescoring.sweep(wiring.database)
    assert status(wiring, note_id) is HELPFUL


def test_a_decided_status_is_final_after_two_weeks_unless_its_action_is_looked_at_again(
    wiring: Wiring, cast: Cast
) -> None:
    raters = people(wiring, 14)
    final, open_still = a_note(wiring, cast), a_note(wiring, cast)
    rate(wiring, cast, final, "HHHHH", raters)
    rate(wiring, cast, open_still, "HHHH", raters)
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHHHH")
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        rationale = action.note_id
        acknowledgements.acknowledge(session, factories.integration(cast), action)
    assert rationale is not None
    advance(days=15)
    for note_id in (final, rationale):
        rate(wiring, cast, note_id, "N" * 9, raters[5:])
        assert status(wiring, note_id) is HELPFUL
        assert read(wiring, note_id).status_locked_at == clock.now()
    rate(wiring, cast, open_still, "H", raters[5:])
    assert status(wiring, open_still) is HELPFUL
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        actions.open_second_look(
            session, factories.integration(cast, staff=False), action, reason=Reason("appeal")
        )
    rate(wiring, cast, rationale, "N" * 5, raters)
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.OVERTURNED


def test_a_rating_is_withdrawn_by_its_rater_or_the_service_and_the_note_follows(
    wiring: Wiring, cast: Cast
) -> None:
    raters = people(wiring, 5)
    note_id = a_note(wiring, cast)
    rate(wiring, cast, note_id, "HHHHH", raters)
    with wiring.database.writing() as session:
        rating = ratings.by_rater(session, note_id, raters[0])
        assert rating is not None
        stranger = factories.integration(cast, staff=False, profile_id=raters[1])
        with pytest.raises(Forbidden, match="only your own"):
            ratings.withdraw(session, stranger, rating)
        ratings.withdraw(session, factories.integration(cast, staff=False, profile_id=raters[0]), rating)
    note = read(wiring, note_id)
    assert (note.status, note.ratings_count, note.status_rule) == (NMR, 4, "cold:few-ratings")
    with wiring.database.writing() as session:
        for rating in session.scalars(sa.select(Rating)).all():
            ratings.withdraw(session, SYSTEM, rating)
    note = read(wiring, note_id)
    assert (note.helpfulness_score, note.intercept, note.ratings_count) == (0, None, 0)
    with wiring.database.reading() as session:
        gone = session.scalars(
            sa.select(HistoryEntry)
            .where(HistoryEntry.what == "rating.withdrawn")
            .order_by(HistoryEntry.number)
        ).all()
    assert [entry.before["helpfulness_level"] for entry in gone] == ["HELPFUL"] * 5


def test_a_rating_that_was_withdrawn_meanwhile_is_not_withdrawn_again(wiring: Wiring, cast: Cast) -> None:
    note_id = a_note(wiring, cast)
    rate(wiring, cast, note_id, "HHHHHN", people(wiring, 6))
    with wiring.database.reading() as session:
        read_before = session.scalars(
            sa.select(Rating).where(Rating.helpfulness_level == HelpfulnessLevel.NOT_HELPFUL)
        ).one()
    for _ in range(2):
        with wiring.database.writing() as session:
            # As a request has it that read the rating and then waited for another one with the lock.
            ratings.withdraw(session, SYSTEM, session.merge(read_before, load=False))
        with wiring.database.reading() as session:
            assert session.get_one(Note, note_id).ratings_count == 5
            withdrawn = sa.select(sa.func.count()).where(HistoryEntry.what == "rating.withdrawn")
            assert session.scalar(withdrawn) == 1


def test_a_burst_of_new_raters_moves_the_note_but_leaves_the_decision_to_staff(
    wiring: Wiring, cast: Cast
) -> None:
    two_camps(wiring, cast)
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHHHH")
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert (action.action_state, action.review_group) == (ActionState.UNDER_REVIEW, "staff")
        assert session.get_one(Note, action.note_id).status is HELPFUL
        assert session.scalars(sa.select(Decision)).all() == []


def test_a_community_sets_how_many_ratings_a_status_needs(wiring: Wiring, cast: Cast) -> None:
    setting(wiring, cast, min_ratings=3)
    note_id = a_note(wiring, cast)
    rate(wiring, cast, note_id, "HHH", people(wiring, 3))
    assert status(wiring, note_id) is HELPFUL


@pytest.mark.parametrize(
    ("stored", "read_as"),
    [
        ({}, CommunitySettings()),
        ({"min_ratings": 3, "theme": "dark"}, CommunitySettings(min_ratings=3)),
        ({"min_ratings": "3"}, CommunitySettings()),
        ({"min_ratings": True, "lock_days": 30}, CommunitySettings(lock_days=30)),
        ({"helpful_at": 0.7, "stabilisation_minutes": 30}, CommunitySettings(stabilisation_minutes=30)),
        ({"min_ratings": 5.5}, CommunitySettings()),
        (None, CommunitySettings()),
    ],
)
def test_settings_that_make_no_sense_are_as_if_they_were_not_there(
    stored: dict[str, object] | None, read_as: CommunitySettings
) -> None:
    assert community_settings.for_community(Community(settings=stored), CommunitySettings()) == read_as


@pytest.mark.parametrize(
    "name", sorted(name for name, one in community_settings.SETTINGS.items() if one.bounds)
)
def test_settings_outside_their_bounds_are_refused_by_name(name: str) -> None:
    with pytest.raises(Invalid, match=f"^{name}: must be a "):
        community_settings.check({name: 1e9})
