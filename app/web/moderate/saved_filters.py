"""Saved filters of the review queue: links above the queue, and a form that saves the current filters."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from flask import url_for
from sqlalchemy.orm import Session

from app.core.ids import parse_id
from app.core.models import SavedFilter
from app.core.permissions import Actor, Permission, allows
from app.core.review import saved_filters
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.web.categories import category_name
from app.web.filter_forms import Query, encoded
from app.web.filters import channel
from app.web.languages import language_name
from app.web.list_filters import SORTS
from app.web.moderate.forms import QueueSettingsForm, SaveFilterForm

_CLAIMED = {"me": lazy_gettext("claimed by me"), "nobody": lazy_gettext("claimed by nobody")}
_SORTED = {sort.value: label for sort, label in SORTS.items()}


@dataclass(frozen=True)
class FilterLink:
    """One saved filter. ``is_current``: the page's query string has exactly these filters."""

    saved: SavedFilter
    url: str
    is_current: bool
    may_delete: bool


def links(session: Session, actor: Actor, community_id: uuid.UUID, query: Query) -> Sequence[FilterLink]:
    """Return the filters that this moderator may use, ordered by name. ``query`` is the page's query string."""
    carried = {"community": query["community"]} if "community" in query else {}
    present = wanted(query)
    return [
        FilterLink(
            saved,
            url=f"{url_for('web.review')}?{encoded({**saved.query, **carried})}",
            is_current=saved.query == present,
            may_delete=saved_filters.may_delete(actor, saved),
        )
        for saved in saved_filters.visible(session, actor, community_id)
    ]


def context(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    query: Query,
    form: SaveFilterForm | None = None,
    queueing: QueueSettingsForm | None = None,
) -> dict[str, Any]:
    """Template variables of the line above the queue: the links, and a form if the current filters are not saved."""
    saved_links, present = links(session, actor, community_id, query), wanted(query)
    current = next((link for link in saved_links if link.is_current), None)
    return {
        "saved": saved_links,
        "saved_current": current,
        "save_form": form or SaveFilterForm(),
        "may_save": bool(present) and (current is None or form is not None),
        "present_words": in_words(present),
        "queue_form": queueing or _queue_form(current),
        "may_queue": current is not None
        and current.saved.shared
        and allows(actor, Permission.REVISE_POLICY, community_id),
    }


def _queue_form(current: FilterLink | None) -> QueueSettingsForm:
    if current is None or current.saved.position is None:
        return QueueSettingsForm()
    members = [member for text in current.saved.members if (member := parse_id(text)) is not None]
    return QueueSettingsForm(position=str(current.saved.position), member=members)


def wanted(query: Query) -> Query:
    """Return only the filters of a query string, without its other parameters such as ``community``."""
    return {name: text for name, text in query.items() if name in saved_filters.FIELDS}


def in_words(query: Query) -> str:
    """Describe filters in words: "Spam or Threat, claimed by me, Newest first"."""
    parts = [
        _either(map(category_name, _several(query, "category"))),
        _("in %(languages)s", languages=_either(map(language_name, languages)))
        if (languages := _several(query, "language"))
        else "",
        _("“%(words)s”", words=query["q"]) if "q" in query else "",
        _("by %(author)s", author=query["author"]) if "author" in query else "",
        channel(str(query["channel"])) if "channel" in query else "",
        _("overdue") if "overdue" in query else "",
        _("snoozed") if "snoozed" in query else "",
        str(_CLAIMED.get(str(query.get("claimed_by", "")), "")),
        str(_SORTED.get(str(query.get("sort", "")), "")),
    ]
    return ", ".join(part for part in parts if part)


def _either(names: Iterable[str]) -> str:
    first, *others = [*names] or [""]
    return reduce(lambda all_, one: _("%(names)s or %(name)s", names=all_, name=one), others, str(first))


def _several(query: Query, name: str) -> list[str]:
    values = query.get(name, [])
    return [values] if isinstance(values, str) else values
