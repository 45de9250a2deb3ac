"""Second looks: actions that a score carried out without review, and actions under review again."""

import uuid

from flask import Response, make_response, redirect, url_for
from sqlalchemy.orm import Session

from app.core.errors import Conflict, Invalid
from app.core.models import Action
from app.core.permissions import Permission
from app.core.review import holds, second_looks
from app.core.review.second_looks import LookFilter
from app.web import auth, community_choice, forms, page, veils
from app.web.blueprint import web
from app.web.moderate import moderation, second_look_cards
from app.web.moderate.filters import LookForm, page_number
from app.web.moderate.forms import DecisionForm, refused, version_of
from app.wiring import wired

PAGE_SIZE = 10


@web.get("/second-look")
@auth.needs(Permission.SEE_QUEUE)
def second_look() -> Response:
    with wired().database.reading() as session:
        return _page(session)


@web.get("/second-look/<uuid:action_id>")
@auth.passive
def second_look_card(action_id: uuid.UUID) -> Response:
    """The current card, as an htmx part; the page loads it when the time to undo is over. Else redirect to the item."""
    if not page.wants_part():
        return make_response(redirect(url_for("web.item", action_id=action_id), 303))
    with wired().database.reading() as session:
        card = second_look_cards.card(session, auth.current_actor(), moderation.find(session, action_id))
    return page.render(
        second_look_cards.PART, second_look_cards.PART, look=card, **second_look_cards.context()
    )


@web.post("/second-look/<uuid:action_id>/decide")
def decide_second_look(action_id: uuid.UUID) -> Response:
    form = second_look_cards.form_of(action_id, posted=True)
    verb = form.wanted_verb()
    if veils.wants_shown():
        return _again(action_id, form, 200)
    with wired().database.reading() as session:
        unseen = veils.is_unseen(moderation.find(session, action_id))
    if not form.validate() or verb not in second_looks.VERBS or unseen:
        if verb not in second_looks.VERBS:
            form.form_errors.append("Choose Confirm or Overturn.")
        if unseen:
            form.form_errors.append(veils.UNSEEN)
        return _again(action_id, form, 422)
    try:
        with wired().database.writing() as session:
            holds.hold(
                session,
                auth.current_actor(),
                verb,
                action=moderation.find(session, action_id),
                why=form.why(),
                version=version_of(form),
            )
    except (Invalid, Conflict) as refusal:
        return _again(action_id, form, *refused(form, refusal))
    message = "Decided. You can still undo it."
    if not page.wants_part():
        return page.done(None, second_look_cards.url(action_id), message)
    with wired().database.reading() as session:
        action = moderation.find(session, action_id)
        card = second_look_cards.card(session, auth.current_actor(), action, focus=True)
    return page.done(
        second_look_cards.PART, second_look_cards.url(), message, look=card, **second_look_cards.context()
    )


def _again(action_id: uuid.UUID, form: DecisionForm, status: int, alert: str | None = None) -> Response:
    """The card with its form as sent; without htmx the whole list, which then always includes this card."""
    with wired().database.reading() as session:
        action = moderation.find(session, action_id)
        if not page.wants_part():
            return _page(session, action, form, status=status, alert=alert)
        card = second_look_cards.card(session, auth.current_actor(), action, form=form, focus=status == 409)
    return page.render(
        second_look_cards.PART,
        second_look_cards.PART,
        status=status,
        alert=alert,
        look=card,
        **second_look_cards.context(),
    )


def _page(
    session: Session,
    kept: Action | None = None,
    form: DecisionForm | None = None,
    *,
    status: int = 200,
    alert: str | None = None,
) -> Response:
    """The list page. ``kept`` is an action whose form has errors: it is listed even if no filter matches it."""
    filter_form = forms.queried(LookForm)
    filters = filter_form.wanted() if filter_form.validate() else LookFilter()
    actor, community = auth.current_actor(), auth.current_community()
    number = page_number(forms.query_arg("page"))
    actions, count = second_looks.waiting(
        session, actor, community.id, filters, limit=PAGE_SIZE, offset=(number - 1) * PAGE_SIZE
    )
    if not actions and count:
        number = -(-count // PAGE_SIZE)
        actions, count = second_looks.waiting(
            session, actor, community.id, filters, limit=PAGE_SIZE, offset=(number - 1) * PAGE_SIZE
        )
    filter_form.offer(second_looks.categories(session, community.id))
    rows = [*([kept] if kept is not None and kept not in actions else []), *actions]
    cards = second_look_cards.cards(session, actor, rows, posted={kept.id: form} if kept and form else None)
    return page.render(
        "moderate/second_look.html",
        status=422 if filter_form.errors and status == 200 else status,
        alert=alert,
        looks=cards,
        count=count,
        filters=filter_form,
        form=form or filter_form,
        is_narrowed=filter_form.is_narrowed,
        clear_url=_cleared(),
        links=_links(number, count),
        **second_look_cards.context(),
    )


def _cleared() -> str:
    return url_for("web.second_look", **community_choice.carried())


def _links(number: int, count: int) -> page.PageLinks:
    first, last = (number - 1) * PAGE_SIZE + 1, min(count, number * PAGE_SIZE)
    return page.PageLinks(
        previous=second_look_cards.url(page=str(number - 1)) if number > 1 else None,
        next=second_look_cards.url(page=str(number + 1)) if last < count else None,
        summary=f"{first:,} to {last:,} of {count:,}",
    )
