"""Every setting change of a community, whoever made it and wherever: the part of its history that is about no post."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.errors import NotFound
from app.core.history import pages
from app.core.history.pages import HistoryPage
from app.core.models import (
    Account,
    Delivery,
    Event,
    HistoryEntry,
    HistoryText,
    ReasonTemplate,
    Replay,
    Webhook,
)
from app.core.permissions import Actor, Permission, allows, require

Entry = tuple[HistoryEntry, HistoryText]


class Area(StrEnum):
    """What a setting is about; each is a page of the dashboard, or two."""

    COMMUNITY = "community"
    THRESHOLDS = "thresholds"
    CLASSIFIERS = "classifiers"
    WEBHOOKS = "webhooks"
    REASONS = "reasons"
    KEYS = "keys"
    PEOPLE = "people"


_OBJECTS: Mapping[Area, tuple[str, ...]] = {
    Area.COMMUNITY: ("community", "overturn", "filter"),
    Area.THRESHOLDS: ("policy",),
    Area.CLASSIFIERS: ("rule_pack",),
    Area.WEBHOOKS: ("webhook", "delivery", "replay"),
    Area.REASONS: ("reason",),
    Area.KEYS: ("api_key",),
    Area.PEOPLE: ("account", "invitation", "profile"),
}
AREA_OF: Mapping[str, Area] = {kind: area for area, kinds in _OBJECTS.items() for kind in kinds}
"""The area of each type of object that a history entry may be about; posts, notes and ratings have none."""
_NEEDS: Mapping[Area, Permission] = {
    **dict.fromkeys(Area, Permission.SEE_SETTINGS),
    Area.KEYS: Permission.MANAGE_KEYS,
    Area.PEOPLE: Permission.MANAGE_PEOPLE,
}


@dataclass(frozen=True)
class SettingFilter:
    """Which changes are wanted; empty means all. ``since`` is inclusive, ``until`` exclusive.

    ``search`` finds words of the reasons given, ``actor`` parts of a name.
    """

    area: Area | None = None
    search: str = ""
    actor: str = ""
    since: datetime | None = None
    until: datetime | None = None


def areas(actor: Actor, community_id: uuid.UUID) -> list[Area]:
    """The areas whose changes the actor may read: keys and people are an admin's."""
    return [area for area in Area if allows(actor, _NEEDS[area], community_id)]


def changes(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    wanted: SettingFilter,
    *,
    size: int,
    older_than: int | None = None,
    newer_than: int | None = None,
) -> HistoryPage[Entry]:
    """A page of the changes that match, newest first; two queries however many rows.

    Pages follow the entries' numbers, so changes made meanwhile neither repeat nor hide a row.

    Raises:
        NotFound, Forbidden: the community's settings are not the actor's to see.
    """
    statement = _matching(actor, community_id, wanted)
    count = pages.counted(session, statement.with_only_columns(HistoryEntry.id))
    return pages.page(
        session, statement, _entry, count, size=size, older_than=older_than, newer_than=newer_than
    )


def change(session: Session, actor: Actor, entry_id: uuid.UUID) -> Entry:
    """One change of a setting.

    Raises:
        NotFound: unknown, about a post, or another community's.
        Forbidden: its area is not the actor's to see.
    """
    row = session.execute(
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(HistoryEntry.id == entry_id, HistoryEntry.object_type.in_(AREA_OF))
    ).first()
    if row is None:
        raise NotFound("entry")
    require(actor, _NEEDS[AREA_OF[row[0].object_type]], row[0].community_id, "entry")
    return row[0], row[1]


def export(session: Session, actor: Actor, community_id: uuid.UUID, wanted: SettingFilter) -> Iterator[Entry]:
    """Every change that matches, newest first, read in batches. Refusals are raised at the call."""
    return pages.export(session, _matching(actor, community_id, wanted), _entry)


def _entry(entry: HistoryEntry, text: HistoryText) -> Entry:
    return entry, text


def by_whom(session: Session, object_type: str, object_id: uuid.UUID, *what: str) -> str:
    """Who last did one of these to an object, and when: " (Sam, 2 min ago)", for a refusal; empty when nobody did."""
    row = session.execute(
        sa.select(HistoryText.actor_name, HistoryEntry.at)
        .join(HistoryEntry, HistoryEntry.id == HistoryText.entry_id)
        .where(
            HistoryEntry.object_type == object_type,
            HistoryEntry.object_id == object_id,
            HistoryEntry.what.in_(what),
        )
        .order_by(HistoryEntry.number.desc())
        .limit(1)
    ).first()
    if row is None:
        return ""
    minutes = int((clock.now() - row.at).total_seconds() // 60)
    return f" ({row.actor_name}, {f'{minutes} min ago' if minutes else 'just now'})"


def names(session: Session, entries: Sequence[Entry]) -> Mapping[uuid.UUID, str]:
    """What the people, webhooks, deliveries and reasons that these entries are about are called now, by id.

    What is no longer there has no name.
    """
    ids = {entry.object_id for entry, _ in entries}
    urls = session.execute(sa.select(Webhook.id, Webhook.url).where(Webhook.id.in_(ids)))
    found = {one: _place(url) for one, url in urls}
    sent = (
        sa.select(Delivery.id, Event.name, Webhook.url)
        .join(Event, Event.id == Delivery.event_id)
        .join(Webhook, Webhook.id == Delivery.endpoint_id)
        .where(Delivery.id.in_(ids))
    )
    found |= {one: f"{event} to {_place(url)}" for one, event, url in session.execute(sent)}
    ranges = session.execute(sa.select(Replay.id, Replay.total).where(Replay.id.in_(ids)))
    found |= {one: f"{total:,} {'delivery' if total == 1 else 'deliveries'}" for one, total in ranges}
    for column, key in (
        (Account.display_name, Account.id),
        (ReasonTemplate.title, ReasonTemplate.id),
    ):
        found |= {one: name for one, name in session.execute(sa.select(key, column).where(key.in_(ids)))}
    return found


def _place(url: str) -> str:
    """A webhook's address without its query string, which may hold the receiver's token."""
    return url.partition("?")[0]


def _matching(
    actor: Actor, community_id: uuid.UUID, wanted: SettingFilter
) -> sa.Select[HistoryEntry, HistoryText]:
    require(actor, Permission.SEE_SETTINGS, community_id)
    open_to = areas(actor, community_id)
    kinds = [kind for area in open_to if wanted.area in (None, area) for kind in _OBJECTS[area]]
    statement = (
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(HistoryEntry.community_id == community_id, HistoryEntry.object_type.in_(kinds))
    )
    if wanted.search:
        statement = statement.where(HistoryText.reason.icontains(wanted.search, autoescape=True))
    if wanted.actor:
        statement = statement.where(HistoryText.actor_name.icontains(wanted.actor, autoescape=True))
    if wanted.since:
        statement = statement.where(HistoryEntry.at >= wanted.since)
    if wanted.until:
        statement = statement.where(HistoryEntry.at < wanted.until)
    return statement
