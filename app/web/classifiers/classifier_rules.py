"""Pages for rules in the draft: one of the community's own, and those of the shipped pack by category."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from flask import Response, url_for

from app.core import texts
from app.core.classify.facts import conditions_of
from app.core.classify.rulepack import starter_pack
from app.core.classify.rules import Rule
from app.core.errors import Conflict, Invalid, NotFound
from app.core.permissions import Permission
from app.core.rulesets import drafts, versions
from app.core.rulesets.versions import RuleSet, Standing
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext, number
from app.core.thresholds import threshold_sets
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import category_name
from app.web.classifiers.classifier_forms import KIND_WORDS, RuleForm, SwitchForm, rule_form, write
from app.wiring import wired

IN_DRAFT = lazy_gettext("It scores nothing until you put the draft in force.")


@web.get("/classifiers/new-rule", endpoint="new_rule")
@web.get("/classifiers/rules/<rule_id>")
@auth.needs(Permission.REVISE_POLICY)
def rule_page(rule_id: str | None = None) -> Response:
    return _show(rule_id)


@web.post("/classifiers/new-rule", endpoint="add_rule")
@web.post("/classifiers/rules/<rule_id>")
@auth.needs(Permission.REVISE_POLICY)
def save_rule(rule_id: str | None = None) -> Response:
    form = forms.posted(RuleForm)
    if not form.validate():
        return _show(rule_id, form, status=422)
    try:
        write(drafts.put_rule, form.rule(), instead_of=rule_id, etag=forms.number(form.etag.data))
    except Invalid as refusal:
        form.explain(refusal)
        return _show(rule_id, form, status=422)
    except Conflict as refusal:
        form.etag.data = ""
        return _show(
            rule_id,
            form,
            status=409,
            alert=_("%(conflict)s. Your rule is kept below; save it again.", conflict=refusal.detail),
        )
    message = _("%(rule)s is in the draft.", rule=form.id.data)
    return page.done(None, url_for("web.classifiers"), f"{message} {IN_DRAFT}")


@web.post("/classifiers/rules/<rule_id>/remove")
@auth.needs(Permission.REVISE_POLICY)
def remove_rule(rule_id: str) -> Response:
    form = forms.posted(RuleForm)
    try:
        write(drafts.remove_rule, rule_id, etag=forms.number(form.etag.data))
    except Conflict as refusal:
        return page.done(
            None,
            url_for("web.classifiers"),
            _("%(conflict)s. Nothing was removed.", conflict=refusal.detail),
            status=409,
        )
    message = _("%(rule)s is removed from the draft.", rule=rule_id)
    return page.done(None, url_for("web.classifiers"), f"{message} {IN_DRAFT}")


def _show(
    rule_id: str | None, form: RuleForm | None = None, *, status: int = 200, alert: str | None = None
) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        standing = versions.standing(session, actor, community.id)
        names = [category.name for category in threshold_sets.current(session, community.id).categories]
    if form is None:
        rule = standing.working.rule(rule_id) if rule_id is not None else None
        if rule_id is not None and rule is None:
            raise NotFound("rule")
        form = rule_form(rule) if rule is not None else RuleForm()
    form.etag.data = form.etag.data or str(standing.etag)
    return page.render(
        "classifiers/rule.html",
        status=status,
        alert=alert,
        form=form,
        rule_id=rule_id,
        lists=sorted(standing.working.pack.get("lists", {})),
        categories={name: category_name(name) for name in names},
    )


@web.get("/classifiers/shipped/<category>")
@auth.needs(Permission.REVISE_POLICY)
def shipped_rules(category: str) -> Response:
    return _show_shipped(category)


@web.post("/classifiers/shipped")
@auth.needs(Permission.REVISE_POLICY)
def switch_shipped_rule() -> Response:
    """Switch a shipped rule in the draft. The pressed button has the rule's id, as ``off`` or as ``on``."""
    form = forms.posted(SwitchForm)
    rule_id = form.on.data or form.off.data or ""
    category = next((rule.category for rule in _starter_rules() if rule.id == rule_id), None)
    try:
        write(drafts.switch_starter, [rule_id], bool(form.on.data), etag=forms.number(form.etag.data))
    except Conflict as refusal:
        alert = _(
            "%(conflict)s. Nothing was changed: look at the draft, then try again.", conflict=refusal.detail
        )
        return _show_shipped(category, status=409, alert=alert)
    target = url_for("web.shipped_rules", category=category) if category else url_for("web.classifiers")
    return page.done(
        None,
        target,
        _("The draft is changed. It scores nothing until you put it in force on the classifiers page."),
    )


def groups(rule_set: RuleSet) -> list[tuple[str, str, str]]:
    """Return the categories of the shipped rules: each with its words, and how many rules it has and lacks here."""
    found = []
    for category, grouped in groupby(_starter_rules(), key=lambda rule: rule.category):
        rules = list(grouped)
        off = sum(rule.id in rule_set.starter_off for rule in rules)
        counts = ngettext("%(num)s rule", "%(num)s rules", len(rules))
        if off:
            counts = _("%(rules)s, %(off)s off", rules=counts, off=number(off))
        found.append((category, category_name(category), counts))
    return found


def _show_shipped(category: str | None, *, status: int = 200, alert: str | None = None) -> Response:
    with wired().database.reading() as session:
        standing: Standing = versions.standing(session, auth.current_actor(), auth.current_community().id)
    rules = [rule for rule in _starter_rules() if rule.category == category]
    if category is None or not rules:
        raise NotFound("category")
    return page.render(
        "classifiers/shipped_rules.html",
        status=status,
        alert=alert,
        title=category_name(category),
        rules=rules,
        kinds=KIND_WORDS,
        standing=standing,
    )


@lru_cache(maxsize=1)
def _starter_rules() -> Sequence[Rule]:
    return sorted(starter_pack().rules, key=lambda rule: (rule.category, rule.id))


_MOST_LINES = 12


def change_lines(before: RuleSet, after: RuleSet) -> list[str]:
    """Return the differences, at most ``_MOST_LINES``: "spam.watches, weight: 0.6 → 0.8"."""
    lines: list[str] = []
    for name, (old, new) in versions.changes(before, after).items():
        if name == "starter_off":
            lines += [_("%(rule)s: switched off", rule=rule) for rule in sorted(set(new) - set(old))]
            lines += [_("%(rule)s: switched on", rule=rule) for rule in sorted(set(old) - set(new))]
        elif name in ("lists", "note"):
            lines.append(_("Lists of the pack changed") if name == "lists" else _("Note of the pack changed"))
        elif old is None:
            lines.append(
                _(
                    "%(rule)s added (%(category)s, weight %(weight)s)",
                    rule=name,
                    category=category_name(new["category"]),
                    weight=texts.short_number(new["weight"]),
                )
            )
        elif new is None:
            lines.append(_("%(rule)s removed", rule=name))
        else:
            lines += [f"{name}, {part}: {was} → {now}" for part, was, now in _differing(old, new)]
    return (
        [*lines[:_MOST_LINES], _("… and %(count)s more", count=number(len(lines) - _MOST_LINES))]
        if len(lines) > _MOST_LINES
        else lines
    )


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    def text_of(rule: Mapping[str, Any], part: str) -> str:
        value = rule.get(part, True if part == "enabled" else None)
        if part == "when":
            return "; ".join(condition.words for condition in conditions_of(value or {})) or _("none")
        if isinstance(value, bool):
            return _("on") if value else _("off")
        if isinstance(value, list):
            return ", ".join(map(str, value)) or _("none")
        return _("none") if value is None else str(value)

    parts = sorted(old.keys() | new.keys())
    differences = [
        (_("state") if part == "enabled" else part, text_of(old, part), text_of(new, part)) for part in parts
    ]
    return [(part, was, now) for part, was, now in differences if was != now]
