"""Signing in and out."""

import ipaddress
import json
from dataclasses import dataclass
from typing import Any

from flask import Response, flash, make_response, redirect, url_for
from wtforms import EmailField, Form, HiddenField, PasswordField
from wtforms.validators import InputRequired

from app.core import accounts
from app.core.errors import TooMany, Unauthenticated
from app.web import auth, errors, forms, navigation, page
from app.web.blueprint import web
from app.wiring import wired


class SignInForm(Form):
    """The shape of the address is not checked: every failure gets the same reply."""

    email = EmailField("Email", [InputRequired("Enter your email address.")])
    password = PasswordField("Password", [InputRequired("Enter your password.")])
    next = HiddenField()


@dataclass(frozen=True)
class DemoSignIn:
    """An account of the demo community, shown on the sign-in page in development."""

    role: str
    email: str
    password: str


@web.get("/sign-in")
@auth.open_to_all
def sign_in() -> Response:
    form = forms.queried(SignInForm)
    target = auth.safe_next(form.next.data)
    if auth.reader() is not None:
        return make_response(redirect(target, 303))
    # What stands in an address must not fill in a password field.
    return _show(SignInForm(next=target), 200)


@web.post("/sign-in")
@auth.open_to_all
def sign_in_submit() -> Response:
    form = forms.posted(SignInForm)
    if not forms.filled_in(form):
        return _show(form, 422)
    email = (form.email.data or "").strip()
    try:
        wired().throttle.hit("sign_in", email.casefold()[:254], auth.address())
    except TooMany as refusal:
        minutes = -(-refusal.retry_after // 60)
        wait = "1 minute" if minutes == 1 else f"{minutes} minutes"
        response = errors.render_error(429, f"Too many sign-in attempts. Wait {wait}, then try again.")
        response.headers["Retry-After"] = str(refusal.retry_after)
        return response
    try:
        with wired().database.reading() as session:
            account = accounts.verify_credentials(session, email, form.password.data or "")
    except Unauthenticated as refusal:
        form.form_errors.append(f"{refusal.detail}.")
        return _show(form, 401)
    response = make_response(redirect(auth.safe_next(form.next.data), 303))
    auth.set_cookie(response, auth.begin(account))
    return response


@web.post("/sign-out")
@auth.open_to_all
def sign_out() -> Response:
    response = make_response(redirect(url_for("web.sign_in"), 303))
    auth.end(response)
    flash("You are signed out.", "status")
    return response


def _show(form: SignInForm, status: int) -> Response:
    return page.render(
        "sign_in.html",
        status=status,
        form=form,
        demo=demo_sign_ins(),
        can_sign_up=navigation.has_page("/sign-up"),
        can_reset=navigation.has_page("/forgot"),
    )


def demo_sign_ins() -> list[DemoSignIn]:
    """The demo accounts that the seed wrote down; in development, for a browser on this machine."""
    settings = wired().settings
    if not settings.is_demo_allowed or not _is_loopback(auth.address()):
        return []
    try:
        written: Any = json.loads((settings.data_dir / "demo.json").read_text())
        return [DemoSignIn(one["role"], one["email"], one["password"]) for one in written["sign_ins"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []  # no demo was seeded


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
