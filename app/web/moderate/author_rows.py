"""Rows of an author's timeline, ready to show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import url_for

from app.core import texts
from app.core.models import Action, Report, Strike
from app.core.review.author_timeline import Entry
from app.core.texts import gettext as _
from app.core.texts import ngettext
from app.core.vocabulary import ActionState, ActionType, ReportState
from app.web.categories import HIDDEN, category_name, reason_word
from app.web.filters import full_time, review_state
from app.web.item.reporting import STATES
from app.web.item.silence_forms import length_words
from app.web.item.timeline import DONE_TO_POST
from app.web.veils import is_veiled


@dataclass(frozen=True)
class Row:
    """A row of the timeline, ready to show. ``kind`` is the word before it."""

    at: datetime
    kind: str
    icon: str
    text: str = ""
    url: str | None = None
    by: str = ""
    lines: Sequence[Mapping[str, str]] = ()
    reports: str = ""
    points: int = 0
    detail: str = ""


def row_of(entry: Entry) -> Row:
    if entry.strike is not None:
        return _strike_row(entry.at, entry.strike)
    if entry.note is not None:
        return Row(
            entry.at,
            _("Note"),
            "pencil",
            entry.note.text or _("Note taken back"),
            by=entry.note.account_name,
        )
    if entry.report is not None:
        return _report_row(entry.at, entry.report)
    return _post_row(entry)


def _strike_row(at: datetime, strike: Strike) -> Row:
    lifted = (
        _("Lifted by %(who)s: %(why)s", who=strike.lifted_by_name, why=strike.lift_reason)
        if strike.lifted_at
        else ""
    )
    return Row(
        at,
        ngettext("Strike, %(num)s point", "Strike, %(num)s points", strike.points),
        "flag",
        strike.reason,
        by=strike.account_name,
        detail=lifted,
    )


def _report_row(at: datetime, report: Report) -> Row:
    what = _("Reported a post: %(category)s", category=reason_word(report.category))
    return Row(at, what, "flag", report.text or "", detail=f"{STATES[report.state]}")


def _post_row(entry: Entry) -> Row:
    post = entry.post
    assert post is not None  # noqa: S101 - every other kind of entry was shown before
    is_hidden = any(is_veiled(action.category) for action in entry.actions)
    newest = entry.actions[-1] if entry.actions else None
    return Row(
        post.platform_timestamp or entry.at,
        _("Post"),
        "message-square",
        HIDDEN if is_hidden else post.content,
        url=url_for("web.item", action_id=newest.id) if newest is not None else None,
        lines=[_line(action) for action in entry.actions],
        reports=_reports(entry.reports),
        points=entry.points,
    )


def _line(action: Action) -> dict[str, str]:
    """What was done because of a post: the words, the state's badge, and the item's URL."""
    words = DONE_TO_POST[action.action_type][0]
    if action.applied_at is None:
        words = {
            ActionType.WARN: _("Warning"),
            ActionType.SILENCE: _("Silence"),
            ActionType.DELETE: _("Deletion"),
            ActionType.HIDE: _("Hiding"),
        }.get(action.action_type, words)
    if action.strike_step is not None:
        words = _("%(done)s, because of strikes", done=words)
    elif action.filed_under:
        words += f", {texts.in_sentence(category_name(action.filed_under))}"
    detail = ""
    if action.action_type is ActionType.SILENCE and action.applied_at is not None:
        detail = (
            _("ended %(at)s", at=full_time(action.ended_at))
            if action.ended_at
            else length_words(action.until)
        )
    elif action.retro_review_at is not None and action.action_state is not ActionState.RETRO_REVIEW:
        detail = _("after a second look")
    url = url_for("web.item", action_id=action.id)
    return {"words": words, "state": review_state(action), "url": url, "detail": detail}


def _reports(counts: Mapping[tuple[str, ReportState], int]) -> str:
    """Say how often a post was reported: "Reported 3 times: Spam 2 (Acted on), Toxicity 1 (Not decided yet)"."""
    standing = {key: count for key, count in counts.items() if key[1] is not ReportState.WITHDRAWN}
    if not standing:
        return ""
    parts = [
        _(
            "%(category)s %(count)s (%(state)s)",
            category=reason_word(category),
            count=texts.number(count),
            state=STATES[state],
        )
        for (category, state), count in standing.items()
    ]
    return ngettext(
        "Reported once: %(reasons)s",
        "Reported %(num)s times: %(reasons)s",
        sum(standing.values()),
        reasons=", ".join(parts),
    )
