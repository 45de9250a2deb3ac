"""Refits in the background, and the scores they leave (docs/develop/consensus.md)."""

import random
import threading
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, scoring
from app.core.helpfulness import fit_results, note_scores, refits
from app.core.helpfulness.note_scores import Fit
from app.core.helpfulness.refits import LeaseLost
from app.core.models import (
    HistoryEntry,
    Note,
    NoteSums,
    RaterParameters,
    ScoringState,
)
from app.core.scoring import Camps, Scores
from app.core.vocabulary import HelpfulnessLevel, NoteStatus
from app.jobs import rescoring
from app.wiring import Wiring
from tests.camps import assert_scored_as_from_scratch, camps, from_scratch, rate, refit, state
from tests.cast import Cast
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.mortal import Killed, MortalDatabase

pytestmark = pytest.mark.both_databases

LEVELS = list(HelpfulnessLevel)
UNREADABLE = "UPDATE ratings SET helpfulness_level = 'HELPFULL' WHERE helpfulness_level = 'HELPFUL'"
READABLE = "UPDATE ratings SET helpfulness_level = 'HELPFUL' WHERE helpfulness_level = 'HELPFULL'"
HELPFUL, NOT_HELPFUL = HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL


def test_ratings_that_come_while_refits_take_over_are_all_counted(wiring: Wiring, cast: Cast) -> None:
    made = camps(wiring, cast)
    failures: list[BaseException] = []
    going = threading.Barrier(4)

    def vote(first: int) -> None:
        chance = random.Random(first)  # noqa: S311 - the same ratings each time
        try:
            going.wait()
            for _ in range(12):
                rate(wiring, cast, chance.choice(made.notes), made.raters[first], chance.choice(LEVELS))
        except BaseException as error:
            failures.append(error)

    raters = [threading.Thread(target=vote, args=(number,)) for number in range(3)]
    for one in raters:
        one.start()
    going.wait()
    fits = 0
    while fits < 3 or any(one.is_alive() for one in raters):
        fits += refit(wiring, cast)
    for one in raters:
        one.join()
    assert failures == []
    for note_id in made.notes:
        kept, anew, _, note = from_scratch(wiring, note_id)
        assert kept.to_list() == pytest.approx(anew.to_list(), abs=1e-9)
        with wiring.database.reading() as session:
            counted = session.scalar(
                sa.select(sa.func.count()).select_from(note_scores.counting(note).subquery())
            )
        assert (anew.counts.total, note.ratings_count) == (counted, counted)
    refit(wiring, cast)
    assert_scored_as_from_scratch(wiring, made.notes)


def test_one_worker_at_a_time_fits_a_community_and_a_dead_ones_lease_is_taken_over(
    wiring: Wiring, cast: Cast
) -> None:
    camps(wiring, cast)
    start, leases = threading.Barrier(4), []

    def take() -> None:
        start.wait()
        with wiring.database.writing() as session:
            leases.append(refits.take(session, cast.community_id))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (dead,) = [one for one in leases if one is not None]
    assert not rescoring.refit(wiring.database, cast.community_id)
    with wiring.database.reading() as session:
        assert refits.due(session) == []
    advance(seconds=refits.LEASE.total_seconds() + 1)
    with wiring.database.reading() as session:
        assert refits.due(session) == [cast.community_id]
    assert rescoring.refit(wiring.database, cast.community_id)
    in_force = state(wiring, cast).model_version
    assert in_force > dead.version
    for late in (refits.renew, refits.give_back):
        with pytest.raises(LeaseLost), wiring.database.writing() as session:
            late(session, dead)
    with pytest.raises(LeaseLost), wiring.database.writing() as session:
        refits.swap(session, dead, dead.version, Camps())
    with pytest.raises(LeaseLost), wiring.database.writing() as session:
        refits.finish(session, dead, 1, 1)
    assert state(wiring, cast).model_version == in_force


def test_a_refit_that_dies_before_it_takes_over_changes_nothing_and_leaves_nothing(
    wiring: Wiring, cast: Cast
) -> None:
    made = camps(wiring, cast)
    with wiring.database.writing() as session:
        lease = refits.take(session, cast.community_id)
        assert lease is not None
    with wiring.database.reading() as session:
        snapshot = refits.read(session, lease)
    scores: Scores = scoring.score(
        snapshot.note_numbers, snapshot.rater_numbers, snapshot.values, snapshot.facts
    )
    with wiring.database.writing() as session:
        fit_results.write_model(session, lease, snapshot, scores, 1)
    for batch in list(fit_results.batches(lease, snapshot, scores, 7))[:-1]:
        with wiring.database.writing() as session:
            fit_results.write(session, lease, batch)
    with wiring.database.reading() as session:
        assert note_scores.in_force(session, cast.community_id).version == note_scores.NOT_FITTED
        assert set(session.scalars(sa.select(Note.status))) == {NoteStatus.NEEDS_MORE_RATINGS}
    rate(wiring, cast, made.notes[0], made.raters[0], NOT_HELPFUL)
    advance(minutes=2)
    assert rescoring.refit(wiring.database, cast.community_id)
    with wiring.database.reading() as session:
        version = session.scalars(sa.select(ScoringState.model_version)).one()
        assert version == lease.version + 1
        for model in (RaterParameters, NoteSums):
            assert set(session.scalars(sa.select(model.version))) == {version}
        parameters = session.scalars(sa.select(RaterParameters)).all()
        assert {one.profile_id for one in parameters} == set(made.raters)
        assert all(one.helpfulness is None or 0 <= one.helpfulness <= 1 for one in parameters)
    assert_scored_as_from_scratch(wiring, made.notes)


def rated_meanwhile(
    monkeypatch: pytest.MonkeyPatch, wiring: Wiring, cast: Cast, given: Sequence[tuple[uuid.UUID, uuid.UUID]]
) -> None:
    """Let these raters rate these notes while each fit is computed."""
    plain = scoring.score

    def score(*args: Any, **options: Any) -> Scores:
        scores = plain(*args, **options)
        for number, (note_id, rater_id) in enumerate(given):
            rate(wiring, cast, note_id, rater_id, LEVELS[number % 3])
        return scores

    monkeypatch.setattr(scoring, "score", score)


def test_a_rating_between_any_two_steps_of_a_refit_counts(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = camps(wiring, cast)
    rated_meanwhile(monkeypatch, wiring, cast, [(one, made.raters[0]) for one in made.notes])
    steps: list[str] = []

    def rated_before(name: str, first: int) -> None:
        step = getattr(rescoring, name)

        def rate_and_go_on(*args: Any, **options: Any) -> Any:
            steps.append(name)
            for place, note_id in enumerate(made.notes[first::3]):
                rate(wiring, cast, note_id, made.raters[first], LEVELS[(first + place) % 3])
            return step(*args, **options)

        monkeypatch.setattr(rescoring, name, rate_and_go_on)

    between = ("_catch_up", "_move", "_settle")
    for number, name in enumerate(between):
        rated_before(name, number)
    assert refit(wiring, cast)
    assert set(steps) == set(between)
    assert_scored_as_from_scratch(wiring, made.notes)


def test_sums_that_are_made_while_somebody_rates_are_stale_and_not_wrong(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = camps(wiring, cast)
    rater = cast.rater.profile_id
    rated_meanwhile(monkeypatch, wiring, cast, [(one, rater) for one in made.notes[:6]])
    plain, rounds = note_scores.rows_from_ratings, []

    def read_and_then_rated(
        session: Session, fit: Fit, note_ids: Sequence[uuid.UUID]
    ) -> list[dict[str, Any]]:
        rows = plain(session, fit, note_ids)
        session.rollback()  # the read is over
        rounds.append(len(rows))
        for place, note_id in enumerate(made.notes[:6]):
            rate(wiring, cast, note_id, rater, LEVELS[(place + len(rounds)) % 3])
        return rows

    monkeypatch.setattr(note_scores, "rows_from_ratings", read_and_then_rated)
    assert refit(wiring, cast)
    monkeypatch.undo()
    assert rounds == [6] * rescoring.CATCH_UPS  # it does not wait for raters who never pause
    assert_scored_as_from_scratch(wiring, made.notes)


def test_notes_rated_meanwhile_are_caught_up_together_and_without_the_communitys_lock(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = camps(wiring, cast)
    rated_meanwhile(monkeypatch, wiring, cast, [(one, cast.rater.profile_id) for one in made.notes])
    plain, together = refits.catch_up, []

    def catch_up(session: Session, lease: refits.Lease, rows: Sequence[Mapping[str, Any]]) -> None:
        plain(session, lease, rows)
        assert "serialised" not in session.info or cast.community_id not in session.info["serialised"]
        together.append(len(rows))

    monkeypatch.setattr(refits, "catch_up", catch_up)
    assert refit(wiring, cast)
    assert together == [20]
    with wiring.database.reading() as session:
        rows = session.execute(
            sa.select(NoteSums.rating_changes, Note.rating_changes).join(Note, Note.id == NoteSums.note_id)
        ).all()
    assert rows == [(1, 1)] * 20
    assert_scored_as_from_scratch(wiring, made.notes)


def test_a_process_whose_lease_was_taken_over_catches_nothing_up(wiring: Wiring, cast: Cast) -> None:
    camps(wiring, cast)
    with wiring.database.writing() as session:
        dead = refits.take(session, cast.community_id)
    assert dead is not None
    advance(seconds=refits.LEASE.total_seconds() + 1)
    assert rescoring.refit(wiring.database, cast.community_id)
    with pytest.raises(LeaseLost), wiring.database.writing() as session:
        refits.catch_up(session, dead, [])


def test_a_refit_killed_at_any_commit_is_made_good_by_the_next(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = camps(wiring, cast)
    rated_meanwhile(monkeypatch, wiring, cast, [(one, made.raters[9]) for one in made.notes[::3]])
    mortal = MortalDatabase(wiring.settings.sqlalchemy_url)
    deaths = 0
    while True:
        mortal.commits = deaths + 1
        try:
            assert rescoring.refit(mortal, cast.community_id)
            break
        except Killed:
            deaths += 1
        rate(wiring, cast, made.notes[deaths % 20], made.raters[deaths % 7], LEVELS[deaths % 3])
        advance(seconds=refits.LEASE.total_seconds() + 1)
    mortal.dispose()
    assert deaths > 5
    assert_scored_as_from_scratch(wiring, made.notes)
    with wiring.database.reading() as session:
        version = session.scalars(sa.select(ScoringState.model_version)).one()
        for model in (RaterParameters, NoteSums):
            assert set(session.scalars(sa.select(model.version))) == {version}
        changes = session.execute(
            sa.select(HistoryEntry.object_id, HistoryEntry.before, HistoryEntry.after)
            .where(HistoryEntry.object_type == "note")
            .order_by(HistoryEntry.number)
        ).all()
    last: dict[uuid.UUID, object] = {}
    for note_id, before, after in changes:  # each change begins where the one before it ended
        assert before["status"] == last.get(note_id, NoteStatus.NEEDS_MORE_RATINGS)
        last[note_id] = after["status"]


def test_a_fit_that_fails_gives_its_lease_back_and_is_tried_again_a_minute_later(
    wiring: Wiring, cast: Cast
) -> None:
    camps(wiring, cast)
    with wiring.database.writing() as session:
        session.execute(
            sa.text("UPDATE ratings SET helpfulness_level = 'HELPFULL' WHERE helpfulness_level = 'HELPFUL'")
        )
    with pytest.raises(ValueError, match="no known value"):
        rescoring.refit(wiring.database, cast.community_id)
    with wiring.database.writing() as session:
        session.execute(
            sa.text("UPDATE ratings SET helpfulness_level = 'HELPFUL' WHERE helpfulness_level = 'HELPFULL'")
        )
    assert not rescoring.refit(wiring.database, cast.community_id)
    advance(seconds=refits.RETRY.total_seconds())
    assert rescoring.refit(wiring.database, cast.community_id)
    assert state(wiring, cast).model_version > 0


def test_a_refit_is_due_after_twenty_ratings_or_a_minute_and_the_sweep_makes_up_for_a_lost_job(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    made = camps(wiring, cast)
    rescoring.refit(wiring.database, cast.community_id)
    for note_id in made.notes[:19]:
        rate(wiring, cast, note_id, cast.rater.profile_id, HELPFUL)
    due = state(wiring, cast).refit_due_at
    assert due is not None
    assert clock.now() < due <= clock.now() + refits.WAIT
    assert waiting(jobs) == 0
    rate(wiring, cast, made.notes[19], cast.rater.profile_id, HELPFUL)
    rate(wiring, cast, made.notes[19], cast.rater.profile_id, NOT_HELPFUL)
    assert waiting(jobs) == 1
    before = state(wiring, cast).model_version
    advance(minutes=5)
    jobs.run_all()
    assert state(wiring, cast).model_version > before
    rate(wiring, cast, made.notes[0], cast.moderator.profile_id, HELPFUL)
    rescoring.sweep(wiring.database)
    assert waiting(jobs) == 0
    advance(minutes=2)
    rescoring.sweep(wiring.database)
    rescoring.sweep(wiring.database)
    assert waiting(jobs) == 1
    jobs.run_all()
    assert state(wiring, cast).ratings_since == 0


def waiting(jobs: InlineEngine) -> int:
    return [job.name for job in jobs.jobs()].count(refits.REFIT_JOB)
