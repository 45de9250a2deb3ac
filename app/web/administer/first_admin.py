"""Creates the first admin, behind the one-time link that ``serve`` prints while there is none; opens communities."""

from flask import Response, flash, make_response, redirect, request, url_for
from wtforms import BooleanField, Form, StringField, TextAreaField
from wtforms.validators import InputRequired

from app.core import limits
from app.core.communities import founding
from app.core.communities.founding import Founding
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.models import Community
from app.core.people import passwords
from app.core.people.mailed_links import LinkOver
from app.core.people.profiles import WEB
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.process import peers
from app.throttle import OverLimit
from app.web import auth, forms, navigation, page
from app.web.account import session_cookie
from app.web.account.forms import SignUpForm
from app.web.account.sign_up import invalid_link_page
from app.web.blueprint import web
from app.wiring import wired

FOUNDING_FIELDS = {"platform_community_server_id": "platform_id"}


class FoundingForm(Form):
    """A new community."""

    name = StringField(
        lazy_gettext("Name"),
        [InputRequired(lazy_gettext("Enter a name.")), forms.at_most(limits.NAME_MAX, lazy_gettext("Name"))],
    )
    description = TextAreaField(
        lazy_gettext("Description"),
        [forms.at_most(limits.DESCRIPTION_MAX, lazy_gettext("Description"))],
        filters=[forms.whole_lines],
    )
    is_public = BooleanField(lazy_gettext("Public"))
    platform = StringField(
        lazy_gettext("Platform"), [InputRequired(lazy_gettext("Enter a platform."))], default=WEB
    )
    platform_id = StringField(
        lazy_gettext("Id on the platform"), [forms.at_most(limits.ID_MAX, lazy_gettext("Id on the platform"))]
    )

    def founding(self) -> Founding:
        """Return the typed values; empty texts are None."""
        return Founding(
            name=self.name.data or "",
            platform=self.platform.data or WEB,
            platform_id=self.platform_id.data or None,
            description=self.description.data or None,
            is_public=bool(self.is_public.data),
        )


@web.get("/community/new")
def new_community() -> Response:
    return _show_founding(FoundingForm())


@web.post("/community/new")
def found_community() -> Response:
    form = forms.posted(FoundingForm)
    if not form.validate():
        return _show_founding(form, status=422)
    actor, settings = auth.current_actor(), wired().settings
    try:
        wired().throttle.hit("communities", str(actor.account_id))
        with wired().database.writing() as session:
            founded = founding.found_community(
                session, actor, form.founding(), open_to_all=settings.open_communities
            )
    except Invalid as refusal:
        forms.explain(form, refusal, FOUNDING_FIELDS)
        return _show_founding(form, status=422)
    except OverLimit as refusal:
        alert = _(
            "You opened several communities just now. Try again in %(retry_after)s seconds.",
            retry_after=refusal.retry_after,
        )
        return _show_founding(form, status=429, alert=alert)
    message = _("%(name)s is open, and you are its admin.", name=founded.name)
    return page.done(None, url_for("web.getting_started_page", community=founded.slug), message)


def _show_founding(form: FoundingForm, *, status: int = 200, alert: str | None = None) -> Response:
    if not navigation.may_create_community():
        raise Forbidden(_("Only a service admin opens communities here"))
    return page.render("administer/new_community.html", status=status, alert=alert, form=form)


FIELDS = {"name": "community"}


class CommunityName(Form):
    """The first community's name."""

    community = StringField(
        lazy_gettext("Community"),
        [forms.at_most(limits.NAME_MAX, lazy_gettext("Community"))],
        filters=[forms.trimmed],
    )


class FirstAdminForm(CommunityName, SignUpForm):
    """The first admin's account."""


def shown_url() -> str | None:
    """Return the link's path to show on the home page, only to browsers on this machine; None for all others.

    In production, or if the settings have a reverse proxy or a public URL, only the terminal shows the link.
    """
    token, settings = wired().first_admin_token, wired().settings
    if token is None or not settings.is_demo_allowed or settings.trusted_proxies or settings.public_url:
        return None
    if not peers.is_direct_from_here(request.environ):
        return None
    if not _works(token):
        return None
    return url_for("web.first_admin_page", token=token)


@web.get("/first-admin/<token>")
@auth.from_mail
def first_admin_page(token: str) -> Response:
    if not _works(token):
        return invalid_link_page("first_admin")
    return _show(FirstAdminForm() if auth.reader() is None else CommunityName())


@web.post("/first-admin/<token>")
@auth.from_mail
def make_first_admin(token: str) -> Response:
    """Make the signed-in user the admin; a new user creates the account here, with its address confirmed."""
    who = auth.reader()
    form = forms.posted(FirstAdminForm) if who is None else forms.posted(CommunityName)
    if not _works(token):
        return invalid_link_page("first_admin")
    if not form.validate():
        return _show(form, status=422)
    name = form.community.data or ""
    try:
        if who is not None:
            with wired().database.writing() as session:
                community = founding.promote(session, token, who.account.id, community_name=name)
            return _welcome(make_response(redirect(_start(community), 303)))
        assert isinstance(form, FirstAdminForm)  # noqa: S101 - narrows the type
        url = limits.email(form.email.data or "")
        hashed = passwords.hash_password(form.password.data or "", url)
        with wired().database.writing() as session:
            account, community = founding.create(
                session, token, url, form.display_name.data or "", hashed, community_name=name
            )
    except LinkOver:
        return invalid_link_page("first_admin")
    except Invalid as refusal:
        forms.explain(form, refusal, FIELDS)
        return _show(form, status=422)
    except Conflict as refusal:
        form.form_errors.append(f"{refusal.detail}.")
        return _show(form, status=409)
    response = make_response(redirect(_start(community), 303))
    session_cookie.begin(response, account)
    return _welcome(response)


def _works(token: str) -> bool:
    with wired().database.reading() as session:
        return founding.works(session, token)


def _welcome(response: Response) -> Response:
    flash(_("You are the admin of this service. The link has ended."), "status")
    return response


def _start(community: Community | None) -> str:
    return url_for("web.getting_started_page", community=community.slug if community is not None else None)


def _show(form: Form, *, status: int = 200) -> Response:
    who = auth.reader()
    return page.render(
        "administer/first_admin.html",
        status=status,
        form=form,
        signed_in_as=who.account.sign_in_name if who is not None else None,
        password_min=limits.PASSWORD_MIN,
    )
