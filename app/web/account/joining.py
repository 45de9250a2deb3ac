"""Joining a community by invitation, joining a public community, and leaving."""

import uuid

from flask import Response, url_for

from app.core import limits
from app.core.communities import joining
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.ids import parse_id
from app.core.models import Community
from app.core.people import accounts, invitations, mailed_links, passwords
from app.core.people.invitations import Offer
from app.core.people.mailed_links import LinkOver
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import LinkPurpose, Role
from app.web import auth, forms, page
from app.web.account import providers, session_cookie
from app.web.account.forms import JoinForm
from app.web.account.sign_up import invalid_link_page
from app.web.blueprint import web
from app.wiring import wired

ROLE_WORDS = {
    Role.RATER: lazy_gettext("Rater"),
    Role.MODERATOR: lazy_gettext("Moderator"),
    Role.OPERATOR: lazy_gettext("Operator"),
    Role.ADMIN: lazy_gettext("Admin"),
}


@web.get("/join/<token>")
@auth.from_mail
def join(token: str) -> Response:
    try:
        return _show_offer(token, JoinForm())
    except LinkOver:
        return _over(token)


@web.post("/join/<token>")
@auth.from_mail
def join_submit(token: str) -> Response:
    """Accept an invitation. A signed-in user joins; a new user creates an account here.

    A mailed link confirms the address; of one that was shown to the inviter, see ``invitations.accept_new``.
    """
    who = auth.reader()
    form = forms.posted(JoinForm)
    try:
        offer = _offer(token)
        if offer.account_id is not None:
            if who is None or who.account.id != offer.account_id:
                return _show_offer(token, JoinForm(), status=403)
            with wired().database.writing() as session:
                invitations.accept(session, accounts.get(session, who.account.id), token)
            return page.done(
                None,
                _start(offer.community),
                _("You belong to %(community)s now.", community=offer.community.name),
            )
        providers.require_passwords()
        if not form.validate():
            return _show_offer(token, form, status=422)
        hashed = passwords.hash_password(form.password.data or "", offer.email)
        with wired().database.writing() as session:
            account = invitations.accept_new(session, token, form.display_name.data or "", hashed)
    except LinkOver:
        return _over(token)
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show_offer(token, form, status=422)
    except Conflict as refusal:
        # The address got an account in the meantime, or another member signs in with it unconfirmed.
        form.form_errors.append(f"{refusal.detail}.")
        try:
            return _show_offer(token, form, status=409)
        except LinkOver:
            return _over(token)
    response = page.done(
        None,
        _start(offer.community),
        _("Your account is created, and you belong to %(community)s.", community=offer.community.name),
    )
    session_cookie.begin(response, account)
    return response


def _offer(token: str) -> Offer:
    with wired().database.reading() as session:
        return invitations.find_offer(session, token)


def _over(token: str) -> Response:
    with wired().database.reading() as session:
        used = mailed_links.was_used(session, token, LinkPurpose.INVITE)
    return invalid_link_page("used" if used else "invite")


def _show_offer(token: str, form: JoinForm, *, status: int = 200) -> Response:
    offer, who = _offer(token), auth.reader()
    return page.render(
        "account/join.html",
        status=status,
        form=form,
        offer=offer,
        role=ROLE_WORDS[offer.role],
        is_me=who is not None and who.account.id == offer.account_id,
        signed_in_as=who.account.sign_in_name if who is not None else None,
        sign_in_url=url_for("web.sign_in", next=url_for("web.join", token=token)),
        password_min=limits.PASSWORD_MIN,
        **providers.buttons(),
    )


@web.get("/communities")
def public_communities() -> Response:
    return _show_communities()


@web.post("/communities/<uuid:community_id>/join")
def join_community(community_id: uuid.UUID) -> Response:
    who = auth.current_reader()
    try:
        with wired().database.writing() as session:
            account = accounts.get(session, who.account.id)
            community = joining.join(session, who.actor, account, community_id)
    except Forbidden as refusal:
        return _show_communities(status=403, alert=f"{refusal.detail}.")
    return page.done(None, _start(community), _("You belong to %(community)s now.", community=community.name))


@web.post("/communities/<uuid:community_id>/leave")
def leave_community(community_id: uuid.UUID) -> Response:
    who = auth.current_reader()
    try:
        with wired().database.writing() as session:
            community = joining.leave(session, who.actor, accounts.get(session, who.account.id), community_id)
    except Conflict as refusal:
        return _show_communities(status=409, alert=f"{refusal.detail}.")
    return page.done(
        None, url_for("web.public_communities"), _("You left %(community)s.", community=community.name)
    )


def _start(community: Community) -> str:
    return url_for("web.home", community=community.slug)


def _show_communities(*, status: int = 200, alert: str | None = None) -> Response:
    words, after = forms.query_arg("q"), forms.query_arg("after")
    who = auth.current_reader()
    with wired().database.reading() as session:
        found, following = joining.choices(session, who.account, words=words, after=parse_id(after))
    return page.render(
        "community/communities.html",
        status=status,
        alert=alert,
        rows=found,
        roles=auth.ROLE_WORDS,
        words=words,
        is_newcomer=not who.communities,
        next_url=url_for("web.public_communities", q=words or None, after=following) if following else None,
        first_url=url_for("web.public_communities", q=words or None) if after else None,
    )
