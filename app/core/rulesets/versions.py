"""A community's rules: numbered versions in force, and a draft to work on (decision 0019).

A version says which rules of the shipped pack are switched off, and holds the community's own pack. Versions stay as
they were; ``rule_drafts`` changes the draft and puts it in force.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.classify.rules import RulePack, parse_pack
from app.core.db import serialise
from app.core.errors import Conflict, Invalid, NotFound
from app.core.history import chain as history
from app.core.history.why import Why
from app.core.models import RulePackDraft, RulePackVersion
from app.core.permissions import Actor, Permission, require

PACK_MAX_BYTES = 409_600
SHOWN_VERSIONS = 20
TOLD_CHANGES = 50
"""Changed rules that history keeps in full; of more it keeps their number."""
NAME = "community"


@dataclass(frozen=True)
class RuleSet:
    """What scores: the shipped pack without ``starter_off``, and the community's own ``pack``, as JSON."""

    starter_off: frozenset[str] = frozenset()
    pack: Mapping[str, Any] = field(default_factory=lambda: {"name": NAME, "version": "0", "rules": []})

    @property
    def rules(self) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = self.pack["rules"]
        return found

    def rule(self, rule_id: str) -> Mapping[str, Any] | None:
        return next((one for one in self.rules if one["id"] == rule_id), None)


@dataclass(frozen=True)
class Standing:
    """Where a community stands: what is in force, and the draft when there is one.

    ``version`` 0: the shipped pack alone. ``etag`` names the draft as it is now, 0 when there is none.
    """

    version: int
    in_force: RuleSet
    draft: RuleSet | None = None
    etag: int = 0
    changed_by: str = ""

    @property
    def working(self) -> RuleSet:
        """What an editor shows: the draft, or else what is in force."""
        return self.draft or self.in_force


def newest_version(session: Session, community_id: uuid.UUID) -> int:
    """The number of the version in force, 0 when there is none: one look into an index."""
    return (
        session.scalar(
            sa.select(sa.func.max(RulePackVersion.version)).where(
                RulePackVersion.community_id == community_id
            )
        )
        or 0
    )


def read(session: Session, community_id: uuid.UUID, version: int) -> RuleSet:
    """The rules of one version.

    Raises:
        NotFound: there is no such version.
    """
    if version == 0:
        return RuleSet()
    row = session.scalars(_versions(community_id).where(RulePackVersion.version == version)).first()
    if row is None:
        raise NotFound("version")
    return _of(row)


def standing(session: Session, actor: Actor, community_id: uuid.UUID) -> Standing:
    """What is in force, and the draft."""
    require(actor, Permission.REVISE_POLICY, community_id)
    version = newest_version(session, community_id)
    draft = session.get(RulePackDraft, community_id, populate_existing=True)
    in_force = read(session, community_id, version)
    if draft is None:
        return Standing(version, in_force)
    return Standing(version, in_force, _of(draft), draft.etag, draft.changed_by)


def versions(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[RulePackVersion]:
    """The newest versions, the newest first: one more than are shown, to compare each with the one before it."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return session.scalars(
        _versions(community_id).order_by(RulePackVersion.version.desc()).limit(SHOWN_VERSIONS + 1)
    ).all()


def revert(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    version: int,
    reason: str,
    *,
    based_on: int | None = None,
) -> RulePackVersion:
    """Put an old version in force again, as a new one; 0 is the shipped pack alone.

    Refusals as ``rule_drafts.publish``.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    serialise(session, community_id)
    return write(session, actor, community_id, read(session, community_id, version), reason, based_on)


def changes(before: RuleSet, after: RuleSet) -> dict[str, tuple[Any, Any]]:
    """What differs: the id of a rule, "starter_off", "note" or "lists" → what it was and what it is."""
    old, new = ({one["id"]: one for one in rule_set.rules} for rule_set in (before, after))
    found: dict[str, tuple[Any, Any]] = {
        name: (old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    }
    if before.starter_off != after.starter_off:
        found["starter_off"] = (sorted(before.starter_off), sorted(after.starter_off))
    for name, empty in (("lists", {}), ("note", "")):
        pair = before.pack.get(name, empty), after.pack.get(name, empty)
        if pair[0] != pair[1]:
            found[name] = pair
    return found


def parsed(rule_set: RuleSet) -> RulePack:
    """The community's own pack, read; what was kept was found good before."""
    return parse_pack(dict(rule_set.pack))


def _of(row: RulePackVersion | RulePackDraft) -> RuleSet:
    return RuleSet(frozenset(row.starter_off), row.pack)


def _versions(community_id: uuid.UUID) -> sa.Select[RulePackVersion]:
    return sa.select(RulePackVersion).where(RulePackVersion.community_id == community_id)


def write(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    wanted: RuleSet,
    reason: str,
    based_on: int | None,
) -> RulePackVersion:
    """A new version holding exactly ``wanted``; refusals as ``rule_drafts.publish``."""
    version = newest_version(session, community_id)
    if based_on is not None and based_on != version:
        raise Conflict(f"Somebody put version {version} in force in the meantime", community_id)
    before = read(session, community_id, version)
    differing = changes(before, wanted)
    if not differing:
        raise Invalid.field("rules", "are those in force already")
    made = RulePackVersion(
        community_id=community_id,
        version=version + 1,
        starter_off=sorted(wanted.starter_off),
        pack={**wanted.pack, "version": str(version + 1)},
        reason=reason,
        made_by=actor.name,
    )
    session.add(made)
    session.flush()
    told = differing if len(differing) <= TOLD_CHANGES else {"rules_changed": (None, len(differing))}
    history.record(
        session,
        actor,
        community_id,
        "rules.revised",
        "rule_pack",
        made.id,
        before={name: pair[0] for name, pair in told.items()},
        after={"version": made.version} | {name: pair[1] for name, pair in told.items()},
        why=Why(reason),
    )
    return made
