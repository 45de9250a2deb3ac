"""Classifiers page: what scores the community's posts, its own rules and their versions."""

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response, make_response, url_for
from sqlalchemy.orm import Session

from app.core.classify import COMMUNITY_RULES, Classifier
from app.core.classify.facts import conditions_of
from app.core.errors import Conflict, Invalid
from app.core.models import ConnectedService, RulePackVersion
from app.core.permissions import Actor, Permission
from app.core.requests import scorings
from app.core.review.conditions import fails_mostly
from app.core.rulesets import drafts
from app.core.rulesets import versions as rule_versions
from app.core.rulesets.versions import RuleSet, Standing
from app.core.services import calls, figures, reading
from app.core.services.calls import Period
from app.core.services.figures import Record
from app.core.services.pool import in_use
from app.core.services.settings import ServiceSettings
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext, number
from app.core.thresholds import threshold_sets
from app.core.vocabulary import ServiceMode
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import category_name
from app.web.classifiers import classifier_rules
from app.web.classifiers.classifier_forms import (
    KIND_WORDS,
    PackForm,
    PublishForm,
    RevertForm,
    TextForm,
    problem_lines,
    write,
)
from app.web.classifiers.classifier_rules import change_lines
from app.web.classifiers.learned_views import LearningForm, section
from app.web.services.service_page import MONTH, name_of
from app.web.services.service_words import words_of
from app.web.versions import rows as version_rows
from app.wiring import wired


@web.get("/classifiers")
@auth.needs(Permission.REVISE_POLICY)
def classifiers() -> Response:
    return show()


@web.post("/classifiers/import")
@auth.needs(Permission.REVISE_POLICY)
def import_rules() -> Response:
    form = forms.posted(PackForm)
    uploaded = forms.uploaded("file", rule_versions.PACK_MAX_BYTES)
    text = uploaded.decode("utf-8", "replace") if uploaded is not None else form.pack.data or ""
    if not text.strip():
        form.pack.errors = [_("Choose a file, or paste a pack.")]
        return show(pack=form, status=422)
    form.pack.data = text
    try:
        imported = write(drafts.import_pack, text, etag=forms.number(form.etag.data))
    except Invalid as refusal:
        form.pack.errors = list(problem_lines(refusal))
        return show(pack=form, status=422)
    except Conflict as refusal:
        form.etag.data = ""
        return show(
            pack=form,
            status=409,
            alert=_("%(conflict)s. Your pack is kept below; import it again.", conflict=refusal.detail),
        )
    return page.done(
        None,
        url_for("web.classifiers"),
        ngettext(
            "The draft has %(num)s rule now. It scores nothing until you put it in force.",
            "The draft has %(num)s rules now. It scores nothing until you put it in force.",
            len(imported.rules),
        ),
    )


@web.get("/classifiers/export.json")
@auth.needs(Permission.REVISE_POLICY)
def export_rules() -> Response:
    """Return the community's own pack as a file. ``which``: the current version (default) or the draft."""
    standing = _standing()
    chosen = standing.working if forms.query_arg("which") == "draft" else standing.in_force
    body = json.dumps(chosen.pack, ensure_ascii=False, indent=2) + "\n"
    response = make_response(body)
    response.mimetype = "application/json"
    response.headers["Content-Disposition"] = 'attachment; filename="rules.json"'
    return response


@web.post("/classifiers/publish")
@auth.needs(Permission.REVISE_POLICY)
def publish_rules() -> Response:
    form = forms.posted(PublishForm)
    if not form.validate():
        return show(form, status=422)
    try:
        published = write(
            drafts.publish,
            form.reason.data or "",
            based_on=forms.number(form.version.data),
            etag=forms.number(form.etag.data),
        ).version
    except Invalid as refusal:
        forms.explain(form, refusal)
        return show(form, status=422)
    except Conflict as refusal:
        return _someone_was_first(form, refusal)
    return page.done(
        None,
        url_for("web.classifiers"),
        _("Version %(version)s is in force. It scores new posts only.", version=published),
    )


@web.post("/classifiers/discard")
@auth.needs(Permission.REVISE_POLICY)
def discard_rules() -> Response:
    form = forms.posted(PublishForm)
    try:
        write(drafts.discard, etag=forms.number(form.etag.data))
    except Conflict as refusal:
        return _someone_was_first(form, refusal)
    return page.done(None, url_for("web.classifiers"), _("The draft is discarded. What is in force stays."))


@web.post("/classifiers/<int:version>/revert")
@auth.needs(Permission.REVISE_POLICY)
def revert_rules(version: int) -> Response:
    form = forms.posted(RevertForm)
    if not form.validate():
        return show(revert=form, status=422)
    try:
        version_made = write(
            rule_versions.revert, version, form.reason.data or "", based_on=forms.number(form.version.data)
        ).version
    except Invalid as refusal:
        forms.explain(form, refusal)
        return show(revert=form, status=422)
    except Conflict as refusal:
        form.version.data = ""
        alert = _(
            "%(conflict)s. Your reason is kept: look at the versions below, then press again.",
            conflict=refusal.detail,
        )
        return show(revert=form, status=409, alert=alert)
    return page.done(
        None,
        url_for("web.classifiers"),
        _("Version %(old)s is restored as version %(new)s.", old=version, new=version_made)
        if version
        else _("The shipped pack alone is restored as version %(new)s.", new=version_made),
    )


def _someone_was_first(form: PublishForm, refusal: Conflict) -> Response:
    """Show the form again with the typed reason and the current version, so that the user can check and post again."""
    form.version.data = form.etag.data = ""
    alert = _(
        "%(conflict)s. Your reason is kept: look at the changes below, then press again.",
        conflict=refusal.detail,
    )
    return show(form, status=409, alert=alert)


def _standing() -> Standing:
    with wired().database.reading() as session:
        return rule_versions.standing(session, auth.current_actor(), auth.current_community().id)


def show(
    publish: PublishForm | None = None,
    *,
    revert: RevertForm | None = None,
    pack: PackForm | None = None,
    text: TextForm | None = None,
    learned: LearningForm | None = None,
    status: int = 200,
    alert: str | None = None,
    **more: Any,
) -> Response:
    """Render the page, with a posted form that has errors, if any; ``more`` are the results of trials."""
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        standing = rule_versions.standing(session, actor, community.id)
        versions = rule_versions.versions(session, actor, community.id)
        thresholds = threshold_sets.current(session, community.id)
        in_force = wired().classifiers_for(session, community.id)
        scorers = scorer_rows(session, actor, community.id, in_force)
        own = [item.version for item in in_force if item.name == COMMUNITY_RULES]
        slow = scorings.slow_rules(session, actor, community.id, own)
        own_model = section(session, actor, community.id, learned)
    publish, revert = publish or PublishForm(), revert or RevertForm()
    pack, text = pack or PackForm(), text or TextForm()
    for form in (publish, pack):
        form.etag.data = form.etag.data or str(standing.etag)
    for made in (publish, revert):
        made.version.data = made.version.data or str(standing.version)
    if standing.draft is None:
        text.which.choices = [("in_force", _("In force"))]
    return page.render(
        "classifiers/classifiers.html",
        status=status,
        alert=alert,
        form=next(
            (item for item in (publish, revert, pack, text, own_model["form"]) if item.errors), publish
        ),
        publish=publish,
        revert=revert,
        pack=pack,
        text=text,
        standing=standing,
        draft_changes=change_lines(standing.in_force, standing.draft) if standing.draft else [],
        own_rules=standing.working.rules,
        kinds=KIND_WORDS,
        conditions={
            rule["id"]: [condition.words for condition in conditions_of(rule.get("when", {}))]
            for rule in standing.working.rules
        },
        shipped=classifier_rules.groups(standing.working),
        scorers=scorers,
        slow_rules=slow,
        learned=own_model,
        unrouted=_unrouted(standing.working, {category.name for category in thresholds.categories}),
        versions=version_rows(
            versions, rule_versions.SHOWN_VERSIONS, current=standing.version, changes=_changes
        ),
        trial=more.get("trial"),
        hits=more.get("hits"),
    )


def _unrouted(rule_set: RuleSet, known: set[str]) -> list[str]:
    """Return the categories that the community's rules score but that have no thresholds."""
    return sorted({str(rule["category"]) for rule in rule_set.rules} - known)


def _changes(before: RulePackVersion | None, after: RulePackVersion) -> list[str]:
    """Return the differences as text. ``before`` None, for the first version, means only the shipped pack."""
    return change_lines(_rule_set(before) if before else RuleSet(), _rule_set(after))


def _rule_set(version: RulePackVersion) -> RuleSet:
    return RuleSet(frozenset(version.starter_off), version.pack)


BUILT_IN = lazy_gettext("this service")


def scorer_rows(
    session: Session, actor: Actor, community_id: uuid.UUID, in_force: Sequence[Classifier]
) -> list[dict[str, Any]]:
    """The rows: first what runs in this service, then the connected services, also those that do not count.

    ``service_id`` leads to a service's page. ``p50`` and ``p95`` are milliseconds as text; ``about`` names the kind of
    service, or where it runs.
    """
    records = figures.records(session, actor, community_id)
    rows = [
        _built_in(classifier, records.get(classifier.name, Record()))
        for classifier in in_force
        if classifier.local
    ]
    services = {service.id: service for service in reading.in_community(session, actor, community_id)}
    settings = {
        service.id: ServiceSettings.from_json(version.settings)
        for service, version in in_use(session, community_id)
    }
    periods = calls.period(session, list(services), MONTH)
    return rows + [
        _service(service, settings[service_id], periods[service_id], records)
        for service_id, service in services.items()
    ]


def _built_in(classifier: Classifier, record: Record) -> dict[str, Any]:
    return {
        "name": classifier.name,
        "version": classifier.version,
        "model": "",
        "about": BUILT_IN,
        "state": words_of(None).tags[ServiceMode.IN_FORCE],
        "categories": _names(classifier.categories),
        "p50": _ms(record.p50),
        "p95": _ms(record.p95),
        "calls": "",
        "errors": "",
        "cost": "",
        "upheld": upheld_words(record),
        "service_id": None,
        "is_failing": False,
    }


def _service(
    service: ConnectedService, settings: ServiceSettings, period: Period, records: Mapping[str, Record]
) -> dict[str, Any]:
    kind = wired().services.kinds.get(service.kind)
    return {
        "name": name_of(service),
        "version": str(service.version),
        "model": service.model_seen or settings.model,
        "about": kind.title if kind is not None else _("%(kind)s, not installed", kind=service.kind),
        "state": words_of(kind).tags[service.mode],
        "categories": [_("finds fact-checks")]
        if kind is not None and kind.embeds
        else _names(settings.routed),
        "p50": _ms(period.p50),
        "p95": _ms(period.p95),
        "calls": number(period.requests),
        "errors": number(period.errors),
        "cost": number(period.cost, 2) if period.cost else "",
        "upheld": upheld_words(records.get(name_of(service), Record())),
        "service_id": service.id,
        "is_failing": service.mode is not ServiceMode.OFF and fails_mostly(period),
    }


def upheld_words(record: Record) -> str:
    """How many of the decided actions people upheld, "8 of 10"; empty when none was decided."""
    return (
        _("%(upheld)s of %(decided)s", upheld=number(record.upheld), decided=number(record.decided))
        if record.decided
        else ""
    )


def _names(categories: frozenset[str]) -> list[str]:
    return [category_name(name) for name in sorted(categories)]


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"
