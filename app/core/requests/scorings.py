"""What classifiers say about one text, the route that follows from it, and the rules that took too long for it."""

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.classify import (
    COMMUNITY_MODEL,
    COMMUNITY_RULES,
    NOTABLE,
    Classifier,
    Context,
    OutOfTime,
    Result,
)
from app.core.classify.reading import see
from app.core.classify.together import score_each
from app.core.learning.scorer import CommunityModel
from app.core.models import SlowRule
from app.core.permissions import Actor, Permission, require
from app.core.services.calling import stored_version
from app.core.thresholds.routing import CategoryRule, Route, Scored, decide, raise_to, without_score

QUOTED = " quoted"
"""Ends the version of a classifier whose score is for words that a post quotes, which never acts alone."""


@dataclass(frozen=True)
class Scoring:
    """One classifier's result for a request; ``tier1`` are the categories that its scores may raise to Tier 1.

    ``categories``: all that it scores. If the result has an error, none of its scores count. ``local`` False: a
    connected service, whose failure matters only to the categories that require it.
    """

    classifier: str
    version: str
    tier1: frozenset[str]
    result: Result
    milliseconds: int = field(default=0)
    categories: frozenset[str] = frozenset()
    local: bool = True

    @property
    def scores(self) -> Mapping[str, float]:
        """The scores that count: none if the classifier could not finish, because then they are incomplete."""
        return self.result.scores if self.result.error is None else {}


def score_text(classifiers: Sequence[Classifier], text: str, context: Context) -> list[Scoring]:
    """Run every classifier on a text. Call it outside of any transaction.

    Where a post quotes others, what a classifier finds in the author's own words may act alone, and a higher score for
    the quotation may not: it is a scoring of its own.
    """
    scorings = [
        _scoring(classifier, result)
        for classifier, result in zip(classifiers, score_each(classifiers, text, context), strict=True)
    ]
    own = see(text).own_words
    if own is not None:
        by_name = {classifier.name: classifier for classifier in classifiers}
        scorings = [
            part
            for scoring in scorings
            for part in _by_voice(by_name[scoring.classifier], scoring, own, context)
        ]
    return with_community_model(classifiers, text, scorings)


def _scoring(classifier: Classifier, result: Result) -> Scoring:
    return Scoring(
        classifier.name,
        classifier.version if classifier.local else stored_version(classifier.version, result),
        classifier.tier1_categories if result.calibrated else frozenset(),
        result,
        round(result.ms),
        classifier.categories,
        classifier.local,
    )


def _by_voice(classifier: Classifier, scoring: Scoring, own_words: str, context: Context) -> list[Scoring]:
    """The scoring of a post that quotes others as two: of its own words, and where quotations score higher."""
    if not any(scoring.scores.get(category, 0.0) > NOTABLE for category in scoring.tier1):
        return [scoring]
    own = classifier.score([own_words], context)[0]
    if own.error is not None:  # What its author says is not known, so that nothing may act.
        return [replace(scoring, tier1=frozenset())]
    quoted = {
        category: score
        for category, score in scoring.scores.items()
        if category in scoring.tier1 and score > own.scores.get(category, 0.0)
    }
    if not quoted:
        return [scoring]
    left = {category: own.scores.get(category, 0.0) for category in quoted}
    is_in = [match.quoted and match.category in quoted for match in scoring.result.matches]
    return [
        replace(
            scoring,
            result=replace(
                scoring.result,
                scores={**scoring.result.scores, **left},
                matches=tuple(
                    match
                    for match, is_quoted in zip(scoring.result.matches, is_in, strict=True)
                    if not is_quoted
                ),
            ),
        ),
        Scoring(
            scoring.classifier,
            f"{scoring.version}{QUOTED}",
            frozenset(),
            Result(quoted, tuple(compress(scoring.result.matches, is_in)), scoring.result.model, own.ms),
            round(own.ms),
            frozenset(quoted),
            scoring.local,
        ),
    ]


def with_community_model(
    classifiers: Sequence[Classifier], text: str, scorings: Sequence[Scoring]
) -> list[Scoring]:
    """The scorings with the community's own model added, if one is among the classifiers.

    It goes last, because it blends the scores of the others. It says nothing about a category in which another
    classifier failed. It may reach Tier 1 only where the score that it replaces may.
    """
    others = [scoring for scoring in scorings if scoring.classifier != COMMUNITY_MODEL]
    model = next((item for item in classifiers if isinstance(item, CommunityModel)), None)
    if model is None:
        return others
    begin = time.perf_counter()
    base = combined([scoring for scoring in others if scoring.classifier != COMMUNITY_RULES])
    failed = {name for scoring in others if scoring.result.error is not None for name in scoring.categories}
    names = sorted(model.categories - failed)
    scores = model.blended(text, {name: base[name].score if name in base else 0.0 for name in names})
    milliseconds = round((time.perf_counter() - begin) * 1000)
    return others + [
        Scoring(
            COMMUNITY_MODEL,
            model.version_of(name),
            frozenset({name} if name in base and base[name].calibrated else ()),
            Result({name: score}),
            milliseconds,
            frozenset({name}),
        )
        for name, score in scores.items()
    ]


def decided(scorings: Sequence[Scoring], rules: Sequence[CategoryRule]) -> Route | None:
    """The route for these scores.

    If nothing is above a threshold, but a classifier that might have found something could not finish, the post
    goes to staff: it is neither acted on nor let through.
    """
    return decide(combined(scorings), rules) or without_score(unscored(scorings, rules), rules)


def unscored(scorings: Sequence[Scoring], rules: Sequence[CategoryRule]) -> frozenset[str]:
    """The categories that a classifier would have scored if it had finished.

    A connected service that failed counts only for the categories that require it.
    """
    failed = [scoring for scoring in scorings if scoring.result.error is not None]
    names = {name for scoring in failed if scoring.local for name in scoring.categories}
    remote = {scoring.classifier for scoring in failed if not scoring.local}
    return frozenset(names | {rule.name for rule in rules if rule.requires & remote})


def combined(scorings: Sequence[Scoring]) -> dict[str, Scored]:
    """Per category the highest score of all classifiers, and whether that classifier may reach Tier 1.

    Where the community's own model scored, its score replaces those of the others, except of the community's rules.
    """
    best: dict[str, Scored] = {}
    learned = {
        name for scoring in scorings if scoring.classifier == COMMUNITY_MODEL for name in scoring.scores
    }
    for scoring in scorings:
        is_kept = scoring.classifier in (COMMUNITY_MODEL, COMMUNITY_RULES)
        for category, value in scoring.scores.items():
            if category in learned and not is_kept:
                continue
            raise_to(best, category, scored_by(scoring, category, value))
    return best


def scored_by(scoring: Scoring, category: str, value: float) -> Scored:
    return Scored(round(value, 4), category in scoring.tier1)


def timeouts(scorings: Sequence[Scoring]) -> list[tuple[str, OutOfTime]]:
    """The rules that used up a text's time, each with its classifier's version."""
    return [
        (scoring.version, scoring.result.error)
        for scoring in scorings
        if isinstance(scoring.result.error, OutOfTime)
    ]


def record_slow_rules(
    session: Session, community_id: uuid.UUID, timeouts: Sequence[tuple[str, OutOfTime]]
) -> None:
    """Count a text for each rule that used most of its time, with its classifier's version.

    A new version starts the count again. The caller holds the community's lock.
    """
    if not timeouts:
        return
    for version, error in timeouts:
        row = session.get(SlowRule, (community_id, error.rule))
        if row is None:
            row = SlowRule(
                community_id=community_id, rule=error.rule, version=version, texts=0, milliseconds=0
            )
            session.add(row)
        elif row.version != version:
            row.version, row.texts, row.milliseconds = version, 0, 0
        row.texts += 1
        row.milliseconds = max(row.milliseconds, error.milliseconds)
        row.last_at = clock.now()
    session.flush()


def slow_rules(
    session: Session, actor: Actor, community_id: uuid.UUID, versions: Iterable[str]
) -> Sequence[SlowRule]:
    """The slow rules of these classifier ``versions``, most often slow first."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return session.scalars(
        sa.select(SlowRule)
        .where(SlowRule.community_id == community_id, SlowRule.version.in_(list(versions)))
        .order_by(SlowRule.texts.desc(), SlowRule.rule)
    ).all()
