"""Webhooks and deliveries: registered, rotated, claimed by lease, retried, given up on, sent again."""

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result
from sqlalchemy import event as sa_event
from sqlalchemy.orm import Session

from app.commands.main import cli
from app.core import clock
from app.core.communities import communities
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.history import chain as history
from app.core.models import Attempt, Community, Delivery, Event, FormerSecret, HistoryEntry, Webhook
from app.core.paging import Slice
from app.core.people import accounts
from app.core.permissions import SYSTEM, Actor
from app.core.vocabulary import DeliveryState, EventName
from app.core.webhooks import deliveries, events, payloads, queue, replays, signing
from app.core.webhooks import registrations as webhooks
from app.core.webhooks.deliveries import Filters
from app.core.webhooks.sending import Outcome, Slots
from app.process import runtime
from app.wiring import Wiring
from tests import clocks, factories
from tests.cast import COMMUNITY, PLATFORM, Cast, Person

pytestmark = pytest.mark.both_databases

URL = "https://hooks.example.org/bridgenote"
SECRET = "first secret of the forum"
NEWER = "second secret of the forum"
DELAYS = (10.0, 30.0)
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.moment = START

    def __call__(self) -> datetime:
        return self.moment

    def move(self, **how: float) -> datetime:
        self.moment += timedelta(**how)
        return self.moment


@pytest.fixture
def held_clock() -> Iterator[Clock]:
    held = Clock()
    clock.set_source(held)
    yield held
    clock.set_source(None)


@pytest.fixture
def desk(held_clock: Clock, wiring: Wiring, cast: Cast) -> "Desk":
    return Desk(wiring, cast)


def answered(status: int, retry_after: int | None = None) -> Outcome:
    return Outcome(status, 12, "thank you", None, retry_after)


TIMED_OUT = Outcome(None, 5000, "", "timeout after 5 s")


class Desk:
    """The verbs, each in a transaction of its own, by default as the operator of the cast's community."""

    def __init__(self, wiring: Wiring, cast: Cast) -> None:
        self.wiring, self.cast = wiring, cast
        self.operator = self.actor(cast.operator)

    def actor(self, person: Person) -> Actor:
        with self.wiring.database.writing() as session:
            return accounts.actor_for(accounts.get(session, person.account_id))

    def write(self, work: Callable[[Session], object]) -> object:
        with self.wiring.database.writing() as session:
            return work(session)

    def register(
        self,
        url: str = URL,
        secret: str = SECRET,
        names: list[str] | None = None,
        actor: Actor | None = None,
        community_id: uuid.UUID | None = None,
    ) -> tuple[Webhook, bool]:
        with self.wiring.database.writing() as session:
            community = session.get_one(Community, community_id or self.cast.community_id)
            who = actor or self.operator
            return webhooks.register(
                session, who, self.wiring.sealer, self.wiring.allow, community, url, secret, names
            )

    def change(self, webhook: Webhook, **what: object) -> Webhook:
        with self.wiring.database.writing() as session:
            return webhooks.change(
                session,
                self.operator,
                self.wiring.sealer,
                self.wiring.allow,
                webhook.id,
                **what,  # type: ignore[arg-type]
            )

    def tell(self, webhook: Webhook, count: int = 1, name: EventName = EventName.TEST) -> list[uuid.UUID]:
        """So many events for this webhook: the ids of their deliveries."""
        with self.wiring.database.writing() as session:
            mine = session.get_one(Webhook, webhook.id)
            told = [events.emit_test(session, mine) for _ in range(count)]
            for one in told:
                one.name = name
            session.flush()
            ids = [one.id for one in told]
            made = session.scalars(
                sa.select(Delivery).where(Delivery.event_id.in_(ids)).order_by(Delivery.id)
            ).all()
            for delivery in made:
                delivery.event_name = name
            return [delivery.id for delivery in made]

    def claim(
        self,
        owner: str = "one",
        busy: dict[Webhook, int] | None = None,
        hanging: frozenset[uuid.UUID] = frozenset(),
        **how: object,
    ) -> list[queue.Claimed]:
        slots = Slots(hanging=hanging)
        for webhook, count in (busy or {}).items():
            slots.take(webhook.id, webhook.community_id, webhook.url, count)
        with self.wiring.database.writing() as session:
            return queue.claim_due(
                session,
                self.wiring.sealer,
                owner,
                clock.now(),
                slots,
                **how,  # type: ignore[arg-type]
            )

    def record(self, delivery_id: uuid.UUID, outcome: Outcome, owner: str = "one") -> Delivery:
        with self.wiring.database.writing() as session:
            queue.record_attempt(session, delivery_id, owner, outcome, clock.now(), DELAYS)
        return self.delivery(delivery_id)

    def attempt(self, outcome: Outcome) -> list[Delivery]:
        """Claim whatever is due and let it end so."""
        return [self.record(one.delivery_id, outcome) for one in self.claim()]

    def delivery(self, delivery_id: uuid.UUID) -> Delivery:
        with self.wiring.database.reading() as session:
            return session.get_one(Delivery, delivery_id)

    def webhook(self, webhook: Webhook) -> Webhook:
        with self.wiring.database.reading() as session:
            return session.get_one(Webhook, webhook.id)

    def attempts(self, delivery_id: uuid.UUID) -> list[Attempt]:
        with self.wiring.database.reading() as session:
            return list(deliveries.attempts_of(session, session.get_one(Delivery, delivery_id)))

    def history(self, prefix: str) -> list[HistoryEntry]:
        with self.wiring.database.reading() as session:
            return list(
                session.scalars(
                    sa.select(HistoryEntry)
                    .where(HistoryEntry.what.startswith(prefix))
                    .order_by(HistoryEntry.number)
                )
            )

    def secrets(self, webhook: Webhook) -> list[str]:
        with self.wiring.database.reading() as session:
            return signing.live_secrets(session, self.webhook(webhook), self.wiring.sealer, clock.now())


# Registration


def test_a_secret_is_sealed_and_nowhere_in_history(desk: Desk) -> None:
    webhook, made = desk.register(f"{URL}?token=receiver-token", names=["moderation.decision"])
    assert made
    assert webhook.events == ["moderation.decision"]
    assert SECRET.encode() not in webhook.secret
    assert desk.secrets(webhook) == [SECRET]
    (entry,) = desk.history("webhook.")
    assert (entry.what, entry.after["url"], entry.object_id) == ("webhook.registered", URL, webhook.id)
    with desk.wiring.database.reading() as session:
        assert history.verify(session, desk.cast.community_id)[1] is None


def test_the_same_url_again_updates_and_the_old_secret_signs_for_a_day(desk: Desk, held_clock: Clock) -> None:
    first, _ = desk.register(names=["moderation.decision"])
    desk.change(first, is_active=False)
    again, made = desk.register(secret=NEWER)
    assert not made
    assert again.id == first.id
    assert (again.events, again.is_active, again.disabled_reason) == (None, True, None)
    assert desk.secrets(first) == [NEWER, SECRET]
    held_clock.move(hours=23, minutes=59)
    assert desk.secrets(first) == [NEWER, SECRET]
    held_clock.move(minutes=1)
    assert desk.secrets(first) == [NEWER]
    assert desk.history("webhook.changed")[-1].after["secret"] == "changed"


def test_the_same_secret_again_starts_no_rotation(desk: Desk) -> None:
    webhook, _ = desk.register()
    desk.register()
    assert desk.secrets(webhook) == [SECRET]
    assert desk.history("webhook.changed") == []


def test_during_a_rotation_the_standard_header_lists_both_and_the_body_the_new_one(desk: Desk) -> None:
    webhook, _ = desk.register()
    desk.change(webhook, secret=NEWER)
    desk.tell(webhook)
    (claimed,) = desk.claim()
    assert claimed.secrets == (NEWER, SECRET)
    assert SECRET not in repr(claimed)
    stamp = int(START.timestamp())
    body = signing.sign_body(claimed.payload, claimed.secrets[0], stamp)
    headers = signing.headers_for(body, str(claimed.event_id), claimed.event_name, claimed.secrets, stamp)
    assert signing.verify_body(body, NEWER, stamp)["event_id"] == str(claimed.event_id)
    old_alone = signing.headers_for(body, str(claimed.event_id), claimed.event_name, [SECRET], stamp)
    signatures = headers["webhook-signature"].split()
    assert len(signatures) == 2
    assert signatures[1] == old_alone["webhook-signature"]


def test_each_replaced_secret_signs_for_24_hours_of_its_own(desk: Desk) -> None:
    webhook, _ = desk.register()
    clocks.advance(hours=1)
    desk.change(webhook, secret=NEWER)
    clocks.advance(hours=1)
    desk.change(webhook, secret="the third secret")
    clocks.advance(hours=1)
    desk.change(webhook, secret=SECRET)
    assert desk.secrets(webhook) == [SECRET, "the third secret", NEWER]
    clocks.advance(hours=22)
    assert desk.secrets(webhook) == [SECRET, "the third secret", NEWER]
    clocks.advance(hours=1)
    assert desk.secrets(webhook) == [SECRET, "the third secret"]
    desk.change(webhook, secret="the fifth secret")
    assert desk.secrets(webhook) == ["the fifth secret", SECRET, "the third secret"]
    clocks.advance(hours=24)
    assert desk.secrets(webhook) == ["the fifth secret"]


def test_the_secrets_that_were_replaced_can_be_ended_at_once(desk: Desk) -> None:
    webhook, _ = desk.register()
    desk.change(webhook, secret=NEWER)
    desk.change(webhook, secret="the third secret")
    desk.change(webhook, end_former=True)
    assert desk.secrets(webhook) == ["the third secret"]
    assert desk.history("webhook.changed")[-1].after == {"former_secrets": "ended"}
    with desk.wiring.database.reading() as session:
        assert session.scalars(sa.select(FormerSecret)).all() == []
    desk.change(webhook, end_former=True)
    assert len(desk.history("webhook.changed")) == 3
    desk.change(webhook, secret=SECRET, end_former=True)
    assert desk.secrets(webhook) == [SECRET]


def test_of_many_rotations_at_once_the_newest_secrets_sign(desk: Desk) -> None:
    webhook, _ = desk.register()
    for number in range(9):
        clocks.advance(minutes=1)
        desk.change(webhook, secret=f"secret number {number}")
    assert desk.secrets(webhook) == [f"secret number {number}" for number in (8, 7, 6)]
    with desk.wiring.database.writing() as session:
        webhooks.remove(session, SYSTEM, webhook.id)
        assert session.scalars(sa.select(FormerSecret)).all() == []


BAD_VALUES: list[tuple[str, dict[str, Any]]] = [
    ("url", {"url": "http://hooks.example.org/"}),
    ("url", {"url": "https://10.0.0.1/"}),
    ("url", {"url": "https://me:word@hooks.example.org/"}),
    ("secret", {"secret": "seven77"}),
    ("secret", {"secret": "x" * 501}),
    ("secret", {"secret": " " * 10}),
    ("secret", {"secret": "nul \x00 inside"}),
    ("secret", {"secret": "whsec_ this is no base64"}),
    ("secret", {"secret": "v1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}),
    ("secret", {"secret": " V1,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}),
    ("secret", {"secret": "v1, whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}),
    ("secret", {"secret": "v1a,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}),
    ("secret", {"secret": "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}),
    ("secret", {"secret": '"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"'}),
    ("secret", {"secret": "SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}),
    ("secret", {"secret": " whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}),
    ("secret", {"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"}),
    ("secret", {"secret": "whsec_dHdlbnR5LXRocmVlIGJ5dGVzIGFyZQ=="}),
    ("events", {"names": []}),
    ("events", {"names": ["moderation.decision", "moderation.decided"]}),
]


def test_bad_values_are_refused_by_field_and_a_secret_is_never_repeated(desk: Desk) -> None:
    for field, what in BAD_VALUES:
        with pytest.raises(Invalid) as refusal:
            desk.register(**what)
        (problem,) = refusal.value.problems
        assert problem.loc[0] == field, what
        if field == "secret":
            assert problem.input is None
            assert what["secret"] not in str(refusal.value)
        if what.get("names"):
            assert problem.loc == ("events", 1)
    with desk.wiring.database.reading() as session:
        assert listed(session, desk.operator) == []


def listed(session: Session, actor: Actor) -> list[Webhook]:
    return list(session.scalars(webhooks.visible_statement(actor)))


def test_secrets_of_8_to_500_characters_are_kept_as_given(desk: Desk) -> None:
    for secret in ("8 chars!", "x" * 500, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "päßwörter"):
        assert desk.secrets(desk.register(secret=secret)[0])[0] == secret


def test_equal_registrations_at_once_make_one_webhook(desk: Desk) -> None:
    results: list[tuple[Webhook, bool]] = []
    gate = threading.Barrier(6)

    def run() -> None:
        gate.wait()
        results.append(desk.register())

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [made for _, made in results].count(True) == 1
    assert len({webhook.id for webhook, _ in results}) == 1


def test_who_may_manage_webhooks(desk: Desk) -> None:
    cast = desk.cast
    webhook, _ = desk.register()
    adapter = Actor(kind="key", name="adapter", communities=frozenset({cast.community_id}))
    assert desk.register(actor=adapter)[1] is False
    reader = Actor(kind="key", name="reader", communities=frozenset({cast.community_id}), read_only=True)
    for forbidden in (desk.actor(cast.moderator), desk.actor(cast.rater), reader):
        with pytest.raises(Forbidden):
            desk.register(actor=forbidden)
    for forbidden in (desk.actor(cast.moderator), desk.actor(cast.rater)):
        with pytest.raises(Forbidden), desk.wiring.database.reading() as session:
            listed(session, forbidden)
    stranger = Actor(kind="key", name="other", communities=frozenset({cast.other_community_id}))
    with pytest.raises(NotFound):
        desk.register(actor=stranger)
    with desk.wiring.database.writing() as session:
        assert [one.id for one in listed(session, SYSTEM)] == [webhook.id]
        for key in (adapter, reader):
            assert [one.id for one in listed(session, key)] == [webhook.id]
        assert listed(session, stranger) == []
        for verb in (webhooks.get, webhooks.remove, webhooks.send_test):
            with pytest.raises(NotFound):
                verb(session, stranger, webhook.id)


def test_changes_are_recorded_and_a_url_taken_by_another_is_a_conflict(desk: Desk) -> None:
    first, _ = desk.register()
    second, _ = desk.register(URL + "/2")
    with pytest.raises(Conflict):
        desk.change(second, url=URL)
    moved = desk.change(second, url=URL + "/3", event_names=["note.status_changed"])
    assert (moved.url, moved.events) == (URL + "/3", ["note.status_changed"])
    assert desk.change(second, event_names=None).events is None
    desk.change(first)
    changed = [entry for entry in desk.history("webhook.changed") if entry.object_id == second.id]
    assert [set(entry.after) for entry in changed] == [{"url", "events"}, {"events"}]
    assert len(desk.history("webhook.changed")) == len(changed)


def test_a_removed_webhook_cancels_what_was_due_forgets_its_secrets_and_can_come_back(desk: Desk) -> None:
    webhook, _ = desk.register()
    (sent,) = desk.tell(webhook)
    desk.attempt(answered(200))
    (due,) = desk.tell(webhook)
    desk.write(lambda session: webhooks.remove(session, desk.operator, webhook.id))
    assert desk.delivery(due).state is DeliveryState.CANCELLED
    assert desk.delivery(sent).state is DeliveryState.DELIVERED
    assert desk.webhook(webhook).secret == b""
    assert desk.claim() == []
    with pytest.raises(NotFound), desk.wiring.database.reading() as session:
        webhooks.get(session, desk.operator, webhook.id)
    with pytest.raises(Conflict):
        desk.write(lambda session: deliveries.replay(session, desk.operator, sent))
    again, made = desk.register()
    assert made
    assert again.id != webhook.id


def test_what_fails_in_flight_while_its_webhook_is_removed_is_cancelled(desk: Desk) -> None:
    webhook, _ = desk.register()
    (delivery_id,) = desk.tell(webhook)
    desk.claim()
    desk.write(lambda session: webhooks.remove(session, desk.operator, webhook.id))
    assert desk.record(delivery_id, answered(503)).state is DeliveryState.CANCELLED


def test_a_test_event_goes_to_one_webhook_whatever_it_subscribes_to(desk: Desk) -> None:
    webhook, _ = desk.register(names=["note.status_changed"])
    desk.register(URL + "/other")
    desk.write(lambda session: webhooks.send_test(session, desk.operator, webhook.id))
    (claimed,) = desk.claim()
    assert (claimed.event_name, claimed.url) == (EventName.TEST, URL)
    assert len(desk.history("webhook.tested")) == 1
    desk.change(webhook, is_active=False)
    with pytest.raises(Conflict):
        desk.write(lambda session: webhooks.send_test(session, desk.operator, webhook.id))


# The queue


def test_a_claim_carries_all_that_the_call_needs(desk: Desk) -> None:
    webhook, _ = desk.register()
    (test,) = desk.tell(webhook)
    (decision,) = desk.tell(webhook, name=EventName.DECISION)
    claimed = {one.delivery_id: one for one in desk.claim()}
    assert claimed[test].deadline == 10.0
    assert claimed[decision].deadline == 5.0
    assert claimed[test].payload["event_id"] == str(claimed[test].event_id)
    assert (claimed[test].url, claimed[test].secrets, claimed[test].attempts_made) == (URL, (SECRET,), 0)
    assert claimed[test].webhook_id == webhook.id


def test_a_lease_keeps_others_away_until_it_ends(desk: Desk, held_clock: Clock) -> None:
    webhook, _ = desk.register()
    desk.tell(webhook)
    assert len(desk.claim("one", lease_seconds=20)) == 1
    held_clock.move(seconds=19)
    assert desk.claim("two") == []
    held_clock.move(seconds=1)
    assert len(desk.claim("two")) == 1


def test_a_failure_after_the_lease_was_lost_is_logged_and_moves_nothing(
    desk: Desk, held_clock: Clock
) -> None:
    webhook, _ = desk.register()
    (delivery_id,) = desk.tell(webhook)
    desk.claim("one")
    held_clock.move(minutes=1)
    desk.claim("two")
    late = desk.record(delivery_id, answered(404), "one")
    assert (late.state, late.leased_by, late.attempts_made) == (DeliveryState.DUE, "two", 0)
    assert [one.status for one in desk.attempts(delivery_id)] == [404]
    assert desk.record(delivery_id, answered(500), "two").attempts_made == 1


def test_a_success_counts_whoever_holds_the_lease_and_no_failure_undoes_it(
    desk: Desk, held_clock: Clock
) -> None:
    webhook, _ = desk.register()
    (delivery_id,) = desk.tell(webhook)
    desk.claim("one")
    held_clock.move(minutes=1)
    desk.claim("two")
    assert desk.record(delivery_id, answered(200), "one").state is DeliveryState.DELIVERED
    after = desk.record(delivery_id, answered(500), "two")
    assert (after.state, after.due_at) == (DeliveryState.DELIVERED, None)
    assert [one.status for one in desk.attempts(delivery_id)] == [200, 500]


def test_claimers_at_once_never_get_the_same_row(wiring: Wiring, cast: Cast) -> None:
    desk = Desk(wiring, cast)
    for number in range(3):
        desk.tell(desk.register(f"{URL}/{number}")[0], 20)
    got: list[uuid.UUID] = []

    def run(owner: str) -> None:
        empty = 0
        while empty < 3:
            mine = desk.claim(owner, limit=4)
            got.extend(one.delivery_id for one in mine)
            empty = 0 if mine else empty + 1

    threads = [threading.Thread(target=run, args=(f"claimer-{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == len(set(got)) == 60


def test_slots_are_shared_evenly_and_a_backlog_never_crowds_out_a_newcomer(desk: Desk) -> None:
    crowded, _ = desk.register(URL + "/crowded")
    desk.tell(crowded, 40)
    quiet, _ = desk.register(URL + "/quiet")
    desk.tell(quiet, 2)
    first = desk.claim(limit=8)
    assert [one.webhook_id for one in first].count(quiet.id) == 2
    assert len(first) == 8
    desk.tell(quiet)
    (next_one,) = desk.claim(limit=1, busy={crowded: 6})
    assert next_one.webhook_id == quiet.id


def test_an_webhook_has_sixteen_slots_and_a_hanging_one_has_one(desk: Desk) -> None:
    webhook, _ = desk.register()
    desk.tell(webhook, 30)
    assert len(desk.claim(busy={webhook: 1}, hanging=frozenset({webhook.id}))) == 0
    assert len(desk.claim(hanging=frozenset({webhook.id}))) == 1
    assert len(desk.claim(busy={webhook: 10})) == 6
    assert len(desk.claim()) == 16


def test_a_community_and_a_host_take_more_only_while_they_hold_fewer_than_are_free() -> None:
    def hook(community_id: uuid.UUID, host: str) -> Webhook:
        return Webhook(id=uuid.uuid4(), community_id=community_id, url=f"https://{host}/hooks")

    first, second, third = (uuid.uuid4() for _ in range(3))
    slots = Slots(per_webhook=1_000)
    assert slots.room(hook(first, "one.example.org")) == 128
    slots.take(uuid.uuid4(), first, "https://one.example.org:8443/hooks", 86)
    slots.take(uuid.uuid4(), second, "https://two.example.org/hooks", 86)
    assert slots.room(hook(first, "three.example.org")) == 0
    assert slots.room(hook(third, "TWO.example.org")) == 0
    assert slots.room(hook(third, "three.example.org")) == 42
    assert slots.full_communities() == [first, second]


def test_a_secret_that_no_longer_opens_is_claimed_without_one(desk: Desk) -> None:
    webhook, _ = desk.register()
    desk.tell(webhook)
    with desk.wiring.database.writing() as session:
        session.get_one(Webhook, webhook.id).secret = b"\x01" + bytes(60)
    assert [one.secrets for one in desk.claim()] == [()]


# What follows from an attempt


def test_a_delivery_is_retried_on_schedule_and_dead_after_the_last_attempt(
    desk: Desk, held_clock: Clock
) -> None:
    webhook, _ = desk.register()
    (delivery_id,) = desk.tell(webhook)
    for attempt, delay in enumerate(DELAYS, start=1):
        (claimed,) = desk.claim()
        held_clock.move(seconds=2)
        after = desk.record(claimed.delivery_id, answered(503))
        assert after.attempts_made == attempt
        assert after.due_at is not None
        wait = (after.due_at - clock.now()).total_seconds()
        assert delay <= wait <= delay * 1.05
        held_clock.move(seconds=delay - 0.1)
        assert desk.claim() == []
        held_clock.move(seconds=delay * 0.05 + 0.2)
    (last,) = desk.attempt(TIMED_OUT)
    assert (last.state, last.due_at, last.attempts_made) == (DeliveryState.DEAD, None, 3)
    logged = desk.attempts(delivery_id)
    assert [(one.status, one.error) for one in logged] == [
        (503, None),
        (503, None),
        (None, "timeout after 5 s"),
    ]
    assert (logged[0].milliseconds, logged[0].excerpt) == (12, "thank you")
    assert logged[0].at == START + timedelta(seconds=2, milliseconds=-12)


def test_the_longer_of_our_delay_and_retry_after_holds_up_to_ten_minutes(desk: Desk) -> None:
    webhook, _ = desk.register()
    for asked, least, most in ((5, 10, 10.5), (60, 60, 60), (600, 600, 600), (9999, 600, 600)):
        desk.tell(webhook)
        (after,) = desk.attempt(answered(429, retry_after=asked))
        assert after.due_at is not None
        assert least <= (after.due_at - START).total_seconds() <= most


WHAT_AN_ANSWER_DOES = [
    (answered(200), DeliveryState.DELIVERED),
    (answered(204), DeliveryState.DELIVERED),
    (answered(302), DeliveryState.DUE),
    (answered(400), DeliveryState.DEAD),
    (answered(404), DeliveryState.DEAD),
    (answered(410), DeliveryState.DEAD),
    (answered(429), DeliveryState.DUE),
    (answered(500), DeliveryState.DUE),
    (TIMED_OUT, DeliveryState.DUE),
    (Outcome(None, 3, "", "connection refused"), DeliveryState.DUE),
    (Outcome(None, 0, "", "bad address: it must start with https://"), DeliveryState.DEAD),
    (Outcome(None, 0, "", "broken answer: " + "é" * 280), DeliveryState.DUE),
]


def test_a_delivery_arrives_waits_or_dies_by_its_answer(desk: Desk) -> None:
    webhook, _ = desk.register()
    for outcome, state in WHAT_AN_ANSWER_DOES:
        desk.tell(webhook)
        (after,) = desk.attempt(outcome)
        assert after.state is state, outcome
        assert (after.leased_by, after.leased_until) == (None, None)
        assert (after.delivered_at is not None) == (state is DeliveryState.DELIVERED)


def test_401_and_403_are_tried_again_while_a_replaced_secret_signs(desk: Desk, held_clock: Clock) -> None:
    webhook, _ = desk.register()

    def ends(status: int) -> list[DeliveryState]:
        desk.tell(webhook)
        return [delivery.state for delivery in desk.attempt(answered(status))]

    assert [ends(401), ends(403)] == [[DeliveryState.DEAD]] * 2
    desk.change(webhook, secret=NEWER)
    assert [ends(400), ends(404)] == [[DeliveryState.DEAD]] * 2
    (refused,) = desk.tell(webhook)
    for status, after in ((401, DeliveryState.DUE), (403, DeliveryState.DUE), (401, DeliveryState.DEAD)):
        assert [one.state for one in desk.attempt(answered(status))] == [after]
        held_clock.move(seconds=40)
    assert len(desk.attempts(refused)) == 3
    held_clock.move(hours=24)
    assert ends(401) == [DeliveryState.DEAD]
    desk.change(webhook, secret=SECRET)
    desk.change(webhook, end_former=True)
    assert ends(403) == [DeliveryState.DEAD]


def test_three_410s_in_a_row_disable_the_webhook_and_enabling_it_forgets_them(desk: Desk) -> None:
    webhook, _ = desk.register()
    for status in (410, 410, 200, 410, 410, 404, 410, 410):
        desk.tell(webhook)
        desk.attempt(answered(status))
    assert desk.webhook(webhook).is_active
    desk.tell(webhook)
    desk.attempt(answered(410))
    off = desk.webhook(webhook)
    assert not off.is_active
    assert "410" in (off.disabled_reason or "")
    (entry,) = desk.history("webhook.disabled")
    assert (entry.actor_kind, entry.after["is_active"]) == ("system", False)
    desk.change(webhook, is_active=True)
    desk.tell(webhook)
    desk.attempt(answered(410))
    assert desk.webhook(webhook).is_active


@pytest.mark.parametrize(("failures", "days", "is_active"), [(20, 5, False), (19, 6, True), (30, 4.9, True)])
def test_twenty_failures_and_no_success_for_five_days_disable_the_webhook(
    desk: Desk, held_clock: Clock, failures: int, days: float, is_active: bool
) -> None:
    webhook, _ = desk.register()
    desk.tell(webhook)
    desk.attempt(answered(200))
    for number in range(failures):
        desk.tell(webhook)
        if number == failures - 1:
            held_clock.move(days=days)
        (claimed,) = desk.claim(limit=1)
        desk.record(claimed.delivery_id, answered(404))
    assert desk.webhook(webhook).is_active is is_active


def test_what_is_due_waits_while_its_webhook_is_disabled(desk: Desk, held_clock: Clock) -> None:
    webhook, _ = desk.register()
    (waiting, flying) = desk.tell(webhook, 2)
    claimed = desk.claim(limit=1)[0].delivery_id
    other = waiting if claimed == flying else flying
    desk.change(webhook, is_active=False)
    assert desk.record(claimed, answered(500)).state is DeliveryState.DUE
    held_clock.move(hours=1)
    assert desk.claim() == []
    with desk.wiring.database.reading() as session:
        assert not queue.is_anything_due(session, clock.now())
    desk.change(webhook, is_active=True)
    assert {one.delivery_id for one in desk.claim()} == {claimed, other}


def test_a_batch_is_recorded_like_its_attempts_one_by_one(desk: Desk) -> None:
    good, _ = desk.register(URL + "/good")
    gone, _ = desk.register(URL + "/gone")
    desk.tell(good, 3)
    desk.tell(gone, 4)
    claimed = desk.claim()
    tried = [
        queue.SendResult(one.delivery_id, answered(200 if one.webhook_id == good.id else 410), clock.now())
        for one in claimed
    ]
    unknown = queue.SendResult(uuid.uuid4(), answered(200), clock.now())
    desk.write(lambda session: queue.record_attempts(session, "one", [*tried, unknown], DELAYS))
    assert (desk.webhook(gone).is_active, desk.webhook(gone).failures) == (False, 4)
    assert (desk.webhook(good).failures, desk.webhook(good).last_success_at) == (0, START)
    with desk.wiring.database.reading() as session:
        found = Counter(session.scalars(sa.select(Delivery.state)))
    assert found == {DeliveryState.DELIVERED: 3, DeliveryState.DEAD: 4}


# Sending again, listing, pruning


def test_a_dead_delivery_is_sent_again_with_the_same_event_id_and_fresh_attempts(desk: Desk) -> None:
    webhook, _ = desk.register()
    (delivery_id,) = desk.tell(webhook)
    (dead,) = desk.attempt(answered(404))
    again = desk.write(lambda session: deliveries.replay(session, desk.operator, delivery_id))
    assert isinstance(again, Delivery)
    assert (again.state, again.event_id, again.attempts_made) == (DeliveryState.DUE, dead.event_id, 0)
    with pytest.raises(Conflict):
        desk.write(lambda session: deliveries.replay(session, desk.operator, delivery_id))
    (claimed,) = desk.claim()
    assert claimed.event_id == dead.event_id
    assert desk.record(delivery_id, answered(200)).state is DeliveryState.DELIVERED
    desk.write(lambda session: deliveries.replay(session, desk.operator, delivery_id))
    assert len(desk.attempts(delivery_id)) == 2
    assert len(desk.history("delivery.replayed")) == 2


def test_nobody_else_can_look_into_or_replay_a_delivery(desk: Desk) -> None:
    (delivery_id,) = desk.tell(desk.register()[0])
    desk.attempt(answered(404))
    outsider, moderator = desk.actor(desk.cast.outsider), desk.actor(desk.cast.moderator)
    for verb in (deliveries.get, deliveries.replay):
        with pytest.raises(NotFound), desk.wiring.database.writing() as session:
            verb(session, outsider, delivery_id)
        with pytest.raises(Forbidden), desk.wiring.database.writing() as session:
            verb(session, moderator, delivery_id)


def test_a_range_of_dead_deliveries_is_sent_again(desk: Desk, held_clock: Clock) -> None:
    webhook, _ = desk.register()
    other, _ = desk.register(URL + "/other")
    (before,) = desk.tell(webhook)
    desk.attempt(answered(400))
    since = held_clock.move(minutes=1)
    (first,) = desk.tell(webhook)
    desk.tell(other)
    desk.attempt(answered(400))
    held_clock.move(minutes=1)
    (arrived,) = desk.tell(webhook)
    desk.attempt(answered(200))
    until = held_clock.move(minutes=1)
    desk.tell(webhook)
    desk.attempt(answered(400))

    def replay_range(*states: DeliveryState) -> object:
        return desk.write(
            lambda session: (
                replays.begin(
                    session,
                    desk.operator,
                    desk.cast.community_id,
                    Filters(states=states, webhook_id=webhook.id, since=since, until=until),
                ).sent
            )
        )

    assert replay_range(DeliveryState.DEAD) == 1
    assert [one.delivery_id for one in desk.claim()] == [first]
    desk.record(first, answered(200))
    assert replay_range() == 2
    assert {one.delivery_id for one in desk.claim()} == {first, arrived}
    assert desk.delivery(before).state is DeliveryState.DEAD
    with pytest.raises(Conflict):
        replay_range(DeliveryState.DEAD)
    with pytest.raises(Invalid):
        desk.write(
            lambda session: replays.begin(
                session, desk.operator, desk.cast.community_id, Filters(since=until, until=since)
            )
        )


def test_the_command_line_sends_a_communitys_dead_deliveries_again(
    desk: Desk, held_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.migrate(desk.wiring.settings)
    monkeypatch.setenv("BRIDGENOTE_DATABASE_URL", desk.wiring.settings.database_url)
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(desk.wiring.settings.data_dir))
    (delivery_id,) = desk.tell(desk.register()[0])
    desk.attempt(answered(404))
    held_clock.move(seconds=1)

    def run(community: str, *more: str) -> Result:
        words = ["replay-deliveries", "--platform", PLATFORM, "--community", community, "--state", "dead"]
        return CliRunner().invoke(cli, [*words, *more])

    assert "Can be sent again: 1." in run(COMMUNITY, "--dry-run").output
    assert "not found" in run("nowhere").output
    assert desk.delivery(delivery_id).state is DeliveryState.DEAD
    assert "to send: 1." in run(COMMUNITY).output
    assert desk.delivery(delivery_id).state is DeliveryState.DUE
    assert "Nothing here" in run(COMMUNITY).output


def test_the_list_filters_and_costs_the_same_for_ten_as_for_one(desk: Desk) -> None:
    webhook, _ = desk.register()
    (dead,) = desk.tell(webhook)
    desk.attempt(TIMED_OUT)
    desk.attempt(answered(404))
    desk.record(dead, answered(404))
    queries: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        queries.append(statement)

    def lines(**filters: object) -> list[deliveries.Line]:
        queries.clear()
        with desk.wiring.database.reading() as session:
            found = deliveries.listing(
                session,
                desk.operator,
                desk.cast.community_id,
                Filters(**filters),  # type: ignore[arg-type]
                Slice(size=20),
                most=None,
            )
            for line in found.rows:
                assert line.delivery.event.name
                assert line.delivery.webhook.url == URL
            return list(found.rows)

    engine = desk.wiring.database.engine
    sa_event.listen(engine, "before_cursor_execute", note)
    (line,) = lines()
    cost = len(queries)
    assert line.last is not None
    assert line.last.status == 404
    sa_event.remove(engine, "before_cursor_execute", note)
    desk.tell(webhook, 9, EventName.DECISION)
    sa_event.listen(engine, "before_cursor_execute", note)
    assert len(lines()) == 10
    assert len(queries) == cost
    sa_event.remove(engine, "before_cursor_execute", note)
    assert len(lines(event=EventName.DECISION)) == 9
    assert len(lines(states=(DeliveryState.DUE,))) == 10
    assert len(lines(states=(DeliveryState.DEAD, DeliveryState.DUE))) == 10
    assert lines(states=(DeliveryState.DEAD,)) == []
    assert lines(webhook_id=uuid.uuid4()) == []
    assert len(lines(since=START, until=START + timedelta(seconds=1))) == 10
    assert lines(until=START) == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_dead_deliveries_are_found_by_an_index_of_their_own(wiring: Wiring) -> None:
    with wiring.database.reading() as session:
        dead = deliveries.clauses(Filters(states=(DeliveryState.DEAD,)))
        statement = sa.select(Delivery.id).where(Delivery.community_id == uuid.uuid4(), *dead)
        written = statement.compile(session.connection(), compile_kwargs={"literal_binds": True})
        plan = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {written}").all()
    assert "ix_deliveries_dead" in str(plan)


def test_old_attempts_are_forgotten_a_part_at_a_time(desk: Desk, held_clock: Clock) -> None:
    (delivery_id,) = desk.tell(desk.register()[0])
    for _ in range(3):
        desk.record(delivery_id, answered(500))
    kept_from = held_clock.move(days=1)
    held_clock.move(minutes=1)
    desk.record(delivery_id, answered(501))

    def prune() -> object:
        return desk.write(lambda session: deliveries.prune_attempts(session, kept_from, limit=2))

    assert [prune(), prune(), prune()] == [2, 1, 0]
    assert [one.status for one in desk.attempts(delivery_id)] == [501]


def test_the_discourse_plugin_gets_its_own_name_and_others_the_specified_one(desk: Desk) -> None:
    plugin = desk.register(names=["moderation_action.proposed", "note.status_changed"])[0]
    desk.register(url=URL + "/others", names=["moderation_action.created"])
    factories.scored_action(desk.wiring, desk.cast, factories.SPAM)
    created = [one for one in desk.claim() if one.event_name is EventName.ACTION_CREATED]
    assert len({one.event_id for one in created}) == 1
    told = {one.webhook_id == plugin.id: one.payload for one in created}
    names = {is_plugin: (one["event"], one["event_type"]) for is_plugin, one in told.items()}
    assert names == {True: (payloads.PROPOSED,) * 2, False: ("moderation_action.created",) * 2}
    assert told[True]["action_id"] == told[True]["data"]["id"]
    assert told[True]["request_id"] == told[True]["data"]["request_id"]
    assert told[True]["action_type"] == "hide_post"
    both = ("event", "event_type")
    assert {name: one for name, one in told[True].items() if name not in both} == {
        name: one for name, one in told[False].items() if name not in both
    }


def test_an_event_reaches_only_the_webhooks_of_its_own_community(desk: Desk) -> None:
    desk.register()
    desk.register(actor=SYSTEM, community_id=desk.cast.other_community_id)
    with desk.wiring.database.writing() as session:
        away = communities.get(session, SYSTEM, desk.cast.other_community_id)
        webhook = webhooks.visible(session, SYSTEM, away.id)[0]
        event = webhooks.send_test(session, SYSTEM, webhook.id)
    with desk.wiring.database.reading() as session:
        rows = session.scalars(sa.select(Delivery).join(Event).where(Event.id == event.id)).all()
        assert [row.webhook_id for row in rows] == [webhook.id]
    with desk.wiring.database.reading() as session, pytest.raises(NotFound):
        deliveries.listing(session, desk.operator, away.id, Filters(), Slice(), most=None)
