"""The rules of the shipped pack: one page for each category, where they are switched off and on in the draft."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from flask import Response, url_for

from app.core.classify.rulepack import starter_pack
from app.core.classify.rules import Rule
from app.core.errors import Conflict, NotFound
from app.core.permissions import Permission
from app.core.rulesets import drafts
from app.core.rulesets import versions as rule_versions
from app.core.rulesets.versions import RuleSet, Standing
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import category_name
from app.web.classifiers.classifier_forms import SwitchForm
from app.wiring import wired

_CONFLICT = "Nothing was changed: look at the draft, then try again."


@dataclass(frozen=True)
class ShippedGroup:
    """The shipped rules of one category; ``off`` counts those switched off in the draft or in the current version."""

    category: str
    title: str
    rules: Sequence[Rule]
    off: int

    @property
    def counts(self) -> str:
        return f"{len(self.rules)} rules{f', {self.off} off' if self.off else ''}"


@web.get("/classifiers/shipped/<category>")
@auth.needs(Permission.REVISE_POLICY)
def shipped_rules(category: str) -> Response:
    return _show(category)


@web.post("/classifiers/shipped")
@auth.needs(Permission.REVISE_POLICY)
def switch_shipped_rule() -> Response:
    """Switch a shipped rule in the draft. The pressed button has the rule's id, as ``off`` or as ``on``."""
    form = forms.posted(SwitchForm)
    rule_id = form.on.data or form.off.data or ""
    category = next((rule.category for rule in _starter_rules() if rule.id == rule_id), None)
    try:
        with wired().database.writing() as session:
            drafts.switch_starter(
                session,
                auth.current_actor(),
                auth.current_community().id,
                [rule_id],
                bool(form.on.data),
                etag=forms.number(form.etag.data),
            )
    except Conflict as refusal:
        return _show(category, status=409, alert=f"{refusal.detail}. {_CONFLICT}")
    target = url_for("web.shipped_rules", category=category) if category else url_for("web.classifiers")
    return page.done(
        None,
        target,
        "The draft is changed. It scores nothing until you put it in force on the classifiers page.",
    )


def groups(rule_set: RuleSet) -> list[ShippedGroup]:
    """Return the shipped rules by category, with what this rule set switches off."""
    found = []
    for category, grouped in groupby(_starter_rules(), key=lambda rule: rule.category):
        rules = list(grouped)
        off = sum(rule.id in rule_set.starter_off for rule in rules)
        found.append(ShippedGroup(category, category_name(category), rules, off))
    return found


def _show(category: str | None, *, status: int = 200, alert: str | None = None) -> Response:
    with wired().database.reading() as session:
        standing: Standing = rule_versions.standing(
            session, auth.current_actor(), auth.current_community().id
        )
    group = next((group for group in groups(standing.working) if group.category == category), None)
    if group is None:
        raise NotFound("category")
    return page.render(
        "classifiers/shipped_rules.html", status=status, alert=alert, group=group, standing=standing
    )


@lru_cache(maxsize=1)
def _starter_rules() -> Sequence[Rule]:
    return sorted(starter_pack().rules, key=lambda rule: (rule.category, rule.id))
