"""A community's rules: numbered versions, and a draft to edit (docs/moderate/operator.md).

A version lists the rules of the shipped pack that are switched off, and holds the community's own pack. Versions
never change; ``drafts`` changes the draft and publishes it.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.classify import COMMUNITY_RULES, Classifier
from app.core.classify.rulepack import RulePackClassifier
from app.core.classify.rules import RulePack, parse_pack
from app.core.db import serialise
from app.core.errors import Conflict, Invalid, NotFound
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import RulePackDraft, RulePackVersion
from app.core.permissions import Actor, Permission, require
from app.core.recent import Recent
from app.core.texts import gettext as _

PACK_MAX_BYTES = 409_600
SHOWN_VERSIONS = 20
TOLD_CHANGES = 50
"""The most changed rules that history stores in full; of more it stores only their number."""
NAME = "community"


@dataclass(frozen=True)
class RuleSet:
    """A set of rules: the shipped pack without ``starter_off``, and the community's own ``pack``, as JSON."""

    starter_off: frozenset[str] = frozenset()
    pack: Mapping[str, Any] = field(default_factory=lambda: {"name": NAME, "version": "0", "rules": []})

    @property
    def rules(self) -> Sequence[Mapping[str, Any]]:
        rules: Sequence[Mapping[str, Any]] = self.pack["rules"]
        return rules

    def rule(self, rule_id: str) -> Mapping[str, Any] | None:
        return next((rule for rule in self.rules if rule["id"] == rule_id), None)


@dataclass(frozen=True)
class Standing:
    """A community's rules in force, and its draft if there is one.

    ``version`` 0: only the shipped pack. ``etag`` identifies the draft's current state, 0 when there is none.
    """

    version: int
    in_force: RuleSet
    draft: RuleSet | None = None
    etag: int = 0
    changed_by: str = ""

    @property
    def working(self) -> RuleSet:
        """What an editor shows: the draft, or else the rules in force."""
        return self.draft or self.in_force


def newest_version(session: Session, community_id: uuid.UUID) -> int:
    """The number of the version in force, 0 when there is none; one index lookup."""
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
    return _rule_set(row)


def standing(session: Session, actor: Actor, community_id: uuid.UUID) -> Standing:
    """The rules in force, and the draft."""
    require(actor, Permission.REVISE_POLICY, community_id)
    version = newest_version(session, community_id)
    draft = session.get(RulePackDraft, community_id, populate_existing=True)
    in_force = read(session, community_id, version)
    if draft is None:
        return Standing(version, in_force)
    return Standing(version, in_force, _rule_set(draft), draft.etag, draft.changed_by)


def versions(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[RulePackVersion]:
    """The newest versions, newest first: one more than is shown, to compare each with the one before."""
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
    """Put an old version in force again, as a new version; 0 is the shipped pack only.

    Raises as ``drafts.publish``.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    serialise(session, community_id)
    return write(session, actor, community_id, read(session, community_id, version), reason, based_on)


def changes(before: RuleSet, after: RuleSet) -> dict[str, tuple[Any, Any]]:
    """The differences: the id of a rule, "starter_off", "note" or "lists" → (value before, value after)."""
    old, new = ({rule["id"]: rule for rule in rule_set.rules} for rule_set in (before, after))
    differences: dict[str, tuple[Any, Any]] = {
        name: (old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    }
    if before.starter_off != after.starter_off:
        differences["starter_off"] = (sorted(before.starter_off), sorted(after.starter_off))
    for name, empty in (("lists", {}), ("note", "")):
        pair = before.pack.get(name, empty), after.pack.get(name, empty)
        if pair[0] != pair[1]:
            differences[name] = pair
    return differences


def parsed(rule_set: RuleSet) -> RulePack:
    """The community's own pack, parsed; it was validated before it was stored."""
    return parse_pack(dict(rule_set.pack))


def _rule_set(row: RulePackVersion | RulePackDraft) -> RuleSet:
    return RuleSet(frozenset(row.starter_off), row.pack)


def _versions(community_id: uuid.UUID) -> sa.Select[RulePackVersion]:
    return sa.select(RulePackVersion).where(RulePackVersion.community_id == community_id)


def write(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    rule_set: RuleSet,
    reason: str,
    based_on: int | None,
) -> RulePackVersion:
    """Write a new version with exactly this ``rule_set``; raises as ``drafts.publish``."""
    version = newest_version(session, community_id)
    if based_on is not None and based_on != version:
        raise Conflict(_("Version %(version)s was put in force meanwhile", version=version), community_id)
    before = read(session, community_id, version)
    differing = changes(before, rule_set)
    if not differing:
        raise Invalid.field("rules", _("are those in force already"))
    new_version = RulePackVersion(
        community_id=community_id,
        version=version + 1,
        starter_off=sorted(rule_set.starter_off),
        pack={**rule_set.pack, "version": str(version + 1)},
        reason=reason,
        made_by=actor.name,
    )
    session.add(new_version)
    session.flush()
    recorded = differing if len(differing) <= TOLD_CHANGES else {"rules_changed": (None, len(differing))}
    history.record(
        session,
        actor,
        community_id,
        "rules.revised",
        "rule_pack",
        new_version.id,
        before={name: pair[0] for name, pair in recorded.items()},
        after={"version": new_version.version} | {name: pair[1] for name, pair in recorded.items()},
        reason=Reason(reason),
    )
    return new_version


TEXT_SECONDS = 1.0
"""Processor time, in seconds, that a community's own rules may use per text; usual ones need a thousandth of it."""
KEPT = 256
"""The number of communities whose compiled rules a process caches, most recently used."""


class CommunityRules:
    """A cache of compiled rules by community, shared by the threads of a process.

    The database is asked for the version in force for every text, so that a new version takes effect everywhere at
    once.
    """

    def __init__(self) -> None:
        self._kept: Recent[uuid.UUID, tuple[int, Sequence[Classifier], Sequence[Classifier]]] = Recent(KEPT)

    def classifiers(
        self,
        session: Session,
        community_id: uuid.UUID,
        base: Sequence[Classifier],
        version: int | None = None,
    ) -> Sequence[Classifier]:
        """``base`` adapted to this community, by the version of its rules in force: ``version``, or read here.

        Nothing is compiled yet: that happens with the first text.
        """
        if version is None:
            version = newest_version(session, community_id)
        if version == 0:
            return base
        cached = self._kept.get(community_id)
        if cached is not None and cached[0] == version and cached[1] is base:
            return cached[2]
        adapted = combined(base, read(session, community_id, version))
        self._kept.put(community_id, (version, base, adapted))
        return adapted


def combined(base: Sequence[Classifier], rule_set: RuleSet) -> Sequence[Classifier]:
    """``base`` without the switched-off rules of the shipped pack, and with the community's own rules added."""
    off = rule_set.starter_off
    classifiers = [
        item.without_rules(off) if off and isinstance(item, RulePackClassifier) else item for item in base
    ]
    if rule_set.rules:
        classifiers.append(classifier_for(rule_set))
    return classifiers


def classifier_for(rule_set: RuleSet) -> RulePackClassifier:
    """The community's own rules as a classifier. The thresholds decide whether its scores may act without review."""
    categories = frozenset(str(rule["category"]) for rule in rule_set.rules)
    return RulePackClassifier(
        partial(parsed, rule_set), COMMUNITY_RULES, tier1_categories=categories, seconds=TEXT_SECONDS
    )
