"""Whose ratings count (docs/develop/consensus.md)."""

import uuid
from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.helpfulness import eligibility
from app.core.helpfulness.eligibility import Exclusion
from app.core.models import Account, Action, Community, Note, Profile, Rating
from app.core.people import profiles
from app.core.vocabulary import ActionType
from app.wiring import Wiring
from tests import factories
from tests.cast import PLATFORM, Cast
from tests.clocks import at

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""What it asks of a database is rows by their keys."""


def _asked(session: Session, action_id: uuid.UUID, rater: Profile) -> Exclusion | None:
    action = session.get_one(Action, action_id)
    return eligibility.exclusion_reason(session, session.get_one(Note, action.note_id), rater, action)


def _demand(wiring: Wiring, cast: Cast, **settings: object) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = settings


def _turn_into(wiring: Wiring, action_id: uuid.UUID, kind: ActionType) -> None:
    with wiring.database.writing() as session:
        session.execute(sa.update(Action).where(Action.id == action_id).values(action_type=kind))


def test_whoever_has_a_stake_does_not_count_and_neither_do_their_linked_profiles(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = factories.scored_action(wiring, cast)  # submitted by author-1
    with wiring.database.writing() as session:
        submitter = profiles.ensure(session, PLATFORM, "author-1")
        account = session.get_one(Account, cast.rater.account_id)
        in_browser = profiles.of_account(session, account)
        writer = session.get_one(Profile, session.get_one(Note, _note_id(session, action_id)).author_id)
        assert _asked(session, action_id, submitter) is Exclusion.SUBMITTER
        assert _asked(session, action_id, writer) is Exclusion.AUTHOR
        assert _asked(session, action_id, in_browser) is None
        submitter.account_id = account.id
        session.flush()
        assert _asked(session, action_id, in_browser) is Exclusion.SUBMITTER


def _note_id(session: Session, action_id: uuid.UUID) -> uuid.UUID:
    note_id = session.get_one(Action, action_id).note_id
    assert note_id is not None
    return note_id


def test_newcomers_do_not_count_for_what_cannot_be_taken_back(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        known = profiles.ensure(session, PLATFORM, "known").id
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        newcomer = profiles.ensure(session, PLATFORM, "newcomer").id
    for kind, reason in (
        (ActionType.DELETE, Exclusion.NEWCOMER),
        (ActionType.SILENCE, Exclusion.NEWCOMER),
        (ActionType.HIDE, None),
        (ActionType.WARN, None),
    ):
        _turn_into(wiring, action_id, kind)
        with wiring.database.reading() as session:
            assert _asked(session, action_id, session.get_one(Profile, newcomer)) is reason
            assert _asked(session, action_id, session.get_one(Profile, known)) is None
    _turn_into(wiring, action_id, ActionType.DELETE)
    with wiring.database.writing() as session:
        # Known elsewhere for long: linking tells that it is the same person.
        session.get_one(Profile, newcomer).account_id = cast.rater.account_id
        session.flush()
        assert _asked(session, action_id, session.get_one(Profile, newcomer)) is None


def test_a_community_can_demand_a_trust_level(wiring: Wiring, cast: Cast) -> None:
    _demand(wiring, cast, min_trust_level=2)
    action_id = factories.scored_action(wiring, cast)
    for level, reason in ((None, Exclusion.TRUST), (1, Exclusion.TRUST), (2, None), (4, None)):
        with wiring.database.writing() as session:
            rater = profiles.ensure(session, PLATFORM, f"rater-{level}", trust_level=level)
            assert _asked(session, action_id, rater) is reason
    with wiring.database.writing() as session:
        rater = profiles.ensure(session, PLATFORM, "rater-1")
        elsewhere = profiles.ensure(session, "elsewhere", "rater-1", trust_level=9)
        rater.account_id = elsewhere.account_id = cast.rater.account_id
        session.flush()
        assert _asked(session, action_id, rater) is Exclusion.TRUST, "another platform's word changes nothing"


def test_a_community_can_demand_an_age_in_days(wiring: Wiring, cast: Cast) -> None:
    _demand(wiring, cast, min_age_days=7)
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        rater = profiles.ensure(session, PLATFORM, "rater")
        at(rater.created_at + timedelta(days=7, seconds=-1))
        assert _asked(session, action_id, rater) is Exclusion.AGE
        at(rater.created_at + timedelta(days=7))
        assert _asked(session, action_id, rater) is None


def test_ratings_that_do_not_count_are_kept_with_their_reason_and_never_decide(
    wiring: Wiring, cast: Cast
) -> None:
    action_id = factories.scored_action(wiring, cast)
    _turn_into(wiring, action_id, ActionType.DELETE)
    factories.rate(wiring, cast, action_id, "HHHHHHHH")
    with wiring.database.reading() as session:
        assert set(session.scalars(sa.select(Rating.exclusion_reason))) == {Exclusion.NEWCOMER}
        assert session.scalar(sa.select(sa.func.count()).select_from(Rating)) == 8
        assert session.get_one(Action, action_id).action_state == "under_review"
    assert set(eligibility.SENTENCES) == set(Exclusion), "each reason can be told"
