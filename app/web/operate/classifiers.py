"""Classifiers: who scores, the community's rules and their versions, trying them out (CLASSIFIERS: section 2)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from flask import Response, make_response, url_for

from app.core.classify.rulepack import starter_pack
from app.core.classify.rules import Rule
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
from app.web.categories import category_name
from app.web.operate.classifier_forms import PackForm, PublishForm, RevertForm, SwitchForm, TextForm, told
from app.web.operate.rule_changes import change_lines
from app.web.versions import rows as version_rows
from app.wiring import wired


@dataclass(frozen=True)
class ClassifierRow:
    """A classifier as the list shows it; ``error`` when it could not say what it is."""

    name: str
    version: str
    categories: Sequence[str]
    where: str


@dataclass(frozen=True)
class ShippedGroup:
    """The shipped rules of one category, with those switched off in the draft or in force."""

    title: str
    rules: Sequence[Rule]
    off: int


@web.get("/classifiers")
@auth.needs(Permission.REVISE_POLICY)
def classifiers() -> Response:
    return show()


@web.post("/classifiers/shipped")
@auth.needs(Permission.REVISE_POLICY)
def switch_shipped_rule() -> Response:
    """The pressed button carries the rule: as ``off`` or as ``on``."""
    form = forms.posted(SwitchForm)
    try:
        with wired().database.writing() as session:
            drafts.switch_starter(
                session,
                auth.current_actor(),
                auth.current_community().id,
                [form.on.data or form.off.data or ""],
                bool(form.on.data),
                edition=forms.number(form.edition.data),
            )
    except Conflict as refusal:
        return show(
            status=409, alert=f"{refusal.detail}. Nothing was changed: look at the draft, then try again."
        )
    return page.done(
        None, url_for("web.classifiers"), "The draft is changed. It scores nothing until you put it in force."
    )


@web.post("/classifiers/import")
@auth.needs(Permission.REVISE_POLICY)
def import_rules() -> Response:
    form = forms.posted(PackForm)
    given = forms.uploaded("file", rule_versions.PACK_MAX_BYTES)
    text = given.decode("utf-8", "replace") if given is not None else form.pack.data or ""
    if not text.strip():
        form.pack.errors = ["Choose a file, or paste a pack."]
        return show(pack=form, status=422)
    form.pack.data = text
    try:
        with wired().database.writing() as session:
            made = drafts.import_pack(
                session,
                auth.current_actor(),
                auth.current_community().id,
                text,
                edition=forms.number(form.edition.data),
            )
    except Invalid as refusal:
        form.pack.errors = list(told(refusal))
        return show(pack=form, status=422)
    except Conflict as refusal:
        form.edition.data = ""
        return show(
            pack=form, status=409, alert=f"{refusal.detail}. Your pack is kept below; import it again."
        )
    count = len(made.rules)
    rules = "1 rule" if count == 1 else f"{count:,} rules"
    return page.done(
        None,
        url_for("web.classifiers"),
        f"The draft has {rules} now. It scores nothing until you put it in force.",
    )


@web.get("/classifiers/export.json")
@auth.needs(Permission.REVISE_POLICY)
def export_rules() -> Response:
    """The community's own pack, by ``which``: in force (the default) or the draft."""
    found = _standing()
    chosen = found.working if forms.from_address("which") == "draft" else found.in_force
    body = json.dumps(chosen.pack, ensure_ascii=False, indent=2) + "\n"
    response = make_response(body)
    response.mimetype = "application/json"
    response.headers["Content-Disposition"] = 'attachment; filename="rules.json"'
    return response


@web.post("/classifiers/publish")
@auth.needs(Permission.REVISE_POLICY)
def publish_rules() -> Response:
    form = forms.posted(PublishForm)
    if not forms.filled_in(form):
        return show(form, status=422)
    try:
        with wired().database.writing() as session:
            made = drafts.publish(
                session,
                auth.current_actor(),
                auth.current_community().id,
                form.reason.data or "",
                based_on=forms.number(form.version.data),
                edition=forms.number(form.edition.data),
            ).version
    except Invalid as refusal:
        forms.explain(form, refusal)
        return show(form, status=422)
    except Conflict as refusal:
        return _someone_was_first(form, refusal)
    return page.done(
        None, url_for("web.classifiers"), f"Version {made} is in force. It scores new content only."
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
                edition=forms.number(form.edition.data),
            )
    except Conflict as refusal:
        return _someone_was_first(form, refusal)
    return page.done(None, url_for("web.classifiers"), "The draft is discarded. What is in force stays.")


@web.post("/classifiers/<int:version>/revert")
@auth.needs(Permission.REVISE_POLICY)
def revert_rules(version: int) -> Response:
    form = forms.posted(RevertForm)
    if not forms.filled_in(form):
        return show(revert=form, status=422)
    try:
        with wired().database.writing() as session:
            made = rule_versions.revert(
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
    return page.done(None, url_for("web.classifiers"), f"{which} is restored as version {made}.")


def _someone_was_first(form: PublishForm, refusal: Conflict) -> Response:
    """The reason stays, now based on what is there, so that pressing again is a decision."""
    form.version.data = form.edition.data = ""
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
    status: int = 200,
    alert: str | None = None,
    **more: Any,
) -> Response:
    """The page, with whichever of its forms came back; ``more`` is what trying out found."""
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        found = rule_versions.standing(session, actor, community.id)
        versions = rule_versions.versions(session, actor, community.id)
        policy = policies.current(session, community.id)
        in_force = wired().rules.classifiers(session, community.id, wired().classifiers)
        own = [one.version for one in in_force if one.name == OWN]
        slow = slow_rules.of(session, actor, community.id, own)
    publish, revert = publish or PublishForm(), revert or RevertForm()
    pack, text = pack or PackForm(), text or TextForm()
    for form in (publish, pack):
        form.edition.data = form.edition.data or str(found.edition)
    for made in (publish, revert):
        made.version.data = made.version.data or str(found.version)
    if found.draft is None:
        text.which.choices = [("in_force", "In force")]
    return page.render(
        "operate/classifiers.html",
        status=status,
        alert=alert,
        form=next((one for one in (publish, revert, pack, text) if one.errors), publish),
        publish=publish,
        revert=revert,
        pack=pack,
        text=text,
        standing=found,
        draft_changes=change_lines(found.in_force, found.draft) if found.draft else [],
        own_rules=found.working.rules,
        shipped=_shipped(found.working),
        classifiers=[
            ClassifierRow(
                one.name,
                one.version,
                [category_name(name) for name in sorted(one.categories)],
                "this service" if one.local else "connected service",
            )
            for one in in_force
        ],
        slow_rules=slow,
        unrouted=_unrouted(found.working, {category.name for category in policy.categories}),
        versions=version_rows(
            versions, rule_versions.SHOWN_VERSIONS, current=found.version, changes=_changes
        ),
        trial=more.get("trial"),
        hits=more.get("hits"),
    )


def _unrouted(rule_set: RuleSet, known: set[str]) -> list[str]:
    """Categories that own rules score and no threshold reads."""
    return sorted({str(rule["category"]) for rule in rule_set.rules} - known)


@lru_cache(maxsize=1)
def _starter_rules() -> Sequence[Rule]:
    return sorted(starter_pack().rules, key=lambda rule: (rule.category, rule.id))


def _shipped(rule_set: RuleSet) -> list[ShippedGroup]:
    groups = []
    for category, found in groupby(_starter_rules(), key=lambda rule: rule.category):
        rules = list(found)
        off = sum(rule.id in rule_set.starter_off for rule in rules)
        groups.append(ShippedGroup(category_name(category), rules, off))
    return groups


def _changes(before: RulePackVersion | None, after: RulePackVersion) -> list[str]:
    """What differs, in words; before the first version there was the shipped pack alone."""
    return change_lines(_rule_set(before) if before else RuleSet(), _rule_set(after))


def _rule_set(made: RulePackVersion) -> RuleSet:
    return RuleSet(frozenset(made.starter_off), made.pack)
