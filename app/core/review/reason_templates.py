"""Reason templates: moderators choose them instead of typing; operators add, revise, retire and restore them."""

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
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import HistoryEntry, HistoryText, ReasonTemplate
from app.core.permissions import Actor, Permission, require, require_found
from app.core.texts import gettext as _
from app.core.vocabulary import ActionVerb

TITLE_MAX = 100
DEFAULT_VERBS = (ActionVerb.FORCE_PUBLISH, ActionVerb.DISMISS, ActionVerb.CONFIRM, ActionVerb.OVERTURN)
"""The decisions that a reason can be the default for."""
CHANGED = ("reason.added", "reason.revised", "reason.retired", "reason.restored")
"""Names of the history entries about reasons."""


@dataclass(frozen=True)
class ReasonDraft:
    """The fields of a reason that operators set; ``category`` None: for every category.

    ``verb`` is the decision whose form begins with this reason; None: the reason is only one to choose.
    """

    title: str
    text: str
    category: str | None = None
    verb: ActionVerb | None = None


def in_use(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[ReasonTemplate]:
    """The active reasons that moderators can choose, by title."""
    require(actor, Permission.MODERATE, community_id)
    return session.scalars(_of(community_id).where(ReasonTemplate.active)).all()


def every(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[ReasonTemplate]:
    """All reasons of a community by title, retired ones last."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return session.scalars(_of(community_id, sa.not_(ReasonTemplate.active))).all()


def get(session: Session, actor: Actor, reason_id: uuid.UUID) -> ReasonTemplate:
    """The reason, for an operator. Raises NotFound if it is unknown or belongs to another community."""
    return require_found(actor, Permission.REVISE_POLICY, session.get(ReasonTemplate, reason_id), "reason")


def add(session: Session, actor: Actor, community_id: uuid.UUID, draft: ReasonDraft) -> ReasonTemplate:
    """Add a reason, in use at once.

    Raises:
        Invalid: the title or the text is blank or too long, the title or the place as a default is taken, or there are
            too many.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    _check(draft)
    serialise(session, community_id)
    _check_free(session, community_id, draft)
    _check_room(session, community_id)
    template = ReasonTemplate(id=new_id(), community_id=community_id, **asdict(draft))
    session.add(template)
    session.flush()
    _record(session, actor, template, "added", {}, _recorded(draft))
    return template


def revise(
    session: Session,
    actor: Actor,
    reason_id: uuid.UUID,
    draft: ReasonDraft,
    *,
    version: int | None = None,
    why: str = "",
) -> ReasonTemplate:
    """Change a reason; ``version`` is the version that the operator's page showed. Earlier decisions keep their text.

    ``why`` is recorded in history.

    Raises:
        Invalid: as ``add``.
        Conflict: it was changed meanwhile; the detail says by whom and when.
    """
    _check(draft)
    limits.text(why, "why", limits.REASON_MAX, least=0)
    template = _locked(session, actor, reason_id, version)
    _check_free(session, template.community_id, draft, besides=template.id)
    before = {name: getattr(template, name) for name in asdict(draft)}
    after = asdict(draft)
    if before == after:
        return template
    _change(session, template, after)
    differing = {name for name in after if after[name] != before[name]}
    _record(
        session,
        actor,
        template,
        "revised",
        {n: before[n] for n in differing},
        {n: after[n] for n in differing},
        why,
    )
    return template


def set_active(
    session: Session,
    actor: Actor,
    reason_id: uuid.UUID,
    active: bool,
    *,
    why: str = "",
) -> ReasonTemplate:
    """Retire or restore a reason; ``why`` is recorded in history. If it is so already, nothing changes.

    Raises:
        Invalid: another active reason has its title or its place as a default now, or there are too many.
    """
    limits.text(why, "why", limits.REASON_MAX, least=0)
    template = _locked(session, actor, reason_id)
    if template.active != active:
        if active:
            draft = ReasonDraft(template.title, template.text, template.category, template.verb)
            _check_free(session, template.community_id, draft)
            _check_room(session, template.community_id)
        _change(session, template, {"active": active})
        _record(
            session,
            actor,
            template,
            "restored" if active else "retired",
            {"active": not active},
            {"active": active},
            why,
        )
    return template


def revisions(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    *,
    reason_id: uuid.UUID | None = None,
    limit: int = 20,
) -> Sequence[tuple[HistoryEntry, HistoryText, str]]:
    """Changes of all reasons or of one, newest first: (entry, text with the actor's name, current title)."""
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
    if draft.verb is not None and draft.verb not in DEFAULT_VERBS:
        raise Invalid.field("verb", _("is no decision that has a reason"), draft.verb.value)


def _recorded(draft: ReasonDraft) -> dict[str, Any]:
    """What the history says about a new reason; that it is no default goes without saying."""
    return {name: value for name, value in asdict(draft).items() if name != "verb" or value is not None}


def _check_free(
    session: Session, community_id: uuid.UUID, draft: ReasonDraft, besides: uuid.UUID | None = None
) -> None:
    # Compared here: SQLite's lower() knows the letters of English only. There are few (``limits.REASONS``).
    others = [
        reason
        for reason in session.scalars(_of(community_id).where(ReasonTemplate.active))
        if reason.id != besides
    ]
    if any(reason.title.casefold() == draft.title.casefold() for reason in others):
        raise Invalid.field("title", _("is another reason's already"), draft.title)
    if draft.verb is None:
        return
    place = (draft.verb, draft.category)
    present = next((reason for reason in others if (reason.verb, reason.category) == place), None)
    if present is not None:
        raise Invalid.field(
            "verb", _("is taken in this category already, by “%(title)s”", title=present.title)
        )


def _check_room(session: Session, community_id: uuid.UUID) -> None:
    count = session.scalar(
        sa.select(sa.func.count())
        .select_from(ReasonTemplate)
        .where(ReasonTemplate.community_id == community_id, ReasonTemplate.active)
    )
    limits.room(limits.REASONS, count or 0, "title")


def _locked(
    session: Session, actor: Actor, reason_id: uuid.UUID, version: int | None = None
) -> ReasonTemplate:
    """Lock the community and read the row again. Raises Conflict if its version differs."""
    template = get(session, actor, reason_id)
    serialise(session, template.community_id)
    session.refresh(template)
    if version is not None and version != template.version:
        said = _("This reason was changed meanwhile")
        raise Conflict(
            setting_history.with_last_change(said, session, "reason", template.id, *CHANGED), template.id
        )
    return template


def _change(session: Session, template: ReasonTemplate, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(template, name, value)
    template.version += 1
    session.flush()


def _record(
    session: Session,
    actor: Actor,
    template: ReasonTemplate,
    what: str,
    before: dict[str, Any],
    after: dict[str, Any],
    why: str = "",
) -> None:
    history.record(
        session,
        actor,
        template.community_id,
        f"reason.{what}",
        "reason",
        template.id,
        before=before,
        after=after,
        reason=Reason(why),
    )
