"""Settings: a page for each part, and linked profiles on platforms. The part about the account is in ``account``."""

import uuid
from collections.abc import Mapping
from datetime import timedelta

from flask import Response, url_for

from app.core import limits as rules
from app.core.communities import settings as community_settings
from app.core.errors import Invalid, NotFound
from app.core.people import accounts, browsers, identities, mailed_links, sessions
from app.core.people.mailed_links import ShownCode
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.upkeep import linking
from app.web import auth, forms, page
from app.web.account.forms import AccountForms
from app.web.account.preferences import KEY_FIELDS, KeysForm, MailForm, ReadingForm, YouForm
from app.web.blueprint import web
from app.wiring import wired

PARTS: Mapping[str, str] = {
    "you": lazy_gettext("You"),
    "reading": lazy_gettext("Reading"),
    "keys": lazy_gettext("Keys"),
    "mail": lazy_gettext("Mail"),
    "account": lazy_gettext("Account"),
}
PartForm = YouForm | ReadingForm | KeysForm | MailForm
_FORMS: Mapping[str, type[PartForm]] = {
    "you": YouForm,
    "reading": ReadingForm,
    "keys": KeysForm,
    "mail": MailForm,
}
_FIRST = {"part": "you"}


@web.get("/settings", defaults=_FIRST)
@web.get("/settings/<part>")
def settings(part: str) -> Response:
    if part not in PARTS:
        raise NotFound("page")
    return show(part)


@web.post("/settings", defaults=_FIRST)
@web.post("/settings/<part>")
def save_settings(part: str) -> Response:
    """Save this part; the others stay."""
    if part not in _FORMS:
        raise NotFound("page")
    form = forms.posted(_FORMS[part], **_FORMS[part].values(auth.current_reader().account))
    with wired().database.reading() as session:
        form.offer(session)
    if form.validate():
        try:
            with wired().database.writing() as session:
                form.store(session, accounts.get(session, auth.current_reader().account.id))
            return page.done(None, url_for("web.settings", part=part), _("Your settings are saved."))
        except Invalid as refusal:
            forms.explain(form, refusal, KEY_FIELDS if part == "keys" else None)
    return show(part, form, status=422)


@web.post("/settings/link-code")
def show_link_code() -> Response:
    """Show a new link code in this response. It cannot be shown again by a redirect: only its hash is stored."""
    with wired().database.writing() as session:
        code = mailed_links.show_code(session, accounts.get(session, auth.current_reader().account.id))
    return show("you", code=code)


@web.post("/settings/linked/<uuid:profile_id>/unlink")
def unlink_profile(profile_id: uuid.UUID) -> Response:
    with wired().database.writing() as session:
        profile = linking.unlink(session, auth.current_actor(), profile_id)
        profile_name = f"{profile.platform}, {profile.display_name or profile.platform_user_id}"
    return page.done(
        None, url_for("web.settings"), _("Unlinked: %(profile_name)s.", profile_name=profile_name)
    )


def part_links(part: str) -> list[tuple[str, str, bool]]:
    """Return the links of the parts, with the security page: label, address, and whether it is shown."""
    links = [(label, url_for("web.settings", part=name), name == part) for name, label in PARTS.items()]
    return [*links, (_("Security"), url_for("web.security_page"), part == "security")]


def show(
    part: str,
    form: PartForm | None = None,
    *,
    mine: AccountForms | None = None,
    status: int = 200,
    code: ShownCode | None = None,
    alert: str | None = None,
) -> Response:
    """Render a part of Settings; ``form`` and ``mine`` are posted forms with errors, if any."""
    who = auth.current_reader()
    account, community = who.account, auth.community_or_none()
    limits, mine = wired().settings, mine or AccountForms()
    is_you, is_account = part == "you", part == "account"
    with wired().database.reading() as session:
        if form is None and part in _FORMS:
            form = _FORMS[part](data=_FORMS[part].values(account))
            form.offer(session)
        linked = linking.linked_to(session, account.id) if is_you else []
        connections = identities.connections(session, account.id) if is_account else []
        signed_in = (
            sessions.still_open(
                session,
                account.id,
                idle=timedelta(minutes=limits.session_idle_minutes),
                longest=timedelta(hours=limits.session_hours),
            )
            if is_account
            else []
        )
    return page.render(
        "account/settings.html",
        status=status,
        alert=alert,
        shown=part,
        parts=part_links(part),
        form=form or mine.refused,
        is_rebound=bool(account.key_bindings),
        usual_break=rules.BREAK_AFTER_SEVERE,
        most_break=rules.BREAK_AFTER_SEVERE_MAX,
        undo_usual=community_settings.for_community(community, wired().community_defaults).undo_seconds
        if community
        else None,
        undo_bounds=rules.UNDO_SECONDS,
        mine=mine,
        email=account.sign_in_name,
        is_confirmed=account.confirmed_at is not None,
        linked=linked,
        connections=connections,
        code=code,
        code_minutes=rules.LINK_CODE_MINUTES,
        browsers=signed_in,
        this_browser=who.sign_in.id,
        device=browsers.device,
        way=browsers.way,
        password_min=rules.PASSWORD_MIN,
    )
