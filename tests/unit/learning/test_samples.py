"""Samples: a share of the posts below every threshold that raters are asked about only to learn from the answers."""

import uuid
from collections import Counter
from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.insights import insights
from app.core.learning import labels, sampling, standing
from app.core.learning.versions import person_erased
from app.core.models import (
    Action,
    Community,
    Decision,
    Event,
    HistoryEntry,
    LearnedCategory,
    Learning,
    Profile,
    RaterParameters,
    Request,
    SampleAnswer,
    SampledPost,
    ScoringState,
)
from app.core.people import profiles
from app.core.permissions import SYSTEM, Actor
from app.core.raters import help_needed, run, samples
from app.core.requests import retention, submitting
from app.core.thresholds.routing import CategoryRule, Scored
from app.core.vocabulary import HelpfulnessLevel, RequestStatus, ReviewGroup, Role
from app.jobs.scoring import Scorer
from app.wiring import Wiring
from tests import clocks, factories
from tests.cast import PLATFORM, Cast

YES, NO, UNSURE = (HelpfulnessLevel.HELPFUL, HelpfulnessLevel.NOT_HELPFUL, HelpfulnessLevel.SOMEWHAT_HELPFUL)
LETTERS = {"Y": YES, "N": NO, "?": UNSURE}
PEAR = "A pear tree grows by the pond"


def sample_all(wiring: Wiring, cast: Cast, share: float = 1.0) -> None:
    """Make every post below the thresholds a sample: more than an operator may choose."""
    with wiring.database.writing() as session:
        session.merge(
            Learning(
                community_id=cast.community_id, is_on=True, sample_share=share, sample_key=sampling.new_key()
            )
        )


def scored(wiring: Wiring, cast: Cast, text: str = PEAR, request_id: str = "post-1") -> uuid.UUID:
    made = factories.submit(wiring, cast, text, request_id)
    wiring.jobs.run_all()  # type: ignore[union-attr]
    return made


def sampled(wiring: Wiring) -> list[SampledPost]:
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(SampledPost).order_by(SampledPost.created_at)))


def only(wiring: Wiring) -> SampledPost:
    (sample,) = sampled(wiring)
    return sample


def rater(cast: Cast, profile: Profile) -> Actor:
    return factories.member(cast, Role.RATER, "A member", profile_id=profile.id)


def answer(wiring: Wiring, cast: Cast, letters: str, *, first: int = 0, name: str = "rater") -> None:
    """Answer the only sample, each letter by another member: Y, N or ?."""
    for number, letter in enumerate(letters, start=first):
        with wiring.database.writing() as session:
            profile = profiles.ensure(session, PLATFORM, f"{name}-{number}")
            sample = session.scalars(sa.select(SampledPost)).one()
            samples.answer(session, rater(cast, profile), sample, profile, LETTERS[letter])


def label(wiring: Wiring, cast: Cast) -> list[bool]:
    """The labels of the only sample's category, as the training reads them."""
    category = only(wiring).category
    with wiring.database.reading() as session:
        found = labels.read(session, cast.community_id, category)
        assert labels.counts(session, cast.community_id).get(category, (0, None))[0] == len(found)
        return [item.acted for item in found]


def test_the_key_chooses_the_share_and_always_the_same_posts() -> None:
    ids = [uuid.UUID(int=number * 7919) for number in range(20_000)]
    chosen = {item for item in ids if sampling.is_chosen(item, "a key", 0.01)}
    assert 0.008 < len(chosen) / len(ids) < 0.012
    assert chosen == {item for item in ids if sampling.is_chosen(item, "a key", 0.01)}
    assert chosen < {item for item in ids if sampling.is_chosen(item, "a key", 0.05)}
    other = {item for item in ids if sampling.is_chosen(item, "another key", 0.01)}
    assert len(chosen & other) < len(chosen) / 5


RULES = [
    CategoryRule("toxicity", 0.5),
    CategoryRule("spam", 0.2),
    CategoryRule("hate", 0.5, review_group=ReviewGroup.STAFF),
    CategoryRule("misinformation", 0.5),
    CategoryRule("threat", 0.5, enabled=False),
    CategoryRule("sexual", 0.5, observe_only=True),
    CategoryRule("pii", 0.5),
]


def asked(known: dict[str, int], **scores: float) -> Counter[str | None]:
    """By category, how many of 1,000 posts with these scores raters are asked about."""
    near = dict.fromkeys(("hate", "misinformation", "threat", "sexual"), Scored(0.49))
    found = near | {name: Scored(score) for name, score in scores.items()}
    rules = [
        sampling.category_to_ask(uuid.UUID(int=number * 7919), "key", found, RULES, known)
        for number in range(1_000)
    ]
    return Counter(rule.name if rule else None for rule in rules)


def test_only_categories_that_raters_review_and_a_classifier_scored_are_asked_about() -> None:
    assert asked({}) == {None: 1_000}
    assert asked({}, spam=0.0) == {"spam": 1_000}
    assert set(asked({}, spam=0.1, toxicity=0.3, pii=0.0)) == {"spam", "toxicity", "pii"}


def test_samples_are_spread_over_the_categories_and_go_where_labels_are_missing() -> None:
    """The score of toxicity is the nearest to its threshold in every post."""
    scores = {"toxicity": 0.3, "spam": 0.08, "pii": 0.1}
    new = asked({}, **scores)
    assert new["toxicity"] < 600
    assert new["toxicity"] > new["spam"] > new["pii"] > 100, "the nearer, the more often"
    later = asked({"toxicity": 300, "spam": 140}, **scores)
    assert later["toxicity"] < 250
    assert later["pii"] > later["spam"] > later["toxicity"]
    assert asked({"toxicity": 300}, **scores) == asked({"toxicity": 9_000}, **scores)


@pytest.mark.both_databases
def test_categories_with_labels_or_open_samples_are_asked_about_less(wiring: Wiring, cast: Cast) -> None:
    sample_all(wiring, cast)
    with wiring.database.writing() as session:
        scored_by_all = {"toxicity", "spam", "threat", "sexual", "self_harm", "pii", "hate"}
        for category in scored_by_all - {"spam", "toxicity"}:
            session.add(
                LearnedCategory(
                    community_id=cast.community_id, category=category, labels=10_000, outcome="better"
                )
            )
    for number in range(20):
        scored(wiring, cast, f"{PEAR} {number}", f"post-{number}")
    found = Counter(sample.category for sample in sampled(wiring))
    assert found.total() == 20
    with wiring.database.reading() as session:
        known = sampling._known(session, cast.community_id)
    labelled = dict.fromkeys(scored_by_all - {"spam", "toxicity"}, 10_000)
    assert known == Counter(labelled) + found, "labels and open samples"
    # Of ids that are the same in every run.
    drawn = asked(dict(known), spam=0.25, toxicity=0.25, pii=0.25)
    assert drawn["spam"] + drawn["toxicity"] > 850
    assert min(drawn["spam"], drawn["toxicity"]) > 120


@pytest.mark.both_databases
def test_nothing_happens_to_a_sampled_post(wiring: Wiring, cast: Cast) -> None:
    scored(wiring, cast, PEAR, "before")
    assert sampled(wiring) == [], "sampling is off until an operator switches it on"
    sample_all(wiring, cast)
    with wiring.database.reading() as session:
        plain = session.scalars(sa.select(Event.name).order_by(Event.id)).all()
    made = scored(wiring, cast)
    Scorer(wiring).score(made)
    with wiring.database.reading() as session:
        events = session.scalars(sa.select(Event.name).order_by(Event.id)).all()
        assert events == [*plain, *plain], "the events of a post that is no sample"
        figures = insights.scoring_analysis(session, SYSTEM, cast.community_id)
    assert [item.request_id for item in sampled(wiring)] == [made], "scoring again samples it once"
    with wiring.database.reading() as session:
        assert session.get_one(Request, made).status is RequestStatus.COMPLETED
        assert session.scalar(sa.select(sa.func.count(Action.id))) == 0
    answer(wiring, cast, "YYYYY")
    with wiring.database.reading() as session:
        request = session.get_one(Request, made)
        assert (request.status, request.note_id) == (RequestStatus.COMPLETED, None)
        for model in (Action, Decision):
            assert session.scalar(sa.select(sa.func.count(model.id))) == 0
        assert session.scalars(sa.select(Event.name).order_by(Event.id)).all() == events
        assert insights.scoring_analysis(session, SYSTEM, cast.community_id) == figures
    assert label(wiring, cast) == [True]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("Y", []), ("YYYYY", [True]), ("NNNN?", [False]), ("YYYNN", []), ("YY???", []), ("YYNNYYYYYY", [True])],
)
def test_a_label_needs_enough_answers_and_four_in_five_alike(
    wiring: Wiring, cast: Cast, letters: str, expected: list[bool]
) -> None:
    sample_all(wiring, cast)
    scored(wiring, cast)
    answer(wiring, cast, letters)
    assert label(wiring, cast) == expected
    assert only(wiring).answers == len(letters)
    assert (only(wiring).ended_at is not None) is bool(expected)
    with wiring.database.reading() as session:
        whats = session.scalars(sa.select(HistoryEntry.what).where(HistoryEntry.object_type == "sample"))
        assert whats.all() == ["sample.labelled"] * len(expected)
    with wiring.database.writing() as session:
        request = session.get_one(Request, only(wiring).request_id)
        submitting.escalate(session, factories.integration(cast), request)
    assert label(wiring, cast) == [], "the decision of the action will be the label"


def test_where_one_rating_decides_a_sample_still_needs_two(wiring: Wiring, cast: Cast) -> None:
    sample_all(wiring, cast)
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"min_ratings": 1}
    scored(wiring, cast)
    answer(wiring, cast, "Y")
    assert label(wiring, cast) == []
    answer(wiring, cast, "Y")
    assert label(wiring, cast) == [], "the same person again"
    answer(wiring, cast, "Y", first=1)
    assert label(wiring, cast) == [True]


def test_an_answer_by_the_author_or_of_one_camp_gives_no_label(wiring: Wiring, cast: Cast) -> None:
    sample_all(wiring, cast)
    scored(wiring, cast)
    with wiring.database.writing() as session:
        session.scalars(sa.select(Request)).one().platform_author_id = "author-0"
    answer(wiring, cast, "N", name="author")
    answer(wiring, cast, "NNNN")
    assert label(wiring, cast) == [], "the author's own answer does not count"
    with wiring.database.writing() as session:
        session.add(ScoringState(community_id=cast.community_id, model_version=1, last_version=1))
        for number in range(6):
            session.add(
                RaterParameters(
                    community_id=cast.community_id,
                    version=1,
                    profile_id=profiles.ensure(session, PLATFORM, f"rater-{number}").id,
                    intercept=0.0,
                    factor=-0.5 if number == 5 else 0.5,
                    kept=True,
                    volume=False,
                    correlated=False,
                )
            )
    answer(wiring, cast, "N", first=4)
    assert label(wiring, cast) == [], "all five are on one side"
    answer(wiring, cast, "N", first=5)
    assert label(wiring, cast) == [False]


@pytest.mark.both_databases
def test_a_rater_is_asked_once_for_a_week_and_a_moderator_never(wiring: Wiring, cast: Cast) -> None:
    sample_all(wiring, cast)
    scored(wiring, cast)
    with wiring.database.writing() as session:
        reader = profiles.ensure(session, PLATFORM, "reader")
        other = profiles.ensure(session, PLATFORM, "other")
        author = profiles.ensure(session, PLATFORM, "author-1")
    people = [rater(cast, one) for one in (reader, other, author)]
    moderator = factories.member(cast, Role.MODERATOR, "Moderator", profile_id=reader.id)

    def asked(actor: Actor, profile_id: uuid.UUID) -> bool:
        with wiring.database.reading() as session:
            found = run.next_cards(session, actor, cast.community_id, profile_id, limit=20)
            assert help_needed.count(session, actor, cast.community_id, profile_id) == len(found)
            hour_ago = clock.now() - timedelta(hours=1)
            new = help_needed.waiting_since(session, actor, cast.community_id, profile_id, hour_ago)
            assert new == len(found)
            return [item.id for item in found] == [only(wiring).id]

    def is_asked(number: int) -> bool:
        return asked(people[number], [reader, other, author][number].id)

    assert [is_asked(0), is_asked(1), is_asked(2)] == [True, True, False], "not about their own post"
    assert not asked(moderator, reader.id)
    with wiring.database.writing() as session:
        sample = session.scalars(sa.select(SampledPost)).one()
        with pytest.raises(Forbidden):
            samples.answer(session, moderator, sample, reader, YES)
        help_needed.skip(session, people[1], sample, other.id)
        samples.answer(session, people[0], sample, reader, YES)
        samples.answer(session, people[0], sample, reader, NO)
    assert [is_asked(0), is_asked(1)] == [False, False]
    assert only(wiring).answers == 1, "a changed answer is one, a skip is none"
    with wiring.database.writing() as session:
        session.execute(sa.delete(SampleAnswer))
        session.scalars(sa.select(SampledPost)).one().ends_at = clock.now()
    assert not is_asked(0)
    with wiring.database.writing() as session, pytest.raises(Conflict):
        samples.answer(session, people[0], session.scalars(sa.select(SampledPost)).one(), reader, YES)


@pytest.mark.both_databases
def test_an_answer_that_was_taken_back_meanwhile_is_not_taken_back_again(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample_all(wiring, cast)
    scored(wiring, cast)
    answer(wiring, cast, "YN")
    lock = profiles.hold_canonical

    def overtaken(session: Session, profile: Profile) -> Profile:
        """Wait for the lock, while another request with it takes the same answer back."""
        session.execute(sa.delete(SampleAnswer).where(SampleAnswer.profile_id == profile.id))
        session.execute(sa.update(SampledPost).values(answers=SampledPost.answers - 1))
        return lock(session, profile)

    with wiring.database.writing() as session:
        profile = profiles.ensure(session, PLATFORM, "rater-0")
        monkeypatch.setattr(profiles, "hold_canonical", overtaken)
        samples.take_back(
            session, rater(cast, profile), session.scalars(sa.select(SampledPost)).one(), profile
        )
    assert only(wiring).answers == 1
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(SampleAnswer.level)).all() == [NO]


def test_an_action_a_withdrawal_and_a_switch_end_it(wiring: Wiring, cast: Cast) -> None:
    sample_all(wiring, cast)
    made = [scored(wiring, cast, f"{PEAR} {number}", f"post-{number}") for number in range(3)]

    def open_ones() -> list[bool]:
        with wiring.database.reading() as session:
            found = [samples.is_open(session, item) for item in sampled(wiring)]
            shown = standing.read_standing(session, SYSTEM, cast.community_id).samples
            assert shown.waiting == sum(found), "the page of learning counts what raters are asked"
            return found

    assert open_ones() == [True, True, True]
    with wiring.database.writing() as session:
        request = session.get_one(Request, made[0])
        submitting.escalate(session, factories.integration(cast), request)
        submitting.withdraw(session, factories.integration(cast), session.get_one(Request, made[1]))
    assert open_ones() == [False, True], "the sample of a withdrawn post goes with it"
    operator = factories.member(cast, Role.OPERATOR, "Operator", account_id=cast.operator.account_id)
    with wiring.database.writing() as session:
        for share in (0.0001, 0.06):
            with pytest.raises(Invalid):
                standing.switch(
                    session,
                    operator,
                    cast.community_id,
                    is_on=True,
                    asks_first=False,
                    sample_share=share,
                    reason="More",
                )
        standing.switch(
            session, operator, cast.community_id, is_on=True, asks_first=False, sample_share=0.0, reason="Off"
        )
    assert open_ones() == [False, False]
    scored(wiring, cast, f"{PEAR} again", "post-9")
    assert len(sampled(wiring)) == 2


def test_a_community_gets_only_so_many_a_day(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "MOST_A_DAY", 2)
    sample_all(wiring, cast)
    for number in range(4):
        scored(wiring, cast, f"{PEAR} {number}", f"post-{number}")
    assert len(sampled(wiring)) == 2
    clocks.advance(hours=25)
    scored(wiring, cast, f"{PEAR} tomorrow", "post-9")
    assert len(sampled(wiring)) == 3


@pytest.mark.both_databases
@pytest.mark.parametrize("how", ["content", "person", "person who asked"])
def test_erased_with_its_post_it_is_unlearned(wiring: Wiring, cast: Cast, how: str) -> None:
    sample_all(wiring, cast)
    scored(wiring, cast)
    answer(wiring, cast, "NNNNN")
    assert label(wiring, cast) == [False]
    clocks.advance(days=40)
    with wiring.database.writing() as session:
        request = session.scalars(sa.select(Request)).one()
        if how == "person who asked":
            request.platform_author_id, request.requested_by = None, "poster"
        else:
            request.platform_author_id = "poster"
        if how == "content":
            assert retention.remove(session, cast.community_id, 30, is_first=True) == 1
        else:
            person_erased(session, [cast.community_id], ["poster"])
    assert sampled(wiring) == []
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(SampleAnswer)).all() == []
        learning = session.get_one(Learning, cast.community_id)
        assert (learning.erasures, learning.due_at) == (1, clock.now())
