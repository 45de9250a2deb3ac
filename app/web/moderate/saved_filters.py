"""Saved filters of the review queue, as links above it and as the form that keeps the present ones."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from app.core.permissions import Actor
from app.core.review import saved_filters
from app.web.categories import category_name
from app.web.filter_forms import Query, encoded
from app.web.moderate.filters import SORTS
from app.web.moderate.forms import SaveFilterForm

_CLAIMED = {"me": "claimed by me", "nobody": "claimed by nobody"}
_SORTED = {sort.value: label[:1].lower() + label[1:] for sort, label in SORTS.items()}


@dataclass(frozen=True)
class FilterLink:
    """One saved filter. ``is_current``: the address asks for exactly this."""

    id: uuid.UUID
    name: str
    url: str
    is_current: bool
    is_shared: bool
    may_delete: bool


def links(session: Session, actor: Actor, community_id: uuid.UUID, query: Query) -> Sequence[FilterLink]:
    """The filters that this moderator may use, by name. ``query`` is the present address's."""
    carried = {"community": query["community"]} if "community" in query else {}
    present = wanted(query)
    return [
        FilterLink(
            id=one.id,
            name=one.name,
            url=f"/review?{encoded({**one.query, **carried})}",
            is_current=one.query == present,
            is_shared=one.shared,
            may_delete=saved_filters.may_delete(actor, one),
        )
        for one in saved_filters.visible(session, actor, community_id)
    ]


def context(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    query: Query,
    form: SaveFilterForm | None = None,
) -> dict[str, Any]:
    """What the line above the queue shows: the links, and a form while the filters are none of them."""
    found, present = links(session, actor, community_id, query), wanted(query)
    current = next((one for one in found if one.is_current), None)
    return {
        "saved": found,
        "saved_current": current,
        "save_form": form or SaveFilterForm(),
        "may_save": bool(present) and (current is None or form is not None),
        "present_words": in_words(present),
    }


def wanted(query: Query) -> Query:
    """The filters alone, without what an address only carries along."""
    return {name: text for name, text in query.items() if name in saved_filters.FIELDS}


def in_words(query: Query) -> str:
    """What a set of filters asks for: "Spam or Threat, claimed by me, newest first"."""
    asked = query.get("category", [])
    parts = [
        " or ".join(map(category_name, [asked] if isinstance(asked, str) else asked)),
        f"“{query['q']}”" if "q" in query else "",
        _CLAIMED.get(str(query.get("claimed_by", "")), ""),
        _SORTED.get(str(query.get("sort", "")), ""),
    ]
    return ", ".join(part for part in parts if part)
