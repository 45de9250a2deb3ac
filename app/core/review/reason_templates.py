"""Reasons that moderators choose instead of typing them: operators write them, retire them, bring them back."""

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.db import serialise
from app.core.errors import Conflict, Invalid
from app.core.history import chain as history
from app.core.history import settings as setting_history
from app.core.history.why import Why
from app.core.ids import new_id
from app.core.models import HistoryEntry, HistoryText, ReasonTemplate
from app.core.permissions import Actor, Permission, require, require_found

TITLE_MAX = 100
MOST = 200
"""Reasons in use in one community: they stand in a list that people read."""
CHANGED = ("reason.added", "reason.revised", "reason.retired", "reason.restored")
"""What history calls each thing that is done to a reason."""


@dataclass(frozen=True)
class ReasonDraft:
    """A reason as an operator gives it; ``category`` None suits every category."""

    title: str
    text: str
    category: str | None = None


def in_use(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[ReasonTemplate]:
    """What moderators may choose from, by title."""
    require(actor, Permission.MODERATE, community_id)
    return session.scalars(_of(community_id).where(ReasonTemplate.active)).all()


def every(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[ReasonTemplate]:
    """All of a community's, the retired ones last."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return session.scalars(_of(community_id, sa.not_(ReasonTemplate.active))).all()


def get(session: Session, actor: Actor, reason_id: uuid.UUID) -> ReasonTemplate:
    """One of them, for whoever may change it; unknown and foreign look alike."""
    return require_found(actor, Permission.REVISE_POLICY, session.get(ReasonTemplate, reason_id), "reason")


def add(session: Session, actor: Actor, community_id: uuid.UUID, draft: ReasonDraft) -> ReasonTemplate:
    """A new reason, in use at once.

    Raises:
        Invalid: the title or the text is blank or too long, the title is taken, or there are too many.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    _check(draft)
    serialise(session, community_id)
    _check_free(session, community_id, draft.title)
    count = session.scalar(
        sa.select(sa.func.count())
        .select_from(ReasonTemplate)
        .where(ReasonTemplate.community_id == community_id, ReasonTemplate.active)
    )
    if (count or 0) >= MOST:
        raise Invalid.field("title", f"cannot be added: {MOST} reasons are in use; retire one first")
    made = ReasonTemplate(id=new_id(), community_id=community_id, **asdict(draft))
    session.add(made)
    session.flush()
    _record(session, actor, made, "added", {}, asdict(draft))
    return made


def revise(
    session: Session,
    actor: Actor,
    reason_id: uuid.UUID,
    draft: ReasonDraft,
    *,
    version: int | None = None,
    why: str = "",
) -> ReasonTemplate:
    """Change a reason; ``version`` is the one that the page was made from. Decisions made with it stay as they were.

    ``why`` is what history tells.

    Raises:
        Invalid: as ``add``.
        Conflict: somebody changed it meanwhile; the detail says who and when.
    """
    _check(draft)
    limits.text(why, "why", limits.REASON_MAX, least=0)
    changed = _locked(session, actor, reason_id, version)
    _check_free(session, changed.community_id, draft.title, besides=changed.id)
    before = {name: getattr(changed, name) for name in asdict(draft)}
    after = asdict(draft)
    if before == after:
        return changed
    _change(session, changed, after)
    differing = {name for name in after if after[name] != before[name]}
    _record(
        session,
        actor,
        changed,
        "revised",
        {n: before[n] for n in differing},
        {n: after[n] for n in differing},
        why,
    )
    return changed


def set_active(
    session: Session,
    actor: Actor,
    reason_id: uuid.UUID,
    active: bool,
    *,
    version: int | None = None,
    why: str = "",
) -> ReasonTemplate:
    """Retire a reason, or bring it back, and ``why``. Already so: nothing changes.

    Raises:
        Invalid: its title is another reason's by now.
        Conflict: somebody changed it meanwhile.
    """
    limits.text(why, "why", limits.REASON_MAX, least=0)
    changed = _locked(session, actor, reason_id, version)
    if changed.active != active:
        if active:
            _check_free(session, changed.community_id, changed.title)
        _change(session, changed, {"active": active})
        _record(
            session,
            actor,
            changed,
            "restored" if active else "retired",
            {"active": not active},
            {"active": active},
            why,
        )
    return changed


def revisions(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    *,
    reason_id: uuid.UUID | None = None,
    limit: int = 20,
) -> Sequence[tuple[HistoryEntry, HistoryText, str]]:
    """What was changed, of all or of one, newest first, with who changed it and the reason's present title."""
    require(actor, Permission.REVISE_POLICY, community_id)
    which = sa.true() if reason_id is None else HistoryEntry.object_id == reason_id
    rows = session.execute(
        sa.select(HistoryEntry, HistoryText, ReasonTemplate.title)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .join(ReasonTemplate, ReasonTemplate.id == HistoryEntry.object_id)
        .where(ReasonTemplate.community_id == community_id, HistoryEntry.object_type == "reason", which)
        .order_by(HistoryEntry.number.desc())
        .limit(limit)
    )
    return [(entry, text, title) for entry, text, title in rows]


def _of(community_id: uuid.UUID, *first: Any) -> sa.Select[ReasonTemplate]:
    return (
        sa.select(ReasonTemplate)
        .where(ReasonTemplate.community_id == community_id)
        .order_by(*first, sa.func.lower(ReasonTemplate.title), ReasonTemplate.id)
    )


def _check(draft: ReasonDraft) -> None:
    limits.text(draft.title, "title", TITLE_MAX)
    limits.text(draft.text, "text", limits.REASON_MAX)
    if draft.category is not None:
        limits.category_name(draft.category, "category")


def _check_free(
    session: Session, community_id: uuid.UUID, title: str, besides: uuid.UUID | None = None
) -> None:
    taken = _of(community_id).where(
        sa.func.lower(ReasonTemplate.title) == title.lower(), ReasonTemplate.active
    )
    if besides is not None:
        taken = taken.where(ReasonTemplate.id != besides)
    if session.scalars(taken.limit(1)).first() is not None:
        raise Invalid.field("title", "is another reason's already", title)


def _locked(session: Session, actor: Actor, reason_id: uuid.UUID, version: int | None) -> ReasonTemplate:
    """The row as it is now, while no other writer changes it."""
    found = get(session, actor, reason_id)
    serialise(session, found.community_id)
    session.refresh(found)
    if version is not None and version != found.version:
        who = setting_history.last_changed_by(session, "reason", found.id, *CHANGED)
        raise Conflict(f"Somebody changed this reason meanwhile{who}", found.id)
    return found


def _change(session: Session, changed: ReasonTemplate, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(changed, name, value)
    changed.version += 1
    session.flush()


def _record(
    session: Session,
    actor: Actor,
    changed: ReasonTemplate,
    what: str,
    before: dict[str, Any],
    after: dict[str, Any],
    why: str = "",
) -> None:
    history.record(
        session,
        actor,
        changed.community_id,
        f"reason.{what}",
        "reason",
        changed.id,
        before=before,
        after=after,
        why=Why(why),
    )
