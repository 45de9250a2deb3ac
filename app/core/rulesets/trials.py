"""Tries rules before they are in force: on one text, and on recently submitted posts.

Nothing is stored, and no event is sent (docs/moderate/operator.md).
"""

import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.core.classify import COMMUNITY_MODEL, Classifier, Context, Match, OutOfTime, Result
from app.core.classify.language import language_of
from app.core.classify.rulepack import RulePackClassifier
from app.core.limits import CONTENT_MAX
from app.core.permissions import Actor, Permission, require
from app.core.requests.scorings import Scoring, decided, score_text, unscored
from app.core.requests.scorings import combined as combined_scores
from app.core.rulesets.versions import RuleSet, combined
from app.core.services.comparing import StoredPost, stored_posts
from app.core.thresholds import threshold_sets
from app.core.thresholds.routing import (
    CategoryRule,
    Route,
    Scored,
    decide,
    observed,
    place_of,
    raise_to,
    without_score,
)

MOST_TEXTS = 5_000
MOST_SECONDS = 3.0
SHOWN_SAMPLES = 20
LONG_FROM = 20
"""The number of texts, the longest ones read, that the long test text is repeated from."""


@dataclass(frozen=True)
class CategoryTrial:
    """A category's score for a text with its thresholds; ``rule`` None: the threshold set has no such category."""

    category: str
    scored: Scored
    rule: CategoryRule | None


@dataclass(frozen=True)
class Trial:
    """What a text would lead to. ``route`` None: nothing; ``observed``: what observe-only categories would do."""

    categories: Sequence[CategoryTrial]
    matches: Sequence[Match]
    route: Route | None
    observed: Sequence[Route]
    answers: Sequence[tuple[str, Result]]

    @property
    def slow(self) -> Sequence[str]:
        """The rules that exceeded the time limit."""
        return [result.error.rule for _, result in self.answers if isinstance(result.error, OutOfTime)]


@dataclass(frozen=True)
class Sample:
    """A text that the draft scores differently. ``matches``: those that it adds or removes."""

    content: str
    matches: Sequence[Match]
    before: Route | None
    after: Route | None


@dataclass(frozen=True)
class Hits:
    """The effects of a draft on ``read`` texts; ``complete`` False: there were more than could be read in time.

    ``changed`` texts get other scores; ``moved`` counts the texts whose route changes, by both routes' category and
    tier; ``by_rule`` how many texts each of the community's own rules matches. ``slow`` names the draft's rules
    that exceeded the time limit, with the number of texts; ``slow_if_long`` the one that exceeds it on the longest
    text that may be submitted, composed of texts read.
    """

    read: int
    complete: bool
    changed: int
    moved: Mapping[tuple[tuple[str, int] | None, tuple[str, int] | None], int]
    by_rule: Mapping[str, int]
    samples: Sequence[Sample]
    slow: Mapping[str, int]
    slow_if_long: str | None


def try_text(
    rules: Sequence[CategoryRule], classifiers: Sequence[Classifier], text: str, context: Context
) -> Trial:
    """Score and route a text as if it had been submitted. Call it outside of any transaction."""
    scorings = score_text(classifiers, text, context)
    scores, by_name = combined_scores(scorings), {rule.name: rule for rule in rules}
    matches = [match for scoring in scorings for match in scoring.result.matches]
    return Trial(
        categories=sorted(
            (CategoryTrial(name, scored, by_name.get(name)) for name, scored in scores.items()),
            key=lambda trial: (-trial.scored.score, trial.category),
        ),
        matches=sorted(matches, key=lambda match: (match.start, match.end)),
        route=decided(scorings, rules),
        observed=observed(scores, rules),
        answers=[(f"{scoring.classifier} {scoring.version}", scoring.result) for scoring in scorings],
    )


def try_on_stored(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    base: Sequence[Classifier],
    in_force: RuleSet,
    draft: RuleSet,
    *,
    seconds: float = MOST_SECONDS,
) -> Hits:
    """Score the newest texts of the last 30 days with the draft and with the rules in force; compare the routes.

    Both are routed by the thresholds in force. Other classifiers do not run again: their stored scores are used.
    Stops after ``MOST_TEXTS`` texts or about ``seconds`` seconds: the last text may use the time limit of one text,
    and the long one as much again.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    end = time.monotonic() + seconds
    rules = threshold_sets.category_rules(threshold_sets.current(session, community_id))
    shipped = _only_rules(base)
    old, new = (_only_rules(combined(shipped, rule_set)) for rule_set in (in_force, draft))
    # The community's own model is left out: its stored scores were blended from those of the rules in force then.
    names = {classifier.name for classifier in (*old, *new)} | {COMMUNITY_MODEL}
    read = changed = 0
    complete = True
    moved: Counter[tuple[tuple[str, int] | None, tuple[str, int] | None]] = Counter()
    by_rule: Counter[str] = Counter({str(rule["id"]): 0 for rule in draft.rules})
    samples: list[Sample] = []
    slow: Counter[str] = Counter()
    longest: list[str] = []
    for post in stored_posts(session, community_id, most=MOST_TEXTS):
        if time.monotonic() > end:
            complete = False
            break
        read += 1
        content = post.content
        longest = sorted((*longest, content), key=len)[-LONG_FROM:]
        context = Context(community_id=community_id, language=language_of(content), facts=post.facts)
        was, now = score_text(old, content, context), score_text(new, content, context)
        stopped = _stopped_at(now)
        slow.update(stopped)
        by_rule.update({match.rule for scoring in now for match in scoring.result.matches} & by_rule.keys())
        if not stopped and _plain(was) == _plain(now):
            continue
        changed += 1
        routes = [_route(post, names, scorings, rules) for scorings in (was, now)]
        if place_of(routes[0]) != place_of(routes[1]):
            moved[place_of(routes[0]), place_of(routes[1])] += 1
        if len(samples) < SHOWN_SAMPLES:
            samples.append(Sample(content, _differing(was, now), routes[0], routes[1]))
    else:
        complete = read < MOST_TEXTS
    at_length = _stopped_at(score_text(new, _long(longest), Context(community_id=community_id)))
    return Hits(read, complete, changed, moved, by_rule, samples, slow, next(iter(at_length), None))


def _long(texts: Sequence[str]) -> str:
    """The longest text that may be submitted, composed of these."""
    whole = " ".join(texts) or "A text to try."
    return (f"{whole} " * (CONTENT_MAX // len(whole) + 1))[:CONTENT_MAX]


def _stopped_at(scorings: Sequence[Scoring]) -> list[str]:
    """The rules that exceeded the time limit."""
    return [scoring.result.error.rule for scoring in scorings if isinstance(scoring.result.error, OutOfTime)]


def _only_rules(classifiers: Sequence[Classifier]) -> list[RulePackClassifier]:
    return [classifier for classifier in classifiers if isinstance(classifier, RulePackClassifier)]


def _route(
    post: StoredPost, names: set[str], scorings: Sequence[Scoring], rules: Sequence[CategoryRule]
) -> Route | None:
    """Where these scores and the stored ones of other classifiers than ``names`` lead."""
    scores = combined_scores(scorings)
    for score in post.scores:
        if score.classifier not in names and not score.is_observed:
            raise_to(scores, score.category, score.scored)
    return decide(scores, rules) or without_score(unscored(scorings, rules), rules)


def _plain(scorings: Sequence[Scoring]) -> dict[str, float]:
    return {name: scored.score for name, scored in combined_scores(scorings).items() if scored.score > 0}


def _differing(was: Sequence[Scoring], now: Sequence[Scoring]) -> list[Match]:
    """The matches that only one of the two has; all later ones if both have the same."""
    old, new = (
        {match for scoring in scorings for match in scoring.result.matches} for scorings in (was, now)
    )
    return sorted(old ^ new or new, key=lambda match: (match.start, match.end))
