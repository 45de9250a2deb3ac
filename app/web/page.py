"""Answers of the dashboard: a whole page, or only the part that htmx asked for.

Every page works without script. The same view answers both, so each template part is included by its page
and returned alone; `render` and `done` are the only places that know which of the two the browser wants.
"""

from dataclasses import dataclass

from flask import Response, flash, make_response, redirect, render_template, request
from htmx_flask.requests import HtmxHeaders
from markupsafe import Markup


@dataclass(frozen=True)
class NavItem:
    """A link of the main navigation: `icon` is a name in `static/icons.svg`, `count` stands at the end.

    `about` says what is counted, for those who do not see where it stands.
    """

    label: str
    url: str
    icon: str
    current: bool = False
    count: int | str | None = None
    about: str = ""


@dataclass(frozen=True)
class PageLinks:
    """What the `pager` macro shows: addresses (None at an end) and a summary such as "1 to 50 of 212"."""

    previous: str | None
    next: str | None
    summary: str


def wants_part() -> bool:
    """Whether htmx will swap the answer into the present page.

    A boosted link and a history restore are htmx requests too, but they replace the whole body.
    The headers are read without htmx-flask's extension, which would replace the app's request class.
    """
    htmx = HtmxHeaders(request.headers)
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def _answer(body: str, status: int) -> Response:
    response = make_response(body, status)
    response.vary.add("HX-Request")  # one address, two bodies: no cache may mix them up
    return response


def _message(text: str, region: str) -> str:
    # A <template>, because a bare <div> after a part whose root is a <tr> would be parsed out of its place.
    wrapped = Markup(
        '<template><div id="{}" hx-swap-oob="innerHTML"><p class="toast">{}</p></div></template>'
    )
    return str(wrapped.format(region, text))  # a plain str: adding Markup to a str would escape the str


def render(
    template: str, part: str | None = None, *, status: int = 200, alert: str | None = None, **context: object
) -> Response:
    """The page `template`, or for htmx only `part` (a template with one root element, included by the page).

    `status` is 422 for a form with errors and 409 for a stale version; htmx swaps both (see base.html), and
    the text typed so far stays, because the same form is rendered again. `alert` is spoken in the alert
    region, for what no field explains: "Already decided by Sam, 2 min ago".
    """
    if part is not None and wants_part():
        spoken = _message(alert, "alert") if alert else ""
        return _answer(render_template(part, **context) + spoken, status)
    return _answer(render_template(template, page_alert=alert, **context), status)


def say(message: str, *, failed: bool = False) -> None:
    """Have the next page that is shown say this: in its status region, or with ``failed`` in its alert region."""
    flash(message, "error" if failed else "status")


def done(part: str | None, url: str, message: str, *, status: int = 200, **context: object) -> Response:
    """The answer to a POST.

    For htmx with a `part`: the part, and `message` spoken in the page's status region (its alert region when
    `status` is 400 or above). For htmx without one: the browser goes to `url`. Without script: 303 to `url`.
    In the last two the message is flashed and shown by the next page.
    """
    failed = status >= 400
    if part is not None and wants_part():
        return _answer(
            render_template(part, **context) + _message(message, "alert" if failed else "status"), status
        )
    say(message, failed=failed)
    if wants_part():
        response = _answer("", 200)
        response.headers["HX-Redirect"] = url
        return response
    response = make_response(redirect(url, 303))
    response.vary.add("HX-Request")
    return response
