"""The changes of a community's settings: the part of its history that is not about posts."""

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
    ConnectedService,
    Delivery,
    Event,
    HistoryEntry,
    HistoryText,
    Profile,
    ReasonTemplate,
    Replay,
    Webhook,
)
from app.core.models.history import NOT_ABOUT_POSTS
from app.core.paging import up_to
from app.core.permissions import Actor, Permission, allows, require
from app.core.texts import gettext as _

Entry = tuple[HistoryEntry, HistoryText]


class Area(StrEnum):
    """What a setting is about; each area is one or two pages of the dashboard."""

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
    Area.CLASSIFIERS: ("rule_pack", "service", "learned_model"),
    Area.WEBHOOKS: ("webhook", "delivery", "replay"),
    Area.REASONS: ("reason",),
    Area.KEYS: ("api_key",),
    Area.PEOPLE: ("account", "invitation", "profile", "identity_provider", "strike"),
}
AREA_OF: Mapping[str, Area] = {kind: area for area, kinds in _OBJECTS.items() for kind in kinds}
"""The area of each object type of history entries; posts, notes and ratings have none."""
_NEEDS: Mapping[Area, Permission] = {
    **dict.fromkeys(Area, Permission.SEE_SETTINGS),
    Area.KEYS: Permission.MANAGE_KEYS,
    Area.PEOPLE: Permission.MANAGE_PEOPLE,
}


@dataclass(frozen=True)
class SettingFilter:
    """Filters for a list of changes; empty ones match all. ``since`` is inclusive, ``until`` exclusive.

    ``search`` matches part of a reason, ``actor`` part of an actor's name.
    """

    area: Area | None = None
    search: str = ""
    actor: str = ""
    since: datetime | None = None
    until: datetime | None = None


def areas(actor: Actor, community_id: uuid.UUID) -> list[Area]:
    """The areas whose changes the actor may read; only admins see keys and people."""
    return [area for area in Area if allows(actor, _NEEDS[area], community_id)]


def changes(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    filters: SettingFilter,
    *,
    size: int,
    older_than: int | None = None,
    newer_than: int | None = None,
) -> HistoryPage[Entry]:
    """A page of the changes that match, newest first; two queries however many rows.

    Pages follow the entries' numbers, so that changes made meanwhile neither repeat nor hide a row.

    Raises:
        NotFound, Forbidden: the actor may not see the community's settings.
    """
    statement = _matching(actor, community_id, filters)
    counted = up_to(statement.with_only_columns(HistoryEntry.id), pages.COUNTED)
    count = session.scalar(sa.select(counted)) or 0
    return pages.page(
        session, statement, _entry, count, size=size, older_than=older_than, newer_than=newer_than
    )


def change(session: Session, actor: Actor, entry_id: uuid.UUID) -> Entry:
    """One change of a setting.

    Raises:
        NotFound: unknown, about a post, or in another community.
        Forbidden: the actor may not see its area.
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


def export(
    session: Session, actor: Actor, community_id: uuid.UUID, filters: SettingFilter
) -> Iterator[Entry]:
    """Yield every change that matches, newest first, read in batches. Refusals are raised at the call."""
    return pages.export(session, _matching(actor, community_id, filters), _entry)


def _entry(entry: HistoryEntry, text: HistoryText) -> Entry:
    return entry, text


def with_last_change(
    sentence: str, session: Session, object_type: str, object_id: uuid.UUID, *what: str
) -> str:
    """Return an error message with who made the last change of these kinds to an object, if there is one.

    For example "This reason was changed meanwhile (Sam, 2 min ago)".
    """
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
        return sentence
    minutes = int((clock.now() - row.at).total_seconds() // 60)
    if minutes == 0:
        return _("%(sentence)s (%(name)s, just now)", sentence=sentence, name=row.actor_name)
    return _(
        "%(sentence)s (%(name)s, %(minutes)s min ago)",
        sentence=sentence,
        name=row.actor_name,
        minutes=minutes,
    )


def names(session: Session, entries: Sequence[Entry]) -> Mapping[uuid.UUID, str]:
    """The current names of the people, webhooks, deliveries and reasons that the entries are about, by object id.

    Objects that no longer exist are left out.
    """
    ids = {entry.object_id for entry, _ in entries}
    urls = session.execute(sa.select(Webhook.id, Webhook.url).where(Webhook.id.in_(ids)))
    names_by_id = {object_id: _place(url) for object_id, url in urls}
    sent = (
        sa.select(Delivery.id, Event.name, Webhook.url)
        .join(Event, Event.id == Delivery.event_id)
        .join(Webhook, Webhook.id == Delivery.webhook_id)
        .where(Delivery.id.in_(ids))
    )
    names_by_id |= {object_id: f"{event} to {_place(url)}" for object_id, event, url in session.execute(sent)}
    ranges = session.execute(sa.select(Replay.id, Replay.total).where(Replay.id.in_(ids)))
    names_by_id |= {
        object_id: f"{total:,} {'delivery' if total == 1 else 'deliveries'}" for object_id, total in ranges
    }
    for column, key in (
        (Account.display_name, Account.id),
        (ReasonTemplate.title, ReasonTemplate.id),
        (ConnectedService.name, ConnectedService.id),
        (sa.func.coalesce(Profile.display_name, Profile.platform_user_id), Profile.id),
    ):
        names_by_id |= {
            object_id: name for object_id, name in session.execute(sa.select(key, column).where(key.in_(ids)))
        }
    return names_by_id


def _place(url: str) -> str:
    """A webhook's URL without its query string, which may contain the receiver's token."""
    return url.partition("?")[0]


def _matching(
    actor: Actor, community_id: uuid.UUID, filters: SettingFilter
) -> sa.Select[HistoryEntry, HistoryText]:
    require(actor, Permission.SEE_SETTINGS, community_id)
    open_to = areas(actor, community_id)
    kinds = [kind for area in open_to if filters.area in (None, area) for kind in _OBJECTS[area]]
    statement = (
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(
            HistoryEntry.community_id == community_id,
            HistoryEntry.object_type.in_(kinds),
            # Written out for the index of these few entries.
            sa.text(f"history.{NOT_ABOUT_POSTS}"),
        )
    )
    if filters.search:
        statement = statement.where(HistoryText.reason.icontains(filters.search, autoescape=True))
    if filters.actor:
        statement = statement.where(HistoryText.actor_name.icontains(filters.actor, autoescape=True))
    if filters.since:
        statement = statement.where(HistoryEntry.at >= filters.since)
    if filters.until:
        statement = statement.where(HistoryEntry.at < filters.until)
    return statement
