"""What the home page shows to members who rate: what waits for them, their week, and the outcomes of their answers."""

from typing import Any

from flask import url_for
from sqlalchemy.orm import Session

from app.core.models import Community
from app.core.permissions import Actor
from app.core.raters import answers, help_needed, impact, run
from app.core.raters.impact import NoteOutcome, RatingOutcome
from app.core.texts import gettext as _
from app.web import auth, charts, community_choice
from app.web.rate import cards
from app.web.rate.impact import day_url, rows_url


def context(session: Session, actor: Actor, community: Community) -> dict[str, Any]:
    """Template variables of the raters' home page: counts, each with the address of its rows or None."""
    profile_id = auth.current_profile_id()
    figures = impact.for_actor(session, actor, community.id)
    week = cards.this_day(before=6)
    given = answers.by_day(session, actor, community.id, week)
    waiting = run.left(session, actor, community.id, profile_id)
    return {
        "waiting": waiting,
        "waiting_words": f"{waiting}+" if waiting >= help_needed.MOST_COUNTED else str(waiting),
        "drawn": len(run.drawn_items(session, community.id, profile_id)),
        "help_url": url_for("web.help_needed", **community_choice.carried()),
        "week": charts.week(
            [(day, done.answers, day_url(day)) for day, done in zip(week.starts, given, strict=True)]
        ),
        "ratings": [
            (_("Same view as others"), figures.matched, rows_url(RatingOutcome.MATCHED)),
            (_("Opposite view"), figures.mismatched, rows_url(RatingOutcome.MISMATCHED)),
            (_("No status yet"), figures.waiting, rows_url(RatingOutcome.WAITING)),
            (_("Your notes rated helpful"), figures.notes_helpful, rows_url(f"notes-{NoteOutcome.HELPFUL}")),
        ]
        if figures.has_begun
        else [],
    }
