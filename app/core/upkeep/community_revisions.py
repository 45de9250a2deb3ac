"""Changes of a community's settings by operators: with a reason, and refused if based on outdated values."""

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.communities import communities
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.db import serialise
from app.core.errors import Conflict
from app.core.helpfulness import refits
from app.core.history import chain as history
from app.core.history.why import Why
from app.core.models import Community, HistoryEntry, HistoryText
from app.core.permissions import Actor, Permission, require

REVISED = "community.revised"


@dataclass(frozen=True)
class Draft:
    """The values of a community that an operator can set; empty texts are None.

    A new column needs a new field here; other settings are fields of ``CommunitySettings``.
    """

    name: str
    description: str | None
    policy_text: str | None
    is_public: bool
    ai_notes_enabled: bool
    settings: CommunitySettings

    @property
    def values(self) -> Mapping[str, Any]:
        """All values by name, including the settings'."""
        fields = asdict(self)
        return {**{name: value for name, value in fields.items() if name != "settings"}, **fields["settings"]}

    @property
    def etag(self) -> str:
        """Opaque version of these values, so that a form on a stale page is refused."""
        return hashlib.sha256(json.dumps(self.values, sort_keys=True).encode()).hexdigest()[:16]


def draft_of(session: Session, community: Community) -> Draft:
    """The values in force."""
    return Draft(
        name=community.name,
        description=community.description,
        policy_text=community.policy_text,
        is_public=community.is_public,
        ai_notes_enabled=community.ai_notes_enabled,
        settings=community_settings.for_community(community, community_settings.defaults(session)),
    )


def revise(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    draft: Draft,
    reason: str,
    *,
    based_on: str | None = None,
) -> bool:
    """Set the values. Return whether anything changed. ``based_on`` is the ``etag`` that the caller saw.

    A setting that was never changed here keeps following the service's default.

    Raises:
        Invalid: a text is too long, a number is out of bounds, or the name or the reason is blank.
        Conflict: somebody saved other values meanwhile.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    limits.text(draft.name, "name", limits.NAME_MAX)
    limits.text(draft.description or "", "description", limits.DESCRIPTION_MAX, least=0)
    limits.text(draft.policy_text or "", "policy_text", limits.POLICY_TEXT_MAX, least=0)
    limits.text(reason, "reason", limits.REASON_MAX)
    community_settings.check(asdict(draft.settings))
    serialise(session, community_id)
    community = communities.get(session, actor, community_id)
    session.refresh(community)
    current, new_values = draft_of(session, community), draft.values
    if based_on is not None and based_on != current.etag:
        raise Conflict("Somebody saved other values meanwhile", community_id)
    before = {name: value for name, value in current.values.items() if value != new_values[name]}
    if not before:
        return False
    set_here = {name: new_values[name] for name in before if name in community_settings.NAMES}
    for name in before.keys() - set_here.keys():
        setattr(community, name, new_values[name])
    if set_here:
        community.settings = {**community.settings, **set_here}
    session.flush()
    if set_here.keys() & community_settings.SCORED:
        refits.ask(session, community_id)
    history.record(
        session,
        actor,
        community_id,
        REVISED,
        "community",
        community_id,
        before=before,
        after={name: new_values[name] for name in before},
        why=Why(reason),
    )
    return True


def changes(
    session: Session,
    actor: Actor,
    permission: Permission,
    community_id: uuid.UUID,
    *object_types: str,
    among: sa.Select[uuid.UUID] | None = None,
    limit: int = 20,
) -> Sequence[tuple[HistoryEntry, HistoryText]]:
    """The history of a community's objects of these types, newest first, with actor and reason.

    ``among`` selects the ids of the objects that the actor may see; None: all.
    """
    require(actor, permission, community_id)
    visible = sa.true() if among is None else HistoryEntry.object_id.in_(among)
    rows = session.execute(
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(HistoryEntry.community_id == community_id, HistoryEntry.object_type.in_(object_types), visible)
        .order_by(HistoryEntry.number.desc())
        .limit(limit)
    )
    return [(entry, text) for entry, text in rows]
