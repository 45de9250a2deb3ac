"""People page for admins: members and their roles, invitations, accounts, linked profiles."""

import uuid
from collections.abc import Callable
from typing import Self

from flask import Response, url_for
from sqlalchemy.orm import Session
from wtforms import Form, HiddenField, SearchField, SelectField, StringField
from wtforms.validators import InputRequired

from app.core import limits
from app.core.communities import sign_in_rules
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.paging import Slice
from app.core.people import invitations, mailed_links, member_lists, members, second_factors
from app.core.permissions import Permission
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.upkeep import community_revisions, linking
from app.core.vocabulary import Role
from app.process.replica_reads import may_be_old
from app.throttle import OverLimit
from app.web import auth, community_choice, curl_command, cursor_links, filter_forms, forms, page
from app.web.account.joining import ROLE_WORDS
from app.web.blueprint import web
from app.web.community import changes
from app.web.filter_forms import FilterForm, SeveralField, typed
from app.wiring import wired

PAGE_SIZE = 50
ACTS = ("role", "link", "unlink", "remove", "disable", "enable", "reset")
STATES = {
    "active": lazy_gettext("Active"),
    "disabled": lazy_gettext("Disabled"),
    "unconfirmed": lazy_gettext("Not confirmed yet"),
}


class PeopleForm(FilterForm):
    """Filters of the members, from the query string."""

    community = HiddenField()
    q = SearchField(lazy_gettext("Name or email"))
    factor = SeveralField(lazy_gettext("State"), validate_choice=False)

    def offer(self, asked: Role | None) -> None:
        """Offer the members who lack a second factor, if one is asked of roles from ``asked`` on."""
        words = {"none": lazy_gettext("Required second factor is missing")} if asked else {}
        self.factor.choices = forms.choices(words)
        self.factor.data = [value for value in self.factor.data or () if value in words]


class InviteForm(Form):
    """Address and role for an invitation."""

    email = StringField(
        lazy_gettext("Email"),
        [InputRequired(lazy_gettext("Enter an email address.")), forms.mail_address],
        filters=[forms.trimmed],
    )
    role = SelectField(lazy_gettext("Role"), choices=forms.choices(ROLE_WORDS), default=Role.RATER.value)
    reason = StringField(lazy_gettext("Reason"), [forms.at_most(limits.REASON_MAX, lazy_gettext("Reason"))])


class MemberForm(Form):
    """A change to a member, and its reason. The page has one form for each act."""

    role = SelectField(lazy_gettext("Role"), choices=forms.choices(ROLE_WORDS), validate_choice=False)
    reason = forms.reason_field()
    profile = StringField(lazy_gettext("Profile"))

    @classmethod
    def for_each_act(cls, role: Role, act: str | None, typed: Self | None) -> dict[str, Self]:
        """Return a form for each act; for ``act`` it is the posted one."""
        by_act = {name: cls(role=role.value) for name in ACTS}
        if act is not None and typed is not None:
            by_act[act] = typed
        for name, form in by_act.items():
            for field in form:
                field.id = field.label.field_id = f"{name}-{field.name}"
        return by_act


@web.get("/people")
@auth.needs(Permission.MANAGE_PEOPLE)
@may_be_old
def people() -> Response:
    return _show()


@web.post("/people/invite")
@auth.needs(Permission.MANAGE_PEOPLE)
@auth.asks_again()
def invite() -> Response:
    form = forms.posted(InviteForm)
    if not form.validate():
        return _show(form, status=422)
    by_mail = bool(wired().settings.smtp_host)
    try:
        wired().throttle.hit("invitations", str(auth.current_actor().account_id))
        if by_mail:
            wired().throttle.hit("mail", limits.email(form.email.data or ""))
        with wired().database.writing() as session:
            link = invitations.invite(
                session,
                auth.current_actor(),
                auth.current_community().id,
                form.email.data or "",
                Role(form.role.data),
                form.reason.data or "",
                by_mail=by_mail,
            )
            minted = None if by_mail else mailed_links.mint(session, link.id)
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(form, status=422)
    except OverLimit as refusal:
        alert = _(
            "Too many invitations were sent. Try again in %(retry_after)s seconds.",
            retry_after=refusal.retry_after,
        )
        return _show(form, status=429, alert=alert)
    if minted is not None:
        # Like a new key, the link can be shown only in this response: only its digest is stored.
        url = curl_command.base_url() + url_for("web.join", token=minted[1])
        return _show(shown=(link.email, url))
    return page.done(
        None, url_for("web.people"), _("An invitation is on its way to %(email)s.", email=link.email)
    )


@web.post("/people/invitations/<uuid:invitation_id>/withdraw")
def withdraw_invitation(invitation_id: uuid.UUID) -> Response:
    try:
        with wired().database.writing() as session:
            link = invitations.withdraw(session, auth.current_actor(), invitation_id)
    except Conflict as refusal:
        return page.done(None, url_for("web.people"), f"{refusal.detail}.", status=409)
    return page.done(
        None, url_for("web.people"), _("The invitation of %(email)s is withdrawn.", email=link.email)
    )


@web.get("/people/<uuid:membership_id>")
def member_page(membership_id: uuid.UUID) -> Response:
    return _show_one(membership_id)


@web.post("/people/<uuid:membership_id>/role")
@auth.asks_again()
def change_role(membership_id: uuid.UUID) -> Response:
    def give(session: Session, form: MemberForm) -> str:
        role = next((choice for choice in Role if choice.value == form.role.data), None)
        if role is None:
            raise Invalid.field("role", _("is none that we know"))
        changed = members.change_role(session, auth.current_actor(), membership_id, role, _why(form))
        return _("New role of %(name)s: %(role)s.", name=changed.account.display_name, role=ROLE_WORDS[role])

    return _do(membership_id, "role", give)


@web.post("/people/<uuid:membership_id>/remove")
@auth.asks_again()
def remove_member(membership_id: uuid.UUID) -> Response:
    def take_out(session: Session, form: MemberForm) -> str:
        gone = members.remove(session, auth.current_actor(), membership_id, _why(form))
        return _(
            "%(display_name)s no longer belongs to the community.", display_name=gone.account.display_name
        )

    return _do(membership_id, "remove", take_out, to_list=True)


@web.post("/people/<uuid:membership_id>/remove-factors")
@auth.asks_again()
def remove_factors(membership_id: uuid.UUID) -> Response:
    def reset(session: Session, form: MemberForm) -> str:
        actor = auth.current_actor()
        account_id = member_lists.get(session, actor, membership_id).account.id
        account = second_factors.reset(session, actor, account_id, _why(form))
        return _(
            "The second factors of %(display_name)s are removed. They got a mail.",
            display_name=account.display_name,
        )

    return _do(membership_id, "reset", reset)


@web.post("/people/<uuid:membership_id>/disable")
@auth.asks_again()
def disable_account(membership_id: uuid.UUID) -> Response:
    return _set_disabled(membership_id, disabled=True)


@web.post("/people/<uuid:membership_id>/enable")
@auth.asks_again()
def enable_account(membership_id: uuid.UUID) -> Response:
    return _set_disabled(membership_id, disabled=False)


@web.post("/people/<uuid:membership_id>/link")
def link_member(membership_id: uuid.UUID) -> Response:
    def link(session: Session, form: MemberForm) -> str:
        profile_id = _uuid(form.profile.data)
        profile = linking.link_member(session, auth.current_actor(), membership_id, profile_id, _why(form))
        return _(
            "Linked: %(platform)s, %(platform_user_id)s.",
            platform=profile.platform,
            platform_user_id=profile.display_name or profile.platform_user_id,
        )

    return _do(membership_id, "link", link)


@web.post("/people/<uuid:membership_id>/unlink")
def unlink_member(membership_id: uuid.UUID) -> Response:
    def unlink(session: Session, form: MemberForm) -> str:
        profile_id = _uuid(form.profile.data)
        profile = linking.unlink_member(session, auth.current_actor(), membership_id, profile_id, _why(form))
        return _(
            "Unlinked: %(platform)s, %(platform_user_id)s.",
            platform=profile.platform,
            platform_user_id=profile.display_name or profile.platform_user_id,
        )

    return _do(membership_id, "unlink", unlink)


def _set_disabled(membership_id: uuid.UUID, *, disabled: bool) -> Response:
    def switch(session: Session, form: MemberForm) -> str:
        actor = auth.current_actor()
        account_id = member_lists.get(session, actor, membership_id).account.id
        account = members.set_disabled(session, actor, account_id, disabled, _why(form))
        if disabled:
            return _(
                "%(display_name)s is disabled and signed out everywhere.", display_name=account.display_name
            )
        return _("%(display_name)s can sign in again.", display_name=account.display_name)

    return _do(membership_id, "disable" if disabled else "enable", switch)


def _do(
    membership_id: uuid.UUID,
    name: str,
    act: Callable[[Session, MemberForm], str],
    *,
    to_list: bool = False,
) -> Response:
    """Run one verb on a member. If it is refused, show the form again with the typed values."""
    form = forms.posted(MemberForm)
    if not form.validate():
        return _show_one(membership_id, name, form, status=422)
    try:
        with wired().database.writing() as session:
            message = act(session, form)
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show_one(membership_id, name, form, status=422)
    except (Conflict, Forbidden) as refusal:
        status = 409 if isinstance(refusal, Conflict) else 403
        auth.require(Permission.MANAGE_PEOPLE, auth.current_community().id)
        return _show_one(membership_id, name, form, status=status, alert=f"{refusal.detail}.")
    url = url_for("web.people") if to_list else url_for("web.member_page", membership_id=membership_id)
    return page.done(None, url, message)


def _why(form: MemberForm) -> str:
    return form.reason.data or ""


def _uuid(text: str | None) -> uuid.UUID:
    try:
        return uuid.UUID(text or "")
    except ValueError:
        raise Invalid.field("profile", _("must be chosen")) from None


def _show(
    form: InviteForm | None = None,
    *,
    shown: tuple[str, str] | None = None,
    status: int = 200,
    alert: str | None = None,
) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    filters = forms.queried(PeopleForm)
    path, search = url_for("web.people"), typed(filters.q)
    with wired().database.reading() as session:
        asked = sign_in_rules.role_in(session, community)
        filters.offer(asked)
        lacks = bool(filters.factor.data)
        found, rows = member_lists.listed(
            session,
            actor,
            community.id,
            search,
            Slice(size=PAGE_SIZE, **cursor_links.cursors()),
            lacking_from=asked if lacks else None,
        )
        waiting = invitations.pending(session, actor, community.id)
        entries = community_revisions.changes(
            session,
            actor,
            Permission.MANAGE_PEOPLE,
            community.id,
            "account",
            "invitation",
            "profile",
            "identity_provider",
        )
        named = member_lists.names(session, [entry.object_id for entry, _ in entries])
    return page.render(
        "administer/people.html",
        status=status,
        alert=alert,
        form=form or InviteForm(),
        shown=shown,
        confirms=actor.service_admin,
        has_mail=bool(wired().settings.smtp_host),
        is_local=not wired().settings.public_url,
        rows=rows,
        filters=filters,
        chips=filter_forms.chips(filters, path),
        clear_url=url_for("web.people", **community_choice.carried()),
        links=cursor_links.links(
            path,
            found,
            lambda count: ngettext("%(num)s member", "%(num)s members", count),
            **filters.query(),
        ),
        asked=asked,
        waiting=waiting,
        roles=ROLE_WORDS,
        states=STATES,
        changes=changes.rows(entries, named),
    )


def _show_one(
    membership_id: uuid.UUID,
    act: str | None = None,
    form: MemberForm | None = None,
    *,
    status: int = 200,
    alert: str | None = None,
) -> Response:
    actor = auth.current_actor()
    search = forms.query_arg("q").strip()
    with wired().database.reading() as session:
        member = member_lists.get(session, actor, membership_id)
        community_id = member.membership.community_id
        auth.enter(community_id)
        found = linking.search_profiles(session, actor, community_id, search)
        factors = second_factors.of_account(session, member.account) if actor.service_admin else None
    shown = MemberForm.for_each_act(member.membership.role, act, form)
    return page.render(
        "administer/member.html",
        status=status,
        alert=alert,
        form=form or shown["role"],
        forms=shown,
        member=member,
        search=search,
        factors=factors,
        found=[one for one in found if one.account_id != member.account.id],
        roles=ROLE_WORDS,
        states=STATES,
        is_self=actor.account_id == member.account.id,
        may_disable=actor.service_admin,
    )
