"""The draft of a community's rules: changed a rule at a time or as a whole, then put in force or discarded.

A draft scores nothing. Its ``etag`` rises with every change, so that two editors do not overwrite each other.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.classify.rulepack import starter_pack
from app.core.classify.rules import RULES_MAX, parse_pack
from app.core.db import serialise
from app.core.errors import Conflict, Invalid, NotFound
from app.core.models import RulePackDraft, RulePackVersion
from app.core.permissions import Actor, Permission, require
from app.core.rulesets import versions
from app.core.rulesets.versions import RuleSet


def put_rule(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    rule: Mapping[str, Any],
    *,
    instead_of: str | None = None,
    etag: int | None = None,
) -> RuleSet:
    """Put a rule into the draft, at the end or in place of another.

    Raises:
        Invalid: with one problem for each field that cannot be kept, named as in `classify.rules`.
        NotFound: the rule that it should replace is not there.
        Conflict: the draft is no longer the one of ``etag``.
    """
    was = _working(session, actor, community_id, etag)
    if instead_of is None:
        kept = [*was.rules, rule]
    elif was.rule(instead_of) is not None:
        kept = [rule if one["id"] == instead_of else one for one in was.rules]
    else:
        raise NotFound("rule")
    return _keep(session, actor, community_id, replace(was, pack={**was.pack, "rules": kept}))


def remove_rule(
    session: Session, actor: Actor, community_id: uuid.UUID, rule_id: str, *, etag: int | None = None
) -> RuleSet:
    """Take one of the community's own rules out of the draft; refusals as ``put_rule``."""
    was = _working(session, actor, community_id, etag)
    if was.rule(rule_id) is None:
        raise NotFound("rule")
    kept = [one for one in was.rules if one["id"] != rule_id]
    return _keep(session, actor, community_id, replace(was, pack={**was.pack, "rules": kept}))


def switch_starter(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    rule_ids: Sequence[str],
    on: bool,
    *,
    etag: int | None = None,
) -> RuleSet:
    """Switch rules of the shipped pack off or on, in the draft; refusals as ``put_rule``."""
    was = _working(session, actor, community_id, etag)
    if not set(rule_ids) <= {one.id for one in starter_pack().rules}:
        raise NotFound("rule")
    off = was.starter_off - set(rule_ids) if on else was.starter_off | set(rule_ids)
    return _keep(session, actor, community_id, replace(was, starter_off=off))


def import_pack(
    session: Session, actor: Actor, community_id: uuid.UUID, text: str, *, etag: int | None = None
) -> RuleSet:
    """Make a pack, as JSON text, the draft's own pack in place of the one it had; refusals as ``put_rule``."""
    was = _working(session, actor, community_id, etag)
    if len(text.encode("utf-8", "surrogatepass")) > versions.PACK_MAX_BYTES:
        raise Invalid.field("pack", f"must be at most {versions.PACK_MAX_BYTES // 1024} KB")
    try:
        raw = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise Invalid.field(
            "pack", f"is not JSON: {error.msg} at line {error.lineno}, character {error.colno}"
        ) from None
    except (ValueError, RecursionError):
        raise Invalid.field("pack", "is not JSON that can be read") from None
    parse_pack(raw)
    own = {
        "name": versions.NAME,
        "version": "0",
        "note": raw.get("note", ""),
        "lists": raw.get("lists", {}),
    }
    return _keep(session, actor, community_id, replace(was, pack={**own, "rules": raw["rules"]}))


def discard(session: Session, actor: Actor, community_id: uuid.UUID, *, etag: int | None = None) -> None:
    """Forget the draft. Nothing in force changes."""
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
    """Put the draft in force as a new version: whatever is scored from now on is scored by it.

    Raises:
        Invalid: no reason, or there is nothing to put in force.
        Conflict: ``based_on`` is no longer the version in force, or ``etag`` no longer the draft.
    """
    limits.text(reason, "reason", limits.REASON_MAX)
    wanted = _working(session, actor, community_id, etag)
    made = versions.write(session, actor, community_id, wanted, reason, based_on)
    discard(session, actor, community_id)
    return made


def _working(session: Session, actor: Actor, community_id: uuid.UUID, etag: int | None) -> RuleSet:
    """The draft as it is now, while no other writer changes it."""
    require(actor, Permission.REVISE_POLICY, community_id)
    serialise(session, community_id)
    now = versions.standing(session, actor, community_id)
    if etag is not None and etag != now.etag:
        who = f"{now.changed_by} changed the draft" if now.etag else "The draft was put in force or discarded"
        raise Conflict(f"{who} in the meantime", community_id)
    return now.working


def _keep(session: Session, actor: Actor, community_id: uuid.UUID, wanted: RuleSet) -> RuleSet:
    if len(wanted.rules) > RULES_MAX:
        raise Invalid.field("rules", f"must be at most {RULES_MAX:,}; remove one first")
    limits.storable_tree(wanted.pack, "pack")
    if len(json.dumps(wanted.pack).encode()) > versions.PACK_MAX_BYTES:
        raise Invalid.field("pack", f"must be at most {versions.PACK_MAX_BYTES // 1024} KB")
    versions.parsed(wanted)
    draft = session.get(RulePackDraft, community_id)
    if draft is None:
        draft = RulePackDraft(community_id=community_id, etag=0)
        session.add(draft)
    draft.starter_off, draft.pack = sorted(wanted.starter_off), dict(wanted.pack)
    draft.etag += 1
    draft.changed_by, draft.changed_at = actor.name, clock.now()
    session.flush()
    return wanted
