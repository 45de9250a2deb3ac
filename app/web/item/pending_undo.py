"""Decisions that can still be undone: their effect in words, and the seconds left.

``PendingDecision`` is one decision as every page shows it (``templates/macros/pending.html``). ``PendingUndo`` holds
all decisions of the reader, for the undo bar above the queue and above an item.
"""

import math
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from flask import url_for
from sqlalchemy.orm import Session, selectinload

from app.core import clock, texts
from app.core.models import Action, Hold
from app.core.permissions import Actor
from app.core.review import holds
from app.core.texts import gettext as _
from app.core.texts import ngettext
from app.core.vocabulary import ActionType, ActionVerb
from app.web.categories import category_name
from app.web.filters import excerpt
from app.web.item.silence_forms import length_words
from app.web.item.verb_words import WORDS, outcome
from app.web.veils import is_veiled


@dataclass(frozen=True)
class PendingDecision:
    """A decision that is not carried out yet, on a row of the queue, an item, a note or a second look.

    ``is_mine``: the reader made the decision and can undo it; else ``who`` made it. ``outcome`` is a sentence about
    its effect, ``progress`` a few words for a row. ``seconds`` is the time left to undo it, at least 1.
    """

    hold_id: uuid.UUID
    is_mine: bool
    who: str
    reason: str
    outcome: str
    progress: str
    seconds: int

    @property
    def undo_path(self) -> str:
        return url_for("web.undo", hold_id=self.hold_id)


@dataclass(frozen=True)
class PendingUndo:
    """The reader's decisions that can still be undone, newest first."""

    message: str
    newest: PendingDecision
    hold_ids: Sequence[uuid.UUID]
    action_ids: Sequence[uuid.UUID]


def of_action(
    actor: Actor, action: Action, held: Hold | None, named: str | None = None
) -> PendingDecision | None:
    """Return the pending decision on this action, or None. ``named`` is how its sentence names the post."""
    if held is None:
        return None
    said = outcome(held.verb, action, named or _("this post"), held.reopen_to, held.act_as)
    if held.verb is ActionVerb.FORCE_PUBLISH and (held.act_as or action.action_type) is ActionType.SILENCE:
        said = f"{said.removesuffix('.')} {length_words(held.until)}."
    return _shown(actor, held, capitalised(said))


def of_note(actor: Actor, held: Hold | None) -> PendingDecision | None:
    """Return the pending decision on a note, or None."""
    if held is None:
        return None
    words = WORDS[held.verb].on_note
    return _shown(actor, held, words.outcome if words is not None else "")


def _shown(actor: Actor, held: Hold, sentence: str) -> PendingDecision:
    is_mine = held.account_id == actor.account_id
    return PendingDecision(
        hold_id=held.id,
        is_mine=is_mine,
        who=held.account_name,
        reason=held.reason,
        outcome=sentence,
        progress=WORDS[held.verb].deciding if is_mine else _("%(who)s is deciding", who=held.account_name),
        seconds=max(1, math.ceil((held.due_at - clock.now()).total_seconds())),
    )


def undoable(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    *,
    newest_only: bool = False,
    here: uuid.UUID | None = None,
) -> PendingUndo | None:
    """Return the actor's decisions in this community that can still be undone, or None. At most three queries.

    ``here`` is the action whose page is shown: the sentence calls its post "this post".
    """
    held = [
        hold for hold in holds.held_by(session, actor) if hold.community_id == community_id and hold.action_id
    ]
    alike = Counter(hold.together_id for hold in held)
    # Of decisions that are undone together, the first stands for all.
    held = [hold for hold in held if hold.together_id is None or hold.together_id == hold.id]
    if newest_only:
        held = held[:1]
    if not held:
        return None
    action_ids = [hold.action_id for hold in held if hold.action_id is not None]
    actions = session.scalars(
        sa.select(Action)
        .where(Action.id.in_(action_ids))
        .options(selectinload(Action.request), selectinload(Action.newest))
    )
    known = {action.id: action for action in actions}
    newest = known[action_ids[0]]
    named = _("this post") if newest.id == here else in_words(newest, 50)
    shown = of_action(actor, newest, held[0], named)
    if shown is None:
        return None
    message = shown.outcome
    if held[0].together_id is not None and alike[held[0].together_id] > 1:
        others = alike[held[0].together_id] - 1
        message = ngettext(
            "%(message)s So will %(num)s like it.",
            "%(message)s So will %(num)s like it.",
            others,
            message=message,
        )
    if len(held) > 1:
        message = ngettext(
            "%(num)s decision can still be undone. The newest: %(message)s",
            "%(num)s decisions can still be undone. The newest: %(message)s",
            len(held),
            message=message,
        )
    return PendingUndo(message, shown, hold_ids=[hold.id for hold in held], action_ids=action_ids)


def in_words(action: Action, length: int) -> str:
    """Name a post within a sentence: by its first words, or by its author; a veiled post by author and category."""
    author = action.request.platform_author_id
    if is_veiled(action.category):
        category = texts.in_sentence(category_name(action.category))
        if author:
            return _("a post by %(author)s (%(category)s)", author=author, category=category)
        return _("a post (%(category)s)", category=category)
    words = excerpt(action.post.content, length)
    if words:
        return _("“%(words)s”", words=words)
    return _("a post without text by %(author)s", author=author) if author else _("a post without text")


def capitalised(sentence: str) -> str:
    """Return the sentence with its first letter in upper case; the rest stays unchanged."""
    return sentence[:1].upper() + sentence[1:]
