"""Error pages: each status has a text that tells the user what to do."""

from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus

from flask import Response, g, make_response, render_template, request, url_for

from app.core.errors import IllegalMove
from app.core.limits import DATASET_FILE_TOO_LARGE
from app.errors import explain
from app.web import auth, page
from app.web.blueprint import web
from app.web.filters import state_phrase
from app.wiring import own_path

WORDS: Mapping[int, tuple[str, str]] = {
    400: ("We could not read that", "Nothing was changed. Copy what you typed before you reload the form."),
    401: ("Sign in to continue", "You are signed out. Nothing was changed."),
    403: ("You cannot do this", "Your role does not allow it."),
    404: ("Page not found", "It may have been removed, or the address is not quite right."),
    405: ("This address cannot do that", "Go back and use the button on the page."),
    409: ("Changed meanwhile", "This changed while you were looking at it. Go back and reload to see it."),
    413: ("That is too much text", "Shorten it, then send it again."),
    422: ("Something is not right yet", "Go back and check what you entered."),
    429: ("Too many tries", "Wait a minute, then try again."),
    500: ("Something went wrong on our side", "Nothing was lost. Try again in a moment."),
    503: ("Not available right now", "The service is busy or restarting. Try again in a moment."),
}


@web.errorhandler(Exception)
def answer(error: Exception) -> Response:
    """Return the error page for an exception in a view. ``app.errors`` maps the exception to status and detail."""
    if isinstance(error, IllegalMove):
        return render_error(409, f"By now this is {state_phrase(error.current)}. Reload the page to see it")
    explained = explain(error)
    is_file = (
        explained.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and request.endpoint == "web.import_dataset"
    )
    response = render_error(explained.status, DATASET_FILE_TOO_LARGE if is_file else explained.detail)
    for name, value in explained.headers.items():
        if name != "WWW-Authenticate":  # a browser would open its own password dialog
            response.headers[name] = value
    return response


def render_error(status: int, detail: str | None = None) -> Response:
    """Return the page for this status, with ``detail`` instead of the usual sentence if given; for htmx an alert.

    It never raises: without database or session the page has no navigation.
    """
    if request.endpoint is None:  # no view, so ``auth.guard`` did not run
        with suppress(Exception):  # without a database it is what the browser asks for
            auth.choose_language()
    title, usual = WORDS.get(status, WORDS[500])
    explanation = _sentence(detail) if detail and _says_more(status, detail) else usual
    if page.wants_part():
        # htmx swaps 409 and 422. Typed text stays on the page, and the explanation goes to the alert region.
        response = make_response(render_template("_alert.html", text=explanation), status)
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
        return {"next_url": url, "next_label": "Sign in"}
    again = auth.safe_next(request.full_path.rstrip("?")) if request.method == "GET" else None
    if again and (status == HTTPStatus.TOO_MANY_REQUESTS or status >= 500):
        return {"next_url": again, "next_label": "Try again"}
    return {"next_url": "/", "next_label": "Go to the start page"}


def _says_more(status: int, detail: str) -> bool:
    """Whether the detail helps the user: not "Not Found", and no internals."""
    return status < 500 and status not in {404, 405} and detail != HTTPStatus(status).phrase


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."
