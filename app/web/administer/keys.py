"""API keys page for admins: mint and show once, list, revoke."""

import uuid
from collections.abc import Mapping
from typing import Any

from flask import Response, request, url_for
from sqlalchemy.orm import Session
from wtforms import (
    BooleanField,
    Form,
    HiddenField,
    RadioField,
    StringField,
)
from wtforms.validators import InputRequired, ValidationError

from app.core import limits
from app.core.errors import Conflict, Invalid
from app.core.ids import new_id, parse_id
from app.core.paging import Slice
from app.core.people import key_admin, keys
from app.core.people.keys import DAYS_MAX, Minted
from app.core.permissions import Actor, Permission
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.upkeep import community_revisions
from app.core.vocabulary import KeyTemplate
from app.web import auth, curl_command, cursor_links, forms, page
from app.web.blueprint import web
from app.web.community import changes
from app.wiring import wired

PAGE_SIZE = 50
TEMPLATES = {
    KeyTemplate.ADAPTER: lazy_gettext("Platform adapter: submits, rates and carries out for its platform"),
    KeyTemplate.READ_ONLY: lazy_gettext("Read-only adapter: reads, and changes nothing"),
    KeyTemplate.SCORES: lazy_gettext(
        "Scores only: asks for scores of texts, of which nothing is stored, and nothing else"
    ),
    KeyTemplate.METRICS: lazy_gettext("Metrics: reads figures for monitoring, and nothing else"),
    KeyTemplate.ASSISTANTS: lazy_gettext(
        "Assistants: reads for a moderator by the Model Context Protocol, and nothing else"
    ),
}


def template_names() -> dict[str, str]:
    """Return the first words of each template."""
    return {one.value: str(words).split(":")[0] for one, words in TEMPLATES.items()}


FIRST_KEY = {"name": lazy_gettext("First key"), "template": KeyTemplate.ADAPTER.value}
"""Values for the form in the list of first steps, so that one click mints the first key."""
STATES = {
    "live": lazy_gettext("Live"),
    "expired": lazy_gettext("Expired"),
    "revoked": lazy_gettext("Revoked"),
}


class KeyForm(Form):
    """A key to mint. ``once`` is unique to the page: posting the form a second time mints nothing."""

    name = StringField(
        lazy_gettext("Name"),
        [InputRequired(lazy_gettext("Enter a name.")), forms.at_most(limits.NAME_MAX, lazy_gettext("Name"))],
    )
    template = RadioField(
        lazy_gettext("Template"), choices=forms.choices(TEMPLATES), default=KeyTemplate.ADAPTER.value
    )
    communities = forms.MultiCheckboxField(lazy_gettext("Communities"), validate_choice=False)
    everywhere = BooleanField(lazy_gettext("Every community, now and later"))
    days = StringField(lazy_gettext("Days until it expires"))
    may_assert_staff = BooleanField(lazy_gettext("May name moderators and admins"))
    may_open_communities = BooleanField(lazy_gettext("May open communities"))
    search = StringField(lazy_gettext("Find a community"))
    reason = forms.reason_field(required=False)
    once = HiddenField()

    def validate_days(self, field: StringField) -> None:
        """Require a whole number or nothing."""
        typed = (field.data or "").strip()
        if typed and not (typed.isascii() and typed.isdigit() and 1 <= int(typed[:6]) <= DAYS_MAX):
            raise ValidationError(
                _("Days until it expires must be a whole number from 1 to %(days_max)s.", days_max=DAYS_MAX)
            )

    def offer(self, session: Session, actor: Actor, after: uuid.UUID | None = None) -> uuid.UUID | None:
        """Set the choices: the ticked communities, then a page of the search results that the reader may mint for.

        Returns the id after which the next page begins, None at the end.
        """
        ticked = [one for text in self.communities.data or () if (one := parse_id(text)) is not None]
        words = (self.search.data or "").replace("\x00", "")
        found, following = key_admin.mintable(session, actor, words=words, after=after)
        offered = (*key_admin.mintable_among(session, actor, ticked), *found)
        self.communities.choices = forms.choices({str(community.id): community.name for community in offered})
        return following

    def community_ids(self) -> list[uuid.UUID] | None:
        """Return the ticked communities; None means all."""
        if self.everywhere.data:
            return None
        ids = (parse_id(text) for text in self.communities.data or ())
        return [community_id for community_id in ids if community_id is not None]


@web.get("/keys")
@auth.needs(Permission.MANAGE_KEYS)
def keys_page() -> Response:
    return _show()


@web.post("/keys")
@auth.needs(Permission.MANAGE_KEYS)
@auth.asks_again()
def mint_key() -> Response:
    """Mint a key and show its text in this response. A redirect could not show it: only its hash is stored."""
    form = forms.posted(KeyForm)
    if not form.validate() or _lacks_reason(form):
        return _show(form, status=422)
    try:
        with wired().database.writing() as session:
            minted = _mint(session, form)
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(form, status=422)
    except Conflict:
        alert = _(
            "This key was created already, and its text was shown then. If you lost it, revoke it"
            " and create another."
        )
        return _show(status=409, alert=alert)
    can_submit = minted.key.template is KeyTemplate.ADAPTER
    curl = curl_command.submit_line(auth.current_community(), minted.text) if can_submit else None
    return _show(minted=minted, curl=curl)


@web.post("/keys/communities")
@auth.needs(Permission.MANAGE_KEYS)
def find_communities() -> Response:
    """Show other communities to tick; typed and ticked values stay. Mints nothing."""
    return _show(forms.posted(KeyForm), after=parse_id(request.form.get("after", "")), is_open=True)


@web.get("/keys/<uuid:key_id>/revoke")
@auth.needs(Permission.MANAGE_KEYS)
def ask_revoke(key_id: uuid.UUID) -> Response:
    return _ask(key_id)


@web.post("/keys/<uuid:key_id>/revoke")
@auth.needs(Permission.MANAGE_KEYS)
@auth.asks_again()
def revoke_key(key_id: uuid.UUID) -> Response:
    form = forms.posted(forms.WhyForm)
    if not form.validate():
        return _ask(key_id, form, status=422)
    try:
        with wired().database.writing() as session:
            key = key_admin.revoke(session, auth.current_actor(), key_id, form.reason.data or "")
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _ask(key_id, form, status=422)
    return page.done(
        None,
        url_for("web.keys_page"),
        _("%(name)s is revoked: calls with it are refused from now on.", name=key.name),
    )


def _lacks_reason(form: KeyForm) -> bool:
    """Whether a reason is missing. Only a community's first key needs none."""
    if (form.reason.data or "").strip():
        return False
    with wired().database.reading() as session:
        is_first = key_admin.is_first(session, form.community_ids())
    if not is_first:
        form.reason.errors = [_("Enter a reason.")]
    return not is_first


def _mint(session: Session, form: KeyForm) -> Minted:
    days = (form.days.data or "").strip()
    privileged = auth.current_reader().account.service_admin
    return keys.mint(
        session,
        auth.current_actor(),
        form.name.data or "",
        KeyTemplate(form.template.data),
        form.community_ids(),
        days=int(days) if days else None,
        may_open_communities=bool(form.may_open_communities.data) if privileged else None,
        may_assert_staff=bool(form.may_assert_staff.data),
        key_id=parse_id(form.once.data or ""),
        reason=form.reason.data or "",
    )


def _ask(key_id: uuid.UUID, form: forms.WhyForm | None = None, *, status: int = 200) -> Response:
    with wired().database.reading() as session:
        row = key_admin.get(session, auth.current_actor(), key_id)
    return page.render(
        "administer/key_revoke.html",
        status=status,
        form=form or forms.WhyForm(),
        row=row,
        template_names=template_names(),
    )


def _show(
    form: KeyForm | None = None,
    *,
    minted: Minted | None = None,
    curl: Mapping[str, Any] | None = None,
    after: uuid.UUID | None = None,
    is_open: bool = False,
    status: int = 200,
    alert: str | None = None,
) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    privileged = auth.current_reader().account.service_admin
    shown = form or KeyForm(data={"communities": [str(community.id)], "may_assert_staff": privileged})
    page_slice = Slice(size=PAGE_SIZE, **cursor_links.cursors())
    with wired().database.reading() as session:
        found, rows, others = key_admin.listed(session, actor, community.id, page_slice)
        following = shown.offer(session, actor, after)
        is_first = key_admin.is_first(session, [community.id])
        entries = community_revisions.changes(
            session,
            actor,
            Permission.MANAGE_KEYS,
            community.id,
            "api_key",
            among=key_admin.manageable_by(actor),
            limit=10,
        )
    if not shown.once.data:
        shown.once.data = str(new_id())
    return page.render(
        "administer/keys.html",
        status=status,
        alert=alert,
        form=shown,
        minted=minted,
        curl=curl,
        slug=community.slug,
        rows=rows,
        others=others,
        links=cursor_links.links(
            url_for("web.keys_page"), found, lambda count: ngettext("%(num)s key", "%(num)s keys", count)
        ),
        privileged=privileged,
        following=following,
        searchable=bool(following or after or shown.search.data),
        is_open=is_open,
        asks_reason=not is_first or bool(shown.reason.errors),
        template_names=template_names(),
        states=STATES,
        changes=changes.rows(entries),
    )
