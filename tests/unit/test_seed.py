"""The demonstration community: what it shows, whom it lets in, and that it happens once."""

import json
import shutil
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app import seed
from app.core import accounts, clock, help_needed, history, keys, profiles, review_queue, rules
from app.core.models import Action, Community, Decision, Note, Policy, Profile, Rating, Request
from app.core.permissions import SYSTEM
from app.core.review_queue import QueueFilter
from app.core.vocabulary import ActionState, ActionTier, ActionType, NoteStatus, RequestStatus
from app.demo.posts import HARD, NOTHINGS
from app.demo.sign_ins import Demo
from app.settings import Settings
from app.wiring import Wiring, wire
from tests import postgres


@dataclass
class Seeded:
    """A seeded database that tests only read: seeding takes seconds."""

    wiring: Wiring
    demo: Demo

    @property
    def folder(self) -> Path:
        return self.wiring.settings.data_dir


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def seeded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seeded]:
    folder = tmp_path_factory.mktemp("seeded")
    if request.param == "sqlite":
        url = f"sqlite:///{shutil.copyfile(request.getfixturevalue('sqlite_template'), folder / 'test.db')}"
    else:
        server: postgres.Server = request.getfixturevalue("postgres_server")
        url = server.url(server.create(request.getfixturevalue("postgres_template")))
    settings = Settings(_env_file=None, environment="test", data_dir=folder, database_url=url).ready()
    wiring = wire(settings)
    demo = seed.seed(wiring.database, wiring.classifiers, wiring.sealer, folder)
    assert demo is not None
    yield Seeded(wiring, demo)
    wiring.database.dispose()


def _community(session: Session) -> Community:
    return session.scalars(sa.select(Community)).one()


def test_the_four_sign_ins_hold_and_the_key_speaks_for_the_demo_community(seeded: Seeded) -> None:
    assert [one.role for one in seeded.demo.sign_ins] == ["rater", "moderator", "operator", "admin"]
    with seeded.wiring.database.reading() as session:
        for one in seeded.demo.sign_ins:
            assert accounts.verify_credentials(session, one.email, one.password).confirmed_at is not None
        key = keys.authenticate(session, seeded.demo.api_key)
        assert key is not None
        assert key.communities == {_community(session).id}


def test_the_sign_ins_are_kept_where_only_the_owner_reads_them(seeded: Seeded) -> None:
    path = seeded.folder / "demo.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["api_key"] == seeded.demo.api_key
    with seeded.wiring.database.reading() as session:
        assert seed.kept(session, seeded.folder) == seeded.demo


def test_sign_ins_of_another_database_are_not_shown(seeded: Seeded, tmp_path: Path) -> None:
    stranger = {"sign_ins": [], "api_key": f"bnk_{'0' * 12}_x", "platform": "demo", "community": "harbour"}
    (tmp_path / "demo.json").write_text(json.dumps(stranger))
    with seeded.wiring.database.reading() as session:
        assert seed.kept(session, tmp_path) is None


def test_a_second_seeding_changes_nothing(seeded: Seeded) -> None:
    again = seed.seed(seeded.wiring.database, seeded.wiring.classifiers, seeded.wiring.sealer, seeded.folder)
    assert again is None
    with seeded.wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Community)) == 1
        assert seed.kept(session, seeded.folder) == seeded.demo


def test_every_state_has_something_to_show(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        states = Counter(session.scalars(sa.select(Action.action_state)))
        assert set(states) == set(ActionState)
        tiers = set(session.scalars(sa.select(Action.action_tier)))
        assert tiers == set(ActionTier)
        assert {ActionType.HIDE, ActionType.UNHIDE, ActionType.WARN} <= set(
            session.scalars(sa.select(Action.action_type))
        )
        statuses = Counter(session.scalars(sa.select(Request.status)))
        assert {RequestStatus.COMPLETED, RequestStatus.IN_PROGRESS, RequestStatus.FAILED} == set(statuses)
        assert 55 <= statuses.total() <= 75
        written = set(session.scalars(sa.select(Note.status).where(Note.rationale.is_(False))))
        assert {NoteStatus.CURRENTLY_RATED_HELPFUL, NoteStatus.NEEDS_MORE_RATINGS} <= written
        assert session.scalar(sa.select(sa.func.max(Policy.version))) == 3


def test_the_month_is_told_in_order_and_its_history_holds(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        held, broken = history.verify(session, _community(session).id)
        assert broken is None
        assert held > 300
        requested = list(session.scalars(sa.select(Request.requested_at).order_by(Request.id)))
        assert requested == sorted(requested)
        assert clock.now() - requested[0] > timedelta(days=25)
        assert requested[-1] <= clock.now()
        decided = list(session.scalars(sa.select(Decision.decided_at)))
        assert len(set(decided)) == len(decided)


def test_the_clock_is_the_systems_again_afterwards(seeded: Seeded) -> None:
    before = clock.now()
    assert clock.now() >= before
    with seeded.wiring.database.reading() as session:
        newest = session.scalars(sa.select(Request.requested_at)).all()
    assert max(newest) < before


def test_the_demo_rater_finds_work_and_has_answered_before(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        account = accounts.verify_credentials(
            session, seeded.demo.sign_ins[0].email, seeded.demo.sign_ins[0].password
        )
        profile = profiles.of_account(session, account)
        actor = accounts.actor_for(accounts.get(session, account.id), profile.id)
        waiting = help_needed.waiting_for(session, actor, _community(session).id, profile.id)
        assert len(waiting) >= 10
        answered = sa.select(sa.func.count()).select_from(Rating).where(Rating.rater_id == profile.id)
        assert (session.scalar(answered) or 0) >= 4


def test_the_queue_holds_texts_that_are_hard_to_show(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        found = review_queue.queue(session, SYSTEM, _community(session).id, QueueFilter(), size=100)
        assert found.count == len(found.items) >= 15
        contents = {item.action.request.content for item in found.items}
        names = {item.action.request.platform_author_id for item in found.items}
        said = set(session.scalars(sa.select(Note.summary)))
    assert set(HARD) <= contents
    assert set(NOTHINGS) <= names
    assert set(HARD) & said, "notes are as hard to show"
    assert max(map(len, contents)) == rules.CONTENT_MAX


def test_opinions_come_from_two_camps_of_twenty_raters(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        crowd = session.scalars(sa.select(Profile).where(Profile.platform == "demo")).all()
        assert len([one for one in crowd if one.platform_user_id.startswith("rater-")]) == 20
        raters = session.scalar(sa.select(sa.func.count(sa.distinct(Rating.rater_id))))
        assert (raters or 0) >= 15


def test_without_the_demonstration_a_database_begins_with_one_community(wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        assert seed.begin(session)
    with wiring.database.writing() as session:
        assert not seed.begin(session)
    with wiring.database.reading() as session:
        community = _community(session)
        assert f"{community.platform}/{community.platform_community_server_id}" == seed.FIRST
