"""Why an item is in the review queue, for moderators: scores, thresholds, and the classifiers' matches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core import texts
from app.core.classify import NOTABLE, facts
from app.core.models import Action, Score, ThresholdSet
from app.core.services.settings import VENDOR_PREFIX
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.web.categories import UNNAMED, category_name
from app.web.languages import language_name

SHOWN_MATCHES = 8
SHOWN_SCORES = 4
"""How many scores of one classifier are shown, the highest."""
WOULD_BE = {
    "hide": lazy_gettext("hidden"),
    "delete": lazy_gettext("deleted"),
    "flag": lazy_gettext("flagged for review"),
    "notify": lazy_gettext("left up, its author notified"),
}
"""Past participles of the action types: "The post would be hidden"."""


@dataclass(frozen=True)
class Evidence:
    """Why the item is in the queue. Scores and thresholds are 0.0–1.0; ``others`` are other categories with a score.

    ``language`` is the detected one in words, None for a post scored before languages were detected.
    ``is_quoted``: a passage lies in a quotation. ``not_scored``: active categories that no classifier reads it for.
    ``behaviour``: the facts that rules asked, in words, with the rule.
    ``is_scored`` is false if the item has no category; it then has no score and no thresholds.
    """

    is_scored: bool
    score: float | None
    tier2: float | None
    tier1: float | None
    version: int | None
    routed_by: int | None
    classifiers: Sequence[str]
    passages: Sequence[tuple[str, str]]
    behaviour: Sequence[tuple[str, str]]
    others: Sequence[tuple[str, float]]
    held_back: str | None
    unfinished: Sequence[str]
    observed: Sequence[str]
    language: str | None
    is_quoted: bool
    not_scored: Sequence[str]


def evidence(
    thresholds: ThresholdSet | None, action: Action, stored_scores: Sequence[Score] = ()
) -> Evidence:
    """Return the scores that routed the action, with the current ``thresholds`` for comparison.

    ``stored_scores`` are those above 0 of every classifier, also of services that are only observed.
    """
    stored: dict[str, Any] = action.evidence or {}
    details: dict[str, Any] = stored.get("details") or {}
    rule = next((c for c in thresholds.categories if c.name == action.category), None) if thresholds else None
    text = action.request.content
    passages: dict[str, str] = {}
    behaviour: dict[str, str] = {}
    matches: Sequence[Mapping[str, Any]] = details.get("matches", ())
    for match in matches:
        asked = facts.explanation([(name, value) for name, value in match.get("facts", ())])
        if asked:
            behaviour.setdefault(asked, match.get("rule", ""))
        if match["start"] == match["end"]:
            continue
        passages.setdefault(text[match["start"] : match["end"]], _rule_words(match))
    scores: dict[str, float] = stored.get("scores") or {}
    return Evidence(
        is_scored=(action.category or "") not in UNNAMED,
        score=action.score,
        tier2=rule.tier2 if rule else None,
        tier1=rule.tier1 if rule else None,
        version=thresholds.version if thresholds else None,
        routed_by=details.get("config_version"),
        classifiers=_classifiers(details.get("classifiers", ()), stored_scores),
        passages=[(passage, rule_name) for passage, rule_name in passages.items()][:SHOWN_MATCHES],
        behaviour=list(behaviour.items())[:SHOWN_MATCHES],
        others=sorted(
            (
                (category_name(name), value)
                for name, value in scores.items()
                if name != action.category and value > NOTABLE
            ),
            key=lambda item: -item[1],
        ),
        held_back=(details.get("held_back") or {}).get("why"),
        unfinished=[
            f"{item['name']}: {item['error']}" for item in details.get("classifiers", ()) if item.get("error")
        ],
        observed=[_observed(item) for item in details.get("observed", ())],
        language=language_name(action.request.language) if action.request.language else None,
        is_quoted=any(match.get("quoted") for match in matches),
        not_scored=_not_scored(thresholds, details, scores),
    )


def _not_scored(
    thresholds: ThresholdSet | None, details: Mapping[str, Any], scores: Mapping[str, float]
) -> list[str]:
    """The active categories that no classifier could read the post for, where the service scored it and none failed."""
    used = details.get("classifiers", ())
    if thresholds is None or not used or any(item.get("error") for item in used):
        return []
    return [category_name(c.name) for c in thresholds.categories if c.enabled and c.name not in scores]


def _classifiers(used: Sequence[Mapping[str, Any]], scores: Sequence[Score]) -> list[str]:
    """A line for each classifier: "builtin.rules 3: Toxicity 0.83". Services name the model that answered, too."""
    # Of two lines of one classifier, the second is for what the post quotes.
    lines = {str(item["name"]): f"{item['name']} {item['version']}" for item in reversed(used)}
    lines = dict(reversed(lines.items()))
    observed = {score.classifier: score for score in scores if score.is_observed}
    lines |= {name: f"{name} {score.classifier_version}" for name, score in observed.items()}
    return [_answer(name, line, scores, is_observed=name in observed) for name, line in lines.items()]


def _answer(name: str, line: str, scores: Sequence[Score], *, is_observed: bool) -> str:
    highest: dict[str, float] = {}
    for score in scores:
        if score.classifier == name and not score.category.startswith(VENDOR_PREFIX):
            highest[score.category] = max(score.score, highest.get(score.category, 0.0))
    said = [f"{category_name(category)} {texts.number(value, 2)}" for category, value in highest.items()][
        :SHOWN_SCORES
    ]
    words = f"{line}: {', '.join(said)}" if said else line
    return _("%(scores)s (observed only, led to nothing)", scores=words) if is_observed else words


def _rule_words(match: Mapping[str, Any]) -> str:
    rule = str(match.get("rule", ""))
    return _("%(rule)s (in a quotation)", rule=rule) if match.get("quoted") else rule


def _observed(observation: Mapping[str, Any]) -> str:
    """Return what an observe-only category would have done: "Toxicity 0.83, above 0.6: would have asked raters"."""
    would_be = WOULD_BE.get(observation["action"], observation["action"])
    values = {
        "category": category_name(observation["category"]),
        "score": texts.number(observation["score"], 2),
        "bound": texts.short_number(observation["threshold"]),
        "done": would_be,
    }
    if observation["tier"] == 1:
        return _(
            "%(category)s %(score)s, above %(bound)s (Tier 1): the post would have been %(done)s at once",
            **values,
        )
    return _(
        "%(category)s %(score)s, above %(bound)s (Tier 2): people would have been asked whether the post "
        "should be %(done)s",
        **values,
    )
