"""What is stored with an action to show why it was opened."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from app.core.classify import NOTABLE, FactCheck, OutOfTime, Permanent, Retryable
from app.core.models import Request
from app.core.requests.scorings import Scoring, combined, scored_by
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds.routing import Route
from app.core.vocabulary import ActionTier


def evidence_of(
    request: Request,
    route: Route,
    scorings: Sequence[Scoring],
    policy_version: int,
    observed_routes: Sequence[Route] = (),
) -> dict[str, Any]:
    scores = {name: scored.score for name, scored in sorted(combined(scorings).items())}
    fact_check = fact_check_of(scorings)
    decided_by = _decided_by(route, scorings)
    return {
        "score": route.score,
        "category": route.category,
        "labels": [name for name, value in scores.items() if value > NOTABLE],
        "scores": scores,
        "details": {
            "tier": route.tier.number,
            "threshold": route.threshold,
            **({"decided_by": decided_by} if decided_by else {}),
            "classifiers": [
                {
                    "name": scoring.classifier,
                    "version": scoring.version,
                    "model": scoring.result.model,
                    "ms": scoring.milliseconds,
                    **(
                        {"error": error_text(scoring.result.error)}
                        if scoring.result.error is not None
                        else {}
                    ),
                }
                for scoring in scorings
            ],
            "matches": [
                match.stored()
                for scoring in scorings
                for match in scoring.result.matches
                if match.category == route.category
            ],
            "config_version": policy_version,
            "content_sha256": request.content_sha256,
        }
        | ({"fact_check": asdict(fact_check)} if fact_check is not None else {})
        | ({"observed": [_observed_evidence(route) for route in observed_routes]} if observed_routes else {}),
    }


def _decided_by(route: Route, scorings: Sequence[Scoring]) -> dict[str, str] | None:
    """The classifier whose score led to the route, with its version. In Tier 1 another one may have scored higher."""
    needs_tier1 = route.tier is ActionTier.IMMEDIATE
    # The community's own model is last, and replaces the scores of others.
    for scoring in reversed(scorings):
        value = scoring.scores.get(route.category)
        if value is None or (needs_tier1 and route.category not in scoring.tier1):
            continue
        if scored_by(scoring, route.category, value).score == route.score:
            return {"name": scoring.classifier, "version": scoring.version}
    return None


def fact_check_of(scorings: Sequence[Scoring]) -> FactCheck | None:
    return next((one.result.fact_check for one in scorings if one.result.fact_check is not None), None)


def error_text(error: Retryable | Permanent | OutOfTime) -> str:
    if isinstance(error, OutOfTime):
        return f"out of time: rule {error.rule}"
    return error.reason


def _observed_evidence(route: Route) -> dict[str, Any]:
    """The evidence entry for what an observe-only category would have done."""
    return {
        "category": route.category,
        "tier": route.tier.number,
        "score": route.score,
        "threshold": route.threshold,
        "action": route.verb.value,
    }


def nothing_found(scorings: Sequence[Scoring]) -> str:
    """Why a request ends without an action; names the services that did not answer."""
    silent = [scoring.classifier for scoring in scorings if scoring.result.error is not None]
    if silent:
        return _("nothing above a threshold; no answer from %(services)s", services=", ".join(silent))
    return lazy_gettext("nothing above a threshold")


def reference(request: Request, scorings: Sequence[Scoring]) -> dict[str, Any]:
    """The fact-check that the request matches, unless its integration said something about one."""
    given = (request.similarity_score, request.dataset_name, request.dataset_item_id)
    found = fact_check_of(scorings)
    if found is None or given != (None, None, None):
        return {}
    return {
        "dataset_name": found.dataset_name,
        "dataset_item_id": found.item_id,
        "similarity_score": found.similarity,
    }
