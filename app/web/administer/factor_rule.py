"""The service's rule about second factors, a part of the page Sign-in."""

from collections.abc import Mapping

from flask import Response, url_for
from sqlalchemy.orm import Session
from wtforms import Form, RadioField

from app.core.communities import sign_in_rules
from app.core.communities.settings import NO_ROLE, SETTINGS
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import Role
from app.web import auth, forms, page
from app.web.blueprint import web
from app.wiring import wired

CHOICES: Mapping[str, str] = SETTINGS["factor_role"].choices or {}


class FactorRuleForm(Form):
    """From which role up a second factor is asked for, in every community."""

    factor_role = RadioField(lazy_gettext("Second factor or passkey"), choices=forms.choices(CHOICES))


@web.post("/sign-in-methods/second-factor")
@auth.for_service_admins
@auth.asks_again()
def set_factor_rule() -> Response:
    form = forms.posted(FactorRuleForm)
    url = url_for("web.sign_in_methods")
    if not form.validate():
        return page.done(None, url, _("Choose of whom a second factor is asked."), status=422)
    role = None if form.factor_role.data == NO_ROLE else Role(form.factor_role.data)
    with wired().database.writing() as session:
        is_changed = sign_in_rules.set_service_role(session, auth.current_actor(), role)
    if not is_changed:
        return page.done(None, url, _("Nothing was changed."))
    said = (
        _("Second factor or passkey: %(who)s.", who=CHOICES[role.value])
        if role
        else _("It is asked of no one.")
    )
    return page.done(None, url, said)


def form_for(session: Session) -> FactorRuleForm:
    """Return the form with the rule in force."""
    role = sign_in_rules.service_role(session)
    return FactorRuleForm(data={"factor_role": role.value if role is not None else NO_ROLE})
