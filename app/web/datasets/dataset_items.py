"""One fact-check: what its publisher says, the posts that refer to it, and retiring it."""

import uuid
from typing import Any

from flask import Response, url_for
from sqlalchemy.orm import Session

from app.core.errors import Conflict, NotFound
from app.core.factcheck import items
from app.core.models import Action, FactCheckItem
from app.core.permissions import Permission
from app.core.review import fact_check_posts
from app.web import auth, page, veils
from app.web.blueprint import web
from app.web.categories import HIDDEN
from app.web.datasets.dataset_words import rating_words
from app.wiring import wired


@web.get("/datasets/items/<uuid:item_id>")
@auth.needs(Permission.REVISE_POLICY)
def dataset_item(item_id: uuid.UUID) -> Response:
    return _show(item_id)


@web.post("/datasets/items/<uuid:item_id>/retire")
@auth.needs(Permission.REVISE_POLICY)
def retire_item(item_id: uuid.UUID) -> Response:
    return _change(item_id, "Retired. It matches no new post, and stays readable.")


@web.post("/datasets/items/<uuid:item_id>/bring-back")
@auth.needs(Permission.REVISE_POLICY)
def bring_item_back(item_id: uuid.UUID) -> Response:
    return _change(item_id, "It matches posts again.", back=True)


def _change(item_id: uuid.UUID, message: str, *, back: bool = False) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    change = items.bring_back if back else items.retire
    try:
        with wired().database.writing() as session:
            change(session, actor, community.id, _find(session, item_id))
    except Conflict as refused:
        return _show(item_id, status=409, alert=f"{refused.detail}.")
    return page.done(None, url_for("web.dataset_item", item_id=item_id), message)


def _find(session: Session, item_id: uuid.UUID) -> FactCheckItem:
    found = items.get(session, auth.current_actor(), auth.current_community().id, item_id)
    if found is None:
        raise NotFound("fact-check")
    return found


def _show(item_id: uuid.UUID, **options: Any) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        item = _find(session, item_id)
        matches = fact_check_posts.matches(session, actor, community.id, item)

    def hidden(action: Action | None) -> str:
        return HIDDEN if action is not None and veils.hides(action) else ""

    return page.render(
        "datasets/dataset_item.html",
        item=item,
        matches=matches,
        rating_words=rating_words,
        hidden=hidden,
        may_change=items.may_change(actor, item),
        **options,
    )
