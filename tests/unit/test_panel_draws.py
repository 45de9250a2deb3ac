"""The draw itself, repeated and checked; and what gives reason for doubt (docs/moderate/panels.md)."""

import uuid
from collections import Counter
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.errors import Conflict
from app.core.helpfulness import note_scores
from app.core.mail import Kind
from app.core.models import Account, Action, Event, Note, Panel, PanelRoll, PanelSeat, Profile
from app.core.notes import ratings
from app.core.panels import doubts, draw, results, tending
from app.core.panels.doubts import chance_of, most_within
from app.core.panels.draw import Side
from app.core.permissions import SYSTEM
from app.core.upkeep import erasure, mail_texts
from app.core.vocabulary import ActionState, Digest, SeatState
from app.core.webhooks import payloads
from app.jobs import communities as jobs
from app.wiring import Wiring
from tests import factories
from tests.camps import camps, refit
from tests.cast import COMMUNITY, PLATFORM, Cast
from tests.panels import LEVELS, register, seated, set_up, settle_in, settle_in_on_platform

ALL = [(uuid.UUID(int=number * 7919 + 1), Side.ONE if number % 4 else Side.OTHER) for number in range(400)]


def test_each_person_of_a_side_is_as_likely_and_both_sides_get_as_many_seats() -> None:
    raters = draw.written(ALL)
    drawn: Counter[uuid.UUID] = Counter()
    for number in range(500):
        found = draw.order(number.to_bytes(32, "big"), raters)
        left = {side: list(people) for side, people in found.sides.items()}
        seats: Counter[Side] = Counter()
        for _ in range(12):
            side = draw.next_side(left, seats, number.to_bytes(32, "big"))
            assert side is not None
            drawn[left[side].pop(0)] += 1
            seats[side] += 1
        assert seats == {Side.ONE: 6, Side.OTHER: 6}
    # 500 draws of 6 from 300 and from 100: 10 and 30 each, with a standard deviation of 3.1 and 5.3.
    of_side = {side: [drawn[person] for person, own in ALL if own is side] for side in (Side.ONE, Side.OTHER)}
    assert min(of_side[Side.ONE]) >= 0
    assert max(of_side[Side.ONE]) < 25
    assert min(of_side[Side.OTHER]) > 8
    assert max(of_side[Side.OTHER]) < 56


def test_the_first_of_many_people_are_those_of_the_whole_order() -> None:
    # More than are encrypted at a time, and a side of few.
    many = [
        (uuid.UUID(int=number * 7919 + 1), (Side.OTHER, Side.UNKNOWN, Side.ONE)[min(number % 100, 2)])
        for number in range(6_000)
    ]
    raters = draw.written(many)
    for seed in (b"a" * 32, b"b" * 32):
        whole, found = draw.order(seed, raters, first=None), draw.order(seed, raters)
        assert (whole.is_all, found.is_all) == (True, False)
        assert found.sides == {side: people[: draw.AT_FIRST] for side, people in whole.sides.items()}
        assert {side: len(people) for side, people in whole.sides.items()} == Counter(
            side for _, side in many
        )
        places = draw.places(seed, b"".join(person.bytes for person, _ in many)).tolist()
        by_place = [one for _, one in sorted(zip(places, many, strict=True))]
        assert [person for person, side in by_place if side is Side.ONE] == whole.sides[Side.ONE]


def test_a_place_depends_on_the_seed_and_the_person_alone() -> None:
    seed, other = b"a" * 32, b"b" * 32
    whole = draw.order(seed, draw.written(ALL), first=None).sides[Side.ONE]
    fewer = draw.order(seed, draw.written(ALL[::2]), first=None).sides[Side.ONE]
    assert [person for person in whole if person in set(fewer)] == list(fewer)
    assert list(draw.order(seed, draw.written(ALL)).sides[Side.ONE]) == list(whole[: draw.AT_FIRST])
    assert list(draw.order(other, draw.written(ALL), first=None).sides[Side.ONE]) != list(whole)
    found = draw.order(seed, draw.written(ALL))
    assert draw.unpacked(draw.packed(found)) == found
    assert draw.digest(draw.written(reversed(ALL))) == draw.digest(draw.written(ALL))


def test_people_of_an_unknown_side_come_last_and_one_side_alone_is_none() -> None:
    unknown = uuid.UUID(int=1)
    left = {Side.ONE: [], Side.OTHER: [uuid.UUID(int=2)], Side.UNKNOWN: [unknown]}
    assert draw.next_side(left, {}, b"0" * 32) is Side.OTHER
    assert draw.next_side(left | {Side.OTHER: []}, {}, b"0" * 32) is Side.UNKNOWN
    found = draw.order(b"a" * 32, draw.written([(unknown, Side.ONE)]))
    assert found.sides == {Side.ONE: [], Side.OTHER: [], Side.UNKNOWN: [unknown]}


@pytest.mark.parametrize(
    ("count", "total", "share", "is_doubtful"),
    [(5, 10, 0.5, False), (8, 10, 0.5, False), (10, 10, 0.5, True), (0, 8, 0.5, True), (9, 10, 0.8, False)],
)
def test_a_share_that_chance_would_not_give_is_a_reason(
    count: int, total: int, share: float, is_doubtful: bool
) -> None:
    assert (chance_of(count, total, share) < 0.01) is is_doubtful


def test_people_who_arrived_together_are_found() -> None:
    start = clock.now()
    moments = [start + timedelta(hours=hours) for hours in (0, 30, 31, 40, 52, 200)]
    assert most_within(moments, timedelta(hours=24)) == (4, moments[1])
    assert most_within([], timedelta(hours=24)) == (0, None)


def _drawn(wiring: Wiring, cast: Cast, **settings: int) -> uuid.UUID:
    set_up(wiring, cast, who_decides="panel", **settings)
    action_id = factories.scored_action(wiring, cast)
    jobs.sweep_panels(wiring.database)
    return action_id


def test_after_the_end_the_draw_can_be_repeated_and_an_altered_one_is_found(
    wiring: Wiring, cast: Cast
) -> None:
    settle_in(wiring, cast, 20)
    action_id = _drawn(wiring, cast)
    with wiring.database.reading() as session, pytest.raises(Conflict):
        results.repeat(session, action_id)
    with wiring.database.writing() as session:
        session.execute(
            sa.update(Panel).values(opened_at=clock.now() - timedelta(days=8), due_at=clock.now())
        )
    jobs.sweep_panels(wiring.database)
    with wiring.database.reading() as session:
        repeated = results.repeat(session, action_id)
    assert (repeated.eligible, repeated.asked, repeated.faults) == (20, 12, ())
    with wiring.database.writing() as session:
        first = session.scalars(sa.select(PanelSeat).order_by(PanelSeat.number)).first()
        assert first is not None
        first.number = 100
    with wiring.database.reading() as session:
        assert results.repeat(session, action_id).faults == (
            "People were not drawn in the order that the seed gives.",
        )
    with wiring.database.writing() as session:
        session.execute(sa.update(Panel).values(seed=b"x" * 32))
    with wiring.database.reading() as session:
        assert "The seed is not the one that history promised." in results.repeat(session, action_id).faults


def test_the_platform_hears_of_its_users_only_where_a_webhook_names_the_event(
    wiring: Wiring, cast: Cast
) -> None:
    names = settle_in_on_platform(wiring, cast, 20)
    register(wiring, cast, "http://127.0.0.1/all", None)
    action_id = _drawn(wiring, cast)
    assert seated(wiring, action_id) == [], "nobody can be reached"
    register(wiring, cast, "http://127.0.0.1/drawn", ["panel.drawn"])
    later = clock.now() + timedelta(hours=2)
    clock.set_source(lambda: later)
    other_id = factories.scored_action(wiring, cast, request_id="post-2")
    jobs.sweep_panels(wiring.database)
    with wiring.database.reading() as session:
        event = session.scalars(sa.select(Event).where(Event.name == "panel.drawn")).one()
        drawn = session.scalars(
            sa.select(Profile.platform_user_id).where(Profile.id.in_(seated(wiring, other_id)))
        ).all()
        action = session.get_one(Action, other_id)
    data = event.payload["data"]
    assert set(data) == {"request_id", "note_id", "community_server_id", "rater_ids", "expires_at"}
    assert data["request_id"] == str(action.request_id)
    assert data["note_id"] == str(action.note_id)
    assert len(data["rater_ids"]) == 12
    assert set(data["rater_ids"]) == set(drawn) <= set(names)
    assert not set(drawn) & set(str(payloads.veiled(event.payload)).split("'"))


def test_an_erased_person_gives_the_seat_up_and_the_next_is_drawn(wiring: Wiring, cast: Cast) -> None:
    settle_in(wiring, cast, 20)
    action_id = _drawn(wiring, cast)
    gone = seated(wiring, action_id)[3]
    with wiring.database.writing() as session:
        account_id = session.get_one(Profile, gone).account_id
        assert account_id is not None
        erased = erasure.erase_account(session, SYSTEM, account_id)
    assert erased.gone["open seats"] == 1
    jobs.sweep_panels(wiring.database)
    assert len(seated(wiring, action_id)) == 12
    assert seated(wiring, action_id, SeatState.LAPSED) == [gone]


def test_a_digest_names_seats_in_its_text_and_nowhere_else(wiring: Wiring, cast: Cast) -> None:
    settle_in(wiring, cast, 20)
    holder = seated(wiring, _drawn(wiring, cast))[0]
    with wiring.database.writing() as session:
        account_id = session.get_one(Profile, holder).account_id
        session.get_one(Account, account_id).digest = Digest.DAILY
        links = mail_texts.MailLinks("https://example.org", b"key")
        message = mail_texts.write(session, links, Kind.DIGEST, account_id=account_id)
    assert message is not None
    assert "You were drawn to decide some of them" in message.text
    assert "Harbour forum: 1" in message.text
    assert "drawn" not in message.subject + str(message.headers)


def test_three_months_after_its_end_only_the_counts_of_a_panel_are_kept(wiring: Wiring, cast: Cast) -> None:
    settle_in(wiring, cast, 20)
    action_id = _drawn(wiring, cast)
    with wiring.database.writing() as session:
        tending.prune(session)
    assert len(seated(wiring, action_id)) == 12, "an open panel keeps its seats"
    with wiring.database.writing() as session:
        session.execute(sa.update(Panel).values(ended_at=clock.now() - timedelta(days=91)))
        session.execute(sa.update(PanelRoll).values(made_at=clock.now() - timedelta(days=91)))
        tending.prune(session)
    with wiring.database.reading() as session:
        kept = [
            session.scalar(sa.select(sa.func.count()).select_from(kind))
            for kind in (Panel, PanelSeat, PanelRoll)
        ]
        assert kept == [1, 0, 0]
        with pytest.raises(Conflict):
            results.repeat(session, action_id)


@pytest.mark.both_databases
def test_where_viewpoints_are_known_both_sides_sit_and_a_crowd_of_one_side_is_doubted(
    wiring: Wiring, cast: Cast
) -> None:
    made = camps(wiring, cast)
    refit(wiring, cast)
    with wiring.database.writing() as session:
        # They come from the community's own platform, so that they can be reached.
        session.execute(
            sa.update(Profile)
            .where(Profile.id.in_(made.raters))
            .values(platform=PLATFORM, provider_scope=COMMUNITY)
        )
    register(wiring, cast, "http://127.0.0.1/drawn", ["panel.drawn"])
    # More than just enough: who is drawn decides how many agreeing answers it takes.
    action_id = _drawn(wiring, cast, panel_seats=10)
    seats = seated(wiring, action_id)
    first = [person for person in seats if person in made.first]
    assert (len(first), len(seats)) == (5, 10)
    set_up(wiring, cast)
    crowd = [person for person in made.first if person not in seats]
    _rate(wiring, cast, action_id, crowd, "N" * len(crowd))
    reason = _doubt(wiring, action_id)
    assert reason is not None
    assert "known viewpoint are of one side" in reason
    second = [person for person in seats if person not in first]
    mixed = [person for pair in zip(first, second, strict=True) for person in pair]
    _rate(wiring, cast, action_id, mixed, "H" * len(mixed))
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).action_state is ActionState.PROPOSED
    newer = [*made.first[:3], *made.second[:3]]
    with wiring.database.writing() as session:
        session.execute(
            sa.update(Profile)
            .where(Profile.id.in_(newer))
            .values(created_at=clock.now() - timedelta(days=10))
        )
    other_id = factories.scored_action(wiring, cast, request_id="post-2")
    _rate(wiring, cast, other_id, newer, "HNHNHN")
    assert _doubt(wiring, other_id) == "6 of the 6 raters were first seen within 24 hours."


def _doubt(wiring: Wiring, action_id: uuid.UUID) -> str | None:
    with wiring.database.reading() as session:
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        return doubts.find(session, note, note_scores.read(session, note))


def _rate(wiring: Wiring, cast: Cast, action_id: uuid.UUID, people: list[uuid.UUID], levels: str) -> None:
    """Rate for users of the platform, until the panel has decided."""
    for profile_id, letter in zip(people, levels, strict=True):
        with wiring.database.writing() as session:
            action = session.get_one(Action, action_id)
            note, rater = session.get_one(Note, action.note_id), session.get_one(Profile, profile_id)
            who = factories.integration(cast, staff=False, profile_id=profile_id)
            ratings.rate(session, who, note, rater, LEVELS[letter])
