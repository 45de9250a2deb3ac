"""The community's own model: one page for each category, the way forward and back, the trial, the switch."""

from collections.abc import Mapping
from typing import Any

from flask import Response, url_for

from app.core.errors import Conflict, Invalid
from app.core.learning import scorer, standing, versions
from app.core.permissions import Permission
from app.core.services import comparing
from app.core.services.comparing import Comparison, Difference
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds.outcomes import Outcome
from app.core.thresholds.routing import place_of
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import moved_rows, place_words
from app.web.classifiers import classifiers
from app.web.classifiers.classifier_forms import write
from app.web.classifiers.learned_views import LearningForm, PutForm, page_of
from app.web.veils import is_veiled
from app.wiring import wired

_OUTCOMES = {
    Outcome.OVERTURNED: lazy_gettext("overturned"),
    Outcome.UPHELD: lazy_gettext("acted on"),
    Outcome.DISMISSED: lazy_gettext("dismissed"),
    Outcome.OPEN: lazy_gettext("still under review"),
    Outcome.UNREVIEWED: lazy_gettext("not reviewed"),
    Outcome.LAPSED: lazy_gettext("not decided in time"),
    None: lazy_gettext("never raised"),
}
_SHOWN_CHARS = 400


@web.get("/classifiers/learned/<category>")
@auth.needs(Permission.REVISE_POLICY)
def learned_page(category: str) -> Response:
    return _show(category)


@web.post("/classifiers/learned/<category>/<int:version>")
@auth.needs(Permission.REVISE_POLICY)
def put_learned(category: str, version: int) -> Response:
    """Put a version in force, or go back to an older one; 0 is none."""
    form = forms.posted(PutForm)
    if not form.validate():
        return _show(category, form, status=422)
    try:
        write(
            versions.put_in_force,
            category,
            version,
            form.reason.data or "",
            based_on=forms.number(form.version.data),
        )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(category, form, status=422)
    except Conflict as refusal:
        form.version.data = ""
        return _show(
            category,
            form,
            status=409,
            alert=_("%(conflict)s. Your reason is kept; look again.", conflict=refusal.detail),
        )
    said = _("Version %(version)s is in force. It scores new posts only.", version=version)
    return page.done(
        None,
        url_for("web.learned_page", category=category),
        said if version else _("The other classifiers score alone again."),
    )


@web.post("/classifiers/learned/<category>/<int:version>/try")
@auth.needs(Permission.REVISE_POLICY)
def try_learned(category: str, version: int) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    try:
        with wired().database.reading() as session:
            trial = scorer.try_version(session, actor, community.id, category, version)
    except Conflict as refusal:
        return _show(category, status=409, alert=f"{refusal.detail}.")
    return _show(category, trial=_trial(version, trial))


@web.post("/classifiers/learning")
@auth.needs(Permission.REVISE_POLICY)
def switch_learning() -> Response:
    form = forms.posted(LearningForm)
    if not form.validate():
        return classifiers.show(learned=form, status=422)
    try:
        write(
            standing.switch,
            is_on=bool(form.is_on.data),
            asks_first=bool(form.asks_first.data),
            sample_share=float(form.samples.data or 0) / 100,
            reason=form.reason.data or "",
        )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return classifiers.show(learned=form, status=422)
    said = (
        _("Learning is on.") if form.is_on.data else _("Learning is off. The other classifiers score alone.")
    )
    return page.done(None, url_for("web.classifiers"), said)


def _show(
    category: str,
    form: PutForm | None = None,
    *,
    status: int = 200,
    alert: str | None = None,
    trial: Mapping[str, Any] | None = None,
) -> Response:
    with wired().database.reading() as session:
        learned = page_of(session, auth.current_actor(), auth.current_community().id, category)
    form = form or PutForm()
    form.version.data = form.version.data or str(learned["now"].version)
    return page.render(
        "classifiers/learned.html", status=status, alert=alert, form=form, learned=learned, trial=trial
    )


def _trial(version: int, trial: Comparison) -> dict[str, Any]:
    return {
        "version": version,
        "found": trial,
        "days": comparing.DAYS,
        "moved": moved_rows(trial.moved),
        "dropped": [
            (_OUTCOMES[outcome], count) for outcome, count in sorted(trial.dropped.items(), key=_most_first)
        ],
        "samples": [_sample(sample) for sample in trial.samples],
    }


def _most_first(pair: tuple[Outcome | None, int]) -> tuple[int, str]:
    return -pair[1], pair[0] or ""


def _sample(sample: Difference) -> dict[str, Any]:
    routes = [route for route in (sample.before, sample.after) if route is not None]
    content = sample.post.content
    return {
        "content": content if len(content) <= _SHOWN_CHARS else f"{content[:_SHOWN_CHARS]} …",
        "is_veiled": any(is_veiled(route.category) for route in routes),
        "before": place_words(place_of(sample.before)),
        "after": place_words(place_of(sample.after)),
        "outcome": str(_OUTCOMES[sample.post.outcome]).capitalize(),
    }
