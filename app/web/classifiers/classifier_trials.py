"""Tries rules on a typed text and on recent submissions. Nothing is stored."""

from collections.abc import Sequence
from typing import Any

from flask import Response
from markupsafe import Markup

from app.core import texts
from app.core.classify import FACT_CHECKS, NOTABLE, Context, Match, OutOfTime, Result
from app.core.classify.facts import explanation
from app.core.classify.language import language_of
from app.core.permissions import Permission
from app.core.requests.scorings import Scoring, score_text
from app.core.rulesets import trials, versions
from app.core.rulesets.trials import Hits, Sample, Trial
from app.core.rulesets.versions import combined
from app.core.services import comparing
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.thresholds import threshold_sets
from app.core.thresholds.routing import UNFINISHED, Route, place_of
from app.core.vocabulary import ServiceMode
from app.web import auth, forms, markup
from app.web.blueprint import web
from app.web.categories import category_name, moved_rows, place_words
from app.web.classifiers import classifiers
from app.web.classifiers.classifier_forms import TextForm
from app.web.filters import highlight
from app.web.item.evidence import WOULD_BE
from app.web.veils import is_veiled
from app.wiring import wired

SLOW_SHOWN = 3
ANSWERS_SHOWN = 8
"""How many scores of one classifier are shown, highest first."""
_OUT_OF_TIME = lazy_gettext("The rules of this community could not finish with this text in time.")
_TO_STAFF = lazy_gettext(
    "Such posts would go to moderators, whatever they say: repeat less in the rules, or name "
    "fewer characters."
)


@web.post("/classifiers/test")
@auth.needs(Permission.REVISE_POLICY)
def test_text() -> Response:
    form = forms.posted(TextForm)
    if not form.validate():
        return classifiers.show(text=form, status=422)
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        standing = versions.standing(session, actor, community.id)
        rules = threshold_sets.category_rules(threshold_sets.current(session, community.id))
        in_force = wired().classifiers_for(session, community.id)
        observed = wired().services.classifiers(session, community.id, ServiceMode.OBSERVE)
    by_draft = form.which.data == "draft" and standing.draft is not None
    chosen = in_force
    if by_draft:
        others = [item for item in in_force if not item.local or item.name == FACT_CHECKS]
        chosen = [*combined(wired().classifiers, standing.working), *others]
    text = form.text.data or ""
    context = Context(community_id=community.id, language=language_of(text))
    trial = trials.try_text(rules, chosen, text, context)
    return classifiers.show(
        text=form,
        trial=_trial(
            trial,
            text,
            score_text(observed, text, context),
            by_draft=by_draft,
        ),
    )


@web.post("/classifiers/hits")
@auth.needs(Permission.REVISE_POLICY)
def preview_hits() -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        standing = versions.standing(session, actor, community.id)
        hits = trials.try_on_stored(
            session, actor, community.id, wired().classifiers, standing.in_force, standing.working
        )
    return classifiers.show(hits=_hits(hits))


def _trial(trial: Trial, text: str, observed: Sequence[Scoring], *, by_draft: bool) -> dict[str, Any]:
    rows: list[dict[str, Any]] = [
        {
            "category": category_name(category.category),
            "score": category.scored.score,
            "tier2": category.rule.tier2 if category.rule else None,
            "tier1": category.rule.tier1 if category.rule else None,
            "leads_to": _leads_to(category),
        }
        for category in trial.categories
    ]
    return {
        "by_draft": by_draft,
        "conclusion": _conclusion(trial.route),
        "acts": trial.route is not None,
        "scores": [row for row in rows if row["score"] > NOTABLE],
        "unscored": sum(row["score"] <= NOTABLE for row in rows),
        "marked": highlight(text, [(match.start, match.end) for match in trial.matches]),
        "is_long": markup.is_long(text, 0, len(text)),
        "matches": [(match, text[match.start : match.end]) for match in trial.matches],
        "answers": [
            *(_answer(name, result) for name, result in trial.answers),
            *(
                _answer(f"{scoring.classifier} {scoring.version}", scoring.result, is_observed=True)
                for scoring in observed
            ),
        ],
        "slow": _slow_trial(trial),
    }


def _answer(name: str, result: Result, *, is_observed: bool = False) -> dict[str, Any]:
    error = result.error
    routed = {category_name(category): value for category, value in result.scores.items()}
    scores = {
        **routed,
        **{
            _("%(category)s (leads to nothing)", category=theirs): value
            for theirs, value in result.unrouted.items()
        },
    }
    return {
        "name": name,
        "model": result.model,
        "scores": sorted(
            ((category, value) for category, value in scores.items() if value > 0),
            key=lambda pair: (-pair[1], pair[0]),
        )[:ANSWERS_SHOWN],
        "error": _("out of time: rule %(rule)s", rule=error.rule)
        if isinstance(error, OutOfTime)
        else error.reason
        if error
        else "",
        "milliseconds": round(result.ms),
        "is_observed": is_observed,
    }


def _leads_to(category: trials.CategoryTrial) -> str:
    rule, score = category.rule, category.scored.score
    if rule is None:
        return _("Nothing: no threshold reads this category")
    if not rule.enabled:
        return _("Nothing: the category is off")
    acts = rule.tier1 is not None and category.scored.calibrated and score > rule.tier1
    if not acts and score <= rule.tier2:
        return _("Nothing: below Tier 2")
    says = _("Acts by itself (Tier 1)") if acts else _("Asks people (Tier 2)")
    if rule.observe_only:
        return _("%(effect)s, observed only", effect=says)
    if rule.tier1 is not None and score > rule.tier1 and not acts:
        return _("Asks people (Tier 2): this classifier may not act alone here")
    return says


def _conclusion(route: Route | None) -> str:
    if route is None:
        return _("Nothing would happen.")
    above = _(
        "%(category)s %(score)s is above %(threshold)s",
        category=category_name(route.category),
        score=texts.short_number(route.score),
        threshold=texts.short_number(route.threshold),
    )
    if route.category == UNFINISHED:
        return _("Moderators would be asked about the post.")
    verb = WOULD_BE[route.verb.value]
    if route.tier.number == 1:
        return _("The post would be %(verb)s at once: %(above)s, its Tier 1.", verb=verb, above=above)
    return _(
        "People would be asked whether the post should be %(verb)s: %(above)s, its Tier 2.",
        verb=verb,
        above=above,
    )


def _slow_trial(trial: Trial) -> str:
    """Return a warning if rules took too long for the text, with their names; else an empty string."""
    if not trial.slow:
        return ""
    lost = _("Their scores do not count, and nothing is let through for them.")
    return f"{_OUT_OF_TIME} {_the_most(trial.slow)} {lost}"


def _slow_hits(hits: Hits) -> str:
    """Return a warning if the draft is too slow for some texts; else an empty string."""
    if hits.slow:
        rules = sorted(hits.slow, key=lambda rule: -hits.slow[rule])
        found = ngettext(
            "The draft is too slow for %(num)s text.",
            "The draft is too slow for %(num)s texts.",
            sum(hits.slow.values()),
        )
        return f"{found} {_the_most(rules)} {_TO_STAFF}"
    if hits.slow_if_long is not None:
        found = _("The draft is too slow for the longest texts that can be submitted.")
        return f"{found} {_the_most([hits.slow_if_long])} {_TO_STAFF}"
    return ""


def _the_most(rules: Sequence[str]) -> str:
    return _("%(rules)s took the most time.", rules=", ".join(rules[:SLOW_SHOWN]))


def _hits(hits: Hits) -> dict[str, Any]:
    return {
        "found": hits,
        "days": comparing.DAYS,
        "moved": moved_rows(hits.moved),
        "by_rule": sorted(hits.by_rule.items(), key=lambda pair: (-pair[1], pair[0])),
        "samples": [
            {
                "marked": _excerpt(sample.content, sample.matches),
                "is_veiled": any(is_veiled(name) for name in _categories(sample)),
                "rules": sorted({match.rule for match in sample.matches}),
                "facts": sorted({explanation(match.facts) for match in sample.matches if match.facts}),
                "before": place_words(place_of(sample.before)),
                "after": place_words(place_of(sample.after)),
            }
            for sample in hits.samples
        ],
        "slow": _slow_hits(hits),
    }


def _categories(sample: Sample) -> set[str]:
    """Return the categories of a text with the current rules and with the draft."""
    routes = {route.category for route in (sample.before, sample.after) if route is not None}
    return routes | {match.category for match in sample.matches}


def _excerpt(text: str, matches: Sequence[Match]) -> Markup:
    spans = [(match.start, match.end) for match in matches if match.start < match.end]
    start, end = markup.window(text, spans)
    shown = highlight(text[start:end], [(max(0, a - start), max(0, b - start)) for a, b in spans])
    return Markup("{}{}{}").format("… " if start else "", shown, " …" if end < len(text) else "")
