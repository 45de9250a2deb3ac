"""What a row of the second looks says besides: what was done to the post, why it is looked at again, when that ends."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from app.core.models import Action
from app.core.review import second_looks
from app.core.vocabulary import ActionState
from app.web.filters import ago, score
from app.web.item import done_to_post
from app.web.item.timeline import cause_words
from app.wiring import wired


@dataclass(frozen=True)
class LookWords:
    """``done``: "Hidden by its score alone, above 0.95"; ``again``: why it is looked at again, an empty string if it is
    not; ``ends``: "ends in 13 d", as confirmed."""

    done: str
    again: str
    ends: str


def words(session: Session, looks: Sequence[Action]) -> Mapping[uuid.UUID, LookWords]:
    """Return the words by the action's id. Two queries for any number of rows."""
    why = second_looks.openings(session, looks)
    decided = second_looks.deciding(session, looks)
    return {
        action.id: LookWords(
            _done(action, done_to_post.for_action(action, decided.get(action.id))),
            cause_words(why.get(action.id, "")) or "Opened" if action.retro_review_at is not None else "",
            _ends(action),
        )
        for action in looks
    }


def _done(action: Action, done: done_to_post.DoneToPost | None) -> str:
    what = done_to_post.DONE[action.action_type][0]
    if done is None:
        return what
    threshold = ((action.evidence or {}).get("details") or {}).get("threshold")
    if not done.is_name:
        above = f", above {score(threshold)}" if threshold is not None else ""
        return f"{what} by {done.by}{above}"
    return f"{what} by {done.by}: {done.why}" if done.why else f"{what} by {done.by}"


def _ends(action: Action) -> str:
    if action.action_state is not ActionState.RETRO_REVIEW or action.retro_review_at is None:
        return ""
    return f"ends {ago(action.retro_review_at + timedelta(days=wired().settings.review_days))}"
