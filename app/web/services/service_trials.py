"""What a service changes: compared on stored posts, and a new version tried on recent ones. Nothing is stored."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flask import Response, url_for
from markupsafe import Markup

from app.core.errors import Invalid
from app.core.services import comparing, measuring, reading
from app.core.services.calling import ServiceClassifier
from app.core.services.comparing import Comparison
from app.core.texts import gettext as _
from app.core.thresholds import threshold_sets
from app.core.thresholds.routing import place_of
from app.web import auth, forms, markup, page
from app.web.blueprint import web
from app.web.categories import moved_rows, place_words
from app.web.filters import highlight, percent
from app.web.services import service_page
from app.web.services.service_forms import MeasureForm
from app.web.services.service_page import name_of
from app.web.veils import is_veiled
from app.wiring import wired


@web.get("/classifiers/services/<uuid:service_id>/comparison")
def compare_service(service_id: uuid.UUID) -> Response:
    """Compare recent posts without and with the service's stored scores."""
    actor = auth.current_actor()
    with wired().database.reading() as session:
        service = reading.find(session, actor, service_id)
        posts = comparing.recent_posts(session, actor, service.community_id)
        rules = threshold_sets.category_rules(threshold_sets.current(session, service.community_id))
        found = comparing.with_and_without(posts, rules, name_of(service), service.version)
        links = comparing.actions_of(session, [sample.post.request_id for sample in found.samples])
    return service_page.show(service_id, compared=_view(found, service.version, links))


@web.post("/classifiers/services/<uuid:service_id>/versions/<int:number>/try")
def try_service_version(service_id: uuid.UUID, number: int) -> Response:
    """Ask one version about the newest posts and compare the decisions with what is stored."""
    actor = auth.current_actor()
    with wired().database.reading() as session:
        service = reading.find(session, actor, service_id)
        version = reading.numbered(session, service, number)
        posts = comparing.recent_posts(session, actor, service.community_id, comparing.TRIED_POSTS)
        rules = threshold_sets.category_rules(threshold_sets.current(session, service.community_id))
        classifier = wired().services.connected(service, version)
    found = comparing.try_version(posts, rules, classifier, service.community_id)
    with wired().database.reading() as session:
        links = comparing.actions_of(session, [sample.post.request_id for sample in found.samples])
    return service_page.show(service_id, tried=_view(found, number, links))


@web.post("/classifiers/services/<uuid:service_id>/versions/<int:number>/measure")
def measure_service_version(service_id: uuid.UUID, number: int) -> Response:
    """Ask one version about an operator's examples, and keep how often it was right."""
    actor = auth.current_actor()
    with wired().database.reading() as session:
        service = reading.find(session, actor, service_id)
        auth.enter(service.community_id)
        version = reading.numbered(session, service, number)
        rules = threshold_sets.category_rules(threshold_sets.current(session, service.community_id))
        classifier = wired().services.connected(service, version)
    form = forms.posted(MeasureForm)
    if not form.validate():
        return service_page.show(service_id, measure=form, status=422)
    try:
        examples = measuring.read_examples(forms.uploaded("examples", measuring.FILE_MAX) or b"")
        title, makers = _as_made(classifier)
        thresholds = {"your threshold": {rule.name: rule.tier2 for rule in rules}, "its maker's": makers}
        found = measuring.measure(classifier, examples, thresholds, service.community_id)
        found = replace(found, model=f"{title} {found.model}".strip())
        with wired().database.writing() as session:
            measuring.record(session, actor, service_id, number, found, form.reason.data or "")
    except Invalid as refusal:
        forms.explain(form, refusal)
        return service_page.show(service_id, measure=form, status=422)
    url = url_for("web.service_detail", service_id=service_id)
    return page.done(
        None, url, _("Version %(number)s is measured. The result is under Measure.", number=number)
    )


def _as_made(classifier: ServiceClassifier) -> tuple[str, Mapping[str, float]]:
    """What a model's files call it, and their thresholds by our categories. Raises Invalid: they cannot be used."""
    kind, settings = classifier.kind, classifier.settings
    if kind is None or kind.inspect is None:
        return "", {}
    made = kind.inspect(settings.options)
    mapped = {settings.categories.get(theirs): value for theirs, value in made.thresholds.items()}
    return f"{made.title},", {ours: value for ours, value in mapped.items() if ours is not None}


def _view(found: Comparison, number: int, links: Mapping[uuid.UUID, uuid.UUID]) -> dict[str, Any]:
    """The template's variables: ``moved`` has before, after and the number of posts; of each sample the item's id."""
    same = found.posts - found.differing
    return {
        "number": number,
        "found": found,
        "days": comparing.DAYS,
        "agreement": percent(same / found.posts, 1) if found.posts else "",
        "moved": moved_rows(found.moved),
        "samples": [
            {
                "marked": _excerpt(sample.post.content),
                "is_veiled": any(
                    is_veiled(route.category) for route in (sample.before, sample.after) if route
                ),
                "before": place_words(place_of(sample.before)),
                "after": place_words(place_of(sample.after)),
                "action_id": links.get(sample.post.request_id),
            }
            for sample in found.samples
        ],
    }


def _excerpt(text: str) -> Markup:
    start, end = markup.window(text, [])
    return Markup("{}{}").format(highlight(text[start:end], []), " …" if end < len(text) else "")
