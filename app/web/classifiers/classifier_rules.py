"""Pages for one rule of the community's own pack: add it to the draft, edit it, remove it."""

from flask import Response, url_for

from app.core.errors import Conflict, Invalid, NotFound
from app.core.permissions import Permission
from app.core.policies import policies
from app.core.rulesets import drafts, versions
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import category_name
from app.web.classifiers.classifier_forms import RuleForm, rule_form
from app.wiring import wired

IN_DRAFT = "It scores nothing until you put the draft in force."


@web.get("/classifiers/new-rule")
@auth.needs(Permission.REVISE_POLICY)
def new_rule() -> Response:
    return _show(None)


@web.post("/classifiers/new-rule")
@auth.needs(Permission.REVISE_POLICY)
def add_rule() -> Response:
    return _save(None)


@web.get("/classifiers/rules/<rule_id>")
@auth.needs(Permission.REVISE_POLICY)
def rule_page(rule_id: str) -> Response:
    return _show(rule_id)


@web.post("/classifiers/rules/<rule_id>")
@auth.needs(Permission.REVISE_POLICY)
def save_rule(rule_id: str) -> Response:
    return _save(rule_id)


@web.post("/classifiers/rules/<rule_id>/remove")
@auth.needs(Permission.REVISE_POLICY)
def remove_rule(rule_id: str) -> Response:
    form = forms.posted(RuleForm)
    try:
        with wired().database.writing() as session:
            drafts.remove_rule(
                session,
                auth.current_actor(),
                auth.current_community().id,
                rule_id,
                etag=forms.number(form.etag.data),
            )
    except Conflict as refusal:
        return page.done(
            None, url_for("web.classifiers"), f"{refusal.detail}. Nothing was removed.", status=409
        )
    return page.done(None, url_for("web.classifiers"), f"{rule_id} is removed from the draft. {IN_DRAFT}")


def _save(rule_id: str | None) -> Response:
    form = forms.posted(RuleForm)
    if not form.validate():
        return _show(rule_id, form, status=422)
    try:
        with wired().database.writing() as session:
            drafts.put_rule(
                session,
                auth.current_actor(),
                auth.current_community().id,
                form.rule(),
                instead_of=rule_id,
                etag=forms.number(form.etag.data),
            )
    except Invalid as refusal:
        form.explain(refusal)
        return _show(rule_id, form, status=422)
    except Conflict as refusal:
        form.etag.data = ""
        return _show(
            rule_id, form, status=409, alert=f"{refusal.detail}. Your rule is kept below; save it again."
        )
    return page.done(None, url_for("web.classifiers"), f"{form.id.data} is in the draft. {IN_DRAFT}")


def _show(
    rule_id: str | None, form: RuleForm | None = None, *, status: int = 200, alert: str | None = None
) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        standing = versions.standing(session, actor, community.id)
        names = [category.name for category in policies.current(session, community.id).categories]
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
