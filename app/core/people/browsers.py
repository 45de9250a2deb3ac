"""A session in words: the browser it runs in, and how it began."""

import re

from app.core.models import SignIn
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import SignInMethod

_BROWSERS = (
    ("Edge", r"\bEdgA?/|\bEdgiOS/"),
    ("Opera", r"\bOPR/|\bOpera\b"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Firefox", r"\bFirefox/|\bFxiOS/"),
    ("Chrome", r"\bChrome/|\bCriOS/|\bChromium/"),
    ("Safari", r"\bSafari/"),
)
_SYSTEMS = (
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Android", r"\bAndroid\b"),
    ("Windows", r"\bWindows\b"),
    ("macOS", r"\bMacintosh\b|\bMac OS X\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("Linux", r"\bLinux\b"),
)
"""The order matters: a browser's User-Agent also contains names that are further down the list."""
_WAYS = {
    SignInMethod.PASSWORD: lazy_gettext("a password"),
    SignInMethod.PASSKEY: lazy_gettext("a passkey"),
    SignInMethod.PROVIDER: lazy_gettext("a provider"),
    SignInMethod.LINK: lazy_gettext("a link"),
}


def device(user_agent: str) -> str:
    """A name such as “Firefox on Linux”; for an unknown browser, the first word of its User-Agent."""
    browser, system = _first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent)
    if browser and system:
        return _("%(browser)s on %(system)s", browser=browser, system=system)
    return browser or system or user_agent.split("/")[0].strip()[:40] or _("Unknown device")


def way(sign_in: SignIn) -> str:
    """With what the session began: "a password and a second factor"."""
    with_code = sign_in.is_strong and sign_in.method is SignInMethod.PASSWORD
    return _("a password and a second factor") if with_code else str(_WAYS[sign_in.method])


def _first(names: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for name, pattern in names if re.search(pattern, user_agent)), "")
