"""The draft of a community's rules: changed rule by rule or as a whole, then published or discarded.

A draft is not used for scoring. Its ``etag`` increases with every change, so that two editors do not overwrite each
other.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.classify.rulepack import starter_pack
from app.core.classify.rules import parse_pack
from app.core.db import serialise
from app.core.errors import Conflict, Invalid, NotFound
from app.core.models import RulePackDraft, RulePackVersion
from app.core.permissions import Actor, Permission, require
from app.core.rulesets import versions
from app.core.rulesets.versions import RuleSet
from app.core.texts import gettext as _


def put_rule(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    rule: Mapping[str, Any],
    *,
    instead_of: str | None = None,
    etag: int | None = None,
) -> RuleSet:
    """Add a rule to the draft, or replace the one with the id ``instead_of``.

    Raises:
        Invalid: with one problem for each invalid field, named as in `classify.rules`.
        NotFound: there is no rule to replace.
        Conflict: ``etag`` is no longer the draft's.
    """
    current = _working(session, actor, community_id, etag)
    if instead_of is None:
        new_rules = [*current.rules, rule]
    elif current.rule(instead_of) is not None:
        new_rules = [rule if existing["id"] == instead_of else existing for existing in current.rules]
    else:
        raise NotFound("rule")
    return _keep(session, actor, community_id, replace(current, pack={**current.pack, "rules": new_rules}))


def remove_rule(
    session: Session, actor: Actor, community_id: uuid.UUID, rule_id: str, *, etag: int | None = None
) -> RuleSet:
    """Remove one of the community's own rules from the draft; raises as ``put_rule``."""
    current = _working(session, actor, community_id, etag)
    if current.rule(rule_id) is None:
        raise NotFound("rule")
    remaining = [rule for rule in current.rules if rule["id"] != rule_id]
    return _keep(session, actor, community_id, replace(current, pack={**current.pack, "rules": remaining}))


def switch_starter(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    rule_ids: Sequence[str],
    on: bool,
    *,
    etag: int | None = None,
) -> RuleSet:
    """Switch rules of the shipped pack on or off, in the draft; raises as ``put_rule``."""
    current = _working(session, actor, community_id, etag)
    if not set(rule_ids) <= {rule.id for rule in starter_pack().rules}:
        raise NotFound("rule")
    off = current.starter_off - set(rule_ids) if on else current.starter_off | set(rule_ids)
    return _keep(session, actor, community_id, replace(current, starter_off=off))


def import_pack(
    session: Session, actor: Actor, community_id: uuid.UUID, text: str, *, etag: int | None = None
) -> RuleSet:
    """Replace the draft's own pack by a pack given as JSON text; raises as ``put_rule``."""
    current = _working(session, actor, community_id, etag)
    if len(text.encode("utf-8", "surrogatepass")) > versions.PACK_MAX_BYTES:
        raise Invalid.field("pack", _("must be at most %(size)s KB", size=versions.PACK_MAX_BYTES // 1024))
    try:
        raw = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise Invalid.field(
            "pack",
            _(
                "is not JSON: %(why)s at line %(line)s, character %(character)s",
                why=error.msg.removesuffix(" at"),
                line=error.lineno,
                character=error.colno,
            ),
        ) from None
    except (ValueError, RecursionError):
        raise Invalid.field("pack", _("is not JSON that can be read")) from None
    parse_pack(raw)
    own = {"name": versions.NAME, "version": "0", "note": raw.get("note", ""), "lists": raw.get("lists", {})}
    return _keep(session, actor, community_id, replace(current, pack={**own, "rules": raw["rules"]}))


def discard(session: Session, actor: Actor, community_id: uuid.UUID, *, etag: int | None = None) -> None:
    """Delete the draft. The version in force does not change."""
    _working(session, actor, community_id, etag)
    draft = session.get(RulePackDraft, community_id)
    if draft is not None:
        session.delete(draft)
        session.flush()


def publish(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    reason: str,
    *,
    based_on: int | None = None,
    etag: int | None = None,
) -> RulePackVersion:
    """Put the draft in force as a new version, which scores all content from now on.

    Raises:
        Invalid: the reason is missing, or the draft changes nothing.
        Conflict: ``based_on`` is no longer the version in force, or ``etag`` no longer the draft's.
    """
    limits.text(reason, "reason", limits.REASON_MAX)
    draft = _working(session, actor, community_id, etag)
    version = versions.write(session, actor, community_id, draft, reason, based_on)
    discard(session, actor, community_id)
    return version


def _working(session: Session, actor: Actor, community_id: uuid.UUID, etag: int | None) -> RuleSet:
    """Lock the community and return its current draft, or the rules in force without one."""
    require(actor, Permission.REVISE_POLICY, community_id)
    serialise(session, community_id)
    now = versions.standing(session, actor, community_id)
    if etag is not None and etag != now.etag:
        if not now.etag:
            raise Conflict(_("The draft was put in force or discarded in the meantime"), community_id)
        raise Conflict(_("%(name)s changed the draft in the meantime", name=now.changed_by), community_id)
    return now.working


def _keep(session: Session, actor: Actor, community_id: uuid.UUID, rule_set: RuleSet) -> RuleSet:
    limits.room(limits.RULES, len(rule_set.rules) - 1, "rules")
    limits.storable_tree(rule_set.pack, "pack")
    if len(json.dumps(rule_set.pack).encode()) > versions.PACK_MAX_BYTES:
        raise Invalid.field("pack", _("must be at most %(size)s KB", size=versions.PACK_MAX_BYTES // 1024))
    versions.parsed(rule_set)
    draft = session.get(RulePackDraft, community_id)
    if draft is None:
        draft = RulePackDraft(community_id=community_id, etag=0)
        session.add(draft)
    draft.starter_off, draft.pack = sorted(rule_set.starter_off), dict(rule_set.pack)
    draft.etag += 1
    draft.changed_by, draft.changed_at = actor.name, clock.now()
    session.flush()
    return rule_set
