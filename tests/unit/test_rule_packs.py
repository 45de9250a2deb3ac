"""A community's rules: drafts score nothing, versions score everywhere at once, and the way back."""

import json
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.models import Action, HistoryEntry, Request, Score
from app.core.permissions import SYSTEM
from app.core.requests import scorings, submitting
from app.core.rulesets import drafts, trials, versions
from app.core.rulesets.versions import CommunityRules
from app.core.vocabulary import ActionState, ActionTier, RequestStatus, ReviewGroup, Role
from app.jobs.scoring import Scorer
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.factories import REVIEWED, SPAM, scored_action, submit

HARBOUR = {
    "id": "spam.harbour",
    "category": "spam",
    "kind": "phrase",
    "pattern": "harbour tour",
    "weight": 0.8,
}
SHIPPED = {"builtin.rules", "builtin.seed"}
TOUR = "Come on a HARBOUR... tour with us, it is lovely"


def publish(wiring: Wiring, cast: Cast, reason: str = "Tours") -> int:
    with wiring.database.writing() as session:
        return drafts.publish(session, SYSTEM, cast.community_id, reason).version


def put(wiring: Wiring, cast: Cast, **changed: Any) -> None:
    with wiring.database.writing() as session:
        drafts.put_rule(session, SYSTEM, cast.community_id, {**HARBOUR, **changed})


def scored_by(wiring: Wiring) -> set[str]:
    with wiring.database.reading() as session:
        return set(session.scalars(sa.select(Score.classifier)))


def test_a_draft_scores_nothing_and_a_version_scores_everywhere_at_once(wiring: Wiring, cast: Cast) -> None:
    other_process = CommunityRules()

    def elsewhere() -> list[str]:
        with wiring.database.reading() as session:
            found = other_process.classifiers(session, cast.community_id, wiring.classifiers)
        return [one.name for one in found]

    put(wiring, cast)
    submit(wiring, cast, TOUR, "before")
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    assert scored_by(wiring) == SHIPPED
    assert elsewhere() == ["builtin.rules", "builtin.seed"]
    assert publish(wiring, cast) == 1
    action_id = scored_action(wiring, cast, TOUR, "after")
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert (action.category, action.score) == ("spam", 0.8)
        assert action.evidence is not None
        (match,) = action.evidence["details"]["matches"]
        assert TOUR[match["start"] : match["end"]] == "HARBOUR... tour"
        assert versions.standing(session, SYSTEM, cast.community_id).draft is None
        entry = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "rules.revised")).one()
        assert entry.after["spam.harbour"]["weight"] == 0.8
        assert (
            wiring.rules.classifiers(session, cast.other_community_id, wiring.classifiers)
            is wiring.classifiers
        )
    assert elsewhere() == ["builtin.rules", "builtin.seed", "community.rules"]
    with wiring.database.writing() as session:
        versions.revert(session, SYSTEM, cast.community_id, 0, "They are welcome", based_on=1)
    assert elsewhere() == ["builtin.rules", "builtin.seed"]
    with wiring.database.reading() as session:
        assert versions.newest_version(session, cast.community_id) == 2


def test_a_shipped_rule_can_be_switched_off_and_the_version_says_so(wiring: Wiring, cast: Cast) -> None:
    first = scored_action(wiring, cast, REVIEWED, "first")
    with wiring.database.reading() as session:
        evidence = session.get_one(Action, first).evidence
    assert evidence is not None
    hit = sorted({match["rule"] for match in evidence["details"]["matches"]})
    with wiring.database.writing() as session:
        drafts.switch_starter(session, SYSTEM, cast.community_id, hit, False)
        with pytest.raises(NotFound):
            drafts.switch_starter(session, SYSTEM, cast.community_id, ["no.such-rule"], False)
    publish(wiring, cast)
    second = submit(wiring, cast, REVIEWED, "second")
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        scores = session.scalars(
            sa.select(Score).where(Score.request_id == second, Score.classifier == "builtin.rules")
        ).all()
    assert {score.category: score.score for score in scores}["toxicity"] == 0.0
    assert scores[0].classifier_version.startswith(wiring.classifiers[0].version + "-")


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"pattern": "(", "kind": "regex"}, "pattern"),
        ({"weight": 1.5}, "weight"),
        ({"category": "Not A Name"}, "category"),
        ({"unless": ["[a-"]}, "unless"),
        ({"id": "Spaces here"}, "id"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_a_rule_cannot_be_is_refused_by_its_field(
    wiring: Wiring, cast: Cast, changed: dict[str, Any], field: str
) -> None:
    with wiring.database.writing() as session:
        with pytest.raises(Invalid) as refusal:
            drafts.put_rule(session, SYSTEM, cast.community_id, {**HARBOUR, **changed})
        assert field in [problem.loc[-1] for problem in refusal.value.problems]


def test_an_import_replaces_the_drafts_rules_or_says_what_is_wrong(wiring: Wiring, cast: Cast) -> None:
    # Each list holds the next one ten times over: written out, it would fill the machine.
    bomb = {f"l{n}": ["{{" + f"l{n + 1}" + "}}"] * 10 for n in range(12)} | {"l12": ["x"]}
    growing = {
        "name": "p",
        "version": "1",
        "lists": bomb,
        "rules": [{**HARBOUR, "kind": "regex", "pattern": "{{l0}}"}],
    }
    with wiring.database.writing() as session:
        for text, told in (
            ("{", "is not JSON"),
            ("[1]", "must be an object"),
            ("[" * 100_000, "is not JSON"),
            (json.dumps({"name": "p", "version": "1", "rules": [HARBOUR, HARBOUR]}), "is used twice"),
            (json.dumps({"name": "p", "version": "1", "note": "\x00", "rules": []}), "NUL"),
            (json.dumps(growing), "too long"),
            (" " * versions.PACK_MAX_BYTES + "{}", "at most 400 KB"),
        ):
            with pytest.raises(Invalid, match=told):
                drafts.import_pack(session, SYSTEM, cast.community_id, text)
        made = drafts.import_pack(
            session, SYSTEM, cast.community_id, json.dumps({"name": "p", "version": "9", "rules": [HARBOUR]})
        )
        assert [rule["id"] for rule in made.rules] == ["spam.harbour"]


def test_two_editors_do_not_overwrite_each_other(wiring: Wiring, cast: Cast) -> None:
    put(wiring, cast)
    with wiring.database.writing() as session:
        for verb in (
            lambda: drafts.put_rule(session, SYSTEM, cast.community_id, {**HARBOUR, "id": "b"}, etag=0),
            lambda: drafts.remove_rule(session, SYSTEM, cast.community_id, "spam.harbour", etag=7),
            lambda: drafts.discard(session, SYSTEM, cast.community_id, etag=0),
            lambda: drafts.publish(session, SYSTEM, cast.community_id, "x", based_on=3),
        ):
            with pytest.raises(Conflict):
                verb()
        moderator = factories.member(cast, Role.MODERATOR, "mo")
        with pytest.raises(Forbidden):
            drafts.put_rule(session, moderator, cast.community_id, HARBOUR)


def test_a_preview_of_hits_reads_the_newest_texts_and_says_how_many(wiring: Wiring, cast: Cast) -> None:
    for number, text in enumerate((TOUR, "Nothing to see", TOUR, REVIEWED)):
        submit(wiring, cast, text, f"post-{number}")
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    put(wiring, cast)
    with wiring.database.reading() as session:
        now = versions.standing(session, SYSTEM, cast.community_id)
        assert now.draft is not None
        given = (session, SYSTEM, cast.community_id, wiring.classifiers, now.in_force, now.draft)
        found = trials.try_on_stored(*given)
        hurried = trials.try_on_stored(*given, seconds=-1.0)
        actions = session.scalar(sa.select(sa.func.count()).select_from(Action))
    assert (found.read, found.complete, found.changed) == (4, True, 2)
    assert found.moved == {(None, ("spam", 2)): 2}
    assert found.by_rule == {"spam.harbour": 2}
    assert [one.content for one in found.samples] == [TOUR, TOUR]
    assert [TOUR[m.start : m.end] for m in found.samples[0].matches] == ["HARBOUR... tour"]
    assert (hurried.read, hurried.complete) == (0, False)
    assert actions == 1, "a preview opens nothing"


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Own rules run out of time over every text."""
    monkeypatch.setattr(versions, "TEXT_SECONDS", 0.0)


@pytest.mark.usefixtures("no_time")
def test_a_post_that_rules_cannot_finish_with_goes_to_staff_and_is_neither_hidden_nor_let_through(
    wiring: Wiring, cast: Cast
) -> None:
    put(wiring, cast)
    publish(wiring, cast)
    action_id = scored_action(wiring, cast, TOUR)
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert (action.action_state, action.review_group) == (ActionState.UNDER_REVIEW, ReviewGroup.STAFF)
        assert (action.category, action.action_tier) == ("unfinished", ActionTier.CONSENSUS)
        assert action.evidence["details"]["classifiers"][-1]["error"] == "out of time: rule spam.harbour"
        assert scored_by(wiring) == SHIPPED
        (version,) = (
            one.version
            for one in wiring.rules.classifiers(session, cast.community_id, wiring.classifiers)
            if one.name == "community.rules"
        )
        (slow,) = scorings.slow_rules(session, SYSTEM, cast.community_id, [version])
        assert (slow.rule, slow.texts) == ("spam.harbour", 1)
        assert scorings.slow_rules(session, SYSTEM, cast.community_id, ["another version"]) == []
        request_id = action.request_id
    Scorer(wiring).score(request_id)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Action.id)).all() == [action_id], (
            "a job that runs again opens nothing"
        )
    scored_action(wiring, cast, f"{TOUR}, again", "post-2")
    with wiring.database.reading() as session:
        assert [one.texts for one in scorings.slow_rules(session, SYSTEM, cast.community_id, [version])] == [
            2
        ]


@pytest.mark.usefixtures("no_time")
def test_where_rules_cannot_finish_what_the_others_found_still_counts(wiring: Wiring, cast: Cast) -> None:
    put(wiring, cast)
    publish(wiring, cast)
    made = scored_action(wiring, cast, SPAM), scored_action(wiring, cast, REVIEWED, "post-2")
    with wiring.database.reading() as session:
        spam, insult = (session.get_one(Action, one) for one in made)
    assert (spam.category, spam.action_state) == ("spam", ActionState.PROPOSED)
    assert (insult.category, insult.action_state) == ("toxicity", ActionState.UNDER_REVIEW)
    # Nothing reads what the rules would have scored: then nobody is asked.
    with wiring.database.writing() as session:
        drafts.put_rule(
            session, SYSTEM, cast.community_id, {**HARBOUR, "category": "tours"}, instead_of="spam.harbour"
        )
    publish(wiring, cast)
    quiet = submit(wiring, cast, TOUR, "post-3")
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        assert session.get_one(Request, quiet).status is RequestStatus.COMPLETED
        assert session.scalar(sa.select(Action.id).where(Action.request_id == quiet)) is None


@pytest.mark.usefixtures("no_time")
def test_a_preview_says_which_rules_are_too_slow_before_they_are_in_force(wiring: Wiring, cast: Cast) -> None:
    put(wiring, cast)
    with wiring.database.reading() as session:
        now = versions.standing(session, SYSTEM, cast.community_id)
        given = (session, SYSTEM, cast.community_id, wiring.classifiers, now.in_force, now.working)
        none_yet = trials.try_on_stored(*given)
    assert (none_yet.slow, none_yet.slow_if_long) == ({}, "spam.harbour")
    submit(wiring, cast, TOUR)
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        found = trials.try_on_stored(session, *given[1:])
    assert found.slow == {"spam.harbour": 1}
    assert found.moved == {(None, ("unfinished", 2)): 1}


def test_scores_of_equal_height_leave_one_that_stands_for_the_category(wiring: Wiring, cast: Cast) -> None:
    wiring.classifiers = wiring.classifiers[:1]
    put(wiring, cast, pattern="idiot", kind="word", category="toxicity", weight=0.9)
    publish(wiring, cast)
    made = submit(wiring, cast, REVIEWED)
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        highest = session.scalars(
            sa.select(Score).where(Score.request_id == made, Score.category == "toxicity", Score.is_highest)
        ).one()
        assert highest.classifier == "community.rules"
        assert highest.score == 0.9
        assert submitting.find(session, SYSTEM, str(made)).scored_at is not None
