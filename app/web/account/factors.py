"""The page Security: the reader's passkeys, codes of an app and recovery codes."""

import uuid
from urllib.parse import quote

import segno
from flask import Response, make_response, redirect, request, url_for
from markupsafe import Markup
from sqlalchemy.orm import Session
from wtforms import Form, HiddenField, StringField
from wtforms.validators import DataRequired, InputRequired

from app.core import limits
from app.core.communities import sign_in_rules
from app.core.errors import Conflict, Invalid, TooMany
from app.core.models import Account, Passkey
from app.core.people import accounts, browsers, passkeys, second_factors, ways_in
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import SignInStepPurpose
from app.web import auth, forms, page
from app.web.account import passkeys as ceremonies
from app.web.account import second_step, session_cookie, sign_up
from app.web.account.relying_party import relying_party, require_party
from app.web.account.settings import part_links
from app.web.blueprint import web
from app.wiring import base_url, wired

PURPOSE = SignInStepPurpose.ADD_PASSKEY
NOT_ADDED = lazy_gettext(
    "The passkey was not added: the answer of your browser was not valid, or it came too late. Try again."
)


class PasskeyNameForm(Form):
    """The name of a passkey, and for a new one what the browser made (``credential``)."""

    name = StringField(
        lazy_gettext("Name"),
        [
            DataRequired(lazy_gettext("Enter a name.")),
            forms.at_most(limits.PASSKEY_NAME_MAX, lazy_gettext("Name")),
        ],
    )
    credential = HiddenField()


class CodeForm(Form):
    """A code of the app."""

    code = StringField(
        lazy_gettext("Code"), [InputRequired(lazy_gettext("Enter the code that your app shows."))]
    )


@web.get("/security")
def security_page() -> Response:
    return _show()


@web.post("/security/passkeys/options")
@auth.asks_again()
def new_passkey_options() -> Response:
    party, former = require_party(), session_cookie.step_token(PURPOSE)
    with wired().database.writing() as session:
        account = _own_account(session)
        challenge = passkeys.begin_adding(session, party, account, former)
    return ceremonies.options_response(challenge, PURPOSE)


@web.post("/security/passkeys")
@auth.asks_again()
def add_passkey() -> Response:
    form, party = forms.posted(PasskeyNameForm), require_party()
    if not form.validate():
        return _show(form, status=422)
    if not form.credential.data:
        form.form_errors.append(_("Passkeys need JavaScript, which your browser has switched off."))
        return _show(form, status=422)
    try:
        with wired().database.writing() as session:
            added = passkeys.finish_adding(
                session,
                party,
                _own_account(session),
                session_cookie.step_token(PURPOSE),
                form.credential.data,
                form.name.data or "",
            )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(form, status=422)
    if added is None:
        form.form_errors.append(NOT_ADDED)
        return _show(form, status=422)
    response = _done(_("The passkey “%(name)s” is added.", name=added.name))
    session_cookie.end_step(response, PURPOSE)
    return response


@web.post("/security/passkeys/<uuid:passkey_id>/rename")
def rename_passkey(passkey_id: uuid.UUID) -> Response:
    form = forms.posted(PasskeyNameForm)
    if form.validate():
        try:
            with wired().database.writing() as session:
                account = _own_account(session)
                passkey = passkeys.rename(session, account, passkey_id, form.name.data or "")
            return _done(_("The passkey is named “%(name)s”.", name=passkey.name))
        except Invalid as refusal:
            forms.explain(form, refusal)
    return _show(renamed=(passkey_id, form), status=422)


@web.post("/security/passkeys/<uuid:passkey_id>/remove")
@auth.asks_again()
def remove_passkey(passkey_id: uuid.UUID) -> Response:
    try:
        with wired().database.writing() as session:
            account = _own_account(session)
            passkey = passkeys.remove(session, account, passkey_id)
            _require_one_left(session, account)
    except Conflict as refusal:
        return _show(status=409, alert=f"{refusal.detail}.")
    return _done(_("The passkey “%(name)s” is removed.", name=passkey.name))


@web.post("/security/codes/begin")
@auth.asks_again()
def begin_codes() -> Response:
    try:
        with wired().database.writing() as session:
            account = _own_account(session)
            second_factors.begin_codes(session, wired().sealer, account)
    except Conflict as refusal:
        return _show(status=409, alert=f"{refusal.detail}.")
    return make_response(redirect(url_for("web.codes_page"), 303))


@web.get("/security/codes")
@auth.asks_again()
def codes_page() -> Response:
    return _show_secret(CodeForm())


@web.post("/security/codes")
@auth.asks_again()
def confirm_codes() -> Response:
    form = forms.posted(CodeForm)
    if not form.validate():
        return _show_secret(form, 422)
    try:
        wired().throttle.hit("sign_in", auth.current_reader().account.sign_in_name, auth.client_ip())
    except TooMany as refusal:
        return sign_up.too_many_page(refusal, _("Too many tries."))
    with wired().database.writing() as session:
        account = _own_account(session)
        if not second_factors.confirm_codes(session, wired().sealer, account, form.code.data or ""):
            form.code.errors = [
                _("This code is wrong. Check the clock of your device, then enter the next code.")
            ]
            return _show_secret(form, 422)
        has_recovery = second_factors.of_account(session, account).recovery_codes > 0
        recovery = [] if has_recovery else second_factors.new_recovery_codes(session, account)
    message = _("Codes are set up. Signing in with your password asks for one from now on.")
    if not recovery:
        return _done(message)
    page.say(message)
    return _show(recovery=recovery)


@web.post("/security/codes/off")
def end_codes() -> Response:
    form, who = forms.posted(CodeForm), auth.current_reader()
    form.code.id = form.code.label.field_id = "off-code"
    if not form.validate():
        return _show(off=form, status=422)
    try:
        refused = second_step.check(who.account, form.code.data or "", "")
    except TooMany as refusal:
        return sign_up.too_many_page(refusal, _("Too many tries."))
    if refused:
        form.code.errors = [refused]
        return _show(off=form, status=422)
    try:
        with wired().database.writing() as session:
            account = accounts.get(session, who.account.id)
            second_factors.end_codes(session, account)
            _require_one_left(session, account)
    except Conflict as refusal:
        return _show(status=409, alert=f"{refusal.detail}.")
    return _done(_("Codes are switched off."))


@web.post("/security/recovery-codes")
@auth.asks_again()
def make_recovery_codes() -> Response:
    """Show new recovery codes in this response. They cannot be shown again: only their hashes are stored."""
    with wired().database.writing() as session:
        account = _own_account(session)
        if not second_factors.has_strong(session, account):
            raise Conflict(_("Add a passkey or set up codes first"))
        recovery = second_factors.new_recovery_codes(session, account)
    return _show(recovery=recovery)


def _own_account(session: Session) -> Account:
    """The reader's account as it is in this session."""
    return accounts.get(session, auth.current_reader().account.id)


def _require_one_left(session: Session, account: Account) -> None:
    """Refuse the removal in this transaction if the account needs what it removed.

    Raises:
        Conflict: it was the only way to sign in, or the last second factor of a role that requires one.
    """
    if not ways_in.has_way_in(session, account):
        raise Conflict(_("This is your only way to sign in. Add another one first"))
    sign_in_rules.require_factor(session, account)


def _show(
    form: PasskeyNameForm | None = None,
    *,
    renamed: tuple[uuid.UUID, PasskeyNameForm] | None = None,
    off: CodeForm | None = None,
    recovery: list[str] | None = None,
    status: int = 200,
    alert: str | None = None,
) -> Response:
    """Render the page; the forms are posted ones with errors, if any. ``recovery``: new codes, shown once."""
    who, party = auth.current_reader(), relying_party()
    off = off or CodeForm()
    off.code.id = off.code.label.field_id = "off-code"
    form = form or PasskeyNameForm(name=browsers.device(request.headers.get("User-Agent", "")))
    form.name.label.text = _("Name of the new passkey")
    with wired().database.reading() as session:
        account = accounts.get(session, who.account.id)
        present = passkeys.of_account(session, account.id)
        factors = second_factors.of_account(session, account)
    return page.render(
        "account/security.html",
        status=status,
        alert=alert,
        parts=part_links("security"),
        form=form,
        rows=[_row(one, renamed) for one in present],
        factors=factors,
        since=account.totp_since,
        off=off,
        recovery=recovery,
        recovery_file=_file(recovery or []),
        most=second_factors.RECOVERY_CODES,
        is_full=len(present) >= limits.PASSKEYS.number,
        has_party=party is not None,
    )


def _row(
    passkey: Passkey, renamed: tuple[uuid.UUID, PasskeyNameForm] | None
) -> tuple[Passkey, PasskeyNameForm]:
    """A passkey and the form that renames it."""
    posted = renamed is not None and renamed[0] == passkey.id
    form = renamed[1] if renamed is not None and posted else PasskeyNameForm(name=passkey.name)
    form.name.id = form.name.label.field_id = f"name-{passkey.id}"
    return passkey, form


def _file(codes: list[str]) -> str:
    """The recovery codes as a text file, in an address that can be downloaded without asking the service again."""
    name = auth.current_reader().account.sign_in_name
    lines = [
        _("Recovery codes of %(name)s at %(base_url)s", name=name, base_url=base_url()),
        _("Each works once."),
        "",
        *codes,
        "",
    ]
    return "data:text/plain;charset=utf-8," + quote("\r\n".join(lines))


def _show_secret(form: CodeForm, status: int = 200) -> Response:
    """Render the page that sets codes up: the secret as a QR code and as text, until a code confirms it."""
    with wired().database.reading() as session:
        account = _own_account(session)
    secret = second_factors.pending_secret(wired().sealer, account)
    if secret is None:
        return make_response(redirect(url_for("web.security_page"), 303))
    address = second_factors.address(secret, account)
    picture = segno.make(address, error="m").svg_inline(
        scale=4, light="#fff", title=_("QR code of the secret")
    )
    return page.render(
        "account/codes.html",
        status=status,
        form=form,
        picture=Markup(picture),  # noqa: S704 - made by segno of what we gave it
        address=address,
        secret=" ".join(secret[begin : begin + 4] for begin in range(0, len(secret), 4)),
    )


def _done(message: str) -> Response:
    return page.done(None, url_for("web.security_page"), message)
