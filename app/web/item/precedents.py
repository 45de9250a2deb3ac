"""Posts like an item's that were decided earlier, for moderators (``templates/moderate/_moderator_panel.html``)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flask import url_for
from sqlalchemy.orm import Session

from app.core.models import Action
from app.core.permissions import Actor
from app.core.review import precedents
from app.core.texts import ngettext
from app.core.vocabulary import ActionType
from app.web import forms, list_filters
from app.web.filter_forms import encoded
from app.web.item.decision_forms import DecisionForm

REASON_OF = "reason_of"
"""In the query string: the item whose reason the form begins with."""
_COUNTED: Mapping[ActionType | None, Callable[[int], str]] = {
    ActionType.HIDE: lambda number: ngettext("%(num)s hidden", "%(num)s hidden", number),
    ActionType.UNHIDE: lambda number: ngettext("%(num)s shown again", "%(num)s shown again", number),
    ActionType.WARN: lambda number: ngettext("%(num)s warned", "%(num)s warned", number),
    ActionType.SILENCE: lambda number: ngettext("%(num)s silenced", "%(num)s silenced", number),
    ActionType.DELETE: lambda number: ngettext("%(num)s deleted", "%(num)s deleted", number),
    None: lambda number: ngettext("%(num)s kept", "%(num)s kept", number),
}


def like_before(
    session: Session, actor: Actor, action: Action, form: DecisionForm | None
) -> tuple[str, Sequence[Mapping[str, Any]]] | None:
    """Return the decided posts like this item's: "5 alike, 4 hidden, 1 kept", and the newest of them.

    A ``form`` that was not sent begins with the chosen reason. ``use_url`` of a post is this page with its reason in
    the form, empty if no person gave one.
    """
    found = precedents.like_before(session, actor, action)
    if found is None:
        return None
    chosen = forms.query_arg(REASON_OF)
    if form is not None:
        form.reason.data = next((one.reason for one in found.newest if str(one.action_id) == chosen), None)
    counts = [_COUNTED[done](found.counts[done]) for done in _COUNTED if done in found.counts]
    alike = ngettext("%(num)s alike", "%(num)s alike", found.total)
    return ", ".join([alike, *counts]), [_view(action, one) for one in found.newest]


def _view(action: Action, one: precedents.Precedent) -> dict[str, Any]:
    query = encoded({**list_filters.origin_query(), REASON_OF: str(one.action_id)})
    return {
        "url": url_for("web.item", action_id=one.action_id),
        "outcome": _COUNTED[one.done](1).removeprefix("1 "),
        "is_kept": one.done is None,
        "by": one.by,
        "at": one.at,
        "reason": one.reason,
        "use_url": f"{url_for('web.item', action_id=action.id)}?{query}#reason" if one.reason else "",
    }
