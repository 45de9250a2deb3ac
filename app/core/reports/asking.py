"""Reports have people asked: they open a review, bring one forward, or open a second look. They never act.

A review opens once the reports of a post weigh more than the threshold of their category. Reports in the category
``other`` weigh along with each category. Where no category has enough, but all reports together exceed the community's
own threshold, the post goes to the moderators.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, outbox
from app.core.actions import actions, opening
from app.core.actions.moves import make_move
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.history.reason import Reason
from app.core.models import Action, Request, Score
from app.core.notes import notes
from app.core.permissions import SYSTEM
from app.core.reports import sums
from app.core.reports.weighing import Alike, has_both_sides, tally, urgency, weigh
from app.core.requests import following
from app.core.review import reopening
from app.core.texts import lazy_gettext, ngettext
from app.core.thresholds import threshold_sets
from app.core.thresholds.routing import ESCALATED, OTHER, STAFF_TARGET, CategoryRule, Route
from app.core.vocabulary import ActionState, ActionTier, ReopenTo, RequestStatus, ReviewGroup, Verb

WEIGH_JOB = "weigh_reports"
WEIGH_AGAIN = 10.0
"""After how many seconds the reports of a post that is not scored yet are weighed again; then twice as many."""
WEIGH_AT_LATEST = 3_600.0
SECOND_LOOK_REPORTS = 3
SECOND_LOOK_WITHIN = timedelta(days=30)


def may_count(latest: Action | None, weight: float, *, is_newcomer: bool) -> bool:
    """Whether a new report may change anything: one that moves no open review needs no others beside it."""
    if latest is None:
        return True
    return latest.action_state is ActionState.UNDER_REVIEW and weight > 0 and not is_newcomer


def weighed(session: Session, request: Request, latest: Action | None) -> Sequence[Alike]:
    """The open reports that ``weigh_post`` needs: all of them where a review may open, else those that move it."""
    return sums.of_open(session, request.id) if latest is None else sums.of_moving(session, request.id)


def weigh_post(
    session: Session,
    request: Request,
    latest: Action | None,
    before: Sequence[Alike],
    reports: Sequence[Alike],
    *,
    turn: int = 0,
) -> None:
    """Do what follows from a change of the open reports of a post. The community is locked.

    Brings an open review forward; opens one if there is none and the reports weigh enough. A post that is not scored
    yet waits for a job, which is in its ``turn``.
    """
    if latest is not None:
        if latest.action_state is ActionState.UNDER_REVIEW and not sums.has_most(before):
            opening.hasten(session, latest, request.extra, urgency(before), urgency(reports))
        return
    if request.scored_at is None and request.status in (RequestStatus.PENDING, RequestStatus.IN_PROGRESS):
        _weigh_later(session, request, turn)
        return
    version, rules = _rules(session, request.community_id)
    settings = community_settings.read(session, request.community_id)
    found = route_of(reports, rules, settings.report_threshold)
    if found is not None:
        _open(session, request, found, version, reports)


def weigh_scored(session: Session, request_id: uuid.UUID, turn: int) -> None:
    """Open the review of a post that was reported before it was scored, if its reports weigh enough.

    Where it was found to be another's text since, its reports are weighed there.
    """
    request = session.get(Request, request_id)
    if request is None:
        return
    serialise(session, request.community_id)
    session.refresh(request)
    request = following.item_of(session, request)
    if request.withdrawn_at is None and actions.live_for(session, request.id) is None:
        weigh_post(session, request, None, (), sums.of_open(session, request.id), turn=turn + 1)


def ask_moderators(session: Session, request: Request) -> Action | None:
    """Open a review of a reported post at once, in the category that most reports name; None if it has an action."""
    if actions.live_for(session, request.id) is not None:
        return None
    reports = sums.of_open(session, request.id)
    version, rules = _rules(session, request.community_id)
    by_name = {rule.name: rule for rule in rules}
    named = next((by_name[name] for name in tally(reports).categories if name in by_name), None)
    return _open(session, request, _to_staff() if named is None else _route(named), version, reports)


def route_of(reports: Sequence[Alike], rules: Sequence[CategoryRule], together: float) -> Route | None:
    """Whom reports have asked, and about what; None while they weigh too little. Pure.

    ``together``: the threshold of all reports, whatever they name.
    """
    reached = []
    for rule in rules:
        own = [alike for alike in reports if alike.category == rule.name]
        if not own or not rule.enabled or rule.observe_only or rule.report_threshold is None:
            continue
        weight = weigh(own if rule.name == OTHER else [*own, *_named(reports, OTHER)])
        if weight > rule.report_threshold:
            reached.append((rule.severity, weight, rule))
    if reached:
        return _route(max(reached, key=lambda found: (found[0], found[1], found[2].name))[2])
    return _to_staff() if weigh(reports) > together else None


def _named(reports: Sequence[Alike], category: str) -> list[Alike]:
    return [alike for alike in reports if alike.category == category]


def _route(rule: CategoryRule) -> Route:
    return Route(
        ActionTier.CONSENSUS,
        rule.name,
        0.0,
        rule.tier2,
        rule.tier2_action,
        rule.review_group,
        rule.severity,
        rule.target_minutes,
    )


def _to_staff() -> Route:
    return Route(ActionTier.CONSENSUS, ESCALATED, 0.0, 0.0, Verb.HIDE, ReviewGroup.STAFF, 0, STAFF_TARGET)


def _open(session: Session, request: Request, route: Route, version: int, reports: Sequence[Alike]) -> Action:
    """Open the review, with the post's scores as evidence and the reports, in words, as its cause."""
    scores = _scores(session, request.id)
    score = scores.get(route.category, 0.0)
    counted = tally(reports)
    with community_settings.in_language(session, request.community_id):
        cause = counted.words
    if request.status is not RequestStatus.IN_PROGRESS and request.status is not RequestStatus.FAILED:
        make_move(session, SYSTEM, request, RequestStatus.IN_PROGRESS, reason=Reason(cause=cause))
    is_named = route.category != ESCALATED
    meaning = threshold_sets.describe(route.category) if is_named else lazy_gettext("Members reported it")
    note = notes.write_rationale(session, request, route.category, meaning, route.verb)
    request.note_id = note.id
    session.flush()
    evidence: dict[str, Any] = {
        "score": score,
        "category": route.category,
        "labels": [route.category],
        "scores": scores,
        "details": {
            "tier": 2,
            "reports": {"number": counted.number, "right": counted.right},
            "config_version": version,
            "content_sha256": request.content_sha256,
        },
    }
    return opening.open_for(
        session,
        request,
        replace(route, score=score),
        evidence,
        note,
        cause=cause,
        reports=urgency(reports),
    )


def _scores(session: Session, request_id: uuid.UUID) -> Mapping[str, float]:
    rows = session.execute(
        sa.select(Score.category, Score.score)
        .where(Score.request_id == request_id, Score.is_highest)
        .order_by(Score.category)
    )
    return {category: round(score, 4) for category, score in rows}


def _rules(session: Session, community_id: uuid.UUID) -> tuple[int, Sequence[CategoryRule]]:
    version_id = session.scalar(sa.select(threshold_sets.in_force(community_id)))
    if version_id is None:
        raise RuntimeError("every community has thresholds")
    return threshold_sets.rules_of(session, version_id)


def categories(session: Session, community_id: uuid.UUID) -> list[str]:
    """The categories that a report may name: those of the community, and ``other``."""
    return list(dict.fromkeys([*(rule.name for rule in _rules(session, community_id)[1]), OTHER]))


def second_look(session: Session, request: Request, dismissed: Action | None) -> Action | None:
    """Reopen a dismissal if three reporters of both sides object to it within 30 days; None if they do not."""
    if dismissed is None or dismissed.action_state is not ActionState.DISMISSED:
        return None
    if clock.now() > (dismissed.dismissed_at or dismissed.updated_at) + SECOND_LOOK_WITHIN:
        return None
    # Those that had it reopened before have been heard.
    since = dismissed.dismissed_at if dismissed.reopens_id is not None else None
    late = sums.of_late(session, request.id, since)
    if tally(late).number < SECOND_LOOK_REPORTS or not has_both_sides(late):
        return None
    if reopening.refusal(session, dismissed, request) is not None:
        return None
    if following.open_review(session, request) is not None:
        return None  # another text of the post is under review
    to = ReopenTo.STAFF if dismissed.review_group is ReviewGroup.STAFF else ReopenTo.COMMUNITY
    with community_settings.in_language(session, request.community_id):
        cause = ngettext(
            "%(num)s report after the decision, from both sides",
            "%(num)s reports after the decision, from both sides",
            tally(late).number,
        )
    return reopening.reopen(session, SYSTEM, dismissed, to, reason=Reason(cause, cause=cause))


def _weigh_later(session: Session, request: Request, turn: int = 0) -> None:
    outbox.enqueue(
        session,
        WEIGH_JOB,
        {"request_id": str(request.id), "turn": turn},
        community_id=request.community_id,
        delay=min(WEIGH_AGAIN * 2**turn, WEIGH_AT_LATEST),
        key=f"{request.id}:{turn}",
    )
