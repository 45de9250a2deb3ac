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

from app.core import clock
from app.core.actions import strikes
from app.core.history import chain as history
from app.core.models import (
    Action,
    Attachment,
    Community,
    Decision,
    Delivery,
    FactCheckItem,
    Note,
    Profile,
    Rating,
    ReasonTemplate,
    Replay,
    Report,
    Request,
    SavedFilter,
    Strike,
    ThresholdSet,
)
from app.core.paging import Slice
from app.core.people import accounts, invitations, keys, member_lists, profiles
from app.core.permissions import SYSTEM
from app.core.raters import run
from app.core.review import queue, second_looks
from app.core.review.queue_filters import QueueFilter
from app.core.review.second_looks import SecondLookFilter
from app.core.vocabulary import (
    ActionState,
    ActionTier,
    ActionType,
    DeliveryState,
    NoteStatus,
    ReportState,
    RequestStatus,
)
from app.demo import seed
from app.demo.desk import REASONS
from app.demo.people import CAMPS
from app.demo.pictures import DRAWN
from app.demo.sign_ins import Demo
from app.process import startup
from app.settings import Settings
from app.wiring import Wiring, wire
from tests import postgres
from tests.hostile import HARD, NOTHINGS
from tests.once import Shared


@dataclass
class Seeded:
    """A seeded database that tests only read: seeding takes seconds."""

    wiring: Wiring
    demo: Demo

    @property
    def folder(self) -> Path:
        return self.wiring.settings.data_dir


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def seeded(request: pytest.FixtureRequest, shared: Shared) -> Iterator[Seeded]:
    """Seeded by one worker, for all."""

    def make() -> tuple[Settings, Demo]:
        folder = shared.folder / f"seeded-{request.param}"
        folder.mkdir()
        if request.param == "sqlite":
            url = (
                f"sqlite:///{shutil.copyfile(request.getfixturevalue('sqlite_template'), folder / 'test.db')}"
            )
        else:
            server: postgres.Server = request.getfixturevalue("postgres_server")
            url = server.url(server.create(request.getfixturevalue("postgres_template")))
        settings = Settings(_env_file=None, environment="test", data_dir=folder, database_url=url).ready()
        wiring = wire(settings)
        keep = startup.keep_picture(wiring)
        demo = seed.seed(wiring.database, wiring.classifiers, wiring.sealer, folder, keep)
        wiring.database.dispose()
        assert demo is not None
        return settings, demo

    settings, demo = shared.once(f"seeded-{request.param}", make)
    wiring = wire(settings)
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
        assert seed.load_demo(session, seeded.folder) == seeded.demo


def test_sign_ins_of_another_database_are_not_shown(seeded: Seeded, tmp_path: Path) -> None:
    stranger = {"sign_ins": [], "api_key": f"bnk_{'0' * 12}_x", "platform": "demo", "community": "harbour"}
    (tmp_path / "demo.json").write_text(json.dumps(stranger))
    with seeded.wiring.database.reading() as session:
        assert seed.load_demo(session, tmp_path) is None


def test_a_second_seeding_changes_nothing(seeded: Seeded) -> None:
    again = seed.seed(seeded.wiring.database, seeded.wiring.classifiers, seeded.wiring.sealer, seeded.folder)
    assert again is None
    with seeded.wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Community)) == 1
        assert seed.load_demo(session, seeded.folder) == seeded.demo


def test_some_posts_have_pictures_and_the_files_are_there(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        pictures = session.scalars(sa.select(Attachment).where(Attachment.sha256.is_not(None))).all()
    assert len(pictures) == len(DRAWN)
    for picture in pictures:
        assert b"".join(seeded.wiring.media.read(picture.sha256 or "", 0, 3)) == b"\xff\xd8\xff"
        assert picture.alt


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
        assert 100 <= statuses.total() <= 130
        written = set(session.scalars(sa.select(Note.status).where(Note.rationale.is_(False))))
        assert {NoteStatus.CURRENTLY_RATED_HELPFUL, NoteStatus.NEEDS_MORE_RATINGS} <= written
        assert session.scalar(sa.select(sa.func.max(ThresholdSet.version))) == 3


def test_the_weeks_are_told_in_order_and_its_history_holds(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        held, broken = history.verify(session, _community(session).id)
        assert broken is None
        assert held > 300
        requested = list(session.scalars(sa.select(Request.requested_at).order_by(Request.id)))
        assert requested == sorted(requested)
        assert clock.now() - requested[0] > timedelta(days=40)
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
        waiting = run.next_cards(session, actor, _community(session).id, profile.id, limit=20)
        assert len(waiting) >= 10
        answered = sa.select(sa.func.count()).select_from(Rating).where(Rating.rater_id == profile.id)
        assert (session.scalar(answered) or 0) >= 4


def test_the_queue_is_varied(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        found = queue.queue(session, SYSTEM, _community(session).id, QueueFilter(), size=100)
        actions = [item.action for item in found.items]
        assert 12 <= found.count == len(actions) <= 20
        kinds = Counter(action.category for action in actions)
        assert len(kinds) >= 7
        assert max(kinds.values()) <= 3
        ages = sorted(clock.now() - action.created_at for action in actions)
        assert ages[0] < timedelta(hours=3)
        assert ages[-1] > timedelta(days=5)
        assert ages[-1] < timedelta(days=seeded.wiring.settings.review_days - 3), "none ends unanswered soon"
        assert len({action.score for action in actions}) >= 7
        ratings = {action.note.ratings_count for action in actions if action.note is not None}
        assert {0, 1, 2, 3, 5} <= ratings


def test_most_of_the_forum_is_ordinary_talk_of_people_who_come_back(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        posts = session.scalars(sa.select(Request)).all()
        acted_on = set(session.scalars(sa.select(Action.request_id)))
    assert sum(post.id not in acted_on for post in posts) > 0.6 * len(posts)
    assert len({post.content for post in posts}) == len(posts), "nobody says the same twice"
    by_author = Counter(post.platform_author_id for post in posts)
    assert 20 <= len([count for count in by_author.values() if count >= 2]) <= 35
    assert {post.platform_channel_id for post in posts} == {
        "council",
        "events",
        "ferry-and-tides",
        "fishing",
        "lost-and-found",
        "market",
        "newcomers",
        "sailing-club",
    }
    answers = [post for post in posts if (post.extra or {}).get("thread")]
    assert len(answers) > len(posts) / 2
    assert all((post.extra or {})["title"] for post in posts)


def test_nothing_that_is_hard_to_show_is_in_the_demonstration(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        written = [*session.scalars(sa.select(Request.content)), *session.scalars(sa.select(Note.summary))]
        names = set(session.scalars(sa.select(Request.platform_author_id)))
    assert not set(HARD) & set(written)
    assert not set(NOTHINGS) & names
    assert max(map(len, written)) < 500
    assert not [text for text in written if "<" in text or not text.replace("\n", "").isprintable()]


def test_staff_have_something_on_every_desk(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        community_id = _community(session).id
        found = second_looks.waiting(session, SYSTEM, community_id, SecondLookFilter(), limit=50)
        looks = session.scalars(sa.select(Action).where(Action.id.in_(found.ids))).all()
        assert found.count == len(looks)
        assert {look.action_state for look in looks} == {ActionState.APPLIED, ActionState.RETRO_REVIEW}
        assert {look.category for look in looks} >= {"spam"}
        assert len(session.scalars(sa.select(SavedFilter)).all()) == 3
        assert len(session.scalars(sa.select(ReasonTemplate)).all()) == len(REASONS)
        assert session.scalar(sa.select(sa.func.count()).select_from(FactCheckItem)) == 6
        drafted = sa.select(Note).where(Note.ai_generated, Note.rationale.is_(False))
        assert [note.sources for note in session.scalars(drafted)] == [["https://facts.example.org/mast"]]
        _, people = member_lists.listed(session, SYSTEM, community_id, "", Slice())
        assert len(people) >= 7
        assert len(invitations.pending(session, SYSTEM, community_id)) == 1
        sent_again = session.scalars(sa.select(Replay)).one()
        assert sent_again.finished_at is not None
        assert sent_again.sent == sent_again.total > 0
        states = Counter(session.scalars(sa.select(Delivery.state)))
        assert {DeliveryState.DELIVERED, DeliveryState.DEAD, DeliveryState.DUE} <= set(states)
        assert states[DeliveryState.DELIVERED] > states.total() / 2
        claimed = session.scalars(sa.select(Action).where(Action.claimed_until > clock.now())).all()
        assert len(claimed) == 1
        decided = Counter(
            moment.isocalendar().week for moment in session.scalars(sa.select(Decision.decided_at))
        )
        assert len(decided) >= 6, "plots have weeks"


def test_reports_strikes_and_posts_alike_have_something_to_show(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        states = Counter(session.scalars(sa.select(Report.state)))
        assert set(states) == {ReportState.OPEN, ReportState.UPHELD, ReportState.REJECTED}
        by_account = sa.select(Report.state).join(Report.reporter).where(Profile.account_id.is_not(None))
        assert session.scalars(by_account).all() == [ReportState.UPHELD], "the demo rater reported a post"
        asked = set(session.scalars(sa.select(Action.request_id)))
        waiting = session.scalars(sa.select(Report.request_id).where(Report.state == ReportState.OPEN))
        assert any(request_id not in asked for request_id in waiting), "moderators can ask about a post"
        community_id = _community(session).id
        found = queue.queue(session, SYSTEM, community_id, QueueFilter(), size=100)
        [wave] = [item for item in found.items if item.action.wave_id is not None]
        alike = session.scalars(sa.select(Action).where(Action.wave_id == wave.action.wave_id)).all()
        assert len(alike) == 5
        assert len({action.platform_author_id for action in alike}) == 3
        [strike] = session.scalars(sa.select(Strike).where(strikes.counting(clock.now())))
        assert strike.platform_author_id in {*CAMPS[0], *CAMPS[1]}


def test_members_notes_found_readers(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        written = session.scalars(
            sa.select(Note).where(Note.rationale.is_(False), sa.not_(Note.ai_generated))
        )
        notes = written.all()
        assert len(notes) >= 6
        assert all(source.startswith("https://") for note in notes for source in note.sources)
        by_account = sa.select(Profile.id).where(Profile.account_id.is_not(None))
        assert {note.author_id for note in notes} & set(session.scalars(by_account)), (
            "the demo rater wrote some"
        )
        rated = sa.select(Rating).where(Rating.note_id.in_([note.id for note in notes]))
        assert all(rating.reasons for rating in session.scalars(rated))


def test_opinions_come_from_two_camps_of_twenty_raters(seeded: Seeded) -> None:
    with seeded.wiring.database.reading() as session:
        crowd = session.scalars(sa.select(Profile).where(Profile.platform == "demo")).all()
        assert {one.platform_user_id for one in crowd} >= {*CAMPS[0], *CAMPS[1]}
        voices = [
            set(session.scalars(sa.select(Rating.rater_ref).where(Rating.rater_ref.in_(camp)).distinct()))
            for camp in CAMPS
        ]
    assert min(map(len, voices)) >= 8
    assert not set(CAMPS[0]) & set(CAMPS[1])


def test_without_the_demonstration_a_database_begins_with_one_community(wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        assert seed.open_first_community(session)
    with wiring.database.writing() as session:
        assert not seed.open_first_community(session)
    with wiring.database.reading() as session:
        community = _community(session)
        assert f"{community.platform}/{community.platform_community_server_id}" == seed.FIRST
