"""Classifiers page: the list of classifiers, the community's rules, their versions, and trials."""

import json
from typing import Any

from flask import Response, make_response, url_for

from app.core.errors import Conflict, Invalid
from app.core.models import RulePackVersion
from app.core.permissions import Permission
from app.core.policies import policies
from app.core.requests import slow_rules
from app.core.rulesets import drafts
from app.core.rulesets import versions as rule_versions
from app.core.rulesets.compiled import OWN
from app.core.rulesets.versions import RuleSet, Standing
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.classifiers import shipped_rules
from app.web.classifiers.classifier_forms import (
    PackForm,
    PublishForm,
    RevertForm,
    TextForm,
    problem_lines,
)
from app.web.classifiers.learned_views import LearningForm, section
from app.web.classifiers.rule_changes import change_lines
from app.web.classifiers.scorer_rows import scorer_rows
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
        form.pack.errors = ["Choose a file, or paste a pack."]
        return show(pack=form, status=422)
    form.pack.data = text
    try:
        with wired().database.writing() as session:
            imported = drafts.import_pack(
                session,
                auth.current_actor(),
                auth.current_community().id,
                text,
                etag=forms.number(form.etag.data),
            )
    except Invalid as refusal:
        form.pack.errors = list(problem_lines(refusal))
        return show(pack=form, status=422)
    except Conflict as refusal:
        form.etag.data = ""
        return show(
            pack=form, status=409, alert=f"{refusal.detail}. Your pack is kept below; import it again."
        )
    count = len(imported.rules)
    rules = "1 rule" if count == 1 else f"{count:,} rules"
    return page.done(
        None,
        url_for("web.classifiers"),
        f"The draft has {rules} now. It scores nothing until you put it in force.",
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
        with wired().database.writing() as session:
            published = drafts.publish(
                session,
                auth.current_actor(),
                auth.current_community().id,
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
        None, url_for("web.classifiers"), f"Version {published} is in force. It scores new content only."
    )


@web.post("/classifiers/discard")
@auth.needs(Permission.REVISE_POLICY)
def discard_rules() -> Response:
    form = forms.posted(PublishForm)
    try:
        with wired().database.writing() as session:
            drafts.discard(
                session,
                auth.current_actor(),
                auth.current_community().id,
                etag=forms.number(form.etag.data),
            )
    except Conflict as refusal:
        return _someone_was_first(form, refusal)
    return page.done(None, url_for("web.classifiers"), "The draft is discarded. What is in force stays.")


@web.post("/classifiers/<int:version>/revert")
@auth.needs(Permission.REVISE_POLICY)
def revert_rules(version: int) -> Response:
    form = forms.posted(RevertForm)
    if not form.validate():
        return show(revert=form, status=422)
    try:
        with wired().database.writing() as session:
            version_made = rule_versions.revert(
                session,
                auth.current_actor(),
                auth.current_community().id,
                version,
                form.reason.data or "",
                based_on=forms.number(form.version.data),
            ).version
    except Invalid as refusal:
        forms.explain(form, refusal)
        return show(revert=form, status=422)
    except Conflict as refusal:
        form.version.data = ""
        alert = f"{refusal.detail}. Your reason is kept: look at the versions below, then press again."
        return show(revert=form, status=409, alert=alert)
    which = f"Version {version}" if version else "The shipped pack alone"
    return page.done(None, url_for("web.classifiers"), f"{which} is restored as version {version_made}.")


def _someone_was_first(form: PublishForm, refusal: Conflict) -> Response:
    """Show the form again with the typed reason and the current version, so that the user can check and post again."""
    form.version.data = form.etag.data = ""
    alert = f"{refusal.detail}. Your reason is kept: look at the changes below, then press again."
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
        thresholds = policies.current(session, community.id)
        in_force = wired().classifiers_for(session, community.id)
        scorers = scorer_rows(session, actor, community.id, in_force)
        own = [item.version for item in in_force if item.name == OWN]
        slow = slow_rules.for_versions(session, actor, community.id, own)
        own_model = section(session, actor, community.id, learned)
    publish, revert = publish or PublishForm(), revert or RevertForm()
    pack, text = pack or PackForm(), text or TextForm()
    for form in (publish, pack):
        form.etag.data = form.etag.data or str(standing.etag)
    for made in (publish, revert):
        made.version.data = made.version.data or str(standing.version)
    if standing.draft is None:
        text.which.choices = [("in_force", "In force")]
    return page.render(
        "classifiers/classifiers.html",
        status=status,
        alert=alert,
        form=next((item for item in (publish, revert, pack, text, own_model.form) if item.errors), publish),
        publish=publish,
        revert=revert,
        pack=pack,
        text=text,
        standing=standing,
        draft_changes=change_lines(standing.in_force, standing.draft) if standing.draft else [],
        own_rules=standing.working.rules,
        shipped=shipped_rules.groups(standing.working),
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
