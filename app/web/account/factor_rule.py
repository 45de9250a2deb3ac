"""Where a rule asks for a second factor: a banner for seven days, then every page leads to setting one up.

What is held to be carried out is carried out all the same, and a form that was sent is given back with its text.
"""

from flask import Response, current_app, make_response, redirect, render_template, request, url_for

from app.core.communities import sign_in_rules
from app.core.communities.sign_in_rules import Demand
from app.core.texts import gettext as _
from app.web import auth, page, security
from app.web.account import kept_forms
from app.web.blueprint import web
from app.web.errors import render_error
from app.wiring import wired

_FREE = {"security", "confirm-it-is-you"}
"""The first segments of the paths that open all the same, beside what needs no sign-in."""


@web.before_request
def follow_rule() -> Response | None:
    """Begin a person's grace at the first page that shows the banner; once it is over, lead them to their factors."""
    who = auth.reader()
    if who is None:
        return None
    demand = who.demand
    if demand is None:
        if who.account.two_step_asked_at is not None and not who.sign_in.is_strong:
            with wired().database.writing() as writing:
                sign_in_rules.forget_asked(writing, who.account.id)
        return None
    if demand.asked_at is None and not demand.is_met:
        with wired().database.writing() as writing:
            sign_in_rules.record_asked(writing, who.account.id)
    view = current_app.view_functions.get(request.endpoint or "")
    if not demand.is_over or getattr(view, "is_open", False) or request.path.split("/")[1] in _FREE:
        return None
    return _lead_to_factors(is_passive=getattr(view, "is_passive", False))


@web.app_context_processor
def add_demand() -> dict[str, object]:
    """Add what the banner says (``base.html``)."""
    return {"factor_demand": unmet_demand}


def unmet_demand() -> Demand | None:
    """What a rule asks of the reader and they have not; None where nothing is missing."""
    who = auth.reader()
    return who.demand if who is not None and who.demand is not None and not who.demand.is_met else None


def _lead_to_factors(*, is_passive: bool) -> Response:
    if page.wants_part():
        if is_passive:
            # 286 tells htmx to stop polling. Text being typed on that page stays.
            return make_response(render_template("account/_factor_first.html"), 286)
        # Not a success: what was typed on the page is then kept as a draft.
        response = make_response("", 403)
        response.headers["HX-Redirect"] = url_for("web.security_page")
        return response
    if request.method in security.SAFE_METHODS:
        return make_response(redirect(url_for("web.security_page"), 303))
    kept = kept_forms.of_request()
    if kept is None:
        return render_error(403, _("Set up a second factor first. Nothing was changed"))
    return page.render("account/factor_first.html", status=403, kept=kept)
