"""The life of the versions: trained by the job, put in force, scoring posts, taken back, erased."""

import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, ClassVar

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.classify import COMMUNITY_MODEL, Context, Permanent, Result
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.learning import schedule, scorer, standing, training, versions
from app.core.learning.labels import Label
from app.core.learning.logistic import Blend
from app.core.learning.standing import CategoryStanding, State
from app.core.learning.training import Outcome
from app.core.models import Action, Community, HistoryEntry, LearnedModel, Learning, Request, Score
from app.core.permissions import SYSTEM, Actor
from app.core.requests import submitting
from app.core.thresholds import outcomes
from app.core.upkeep import erasure
from app.core.vocabulary import ActionTier, Role
from app.jobs import communities, registry, upkeep
from app.wiring import Wiring
from tests import clocks, factories, talk
from tests.cast import PLATFORM, Cast

OFFER = "We offer a lovely sunset trip near the lock, best price. Ask the cutter crew tomorrow."
TALK = "My sloop was quiet in spring near Seal Bay, we sailed 40 miles. Thanks all."


class Base:
    """A classifier that gives every text the same score for spam."""

    name, version = "base", "1"
    categories = frozenset({"spam"})
    languages: frozenset[str] | None = None
    cost, local, calibrated, max_chars = 0, True, True, 10_000

    def __init__(self, score: float = 0.6, *, tier1: bool = False) -> None:
        self.given = score
        self.tier1_categories = self.categories if tier1 else frozenset()

    def score(self, texts: list[str], context: Context) -> list[Result]:
        return [Result({"spam": self.given}) for _ in texts]


def operator(cast: Cast, role: Role = Role.OPERATOR) -> Actor:
    return factories.member(cast, role, "Operator", account_id=cast.operator.account_id)


def store(wiring: Wiring, cast: Cast, found: Sequence[talk.Post]) -> list[uuid.UUID]:
    """Store decided posts, the newer ones after the others."""
    with wiring.database.writing() as session:
        is_first = session.scalar(sa.select(Action.id).limit(1)) is None
        return talk.store(session, cast.community_id, found, days=10.0 if is_first else 0.001)


def learn(wiring: Wiring, cast: Cast, count: int = 60, seed: int = 1) -> list[uuid.UUID]:
    """Store decided posts and train."""
    made = store(wiring, cast, talk.posts(count, seed=seed))
    communities.learn_all(wiring.database)
    return made


def learned_standing(wiring: Wiring, cast: Cast) -> CategoryStanding:
    with wiring.database.reading() as session:
        (only,) = standing.read_standing(session, SYSTEM, cast.community_id).categories
        return only


def stored_versions(wiring: Wiring) -> dict[int, LearnedModel]:
    with wiring.database.reading() as session:
        return {
            row.version: row
            for row in session.scalars(sa.select(LearnedModel).order_by(LearnedModel.version))
        }


def put(wiring: Wiring, cast: Cast, version: int, **more: Any) -> None:
    with wiring.database.writing() as session:
        versions.put_in_force(
            session, operator(cast), cast.community_id, "spam", version, "We tried it", **more
        )


def switch(wiring: Wiring, cast: Cast, *, is_on: bool = True, asks_first: bool = False) -> None:
    with wiring.database.writing() as session:
        standing.switch(
            session,
            operator(cast),
            cast.community_id,
            is_on=is_on,
            asks_first=asks_first,
            reason="We want to look first",
        )


def scores_of(wiring: Wiring, cast: Cast, text: str, request_id: str) -> dict[str, Score]:
    """Submit and score a post; return its spam scores by classifier."""
    submission = submitting.Submission(request_id, "author-1", text)
    with wiring.database.writing() as session:
        made = submitting.submit(session, SYSTEM, cast.community_id, submission).request.id
    wiring.jobs.run_all()  # type: ignore[union-attr]
    with wiring.database.reading() as session:
        rows = session.scalars(sa.select(Score).where(Score.request_id == made, Score.category == "spam"))
        return {row.classifier: row for row in rows}


def whats(wiring: Wiring) -> list[tuple[str, str]]:
    with wiring.database.reading() as session:
        entries = session.scalars(
            sa.select(HistoryEntry)
            .where(HistoryEntry.object_type == "learned_model")
            .order_by(HistoryEntry.number)
        )
        return [(entry.what, entry.actor_kind) for entry in entries]


_train = training.train
_trained: dict[tuple[Any, ...], training.Trained] = {}


@pytest.fixture(autouse=True)
def trained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trains once from the same posts, for it takes a second: ``test_training`` shows that this changes no byte."""

    def train(labels: Sequence[Label], **more: Any) -> training.Trained:
        read = tuple((one.content, one.author, one.acted, one.base, one.rules) for one in labels)
        key = (read, repr(sorted(more.items())), training.GAIN)
        if key not in _trained:
            _trained[key] = _train(labels, **more)
        return _trained[key]

    monkeypatch.setattr(training, "train", train)


@pytest.fixture
def learned(wiring: Wiring, cast: Cast) -> Wiring:
    """A community whose first version is in force."""
    learn(wiring, cast, 260)
    return wiring


@pytest.mark.both_databases
def test_it_counts_then_trains_then_scores(wiring: Wiring, cast: Cast) -> None:
    found = talk.posts(260)
    wiring.classifiers = [Base()]
    store(wiring, cast, found[:120])
    communities.learn_all(wiring.database)
    early = learned_standing(wiring, cast)
    assert (early.state, early.decisions, early.version) == (State.LEARNING, 120, 0)
    assert early.outcome is Outcome.FEW_LABELS
    assert list(scores_of(wiring, cast, OFFER, "early")) == ["base"]

    store(wiring, cast, found[120:])
    communities.learn_all(wiring.database)
    now = learned_standing(wiring, cast)
    assert (now.state, now.version, now.outcome) == (State.IN_FORCE, 1, Outcome.BETTER)
    assert now.labels + now.left_out == now.decisions == 260
    assert now.figures is not None
    assert now.figures["own_precision"] > now.figures["base_precision"]
    assert whats(wiring) == [("learning.put_in_force", "system")]

    offer, chat = (scores_of(wiring, cast, text, text[:9]) for text in (OFFER, TALK))
    for rows in (offer, chat):
        assert rows["base"].score == 0.6
        assert rows[COMMUNITY_MODEL].classifier_version == "spam 1"
        assert (rows["base"].is_highest, rows[COMMUNITY_MODEL].is_highest) == (False, True)
    assert offer[COMMUNITY_MODEL].score > 0.7
    assert chat[COMMUNITY_MODEL].score < 0.4, "it replaces a higher score of the others"
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action).where(Action.request_id == offer["base"].request_id)).one()
        assert action.evidence is not None
        named = {item["name"]: item["version"] for item in action.evidence["details"]["classifiers"]}
        assert named == {"base": "1", COMMUNITY_MODEL: "spam 1"}
        assert action.evidence["scores"]["spam"] == offer[COMMUNITY_MODEL].score
        quiet = sa.select(Action).where(Action.request_id == chat["base"].request_id)
        assert session.scalars(quiet).first() is None


def test_the_communitys_own_rules_keep_their_weight(learned: Wiring, cast: Cast) -> None:
    rules = Base(0.8)
    rules.name = "community.rules"
    learned.classifiers = [Base(), rules]
    rows = scores_of(learned, cast, TALK, "ruled")
    assert rows[COMMUNITY_MODEL].score < 0.4
    assert rows["community.rules"].is_highest
    with learned.database.reading() as session:
        assert session.scalars(
            sa.select(Action.score).where(Action.request_id == rows["base"].request_id)
        ).all() == [0.8]


@pytest.mark.parametrize("tier1", [True, False])
def test_the_blend_reaches_tier_1_only_where_the_others_may(learned: Wiring, cast: Cast, tier1: bool) -> None:
    learned.classifiers = [Base(0.9, tier1=tier1)]
    assert scores_of(learned, cast, OFFER, "capable")[COMMUNITY_MODEL].tier1_capable is tier1
    learned.classifiers = []
    alone = scores_of(learned, cast, OFFER, "alone")[COMMUNITY_MODEL]
    assert not alone.tier1_capable


@pytest.mark.parametrize(("base", "ends"), [(0.9, 0.95), (0.97, 0.97)])
def test_what_it_learned_asks_people_and_does_not_act_alone(
    learned: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch, base: float, ends: float
) -> None:
    monkeypatch.setattr(Blend, "score", lambda *_given: 0.99)
    learned.classifiers = [Base(base, tier1=True)]
    rows = scores_of(learned, cast, OFFER, "sure")
    assert rows[COMMUNITY_MODEL].score == ends
    with learned.database.reading() as session:
        about = Action.request_id == rows["base"].request_id
        tier = session.scalars(sa.select(Action.action_tier).where(about)).one()
    assert tier is (ActionTier.IMMEDIATE if base > 0.95 else ActionTier.CONSENSUS)


def test_a_long_harmless_beginning_hides_nothing(learned: Wiring, cast: Cast) -> None:
    learned.classifiers = [Base()]
    short = scores_of(learned, cast, OFFER, "short")[COMMUNITY_MODEL].score
    long = scores_of(learned, cast, f"{TALK} " * 60 + OFFER, "long")[COMMUNITY_MODEL].score
    calm = scores_of(learned, cast, f"{TALK} " * 60, "calm")[COMMUNITY_MODEL].score
    assert calm < 0.4
    assert long > calm + 0.1
    assert short > 0.7


def test_it_says_nothing_where_another_classifier_failed(learned: Wiring, cast: Cast) -> None:
    class Failing(Base):
        name = "failing"

        def score(self, texts: list[str], context: Context) -> list[Result]:
            return [Result({"spam": 0.1}, error=Permanent("broken")) for _ in texts]

    learned.classifiers = [Base(), Failing()]
    assert COMMUNITY_MODEL not in scores_of(learned, cast, OFFER, "half")


def test_a_model_that_is_not_better_stays_in_the_shadow(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "GAIN", 1.0)
    wiring.classifiers = [Base()]
    learn(wiring, cast, 260)
    assert learned_standing(wiring, cast).state is State.SHADOW
    assert stored_versions(wiring)[1].outcome == Outcome.NOT_BETTER
    assert list(scores_of(wiring, cast, OFFER, "shadow")) == ["base"]
    with pytest.raises(Invalid, match="is not better"):
        put(wiring, cast, 1)


def test_it_is_trained_again_after_fifty_labels_or_a_day(learned: Wiring, cast: Cast) -> None:
    learn(learned, cast, 20, seed=4)
    assert learned_standing(learned, cast).version == 1
    clocks.advance(hours=25)
    communities.learn_all(learned.database)
    assert learned_standing(learned, cast).version == 2
    communities.learn_all(learned.database)
    assert learned_standing(learned, cast).version == 2, "nothing is new"
    learn(learned, cast, schedule.NEW_LABELS, seed=5)
    assert learned_standing(learned, cast).version == 3


@pytest.mark.both_databases
def test_labels_that_wait_are_not_forgotten(learned: Wiring, cast: Cast) -> None:
    """The sweep marks history as read only when nothing waits for the night."""
    store(learned, cast, talk.posts(5, seed=4))
    for _ in range(2):
        communities.learn_all(learned.database)
    clocks.advance(hours=25)
    communities.learn_all(learned.database)
    assert learned_standing(learned, cast).decisions == 265


def test_an_operator_may_want_to_be_asked_first(wiring: Wiring, cast: Cast) -> None:
    switch(wiring, cast, asks_first=True)
    learn(wiring, cast, 260)
    waits = learned_standing(wiring, cast)
    assert (waits.state, waits.waiting, waits.version) == (State.WAITING, 1, 0)
    put(wiring, cast, 1, based_on=0)
    assert (learned_standing(wiring, cast).state, learned_standing(wiring, cast).waiting) == (
        State.IN_FORCE,
        0,
    )
    assert whats(wiring) == [("learning.switched", "account"), ("learning.put_in_force", "account")]
    with pytest.raises(Invalid, match="in force already"):
        put(wiring, cast, 1)
    with pytest.raises(Conflict):
        put(wiring, cast, 0, based_on=0)


def test_the_way_back_lasts_until_an_operator_goes_forward(learned: Wiring, cast: Cast) -> None:
    learn(learned, cast, seed=4)
    assert learned_standing(learned, cast).version == 2
    with pytest.raises(Invalid, match="reason"), learned.database.writing() as session:
        versions.put_in_force(session, operator(cast), cast.community_id, "spam", 1, "")
    with pytest.raises(Forbidden), learned.database.writing() as session:
        versions.put_in_force(session, operator(cast, Role.MODERATOR), cast.community_id, "spam", 1, "x")
    with pytest.raises(NotFound):
        put(learned, cast, 9)
    put(learned, cast, 1)
    learned.classifiers = [Base()]
    assert scores_of(learned, cast, OFFER, "old")[COMMUNITY_MODEL].classifier_version == "spam 1"
    learn(learned, cast, seed=5)
    back = learned_standing(learned, cast)
    assert (back.version, back.waiting, back.asks_first) == (1, 3, True)
    put(learned, cast, 3)
    learn(learned, cast, seed=6)
    assert learned_standing(learned, cast).version == 4


def test_version_0_is_the_others_alone(learned: Wiring, cast: Cast) -> None:
    learned.classifiers = [Base()]
    put(learned, cast, 0)
    assert list(scores_of(learned, cast, OFFER, "none")) == ["base"]
    learn(learned, cast, seed=5)
    assert learned_standing(learned, cast).state is State.WAITING


@pytest.mark.both_databases
def test_switched_off_nothing_scores_and_nothing_is_trained(learned: Wiring, cast: Cast) -> None:
    learned.classifiers = [Base()]
    switch(learned, cast, is_on=False)
    learn(learned, cast, seed=4)
    assert learned_standing(learned, cast).state is State.OFF
    assert list(stored_versions(learned)) == [1]
    assert list(scores_of(learned, cast, OFFER, "off")) == ["base"]
    with pytest.raises(Invalid, match="already"):
        switch(learned, cast, is_on=False)
    switch(learned, cast)
    communities.learn_all(learned.database)
    assert learned_standing(learned, cast).version == 2


def test_a_worse_model_is_taken_out_of_force(learned: Wiring, cast: Cast) -> None:
    """The forum changes its mind about everything: the model goes, with the reason in history."""
    changed = [
        talk.Post(p.text, p.author, not p.wrong, 0.9 if not p.wrong else 0.1) for p in talk.posts(80, seed=4)
    ]
    store(learned, cast, changed)
    communities.learn_all(learned.database)
    gone = learned_standing(learned, cast)
    assert (gone.state, gone.version) == (State.SHADOW, 0)
    assert whats(learned)[-1] == ("learning.taken_out", "system")


@pytest.mark.both_databases
def test_killed_between_training_and_storing_it_begins_again(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(wiring, cast, talk.posts(260))

    class Killed(BaseException):
        """Not an Exception: nothing may clean up, as after SIGKILL."""

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(schedule, "store", die)
        with pytest.raises(Killed):
            communities.learn_all(wiring.database)
    assert stored_versions(wiring) == {}
    communities.learn_all(wiring.database)
    assert stored_versions(wiring) == {}, "the dead process still holds the lease"
    clocks.advance(seconds=schedule.LEASE.total_seconds() + 1)
    communities.learn_all(wiring.database)
    assert learned_standing(wiring, cast).version == 1


@pytest.mark.both_databases
def test_a_failed_training_gives_its_lease_back_and_spares_the_others(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(wiring, cast, talk.posts(260))
    with wiring.database.writing() as session:
        talk.store(session, cast.other_community_id, talk.posts(260))
    failed: list[uuid.UUID] = []
    read = schedule.read

    def sometimes(session: Any, lease: schedule.Lease, category: str) -> schedule.Material:
        if not failed:
            failed.append(lease.community_id)
            raise RuntimeError("out of luck")
        return read(session, lease, category)

    monkeypatch.setattr(schedule, "read", sometimes)
    communities.learn_all(wiring.database)
    with wiring.database.reading() as session:
        trained = set(session.scalars(sa.select(LearnedModel.community_id)))
    assert trained == {cast.community_id, cast.other_community_id} - set(failed)
    communities.learn_all(wiring.database)
    with wiring.database.reading() as session:
        assert len(set(session.scalars(sa.select(LearnedModel.community_id)))) == 2


@pytest.mark.both_databases
def test_a_result_from_before_an_erasure_is_not_stored(
    learned: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = store(learned, cast, talk.posts(60, seed=4))
    train = training.train

    def meanwhile(*args: Any, **more: Any) -> training.Trained:
        made = train(*args, **more)
        erase_content(learned, cast, first[:1])
        return made

    with monkeypatch.context() as patch:
        patch.setattr(training, "train", meanwhile)
        communities.learn_all(learned.database)
    assert list(stored_versions(learned)) == [1]
    communities.learn_all(learned.database)
    assert learned_standing(learned, cast).version == 2


def erase_content(wiring: Wiring, cast: Cast, request_ids: Sequence[uuid.UUID]) -> None:
    """Erase what the community keeps only for a day, of these posts, which are made old enough."""
    with wiring.database.writing() as session:
        long_ago = clock.now() - timedelta(days=40)
        for request_id in request_ids:
            session.get_one(Request, request_id).requested_at = long_ago
            session.get_one(Request, request_id).scored_at = long_ago
            session.execute(
                sa.update(Action).where(Action.request_id == request_id).values(action_state="applied")
            )
        session.get_one(Community, cast.community_id).settings = {"content_retention_days": 30}
    upkeep.remove_content(wiring)


@pytest.mark.both_databases
def test_what_was_learned_from_erased_content_is_replaced_at_once(learned: Wiring, cast: Cast) -> None:
    ids = learn(learned, cast, seed=4)
    assert learned_standing(learned, cast).version == 2
    erase_content(learned, cast, ids[:2])
    old, in_force = stored_versions(learned).values()
    assert (old.weights, old.words) == (None, {})
    assert old.erased_at is not None
    assert in_force.words == {}, "words that people could read go at once"
    with pytest.raises(Conflict, match="erased"):
        put(learned, cast, 1)
    communities.learn_all(learned.database)
    now = stored_versions(learned)
    assert learned_standing(learned, cast).version == 3
    assert [now[number].weights is None for number in (1, 2, 3)] == [True, True, False]
    assert learned_standing(learned, cast).decisions == 318
    put_back = now[3].words
    assert put_back["raising"]


def test_a_version_with_erased_content_is_replaced_without_asking(learned: Wiring, cast: Cast) -> None:
    """Those who want to be asked first could otherwise keep it in force by not answering."""
    switch(learned, cast, asks_first=True)
    communities.learn_all(learned.database)
    assert (learned_standing(learned, cast).version, learned_standing(learned, cast).waiting) == (1, 2)
    with learned.database.reading() as session:
        ids = list(session.scalars(sa.select(Request.id).limit(1)))
    erase_content(learned, cast, ids)
    assert learned_standing(learned, cast).waiting == 0
    communities.learn_all(learned.database)
    assert (learned_standing(learned, cast).version, learned_standing(learned, cast).waiting) == (3, 0)


def test_too_few_labels_after_an_erasure_leave_no_model(learned: Wiring, cast: Cast) -> None:
    with learned.database.reading() as session:
        ids = list(session.scalars(sa.select(Request.id).order_by(Request.requested_at)))
    erase_content(learned, cast, ids[:100])
    communities.learn_all(learned.database)
    left = learned_standing(learned, cast)
    assert (left.state, left.decisions, left.version) == (State.LEARNING, 160, 0)
    assert [row.weights for row in stored_versions(learned).values()] == [None]
    assert whats(learned)[-1] == ("learning.taken_out", "system")


def test_content_without_a_decision_changes_nothing(learned: Wiring, cast: Cast) -> None:
    with learned.database.writing() as session:
        calm = talk.Post(TALK, "calm-one", False, 0.1)
        row = talk.request_row(cast.community_id, uuid.uuid4(), calm, clock.now() - timedelta(days=40))
        session.execute(sa.insert(Request), [row])
    erase_content(learned, cast, [])
    with learned.database.reading() as session:
        assert session.get_one(Request, row["id"]).content_removed_at is not None
        assert session.get_one(Learning, cast.community_id).erasures == 0


@pytest.mark.both_databases
def test_an_erased_person_is_no_longer_learned_from(learned: Wiring, cast: Cast) -> None:
    with learned.database.writing() as session:
        author = session.scalars(sa.select(Request.platform_author_id).limit(1)).one()
        posts = session.scalar(
            sa.select(sa.func.count()).select_from(Request).where(Request.platform_author_id == author)
        )
        erasure.erase_identity(session, SYSTEM, PLATFORM, str(author), "forum-1")
    assert stored_versions(learned)[1].words == {}
    communities.learn_all(learned.database)
    assert posts
    assert learned_standing(learned, cast).decisions == 260 - posts
    assert learned_standing(learned, cast).version == 2


def test_while_it_is_off_an_erasure_leaves_nothing_behind(learned: Wiring, cast: Cast) -> None:
    switch(learned, cast, is_on=False)
    with learned.database.reading() as session:
        ids = list(session.scalars(sa.select(Request.id).limit(1)))
    erase_content(learned, cast, ids)
    (row,) = stored_versions(learned).values()
    assert (row.weights, row.words) == (None, {})


def test_switching_off_drops_what_should_have_been_replaced(learned: Wiring, cast: Cast) -> None:
    with learned.database.reading() as session:
        ids = list(session.scalars(sa.select(Request.id).limit(1)))
    erase_content(learned, cast, ids)
    switch(learned, cast, is_on=False)
    (row,) = stored_versions(learned).values()
    assert row.weights is None


def test_only_the_newest_versions_are_kept(
    learned: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "VERSIONS_KEPT", 2)
    for seed in range(4, 8):
        learn(learned, cast, seed=seed)
    assert sorted(stored_versions(learned)) == [4, 5]


def test_a_version_is_tried_on_stored_posts_before_it_scores(wiring: Wiring, cast: Cast) -> None:
    switch(wiring, cast, asks_first=True)
    store(wiring, cast, [talk.Post(p.text, p.author, p.wrong, max(0.56, p.base)) for p in talk.posts(260)])
    communities.learn_all(wiring.database)
    with wiring.database.reading() as session:
        before = session.scalar(sa.select(sa.func.count()).select_from(HistoryEntry))
        trial = scorer.try_version(session, operator(cast), cast.community_id, "spam", 1)
        nothing = scorer.try_version(session, operator(cast), cast.community_id, "spam", 0)
        after = session.scalar(sa.select(sa.func.count()).select_from(HistoryEntry))
        with pytest.raises(NotFound):
            scorer.try_version(session, operator(cast), cast.community_id, "spam", 5)
    assert before == after
    assert (trial.posts, trial.complete) == (260, True)
    assert nothing.moved == {}
    dropped = sum(count for (_, now), count in trial.moved.items() if now is None)
    assert 30 < dropped == sum(trial.dropped.values())
    assert trial.dropped[outcomes.Outcome.DISMISSED] > 0.9 * dropped, "the forum had dismissed them"
    assert len(trial.samples) == scorer.SHOWN_SAMPLES


def test_an_archived_community_is_not_trained(wiring: Wiring, cast: Cast) -> None:
    store(wiring, cast, talk.posts(260))
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).archived_at = clock.now()
    communities.learn_all(wiring.database)
    assert stored_versions(wiring) == {}


def test_after_an_upgrade_with_other_features_it_is_trained_again(learned: Wiring, cast: Cast) -> None:
    learned.classifiers = [Base()]
    with learned.database.writing() as session:
        session.scalars(sa.select(LearnedModel)).one().features -= 1
    learned.learned = scorer.LearnedModels()
    assert list(scores_of(learned, cast, OFFER, "upgraded")) == ["base"], "old weights do not fit"
    communities.learn_all(learned.database)
    assert learned_standing(learned, cast).version == 2
    assert COMMUNITY_MODEL in scores_of(learned, cast, OFFER, "again")
    with pytest.raises(Conflict, match="another release"):
        put(learned, cast, 1)


def test_the_service_runs_the_job_by_itself(wiring: Wiring, cast: Cast) -> None:
    class Clockwork:
        """Records what is registered, and how often it runs."""

        bodies: ClassVar[dict[str, Callable[..., None]]] = {}
        periods: ClassVar[dict[str, float]] = {}

        def register(self, name: str, body: Callable[..., None], **_: Any) -> None:
            self.bodies[name] = body

        def every(self, name: str, seconds: float) -> None:
            self.periods[name] = seconds

    store(wiring, cast, talk.posts(260))
    clockwork: Any = Clockwork()
    registry.register_all(clockwork, wiring)
    assert clockwork.periods[schedule.LEARN_JOB] <= 300
    clockwork.bodies[schedule.LEARN_JOB]()
    assert learned_standing(wiring, cast).version == 1


@pytest.mark.both_databases
def test_a_run_ends_in_time(wiring: Wiring, cast: Cast) -> None:
    store(wiring, cast, talk.posts(260))
    communities.learn_all(wiring.database, seconds=-1.0)
    assert stored_versions(wiring) == {}
