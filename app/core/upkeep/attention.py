"""What wants an operator: a long or late backlog, a failing webhook, automatic actions that stay paused.

A periodic job looks at each community. A condition that begins is reported once: in the history, by a notice and by
mail to operators, and as the event ``community.attention`` to webhooks that name it. It is reported again only after it
has ended. Rows of ``Attention`` are the reported conditions that last (docs/run/operations.md).
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, texts
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.db import serialise
from app.core.history import chain as history
from app.core.history import notices
from app.core.history.reason import Reason
from app.core.models import Action, Attention, Community, HistoryEntry, Webhook
from app.core.paging import up_to
from app.core.periods import unix
from app.core.permissions import SYSTEM
from app.core.review import conditions
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.vocabulary import AttentionReason
from app.core.webhooks import events, health

ATTENTION_JOB = "attention"
ATTENTION_SECONDS = 300.0
BEGAN = "community.needs_operator"
"""The history entry of a condition that began; of a webhook it is ``WEBHOOK_FAILS``."""
WEBHOOK_FAILS = "webhook.fails"
CALM = 0.5
"""A condition with a limit ends only at this share of it: near the limit it would begin again every few minutes."""
TITLES: Mapping[AttentionReason, str] = {
    AttentionReason.BACKLOG: lazy_gettext("Many reviews wait"),
    AttentionReason.OVERDUE: lazy_gettext("Reviews are late"),
    AttentionReason.PAUSED: lazy_gettext("Automatic actions are still paused"),
    AttentionReason.WEBHOOK_FAILING: lazy_gettext("A webhook fails"),
}
"""What a mail and a notice begin with; the cause in the history says the rest."""
MOST_COUNTED = 10_000
MOST_LATE = 50
"""At most this many late reviews are counted; more are "50 or more"."""

_SINCE_IS_KNOWN = frozenset({AttentionReason.PAUSED, AttentionReason.WEBHOOK_FAILING})
"""Conditions that have ended, too, if what holds now began after what was reported."""

Key = tuple[AttentionReason, uuid.UUID]
"""A condition: its reason, and the webhook or the community it is about."""


@dataclass(frozen=True)
class Condition:
    """A condition that holds now. ``count``: of reviews or failures, at most ``MOST_COUNTED``; None counts nothing.

    ``limit`` is the setting that it has passed. ``begins``: whether it is bad enough to be reported; a reported
    condition lasts until it is clearly better.
    """

    since: datetime
    count: int | None
    limit: int | None
    begins: bool


def communities_to_look_at(session: Session) -> Sequence[uuid.UUID]:
    """All communities but archived ones, and those with conditions that are to be ended."""
    reported = sa.select(Attention.community_id)
    which = sa.or_(Community.archived_at.is_(None), Community.id.in_(reported))
    return session.scalars(sa.select(Community.id).where(which).order_by(Community.id)).all()


def update(session: Session, community_id: uuid.UUID) -> list[HistoryEntry]:
    """Tell the conditions that have begun, and forget those that have ended. Return the new history entries.

    The community's lock makes sure that of several processes only one tells. Idempotent.
    """
    serialise(session, community_id)
    community = session.get_one(Community, community_id, populate_existing=True)
    begun, ended = _changes(session, community)
    for row in ended:
        session.delete(row)
    session.flush()  # one of them may begin again, under the same key
    now = clock.now()
    for (reason, subject_id), condition in begun.items():
        session.add(
            Attention(
                community_id=community_id,
                reason=reason,
                subject_id=subject_id,
                since=condition.since,
                notified_at=now,
            )
        )
    session.flush()
    return [_notify(session, community, key, condition) for key, condition in begun.items()]


def _changes(session: Session, community: Community) -> tuple[Mapping[Key, Condition], Sequence[Attention]]:
    """The conditions to report, and the reported ones that have ended."""
    lasting = {
        (row.reason, row.subject_id): row
        for row in session.scalars(sa.select(Attention).where(Attention.community_id == community.id))
    }
    holding = _conditions(session, community) if community.archived_at is None else {}
    ended = {
        key: row
        for key, row in lasting.items()
        if key not in holding or (key[0] in _SINCE_IS_KNOWN and row.since < holding[key].since)
    }
    begun = {key: one for key, one in holding.items() if one.begins and (key not in lasting or key in ended)}
    return begun, list(ended.values())


def _conditions(session: Session, community: Community) -> Mapping[Key, Condition]:
    settings = community_settings.for_community(community, community_settings.defaults(session))
    found = {
        AttentionReason.BACKLOG: _backlog(session, community, settings),
        AttentionReason.OVERDUE: _overdue(session, community, settings),
        AttentionReason.PAUSED: _paused(community, settings),
    }
    of_community: dict[Key, Condition] = {
        (reason, community.id): one for reason, one in found.items() if one is not None
    }
    return {**of_community, **_failing_webhooks(session, community)}


def _backlog(session: Session, community: Community, settings: CommunitySettings) -> Condition | None:
    limit = settings.backlog_alert
    if limit is None:
        return None
    rows = _awake(community).order_by(Action.urgent_at, Action.id)
    count = session.scalar(sa.select(up_to(rows, MOST_COUNTED))) or 0
    if count <= limit * CALM:
        return None
    return Condition(clock.now(), count, limit, begins=count > limit)


def _overdue(session: Session, community: Community, settings: CommunitySettings) -> Condition | None:
    """Reviews that have waited several times as long as their category's target time."""
    limit, now = settings.overdue_alert, clock.now()
    if limit is None:
        return None
    opened_at = sa.func.coalesce(Action.review_opened_at, Action.created_at)
    target = unix(Action.due_at) - unix(opened_at)
    late = (
        _awake(community)
        .add_columns(
            Action.due_at,
            # The share of its target time that it has waited; a target of 0 minutes counts as one minute.
            ((now.timestamp() - unix(opened_at)) / sa.case((target < 60, 60.0), else_=target)).label("share"),
        )
        .where(conditions.is_past_target(now))
        .order_by(Action.due_at)
        .limit(MOST_COUNTED)
        .subquery()
    )
    # Those that are due first may have long targets: the latest are found by their shares.
    rows = session.execute(
        sa.select(late.c.due_at, late.c.share).order_by(late.c.share.desc(), late.c.due_at).limit(MOST_LATE)
    ).all()
    if not rows or rows[0].share <= limit * CALM:
        return None
    passed = [row for row in rows if row.share > limit]
    since = min(row.due_at for row in passed or rows)
    return Condition(since, len(passed), limit, begins=bool(passed))


def _awake(community: Community) -> sa.Select[Any]:
    """SELECT of the ids of reviews that are not put aside."""
    is_awake = conditions.is_awake(clock.now())
    return conditions.waiting(community.id).where(is_awake).with_only_columns(Action.id)


def _paused(community: Community, settings: CommunitySettings) -> Condition | None:
    since, hours = conditions.paused_since(community), settings.pause_alert_hours
    if since is None or hours is None:
        return None
    return Condition(since, None, hours, begins=clock.now() - since >= timedelta(hours=hours))


def _failing_webhooks(session: Session, community: Community) -> Mapping[Key, Condition]:
    """Webhooks without a success since failures began. ``health`` tells operators about those that it disables."""
    rows = session.scalars(
        sa.select(Webhook).where(
            Webhook.community_id == community.id,
            Webhook.deleted_at.is_(None),
            Webhook.is_active,
            Webhook.failing_since.is_not(None),
        )
    )
    return {
        (AttentionReason.WEBHOOK_FAILING, webhook.id): Condition(
            webhook.failing_since,
            min(webhook.failures, MOST_COUNTED),
            None,
            begins=conditions.is_failing(webhook),
        )
        for webhook in rows
        if webhook.failing_since is not None
    }


def _notify(session: Session, community: Community, key: Key, condition: Condition) -> HistoryEntry:
    reason, subject_id = key
    is_webhook = reason is AttentionReason.WEBHOOK_FAILING
    after: dict[str, Any] = {
        "attention": reason.value,
        "count": condition.count,
        "since": clock.iso(condition.since),
    }
    if condition.limit is not None:
        after["limit"] = condition.limit
    if is_webhook:
        after["url"] = health.history_values(session.get_one(Webhook, subject_id))["url"]
    with community_settings.in_language(session, community.id):  # nobody asked for the mails
        entry = history.record(
            session,
            SYSTEM,
            community.id,
            WEBHOOK_FAILS if is_webhook else BEGAN,
            "webhook" if is_webhook else "community",
            subject_id,
            after=after,
            # Cut at 255 characters, so what matters stands first.
            reason=Reason(cause=sentence(after, UTC).removesuffix(".")),
        )
        notices.notify_attention(session, entry)
    events.emit_attention(session, community, reason, condition.since, condition.count)
    return entry


def sentence(after: Mapping[str, Any], zone: tzinfo) -> str:
    """What a condition is, by the ``after`` of its history entry, with times in this zone."""
    reason, count = AttentionReason(after["attention"]), after.get("count") or 0
    began = datetime.fromisoformat(after["since"]).astimezone(zone)
    since = f"{texts.moment(began)} {began.tzname()}"
    limit = texts.number(after.get("limit") or 0)
    if reason is AttentionReason.BACKLOG:
        return ngettext(
            "%(num)s review waits; the limit is %(limit)s.",
            "%(num)s reviews wait; the limit is %(limit)s.",
            count,
            limit=limit,
        )
    if reason is AttentionReason.OVERDUE and count >= MOST_LATE:
        return _(
            "%(count)s reviews or more have waited more than %(limit)s times the target time.",
            count=texts.number(count),
            limit=limit,
        )
    if reason is AttentionReason.OVERDUE:
        return ngettext(
            "%(num)s review has waited more than %(limit)s times the target time.",
            "%(num)s reviews have waited more than %(limit)s times the target time.",
            count,
            limit=limit,
        )
    if reason is AttentionReason.PAUSED:
        return _("Automatic actions have been paused since %(since)s.", since=since)
    return ngettext(
        "No success since %(since)s, and %(num)s failed attempt: %(url)s.",
        "No success since %(since)s, and %(num)s failed attempts: %(url)s.",
        count,
        since=since,
        url=str(after.get("url", "")).partition("://")[2],
    )
