"""The texts of mails that hold nothing but links, each the same to all its recipients."""

from collections.abc import Mapping, Sequence

from app.core import limits
from app.core.mail import Kind
from app.core.texts import LazyText, lazy_gettext
from app.core.texts import gettext as _

_IGNORE = lazy_gettext("If this was not you, ignore this mail: nothing happens then.")
_CONFIRM_LIMIT = lazy_gettext("The link works once, for %(confirm_hours)s hours.")
_NOT_YOU = lazy_gettext("If this was not you, choose a new password now: %(forgot)s")
_TEXTS: Mapping[Kind, tuple[str, ...]] = {
    Kind.CONFIRM: (
        lazy_gettext("Confirm your email address"),
        lazy_gettext(
            "A Bridgenote account was created with this address, probably by you. "
            "Open this page and press the button:"
        ),
        "%(confirm)s",
        _CONFIRM_LIMIT,
        _IGNORE,
    ),
    Kind.RESET: (
        lazy_gettext("Choose a new password"),
        lazy_gettext("A new password was requested for your account, probably by you. Choose one here:"),
        "%(reset)s",
        lazy_gettext("The link works once, for %(reset_minutes)s minutes."),
        _IGNORE,
    ),
    Kind.CHANGE_EMAIL: (
        lazy_gettext("Confirm your new email address"),
        lazy_gettext(
            "You asked to sign in with this address from now on. Open this page and press the button:"
        ),
        "%(confirm)s",
        _CONFIRM_LIMIT,
        _IGNORE,
    ),
    Kind.EMAIL_CHANGED: (
        lazy_gettext("Your email address was changed"),
        lazy_gettext(
            "Your account was moved to another email address. You can no longer sign in with this one."
        ),
        lazy_gettext("If this was not you, write to the operators of %(service)s at once."),
    ),
    Kind.ADDRESS_TAKEN: (
        lazy_gettext("You already have an account"),
        lazy_gettext("An account was requested for this address, probably by you. You already have one."),
        lazy_gettext("Sign in: %(sign_in)s"),
        lazy_gettext("Forgot your password? %(forgot)s"),
        _IGNORE,
    ),
    Kind.PASSWORD_CHANGED: (
        lazy_gettext("Your password was changed"),
        lazy_gettext("The password of your account was changed, and every other browser was signed out."),
        lazy_gettext("If this was not you, choose a new password now: %(forgot)s"),
    ),
    Kind.SIGN_IN_FAILURES: (
        lazy_gettext("Many failed attempts to sign in"),
        lazy_gettext(
            "%(failures)s attempts to sign in to your account have failed within a day. On the devices "
            "where you signed in before, you can still sign in."
        ),
        lazy_gettext(
            "If these attempts were not yours, and your password is short or you use it elsewhere, choose another one: "
            "%(change_password)s"
        ),
        lazy_gettext("You get this mail at most once a day."),
    ),
    Kind.WEBHOOK_DISABLED: (
        lazy_gettext("A webhook was disabled"),
        lazy_gettext(
            "Deliveries to a webhook of yours failed for so long, or its receiver said so often that it is gone, that "
            "nothing is sent to it any more. What is due waits until you enable it."
        ),
        lazy_gettext("See which one, and why: %(notices)s"),
    ),
    Kind.OWN_DATA: (
        lazy_gettext("What is kept of you is ready"),
        lazy_gettext(
            "The file that you asked for, with all that is kept of you, is ready. Sign in and fetch it here:"
        ),
        "%(my_data)s",
        lazy_gettext("It is kept for a day."),
    ),
    Kind.PASSKEY_ADDED: (
        lazy_gettext("A passkey was added to your account"),
        lazy_gettext("You can sign in with a new passkey from now on. See which ones you have: %(security)s"),
        _NOT_YOU,
    ),
    Kind.PASSKEY_REMOVED: (
        lazy_gettext("A passkey was removed from your account"),
        lazy_gettext("It signs nobody in any more. See which ones you have: %(security)s"),
        _NOT_YOU,
    ),
    Kind.PASSKEY_REFUSED: (
        lazy_gettext("A passkey of yours was refused"),
        lazy_gettext(
            "A sign-in with a passkey of yours was refused, because the passkey counted fewer uses than at its last "
            "sign-in. That is a sign of a copied passkey. It signs nobody in any more."
        ),
        lazy_gettext("Remove it, and add another one: %(security)s"),
    ),
    Kind.PROVIDER_CONNECTED: (
        lazy_gettext("Your account is connected with a sign-in provider"),
        lazy_gettext(
            "You can sign in with an account of your organisation from now on. See which: %(settings)s"
        ),
        _NOT_YOU,
    ),
    Kind.PROVIDER_DISCONNECTED: (
        lazy_gettext("Your account is no longer connected with a sign-in provider"),
        lazy_gettext(
            "That account of your organisation signs nobody in any more. See which are left: %(settings)s"
        ),
        _NOT_YOU,
    ),
    Kind.CODES_ON: (
        lazy_gettext("Codes were set up for your account"),
        lazy_gettext(
            "Signing in with your password asks for a code of your app from now on. See %(security)s"
        ),
        _NOT_YOU,
    ),
    Kind.CODES_OFF: (
        lazy_gettext("Codes were switched off for your account"),
        lazy_gettext("Signing in does not ask for a code of your app any more. See %(security)s"),
        _NOT_YOU,
    ),
    Kind.RECOVERY_CODES_MADE: (
        lazy_gettext("Your account has new recovery codes"),
        lazy_gettext(
            "Recovery codes were made for your account. Earlier ones do not work any more. See %(security)s"
        ),
        _NOT_YOU,
    ),
    Kind.RECOVERY_CODE_USED: (
        lazy_gettext("A recovery code of yours was used"),
        lazy_gettext(
            "One of your recovery codes was used in the place of a code or a passkey. It does not work again. See how "
            "many are left, or make new ones: %(security)s"
        ),
        _NOT_YOU,
    ),
    Kind.FACTORS_RESET: (
        lazy_gettext("Your passkeys and codes were removed"),
        lazy_gettext(
            "An administrator of the service removed your passkeys, your codes and your recovery codes, so that you "
            "can sign in with your password alone. Set them up again: %(security)s"
        ),
        lazy_gettext("If you did not ask for this, write to the operators of %(service)s at once."),
    ),
}
"""The subject and the paragraphs of each mail; a paragraph that is a link is not translated."""


def paragraphs(kind: Kind, url: str, token: str) -> Sequence[str]:
    """The subject and the paragraphs of a mail. ``url``: the base of links; ``token``: that of its link, if any."""
    values = {
        "service": url,
        "confirm": f"{url}/confirm/{token}",
        "reset": f"{url}/reset/{token}",
        "sign_in": f"{url}/sign-in",
        "forgot": f"{url}/forgot",
        "change_password": f"{url}/.well-known/change-password",
        "security": f"{url}/security",
        "settings": f"{url}/settings",
        "my_data": f"{url}/settings/my-data",
        "notices": f"{url}/notices",
        "confirm_hours": limits.CONFIRM_HOURS,
        "reset_minutes": limits.RESET_MINUTES,
        "failures": limits.SIGN_IN_FAILURES,
    }
    return [_(text, **values) if isinstance(text, LazyText) else text % values for text in _TEXTS[kind]]
