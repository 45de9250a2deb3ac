"""Error pages: each status has a text that tells the user what to do."""

from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus

from flask import Response, g, make_response, render_template, request, url_for

from app.core.errors import IllegalMove
from app.core.limits import DATASET_FILE_TOO_LARGE
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.errors import explain
from app.web import auth, page
from app.web.blueprint import web
from app.web.filters import state_phrase
from app.wiring import own_path

WORDS: Mapping[int, tuple[str, str]] = {
    400: (
        lazy_gettext("We could not read that"),
        lazy_gettext("Nothing was changed. Copy what you typed before you reload the form."),
    ),
    401: (lazy_gettext("Sign in to continue"), lazy_gettext("You are signed out. Nothing was changed.")),
    403: (lazy_gettext("You cannot do this"), lazy_gettext("Your role does not allow it.")),
    404: (
        lazy_gettext("Page not found"),
        lazy_gettext("It may have been removed, or the address is not quite right."),
    ),
    405: (
        lazy_gettext("This address cannot do that"),
        lazy_gettext("Go back and use the button on the page."),
    ),
    409: (
        lazy_gettext("Changed meanwhile"),
        lazy_gettext("This changed while you were looking at it. Go back and reload to see it."),
    ),
    413: (lazy_gettext("That is too much text"), lazy_gettext("Shorten it, then send it again.")),
    422: (lazy_gettext("Something is not right yet"), lazy_gettext("Go back and check what you entered.")),
    429: (lazy_gettext("Too many tries"), lazy_gettext("Wait a minute, then try again.")),
    500: (
        lazy_gettext("Something went wrong on our side"),
        lazy_gettext("Nothing was lost. Try again in a moment."),
    ),
    503: (
        lazy_gettext("Not available right now"),
        lazy_gettext("The service is busy or restarting. Try again in a moment."),
    ),
}


@web.errorhandler(Exception)
def answer(error: Exception) -> Response:
    """Return the error page for an exception in a view. ``app.errors`` maps the exception to status and detail."""
    if isinstance(error, IllegalMove):
        return render_error(
            409, _("By now this is %(state)s. Reload the page to see it", state=state_phrase(error.current))
        )
    explained = explain(error)
    is_file = (
        explained.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and request.endpoint == "web.import_dataset"
    )
    response = render_error(explained.status, str(DATASET_FILE_TOO_LARGE) if is_file else explained.detail)
    for name, value in explained.headers.items():
        if name != "WWW-Authenticate":  # a browser would open its own password dialog
            response.headers[name] = value
    return response


def render_error(status: int, detail: str | None) -> Response:
    """Return the page for this status, with ``detail`` instead of the usual sentence if given; for htmx an alert.

    It never raises: without database or session the page has no navigation.
    """
    if request.endpoint is None:  # no view, so ``auth.guard`` did not run
        with suppress(Exception):  # without a database it is what the browser asks for
            auth.choose_language()
    title, usual = WORDS.get(status, WORDS[500])
    explanation = _sentence(str(detail)) if detail and _says_more(status, detail) else usual
    if page.wants_part():
        # htmx swaps 409 and 422. Typed text stays on the page, and the explanation goes to the alert region.
        response = make_response(page.message_in("alert", explanation), status)
        response.headers["HX-Reswap"] = "none"
        response.vary.add("HX-Request")
        return response
    context = {
        "title": title,
        "explanation": explanation,
        "request_id": g.get("request_id") if status >= 500 else None,
        **_next(status),
    }
    try:
        body = render_template("error.html", **context)
    except Exception:  # what broke the page may also break the navigation
        g.bare_page = True
        body = render_template("error.html", **context)
    response = make_response(body, status)
    response.vary.add("HX-Request")
    response.headers["Cache-Control"] = "no-store"
    return response


def _next(status: int) -> dict[str, str]:
    if status == 401:
        back = own_path(request.headers.get("Referer", ""))
        url = url_for("web.sign_in", next=auth.safe_next(back))
        return {"next_url": url, "next_label": _("Sign in")}
    again = auth.safe_next(request.full_path.rstrip("?")) if request.method == "GET" else None
    if again and (status == HTTPStatus.TOO_MANY_REQUESTS or status >= 500):
        return {"next_url": again, "next_label": _("Try again")}
    return {"next_url": "/", "next_label": _("Go to the start page")}


def _says_more(status: int, detail: str) -> bool:
    """Whether the detail helps the user: not "Not Found", and no internals."""
    return status < 500 and status not in {404, 405} and detail != HTTPStatus(status).phrase


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."
