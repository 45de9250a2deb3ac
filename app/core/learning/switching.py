"""Switches learning on and off, and sets who puts new versions in force and how many posts are sampled."""

import uuid
from typing import Any

from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.db import serialise
from app.core.errors import Invalid
from app.core.history import chain as history
from app.core.history.why import Why
from app.core.learning import erasure, sampling, versions
from app.core.permissions import Actor, Permission, require


def switch(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    *,
    is_on: bool,
    asks_first: bool,
    sample_share: float = 0.0,
    reason: str,
) -> None:
    """Switch learning on or off, and choose whether an operator puts new versions in force.

    ``sample_share``: the share of the posts below every threshold that raters are asked about, 0.001 to 0.05; 0: none.

    Switched off, no version scores and none is trained; the versions stay. To let the service put versions in force by
    itself also ends what a way back has fixed.

    Raises:
        Invalid: the reason is missing, the share is out of bounds, or nothing would change.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    if sample_share and not sampling.LEAST_SHARE <= sample_share <= sampling.MOST_SHARE:
        raise Invalid.field("sample_share", "must be 0, or 0.001 to 0.05")
    serialise(session, community_id)
    learning = versions.settings_row(session, community_id)
    fixed = [row for row in versions.rows(session, community_id) if row.asks_first]
    before: dict[str, Any] = {"learning": learning.is_on, "asks_first": learning.asks_first or bool(fixed)}
    after: dict[str, Any] = {"learning": is_on, "asks_first": asks_first}
    if sample_share != learning.sample_share:
        before["samples"], after["samples"] = _percent(learning.sample_share), _percent(sample_share)
    if before == after:
        raise Invalid.field("learning", "is set like that already")
    learning.is_on, learning.asks_first = is_on, asks_first
    learning.sample_share = sample_share
    learning.sample_key = learning.sample_key or sampling.new_key()
    if not is_on or not sample_share:
        sampling.end_all(session, community_id)
    if not asks_first:
        for row in fixed:
            row.asks_first = False
    if is_on:
        learning.due_at = clock.now()
    else:
        # Nothing is trained from now on, so no training would replace a version with erased content.
        for row in versions.rows(session, community_id):
            erasure.drop_erased(session, row)
    session.flush()
    history.record(
        session,
        actor,
        community_id,
        "learning.switched",
        "learned_model",
        community_id,
        before=before,
        after=after,
        why=Why(reason),
    )


def _percent(share: float) -> str:
    return f"{share * 100:g} %" if share else "none"
