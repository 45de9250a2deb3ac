"""Puts posts alike of one category into one wave as their reviews open (docs/moderate/waves.md)."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.classify import likeness
from app.core.ids import new_id
from app.core.models import Action, PostFacts, Wave
from app.core.requests import post_facts
from app.core.requests.post_facts import ReadFacts
from app.core.review import waves
from app.core.vocabulary import ActionState

LIKE_FIRST = 0.3
"""A post of a wave shares at least this with the wave's first post (``likeness.ALIKE`` with another of its posts)."""


@dataclass(frozen=True)
class Joined:
    """The wave of a review that opens. ``is_decided``: it is to be decided as the wave was."""

    wave: Wave
    is_decided: bool = False


class _Earlier(NamedTuple):
    """A review of a post alike; ``action_id`` None: it opens in this transaction too."""

    request_id: uuid.UUID
    action_id: uuid.UUID | None
    wave_id: uuid.UUID | None
    category: str | None
    is_open: bool


def assign(session: Session, opening: Sequence[tuple[ReadFacts, str]]) -> dict[uuid.UUID, Joined]:
    """The waves of posts of one community whose reviews open, by request; of a post that is like no other, none.

    A post joins a wave if it is alike one of its posts and still like the first, so a wave never drifts. The caller
    holds the community's lock and has stored the facts. Six statements for any number of posts, and two more for each
    new wave.
    """
    near = post_facts.alike(session, [facts for facts, _ in opening])
    if not any(near.values()):
        return {}
    earlier = _reviews(session, set().union(*near.values()))
    known = _waves(session, {one.wave_id for one in earlier.values() if one.wave_id is not None})
    signatures = _signatures(session, {wave.request_id for wave in known.values()})
    signatures |= {facts.request_id: facts.signature for facts, _ in opening}
    joined: dict[uuid.UUID, Joined] = {}
    heads: dict[uuid.UUID, uuid.UUID] = {}
    for facts, category in opening:
        reviews = [
            earlier[post_id]
            for post_id in near.get(facts.request_id, ())
            if post_id in earlier and earlier[post_id].category == category
        ]
        found = next((one for review in reviews if (one := _joined(review, facts, known, signatures))), None)
        alone = next((review for review in reviews if review.wave_id is None and review.is_open), None)
        if found is None and alone is not None:
            found = Joined(_new(session, facts.community_id, alone))
            known[found.wave.id] = found.wave
            earlier[alone.request_id] = alone._replace(wave_id=found.wave.id)
            if alone.action_id is not None:
                heads[alone.action_id] = found.wave.id
                signatures |= _signatures(session, {alone.request_id})
            else:
                joined[alone.request_id] = found
        if found is not None:
            joined[facts.request_id] = found
        wave_id = joined[facts.request_id].wave.id if facts.request_id in joined else None
        earlier[facts.request_id] = _Earlier(facts.request_id, None, wave_id, category, is_open=True)
    session.flush()
    _name_heads(session, heads)
    return joined


def _joined(
    review: _Earlier,
    facts: ReadFacts,
    known: dict[uuid.UUID, Wave],
    signatures: dict[uuid.UUID, bytes | None],
) -> Joined | None:
    wave = known.get(review.wave_id) if review.wave_id is not None else None
    if wave is None or wave.request_id not in signatures:
        return None
    if not likeness.are_alike(facts.signature, [signatures[wave.request_id]], LIKE_FIRST)[0]:
        return None
    if review.is_open:
        return Joined(wave)
    return Joined(wave, is_decided=True) if waves.decides_later_posts(wave, clock.now()) else None


def _reviews(session: Session, request_ids: set[uuid.UUID]) -> dict[uuid.UUID, _Earlier]:
    """The reviews of these posts that are open, or part of a wave."""
    rows = session.execute(
        sa.select(Action.request_id, Action.id, Action.wave_id, Action.category, Action.action_state)
        .where(Action.request_id.in_(request_ids), Action.restores_id.is_(None), Action.strike_step.is_(None))
        .order_by(Action.id)
    )
    return {row[0]: _Earlier(*row[:4], is_open=row[4] is ActionState.UNDER_REVIEW) for row in rows}


def _waves(session: Session, wave_ids: set[uuid.UUID]) -> dict[uuid.UUID, Wave]:
    if not wave_ids:
        return {}
    return {wave.id: wave for wave in session.scalars(sa.select(Wave).where(Wave.id.in_(wave_ids)))}


def _signatures(session: Session, request_ids: set[uuid.UUID]) -> dict[uuid.UUID, bytes | None]:
    if not request_ids:
        return {}
    rows = session.execute(
        sa.select(PostFacts.request_id, PostFacts.signature).where(PostFacts.request_id.in_(request_ids))
    )
    return {request_id: signature for request_id, signature in rows}


def _new(session: Session, community_id: uuid.UUID, first: _Earlier) -> Wave:
    wave = Wave(
        id=new_id(),
        community_id=community_id,
        request_id=first.request_id,
        category=first.category,
        joins=False,
    )
    session.add(wave)
    return wave


def _name_heads(session: Session, heads: dict[uuid.UUID, uuid.UUID]) -> None:
    """Give reviews that opened before their wave; nothing else about them changes."""
    if not heads:
        return
    table = Action.metadata.tables[Action.__tablename__]
    statement = (
        sa.update(table)
        .where(table.c.id == sa.bindparam("action"))
        .values(wave_id=sa.bindparam("wave"), updated_at=table.c.updated_at)
    )
    session.connection().execute(
        statement, [{"action": action_id, "wave": wave_id} for action_id, wave_id in heads.items()]
    )
