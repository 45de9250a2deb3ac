"""Responses of the dashboard: a whole page, or only the part that htmx requested.

Every page works without script. The same view serves both, so each template part is included by its page and can also
be returned alone. Only `render` and `done` decide which of the two to return.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flask import Response, flash, g, make_response, redirect, render_template, request
from htmx_flask.requests import HtmxHeaders
from markupsafe import Markup


@dataclass(frozen=True)
class NavItem:
    """A link of the main navigation. `icon` is a name in `static/icons.svg`; `count` is shown after the label.

    `about` says what is counted, for screen readers. `live` names the element of a count that changes while the page
    is open; it stands beside the link, whose name stays the same. `go` is the key that leads here after G.
    """

    label: str
    url: str
    icon: str
    current: bool = False
    count: int | str | None = None
    about: str = ""
    live: str = ""
    go: str = ""


@dataclass(frozen=True)
class PageLinks:
    """Links for the `pager` macro: URLs (None at an end) and a summary such as "1 to 50 of 212"."""

    previous: str | None
    next: str | None
    summary: str


def wants_part() -> bool:
    """Whether htmx will swap the response into the current page.

    Boosted links and history restores are htmx requests too, but they replace the whole body. htmx-flask's extension is
    not used, because it would replace the app's request class.
    """
    htmx = HtmxHeaders(request.headers)
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def _answer(body: str, status: int) -> Response:
    response = make_response(body, status)
    response.vary.add("HX-Request")  # one URL has two bodies, which caches must not mix up
    return response


def message_in(region: str, text: str) -> str:
    """Return what htmx puts into a region of the page: ``status`` or ``alert``."""
    # In a <template>, because the parser would move a bare <div> that follows a part whose root is a <tr>.
    wrapped = Markup(
        '<template><div id="{}" hx-swap-oob="innerHTML"><p class="toast">{}</p></div></template>'
    )
    return str(wrapped.format(region, text))  # a plain str: adding Markup to a str would escape the str


def render(
    template: str, part: str | None = None, *, status: int = 200, alert: str | None = None, **context: object
) -> Response:
    """Render the page `template`, or for htmx only `part` (a template with one root element, included by the page).

    `status` is 422 for a form with errors and 409 for a stale version; htmx swaps both (see base.html), and typed text
    stays because the same form is rendered again. `alert` is shown in the alert region, for errors that belong to no
    field: "Already decided by Sam, 2 min ago".
    """
    if part is not None and wants_part():
        spoken = message_in("alert", alert) if alert else ""
        return _answer(render_template(part, **context) + spoken, status)
    return _answer(render_template(template, page_alert=alert, **context), status)


def say(message: str, *, failed: bool = False) -> None:
    """Flash a message for the next page: in its status region, or with ``failed`` in its alert region."""
    flash(message, "error" if failed else "status")


def done(part: str | None, url: str, message: str, *, status: int = 200, **context: object) -> Response:
    """Return the response to a POST.

    For htmx with a `part`: the part, and `message` in the page's status region (in its alert region if `status` is 400
    or above). For htmx without a `part`: the browser goes to `url`. Without script: 303 to `url`. In the last two cases
    the next page shows the message.
    """
    failed = status >= 400
    if part is not None and wants_part():
        spoken = message_in("alert" if failed else "status", message)
        return _answer(render_template(part, **context) + spoken, status)
    say(message, failed=failed)
    if wants_part():
        response = _answer("", 200)
        response.headers["HX-Redirect"] = url
        return response
    response = make_response(redirect(url, 303))
    response.vary.add("HX-Request")
    return response


def renew_token(response: Response, token: str) -> None:
    """Let script put a fresh token into the forms of the page that htmx sent the request from."""
    response.headers["HX-Trigger"] = json.dumps({"formToken": token})


SANDBOX = "default-src 'none'; sandbox"
"""The Content-Security-Policy of files that strangers wrote."""
FILE_CACHE = "private, max-age=600"
_PREVIEW_MOST = 1024 * 1024


def stored_file(
    read: Callable[[str, int, int], Iterator[bytes]],
    name: str,
    size: int | None,
    media_type: str,
    disposition: str,
) -> Response:
    """Return a stored file, or with ``Range`` one part of it; 416 for a part that does not exist.

    ``read(name, start, length)`` gives the bytes; without ``size`` the file is small and is read as a whole.
    """
    asked = request.range
    start, end = 0, size or 0
    status = 200
    if size is not None and asked is not None and asked.units == "bytes" and len(asked.ranges) == 1:
        part = asked.range_for_length(size)
        if part is None:
            response = make_response("", 416)
            response.headers["Content-Range"] = f"bytes */{size}"
            return response
        (start, end), status = part, 206
    if size is None:
        response = Response(b"".join(read(name, 0, _PREVIEW_MOST)), 200)
    else:
        response = Response(read(name, start, end - start), status, direct_passthrough=True)
        response.headers["Content-Length"] = str(end - start)
        response.headers["Accept-Ranges"] = "bytes"
    if status == 206:
        response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    response.headers["Content-Type"] = media_type
    response.headers["Content-Disposition"] = disposition
    response.headers["Content-Security-Policy"] = SANDBOX
    g.cache_control = FILE_CACHE
    return response
