"""Sends a test post, and follows one, sent from here or through the API, to its item."""

from typing import Any

from flask import Response, make_response, redirect, url_for
from wtforms import Form, HiddenField, SelectField, TextAreaField

from app.core import clock, limits, texts
from app.core.errors import Conflict, Invalid, NotFound
from app.core.permissions import Permission
from app.core.requests import test_posts
from app.core.requests.test_posts import Outcome
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import RequestStatus
from app.throttle import OverLimit
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import category_name
from app.wiring import wired

SLOW_AFTER = 10
"""Seconds after which the page asks whether a worker is running if the post is not scored yet."""
FIELDS = {"original_message_content": "text"}


class TestPostForm(Form):
    """The post to send. ``reference`` is unique to the page: posting the form a second time sends nothing."""

    category = SelectField(lazy_gettext("Category"), validate_choice=False)
    text = TextAreaField(
        lazy_gettext("Your own text"),
        [forms.at_most(limits.CONTENT_MAX, lazy_gettext("Your own text"))],
        filters=[forms.whole_lines, forms.trimmed],
    )
    reference = HiddenField()


@web.get("/test-post")
@auth.needs(Permission.SEND_TEST_POST)
def new_test_post() -> Response:
    return _show(TestPostForm())


@web.post("/test-post")
@auth.needs(Permission.SEND_TEST_POST)
def send_test_post() -> Response:
    form = forms.posted(TestPostForm)
    if not form.validate():
        return _show(form, status=422)
    actor, community = auth.current_actor(), auth.current_community()
    try:
        wired().throttle.hit("test_posts", str(actor.account_id))
        with wired().database.writing() as session:
            test_post = test_posts.send(
                session,
                actor,
                community.id,
                form.reference.data or test_posts.new_reference(),
                category=form.category.data or None,
                text=form.text.data or None,
            )
            reference = test_post.request_id
    except Invalid as refusal:
        forms.explain(form, refusal, FIELDS)
        return _show(form, status=422)
    except Conflict as refusal:
        return _show(form, status=409, alert=f"{refusal.detail}.")
    except OverLimit as refusal:
        alert = _(
            "Many test posts were sent just now. Try again in %(retry_after)s seconds.",
            retry_after=refusal.retry_after,
        )
        return _show(form, status=429, alert=alert)
    return make_response(redirect(_url(reference), 303))


@web.get("/test-post/<reference>")
@auth.needs(Permission.SEND_TEST_POST)
def test_post_page(reference: str) -> Response:
    """Redirect to the item once it exists; until then show how far the post has come, and poll."""
    outcome = _outcome(reference)
    if outcome.action_id is not None:
        return _to_item(outcome)
    return page.render("administer/test_post_sent.html", **_progress(reference, outcome))


@web.get("/test-post/<reference>/progress")
@auth.passive
@auth.needs(Permission.SEND_TEST_POST)
def test_post_progress(reference: str) -> Response:
    """Return the part with the progress for polling; 204 if nothing changed."""
    outcome = _outcome(reference)
    if outcome.action_id is not None:
        if not page.wants_part():
            return _to_item(outcome)
        response = make_response("", 200)
        response.headers["HX-Redirect"] = _item_url(outcome)
        return response
    context = _progress(reference, outcome)
    if forms.query_arg("seen") == context["stage"]:
        return Response(status=204)
    return page.render("administer/test_post_sent.html", "administer/_test_post_progress.html", **context)


def _outcome(reference: str) -> Outcome:
    if not test_posts.is_reference(reference):
        raise NotFound("page")
    with wired().database.reading() as session:
        return test_posts.outcome(session, auth.current_actor(), auth.current_community().id, reference)


def _progress(reference: str, outcome: Outcome) -> dict[str, Any]:
    stage = _stage(outcome)
    return {
        "stage": stage,
        "reference": reference,
        "failure": texts.stored(outcome.request.failure or "") if outcome.request is not None else None,
        "scores": [(category_name(name), score, tier2) for name, score, tier2 in outcome.scores],
        "progress_url": url_for(
            "web.test_post_progress",
            reference=reference,
            seen=stage,
            community=auth.current_community().slug,
        ),
        "is_over": stage in {"failed", "nothing"},
    }


def _stage(outcome: Outcome) -> str:
    request = outcome.request
    if request is None:
        return "missing"
    if request.status is RequestStatus.FAILED:
        return "failed"
    if request.status is RequestStatus.COMPLETED:
        return "nothing"
    waited = (clock.now() - request.requested_at).total_seconds()
    return "slow" if waited > SLOW_AFTER else "waiting"


def _to_item(outcome: Outcome) -> Response:
    return make_response(redirect(_item_url(outcome), 303))


def _item_url(outcome: Outcome) -> str:
    return url_for("web.item", action_id=outcome.action_id)


def _url(reference: str) -> str:
    return url_for("web.test_post_page", reference=reference, community=auth.current_community().slug)


def _show(form: TestPostForm, *, status: int = 200, alert: str | None = None) -> Response:
    with wired().database.reading() as session:
        offered = test_posts.categories(session, auth.current_community().id)
    form.category.choices = forms.choices({name: category_name(name) for name in offered})
    # A refused post was not sent, so its reference can be used again.
    form.reference.data = form.reference.data or test_posts.new_reference()
    texts = [(category_name(name), test_posts.TEXTS[name]) for name in offered]
    return page.render("administer/test_post.html", status=status, alert=alert, form=form, texts=texts)
