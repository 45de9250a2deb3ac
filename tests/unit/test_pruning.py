"""What is kept for a limited time: it goes in parts, and what stays is whole."""

import uuid
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.communities import joining
from app.core.errors import Forbidden
from app.core.history import chain as history
from app.core.history import marks
from app.core.history.reason import Reason
from app.core.insights import rollups
from app.core.models import (
    Account,
    Action,
    Attempt,
    AuthorNote,
    Community,
    Delivery,
    Event,
    HistoryEntry,
    HistoryText,
    Hold,
    InsightOutcome,
    InsightSlot,
    Membership,
    PostScores,
    Score,
    Webhook,
)
from app.core.models.insights import OutcomeKind
from app.core.people import accounts, mailed_links, members
from app.core.permissions import SYSTEM, Actor
from app.core.review import holds, verbs
from app.core.upkeep import erasure, pruning
from app.core.vocabulary import ActionState, ActionVerb, DeliveryState, EventName, Role
from app.jobs.communities import roll_up
from app.jobs.upkeep import prune, sweep
from app.settings import Settings
from app.wiring import Wiring
from tests import factories
from tests.cast import PASSWORD, Cast
from tests.clocks import advance
from tests.undone import undone

pytestmark = pytest.mark.both_databases


def keep(wiring: Wiring, **days: int) -> None:
    for name, value in days.items():
        setattr(wiring.settings, f"keep_{name}_days", value)


def entries(session: Session, cast: Cast) -> list[HistoryEntry]:
    own = sa.select(HistoryEntry).where(HistoryEntry.community_id == cast.community_id)
    return list(session.scalars(own.order_by(HistoryEntry.number)))


def test_a_pruned_history_verifies_from_its_last_hash_and_goes_on(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "HISTORY_BATCH", 3)
    factories.rate(wiring, cast, factories.scored_action(wiring, cast, request_id="old"), "HHHHH")
    with wiring.database.writing() as session:
        old = len(entries(session, cast))
        history.remember_verified(session, cast.community_id, old)
        assert history.verify(session, cast.community_id, only_new=True) == (0, None)
    advance(days=200)
    prune(wiring)
    with wiring.database.reading() as session:
        assert len(entries(session, cast)) == old > 6, "kept for ever unless a setting says otherwise"
    factories.scored_action(wiring, cast, request_id="new")
    keep(wiring, history=100)
    prune(wiring)
    with wiring.database.reading() as session:
        kept = entries(session, cast)
        assert kept[0].number == old + 1
        assert session.scalar(sa.select(sa.func.count()).select_from(HistoryText)) == session.scalar(
            sa.select(sa.func.count()).select_from(HistoryEntry)
        )
        for only_new in (False, True):
            assert history.verify(session, cast.community_id, only_new=only_new) == (len(kept), None)
    advance(days=200)
    prune(wiring)
    factories.scored_action(wiring, cast, request_id="newest")
    with wiring.database.writing() as session:
        last, *new = entries(session, cast)
        assert last.number == kept[-1].number, "the newest entry stays, for the next one follows it"
        assert [entry.number for entry in new] == list(range(last.number + 1, last.number + 1 + len(new)))
        assert history.verify(session, cast.community_id) == (1 + len(new), None)
        session.execute(
            sa.update(HistoryEntry).where(HistoryEntry.id == new[1].id).values(what="nothing.at_all")
        )
    advance(days=200)
    prune(wiring)
    with wiring.database.reading() as session:
        assert entries(session, cast)[0].id == new[1].id, (
            "what was altered is not removed, nor what follows it"
        )
        broken = history.verify(session, cast.community_id)[1]
        assert broken is not None
        assert broken.entry_id == new[1].id


def test_a_history_that_is_unlike_what_was_noted_of_it_is_broken(wiring: Wiring, cast: Cast) -> None:
    factories.rate(wiring, cast, factories.scored_action(wiring, cast), "HHH")
    with wiring.database.writing() as session:
        every = entries(session, cast)
        last = every[-1]
        history.remember_verified(session, cast.community_id, last.number)

    def why(change: Callable[[Session], Any]) -> list[str]:
        """What both kinds of check say after a change, which is undone."""
        found = []
        for only_new in (False, True):
            with undone(wiring.database) as session:
                change(session)
                session.flush()
                broken = history.verify(session, cast.community_id, only_new=only_new)[1]
                found.append("" if broken is None else broken.why)
        return found

    def mark(session: Session, **values: Any) -> None:
        for name, value in values.items():
            setattr(marks.mark(session, cast.community_id), name, value)

    def cut(session: Session, first: int) -> None:
        of_them = sa.select(HistoryEntry.id).where(
            HistoryEntry.community_id == cast.community_id, HistoryEntry.number >= first
        )
        session.execute(sa.delete(HistoryText).where(HistoryText.entry_id.in_(of_them)))
        session.execute(sa.delete(HistoryEntry).where(HistoryEntry.id.in_(of_them)))

    assert why(lambda session: None) == ["", ""]
    assert why(lambda session: cut(session, last.number)) == [f"entry {last.number} is missing"] * 2
    assert why(lambda session: mark(session, verified_hash="0" * 64))[0].startswith("it is not the one")
    third = every[2]
    removed = {"history_number": 3, "history_hash": third.hash, "verified_number": 0}
    assert (
        why(lambda session: mark(session, **removed)) == ["it was removed long ago, and is there again"] * 2
    )
    removed |= {"history_number": last.number, "history_hash": last.hash}

    def all_gone(session: Session) -> None:
        mark(session, **removed)
        cut(session, 1)

    assert why(all_gone) == [f"entry {last.number + 1} is missing"] * 2


def test_figures_of_a_time_whose_history_is_gone_stay(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    advance(hours=2)
    roll_up(wiring.database)
    advance(days=200)
    keep(wiring, history=100)
    factories.submit(wiring, cast, request_id="today")
    prune(wiring)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.change_action(session, factories.integration(cast), action, ActionState.DISMISSED)
    advance(hours=2)
    roll_up(wiring.database)
    with wiring.database.reading() as session:
        assert rollups.end_of(session, cast.community_id) is not None
        opened = session.scalar(
            sa.select(sa.func.sum(InsightSlot.opened)).where(InsightSlot.community_id == cast.community_id)
        )
        assert opened == 1, "not counted again without the entries that tell of it"


def test_figures_by_classifier_stay_when_scores_are_gone(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHHHH")
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.change_action(session, factories.integration(cast), action, ActionState.APPLIED)
    advance(hours=2)
    roll_up(wiring.database)

    def counted() -> set[tuple[str, str, int]]:
        with wiring.database.reading() as session:
            rows = session.scalars(
                sa.select(InsightOutcome).where(InsightOutcome.kind.in_(rollups.OF_SCORES))
            )
            return {(row.kind, row.name, row.total) for row in rows}

    before = counted()
    assert {kind for kind, _, _ in before} == {OutcomeKind.CLASSIFIER, OutcomeKind.RECORD}
    advance(days=200)
    keep(wiring, scores=100)
    prune(wiring)
    with wiring.database.writing() as session:
        assert not session.scalar(sa.select(sa.func.count()).select_from(Score))
        action = session.get_one(Action, action_id)
        verbs.change_action(session, factories.integration(cast), action, ActionState.RETRO_REVIEW)
    advance(hours=2)
    roll_up(wiring.database)
    assert counted() == before


def test_scores_events_and_deliveries_go_after_their_days(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "BATCH", 2)
    for number in range(5):
        factories.scored_action(wiring, cast, request_id=f"old-{number}")
    with wiring.database.writing() as session:
        waiting, *settled = session.scalars(sa.select(Action).order_by(Action.created_at)).all()
        for action in settled:
            verbs.change_action(session, factories.integration(cast), action, ActionState.DISMISSED)
        hook = Webhook(community_id=cast.community_id, url="https://forum.example.org/", secret=b"sealed")
        session.add(hook)
        session.flush()
        for event, state in zip(
            session.scalars(sa.select(Event).order_by(Event.id)).all(), [*DeliveryState], strict=False
        ):
            delivery = Delivery(
                event_id=event.id,
                webhook_id=hook.id,
                community_id=cast.community_id,
                state=state,
                due_at=None,
            )
            session.add(delivery)
            session.flush()
            session.add(Attempt(delivery_id=delivery.id, at=clock.now(), status=500, milliseconds=3))
    advance(days=140)
    factories.scored_action(wiring, cast, request_id="new")
    with wiring.database.writing() as session:
        fresh = Event(community_id=cast.community_id, name=EventName.DECISION, payload={})
        session.add(fresh)
        session.flush()
        newest = fresh.id
        before = Counter(session.scalars(sa.select(Score.request_id)))
    keep(wiring, scores=100, deliveries=100, attempts=3650)
    prune(wiring)
    with wiring.database.reading() as session:
        left = Counter(session.scalars(sa.select(Score.request_id)))
        gone = {action.request_id for action in settled}
        assert left == Counter({one: count for one, count in before.items() if one not in gone})
        assert left[waiting.request_id], "what people are asked about keeps its scores"
        assert set(session.scalars(sa.select(PostScores.request_id))) == set(left), (
            "previews count the others no more"
        )
        states = set(session.scalars(sa.select(Delivery.state)))
        assert states == {DeliveryState.DUE, DeliveryState.PARKED}
        events = set(session.scalars(sa.select(Event.id)))
        assert events >= set(session.scalars(sa.select(Delivery.event_id))) | {newest}
        assert len(session.scalars(sa.select(Attempt)).all()) == 2
        assert not session.scalar(
            sa.select(sa.func.count())
            .select_from(Event)
            .where(
                Event.created_at < clock.now() - timedelta(days=100),
                Event.id.not_in(sa.select(Delivery.event_id)),
            )
        )


def test_scores_that_a_review_kept_go_when_it_is_over(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "BATCH", 1)
    waiting = [factories.scored_action(wiring, cast, request_id=f"old-{number}") for number in range(2)]
    advance(days=140)
    keep(wiring, scores=100)

    def left() -> set[uuid.UUID]:
        prune(wiring)
        with wiring.database.reading() as session:
            return set(session.scalars(sa.select(Action.id).where(Action.request_id == Score.request_id)))

    assert left() == {*waiting}
    for number, action_id in enumerate(waiting, 1):
        with wiring.database.writing() as session:
            action = session.get_one(Action, action_id)
            verbs.change_action(session, factories.integration(cast), action, ActionState.DISMISSED)
        assert left() == {*waiting[number:]}


def test_who_was_removed_stays_out_when_the_history_of_it_is_gone(wiring: Wiring, cast: Cast) -> None:
    keep(wiring, history=100)
    account_id = cast.rater.account_id

    def join() -> None:
        with wiring.database.writing() as session:
            session.get_one(Community, cast.community_id).is_public = True
            joining.join(session, SYSTEM, session.get_one(Account, account_id), cast.community_id)

    with wiring.database.writing() as session:
        its = sa.select(Membership.id).where(
            Membership.account_id == account_id, Membership.community_id == cast.community_id
        )
        members.remove(session, SYSTEM, session.scalars(its).one(), "Spam")
    advance(days=200)
    factories.scored_action(wiring, cast, request_id="newest")
    prune(wiring)
    with wiring.database.reading() as session:
        assert "role.taken" not in {entry.what for entry in entries(session, cast)}
    with pytest.raises(Forbidden, match="removed you"):
        join()
    with wiring.database.writing() as session:
        account = session.get_one(Account, account_id)
        accounts.give_role(session, SYSTEM, account, cast.community_id, Role.RATER)
        joining.leave(session, Actor("account", "Rita", account_id=account_id), account, cast.community_id)
    join()


def _number_of(wiring: Wiring, model: type[Any]) -> int:
    with wiring.database.reading() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(model)) or 0


def test_an_erased_account_stays_when_unconfirmed_ones_go(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        note = AuthorNote(
            community_id=cast.community_id,
            platform_author_id="author-1",
            text="Was warned in May",
            account_id=cast.moderator.account_id,
            account_name="Moderator",
        )
        session.add(note)
        unconfirmed = accounts.create(session, "unconfirmed@example.org", PASSWORD).id
        removed = accounts.create(session, "removed@example.org", PASSWORD)
        membership = accounts.give_role(session, SYSTEM, removed, cast.community_id, Role.RATER)
        members.remove(session, SYSTEM, membership.id, "Spam")
        removed_id = removed.id
        for person in (cast.moderator, cast.rater):
            erasure.erase_account(session, SYSTEM, person.account_id)
    advance(days=40)
    prune(wiring)
    with wiring.database.reading() as session:
        for kept in (cast.moderator.account_id, cast.rater.account_id, removed_id):
            assert session.get(Account, kept) is not None
        assert session.get(Account, unconfirmed) is None


def test_an_upkeep_that_fails_in_one_part_does_the_others(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with wiring.database.writing() as session:
        accounts.create(session, "unconfirmed@example.org", PASSWORD)
        event = Event(community_id=cast.community_id, name=EventName.DECISION, payload={})
        hook = Webhook(community_id=cast.community_id, url="https://forum.example.org/", secret=b"sealed")
        session.add_all([event, hook])
        session.flush()
        sent = Delivery(
            event_id=event.id,
            webhook_id=hook.id,
            community_id=cast.community_id,
            state=DeliveryState.DELIVERED,
            due_at=None,
        )
        session.add(sent)
        session.flush()
        session.add(Attempt(delivery_id=sent.id, at=clock.now(), status=200, milliseconds=3))
    accounts_before = _number_of(wiring, Account)

    def fail(*_: Any) -> int:
        raise RuntimeError("broken links")

    monkeypatch.setattr(mailed_links, "prune", fail)
    monkeypatch.setattr(pruning, "prune_deliveries", fail)
    advance(days=500)
    prune(wiring)
    assert _number_of(wiring, Account) == accounts_before - 1
    assert _number_of(wiring, Attempt) == 0
    assert _number_of(wiring, Delivery) == 1
    failed = [record for record in caplog.records if record.levelname == "ERROR"]
    assert len(failed) == 3, "links, and the deliveries of two communities"
    assert "removing links" in failed[0].getMessage()
    assert str(cast.community_id) in caplog.text
    assert all("broken links" in str(record.exc_info) for record in failed)


def test_a_sweep_that_fails_in_one_part_does_the_others(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    held = []
    for number in range(2):
        action_id = factories.scored_action(wiring, cast, request_id=f"held-{number}")
        with wiring.database.writing() as session:
            moderator = accounts.actor_for(accounts.get(session, cast.moderator.account_id))
            action = session.get_one(Action, action_id)
            held.append(
                holds.hold(
                    session, moderator, ActionVerb.DISMISS, action=action, reason=Reason("No"), seconds=10
                ).id
            )
    old = factories.scored_action(wiring, cast, request_id="old")
    advance(days=100)
    carry_out = holds.carry_out
    broken, sound = sorted(held)

    def fail_once(session: Session, hold_id: uuid.UUID) -> None:
        if hold_id == broken:
            raise RuntimeError("a broken hold")
        carry_out(session, hold_id)

    monkeypatch.setattr(holds, "carry_out", fail_once)
    sweep(wiring)
    with wiring.database.reading() as session:
        assert session.get(Hold, sound) is None
        assert session.get(Hold, broken) is not None
        assert session.get_one(Action, old).action_state is ActionState.DISMISSED
    assert [str(broken) in record.getMessage() for record in caplog.records] == [True]


def test_what_is_kept_is_kept_long_enough() -> None:
    for name, value in (("history", 99), ("scores", 1), ("deliveries", 29)):
        with pytest.raises(ValueError, match="must be 0 or at least"):
            Settings.model_validate({f"keep_{name}_days": value})
