"""Creating an account and confirming its address. No answer tells whether an address has one (RELIABILITY: 2)."""

from typing import Any

from flask import Response, make_response, redirect, session, url_for

from app.core import limits
from app.core.errors import Forbidden, Invalid, TooMany
from app.core.models import Account, AccountLink
from app.core.people import accounts, credentials, mailed_links
from app.core.people.mailed_links import LinkOver
from app.core.vocabulary import LinkPurpose
from app.web import auth, errors, forms, page
from app.web.account.forms import SignUpForm
from app.web.blueprint import web
from app.wiring import wired

UNCONFIRMED = "unconfirmed"
"""In the form cookie: the account whose right password was given, and that waits for its confirmation."""
CLOSED = "New accounts need an invitation here. Ask an admin of your community for one"


def is_open() -> bool:
    """Whether anybody may create an account."""
    return wired().settings.open_sign_up


@web.get("/sign-up")
@auth.open_to_all
def sign_up() -> Response:
    if auth.reader() is not None:
        return make_response(redirect(url_for("web.home"), 303))
    if not is_open():
        raise Forbidden(CLOSED)
    return page.render("account/sign_up.html", form=SignUpForm(), password_min=limits.PASSWORD_MIN)


@web.post("/sign-up")
@auth.open_to_all
def sign_up_submit() -> Response:
    if not is_open():
        raise Forbidden(CLOSED)
    form = forms.posted(SignUpForm)
    if not forms.filled_in(form):
        return _again(form)
    try:
        address = limits.email(form.email.data or "")
        limits.text(form.display_name.data or "", "display_name", limits.NAME_MAX)
        if refused := too_many_mails(address):
            return refused
        # Before the transaction, and whether or not the address is taken: it is what takes the time.
        hashed = accounts.hash_password(form.password.data or "", address)
        with wired().database.writing() as writing:
            credentials.sign_up(writing, address, form.display_name.data or "", hashed)
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _again(form)
    return sent("confirm")


@web.post("/confirm/again")
@auth.open_to_all
def send_confirmation_again() -> Response:
    """For whoever has just shown the right password: the form cookie, which is signed, names the account."""
    account_id: Any = session.get(UNCONFIRMED)
    if account_id is None:
        return make_response(redirect(url_for("web.sign_in"), 303))
    with wired().database.reading() as reading:
        address = accounts.email_of(reading, account_id)
    if address is not None:
        if refused := too_many_mails(address):
            return refused
        with wired().database.writing() as writing:
            credentials.send_again(writing, address)
    return sent("confirm")


@web.get("/mail-sent")
@auth.open_to_all
def mail_sent() -> Response:
    """The same page whatever became of the address. Where mail goes into a folder it says so, on this machine."""
    about = forms.from_address("about")
    settings = wired().settings
    here = settings.is_demo_allowed and not settings.smtp_host and auth.is_from_this_machine()
    return page.render(
        "account/mail_sent.html",
        about=about if about in {"confirm", "reset"} else "confirm",
        folder=settings.data_dir.resolve() / "mail" if here else None,
        confirm_hours=limits.CONFIRM_HOURS,
        reset_minutes=limits.RESET_MINUTES,
    )


@web.get("/confirm/<token>")
@auth.from_mail
def confirm(token: str) -> Response:
    """Only the button confirms: programs that check mail open every link in it."""
    try:
        link = _found(token)
    except LinkOver:
        return over("confirm")
    is_new = link.purpose is LinkPurpose.CHANGE_EMAIL
    return page.render("account/confirm.html", email=link.email, is_new=is_new)


@web.post("/confirm/<token>")
@auth.from_mail
def confirm_submit(token: str) -> Response:
    try:
        purpose = _found(token).purpose
        with wired().database.writing() as writing:
            if purpose is LinkPurpose.CHANGE_EMAIL:
                account: Account = credentials.confirm_email(writing, token)
            else:
                account = credentials.confirm(writing, token)
    except LinkOver:
        return over("confirm")
    session.pop(UNCONFIRMED, None)
    who = auth.reader()
    if who is not None and who.account.id == account.id:
        return page.done(None, url_for("web.settings"), f"You sign in with {account.email} from now on.")
    return page.done(None, url_for("web.sign_in"), "Your email address is confirmed. Sign in to go on.")


def _found(token: str) -> AccountLink:
    with wired().database.reading() as reading:
        try:
            return mailed_links.find(reading, token, LinkPurpose.CONFIRM)
        except LinkOver:
            return mailed_links.find(reading, token, LinkPurpose.CHANGE_EMAIL)


def _again(form: SignUpForm) -> Response:
    return page.render("account/sign_up.html", status=422, form=form, password_min=limits.PASSWORD_MIN)


def sent(about: str) -> Response:
    """The answer to whatever has a mail sent, or would have if the address had an account."""
    response = make_response(redirect(url_for("web.mail_sent", about=about), 303))
    response.vary.add("HX-Request")
    return response


def over(about: str) -> Response:
    """A link that does not work (any more), and how to get another."""
    return page.render("account/link_over.html", status=410, about=about, can_sign_up=is_open())


def too_many_mails(address: str) -> Response | None:
    """Count a mail that somebody who is not signed in asks for; the refusal when it is one too many.

    Addresses without an account count like any other.
    """
    try:
        wired().throttle.hit("sign_up", auth.address())
        wired().throttle.hit("mail", address)
    except TooMany as refusal:
        return wait(refusal, "Too many mails were asked for.")
    return None


def wait(refusal: TooMany, what: str) -> Response:
    """A page that says how long to wait."""
    minutes = -(-refusal.retry_after // 60)
    response = errors.render_error(
        429, f"{what} Wait {'1 minute' if minutes == 1 else f'{minutes} minutes'}, then try again."
    )
    response.headers["Retry-After"] = str(refusal.retry_after)
    return response
