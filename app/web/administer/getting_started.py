"""The list of first steps in a new community: which are done, which is next. Their state is derived from the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from flask import Response, make_response, redirect, url_for

from app.core.communities import getting_started
from app.core.communities.getting_started import Raters, Standing
from app.core.ids import new_id
from app.core.models import Community
from app.core.permissions import Permission
from app.core.requests import test_posts
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.web import auth, curl_command, navigation, page
from app.web.administer.keys import FIRST_KEY
from app.web.blueprint import web
from app.wiring import wired

Act = Literal["community", "key", "test_post", "link", "none"]


@dataclass(frozen=True)
class Step:
    """One step: title, explanation, and how to do it (``act``, with a link to ``url``).

    ``needs``: the role that the reader lacks for it, as text.
    """

    title: str
    is_done: bool
    text: str
    act: Act = "link"
    url: str = ""
    label: str = ""
    needs: str = ""


@web.get("/getting-started")
def getting_started_page() -> Response:
    who = auth.current_reader()
    if not who.communities:
        if not who.actor.service_admin:
            return make_response(redirect(url_for("web.public_communities"), 303))
        return _show(None)
    auth.require(Permission.SEE_SETTINGS, auth.current_community().id)
    return _show(auth.current_community())


@web.post("/getting-started/hide")
@auth.needs(Permission.SEE_SETTINGS)
def hide_getting_started() -> Response:
    _set_hidden(True)
    message = _("The list is off your start page. You find it under Community.")
    return page.done(None, url_for("web.home", community=auth.current_community().slug), message)


@web.post("/getting-started/show")
@auth.needs(Permission.SEE_SETTINGS)
def show_getting_started() -> Response:
    _set_hidden(False)
    return page.done(None, url_for("web.getting_started_page"), _("The list is on your start page again."))


def is_start_page(community: Community) -> bool:
    """Whether the list is the reader's start page: they set the community up, and it is not complete or hidden."""
    if not navigation.offers_first_steps(community):
        return False
    with wired().database.reading() as session:
        standing = getting_started.standing(session, auth.current_actor(), community.id)
    return any(not step.is_done for step in _steps(community, standing))


def _set_hidden(hidden: bool) -> None:
    with wired().database.writing() as session:
        getting_started.set_hidden(session, auth.current_actor(), auth.current_community().id, hidden)


def _show(community: Community | None) -> Response:
    steps: Sequence[Step] = [_COMMUNITY] if community is None else []
    curl = None
    if community is not None:
        with wired().database.reading() as session:
            standing = getting_started.standing(session, auth.current_actor(), community.id)
        steps = _steps(community, standing)
        curl = curl_command.submit_line(community) if standing.has_key else None
    todo = [step for step in steps if not step.is_done]
    return page.render(
        "administer/getting_started.html",
        steps=steps,
        community=community,
        done=len(steps) - len(todo),
        next_step=next((step for step in todo if not step.needs), None),
        curl=curl,
        reference=test_posts.new_reference(),
        first_key={**FIRST_KEY, "once": str(new_id())} if community is not None else {},
    )


_COMMUNITY = Step(
    lazy_gettext("Create a community"),
    False,
    lazy_gettext(
        "A community is one forum, chat or group whose posts are moderated together. You become its admin."
    ),
    "community",
)


def _steps(community: Community, standing: Standing) -> Sequence[Step]:
    def allowed(permission: Permission) -> dict[str, Any]:
        may = auth.may(permission, community.id)
        return {} if may else {"needs": _("An admin of the community does this."), "act": "none"}

    slug = community.slug
    raters, hearing = standing.raters, standing.hearing
    missing = raters.needed - raters.count
    return [
        Step(_("Create a community"), True, _("%(name)s is open.", name=community.name), "none"),
        Step(
            _("Create an API key"),
            standing.has_key,
            _("Your platform’s integration can submit posts.")
            if standing.has_key
            else _("Your platform’s integration signs in with it. It is shown once, with a line to try it."),
            **({"act": "key"} | allowed(Permission.MANAGE_KEYS)),
        ),
        Step(
            _("Send a test post"),
            standing.has_post,
            _("Posts arrive and are scored.")
            if standing.has_post
            else _(
                "It is scored, sent to people and decided like any other. It is marked, and counts in"
                " no figure."
            ),
            "test_post",
        ),
        Step(
            _("Decide a first post"),
            standing.decided,
            _decided_words(standing),
            url=url_for("web.review", community=slug),
            label=_("Open the review queue"),
        ),
        Step(
            _("Let your platform hear of decisions"),
            hearing.answered or hearing.polls,
            _hearing_words(standing),
            url=url_for("web.endpoints", community=slug),
            label=_("See webhooks") if hearing.webhooks else _("Register a webhook"),
        ),
        Step(
            _("Invite raters"),
            raters.are_enough,
            _("%(count)s or more people can rate: enough for a decision by members.", count=raters.count)
            if raters.are_enough
            else _raters_words(raters, missing),
            **(
                {"url": url_for("web.people", community=slug), "label": _("Invite raters")}
                | allowed(Permission.MANAGE_PEOPLE)
            ),
        ),
        Step(
            _("Write the policy text"),
            standing.has_policy_text,
            _("Raters read it beside the post.")
            if standing.has_policy_text
            else _(
                "What is allowed here and what is not. Without it, raters have only a category’s name"
                " to judge by."
            ),
            url=url_for("web.community_page", community=slug) + "#policy_text",
            label=_("Write it"),
        ),
        Step(
            _("Prepare reasons"),
            standing.has_reasons,
            _("Moderators choose from them.")
            if standing.has_reasons
            else _(
                "Moderators give a reason with every decision. They choose one with a key instead of "
                "typing it."
            ),
            url=url_for("web.reasons", community=slug),
            label=_("Add a reason"),
        ),
    ]


def _decided_words(standing: Standing) -> str:
    if standing.decided:
        return _("A post was decided. Your platform hears of it by webhook, or when it asks.")
    if standing.is_held:
        return _("A decision was made. It is sent as soon as it can no longer be undone.")
    if standing.has_post:
        return _("Open the post, give a reason, and choose what becomes of it.")
    return _("Once a post has arrived, you open it, give a reason, and choose what becomes of it.")


def _hearing_words(standing: Standing) -> str:
    hearing = standing.hearing
    if hearing.answered:
        return _("A webhook has answered.")
    if hearing.polls:
        return _("Your integration polls.")
    if hearing.active:
        return _("A webhook is registered and has not answered yet. Send it a test event.")
    if hearing.webhooks:
        return _("The webhook is disabled and nobody polls, so nobody hears of a decision.")
    return _(
        "No webhook is registered and nobody polls, so nobody hears of a decision: register one or poll."
    )


def _raters_words(raters: Raters, missing: int) -> str:
    return " ".join(
        (
            _("A review is decided by %(needed)s ratings.", needed=raters.needed),
            ngettext("%(num)s person can rate so far.", "%(num)s people can rate so far.", raters.count),
            ngettext("%(num)s more is needed.", "%(num)s more are needed.", missing),
            ngettext("%(num)s is invited.", "%(num)s are invited.", raters.invited) if raters.invited else "",
        )
    ).strip()
