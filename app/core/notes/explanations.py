"""Why a note has its status: rating counts, score, rule, and what would change it.

Every status can be traced to its ratings (docs/develop/consensus.md); no rater is named. The web layer decides who sees
it: raters only after the decision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import scoring
from app.core.actions import actions, undoing
from app.core.actions.acknowledgements import ACTED_BEFORE_IT_HEARD
from app.core.communities import settings as community_settings
from app.core.helpfulness import eligibility, note_scores
from app.core.helpfulness.eligibility import Exclusion
from app.core.models import Action, HistoryEntry, Note, Rating
from app.core.notes import blindness
from app.core.panels import panels, results
from app.core.scoring import BLIND_MARGIN, BLIND_RATINGS, Counts, Model, Regime, Sums, Verdict
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.vocabulary import IN_REVIEW, ActionState, ActionType, NoteStatus

NO_RULE = lazy_gettext("No rating counts yet.")

_STAFF = {
    "force-published": lazy_gettext("A moderator published it. No rating changes that."),
    "dismissed": lazy_gettext("A moderator dismissed it. No rating changes that."),
}
_CAMPS = lazy_gettext(
    "How raters agree on other notes tells two viewpoints apart, and both have to find it helpful."
)
_NO_CAMPS = lazy_gettext("Raters here do not fall into camps, so only the score counts.")
_COLD = lazy_gettext(
    "Too few raters or ratings in this community yet to tell viewpoints apart. Every rating counts alike."
)


@dataclass(frozen=True)
class Explanation:
    """The basis of a note's status. ``score``, ``helpful_at`` and ``not_helpful_at`` are on a scale of 0 to 100.

    ``counts`` are the ratings that count, of both viewpoints together: ``helpfulness.viewpoints`` tells them apart.
    ``ratings`` is their number, ``needed`` the minimum; ``excluded`` are those that do not count, by reason (a
    sentence); ``earlier`` is the number given to an earlier text. ``score`` is None while no rating counts.
    ``afterwards`` says that the decision was overturned, and whether the post is shown again; empty if it was not.
    """

    status: NoteStatus
    ratings: int
    needed: int
    counts: Counts
    score: int | None
    helpful_at: int
    not_helpful_at: int
    rule: str
    regime: str
    would_change: str
    excluded: Sequence[tuple[str, int]]
    earlier: int
    afterwards: str = ""

    @property
    def excluded_total(self) -> int:
        return sum(count for _reason, count in self.excluded)


def explain(session: Session, note: Note) -> Explanation:
    """Explain the status of a note; at most eight queries, however many ratings; two more where a panel decides."""
    action = actions.of_note(session, note.id) if note.rationale else None
    scored = note_scores.read(session, note)
    model, sums = scored.fit.model_of(note), scored.sums
    raised = scoring.GRAVE_MARGIN if action is not None and action.action_type in eligibility.GRAVE else 0.0
    verdict = scored.verdict(
        note,
        raised=raised,
        was=NoteStatus.NEEDS_MORE_RATINGS if blindness.is_lifted(note, action) else None,
    )
    helpful_at = model.helpful_at + raised
    excluded, earlier = _left_out(session, note)
    explanation = Explanation(
        status=note.status,
        ratings=sums.counts.total,
        needed=model.min_ratings,
        counts=sums.counts,
        score=verdict.shown if verdict else None,
        helpful_at=scoring.shown(helpful_at),
        not_helpful_at=scoring.shown(scoring.not_helpful_at(verdict.factor if verdict else 0.0)),
        rule=_rule(session, note, action, verdict),
        regime=_regime(model),
        would_change=_would_change(note, action, verdict, sums, model),
        excluded=excluded,
        earlier=earlier,
        afterwards=_afterwards(session, action) if action is not None else "",
    )
    return explanation if action is None else _with_panel(session, note, action, explanation)


def _with_panel(session: Session, note: Note, action: Action, explanation: Explanation) -> Explanation:
    """The explanation where a drawn panel decides, or has decided: the score is the panel's, the counts everybody's."""
    panel = panels.newest(session, action.id)
    if panel is None or note.locked:
        return explanation
    if panels.has_decided(panel, action):
        decided = results.decided(session, note.id)
        rule = scoring.RULES.get(note.status_rule or "", "")
        said = panels.explained(decided.panel, decided.volunteers, decided.reason) if decided else ""
        return replace(
            explanation,
            score=note.helpfulness_score,
            rule=f"{said} {rule}".strip(),
            would_change=_("Nothing: a drawn panel decided it. A second look would be for another panel."),
        )
    if results.closes_at(session, action) is None:
        return explanation
    return replace(
        explanation,
        rule=_("A drawn panel decides. Its answers are shown after the decision."),
        would_change=_("Only the panel's answers. Those of volunteers are kept, and decide nothing."),
    )


def _afterwards(session: Session, action: Action) -> str:
    """Sentences that say that the action was overturned, by whom, and whether the post is shown again; else empty."""
    if action.action_state not in (ActionState.OVERTURNED, ActionState.SCAN_EXEMPT):
        return ""
    by_service = session.scalars(
        sa.select(HistoryEntry.actor_kind == "system")
        .where(
            HistoryEntry.object_type == "action",
            HistoryEntry.object_id == action.id,
            HistoryEntry.what == f"action.{ActionState.OVERTURNED}",
        )
        .order_by(HistoryEntry.number.desc())
        .limit(1)
    ).first()
    if action.overturned_reason == ACTED_BEFORE_IT_HEARD:
        overturned = _("The platform acted before it heard of the dismissal, so what it did was overturned.")
    elif by_service:
        overturned = _("The community overturned what had been decided.")
    else:
        overturned = _("A moderator overturned what had been decided.")
    undone = undoing.sentence(action)
    if undone is not None:
        return f"{overturned} {undone}."
    if action.action_type is not ActionType.HIDE:
        rest = _("What the platform had done stays done unless it takes it back itself.")
        return f"{overturned} {rest}"
    restoration = session.scalars(sa.select(Action).where(Action.restores_id == action.id)).first()
    if restoration is None:
        return overturned
    rest = (
        _("The platform has shown the post again.")
        if restoration.applied_at is not None
        else _("The post will be shown again: the platform has been asked to.")
    )
    return f"{overturned} {rest}"


def _left_out(session: Session, note: Note) -> tuple[list[tuple[str, int]], int]:
    """Ratings that do not count: (reason, count) of those of excluded raters, and the number for earlier texts."""
    rows = session.execute(
        sa.select(Rating.note_version, Rating.exclusion_reason, sa.func.count())
        .where(
            Rating.note_id == note.id,
            sa.or_(Rating.note_version != note.version, Rating.exclusion_reason.is_not(None)),
        )
        .group_by(Rating.note_version, Rating.exclusion_reason)
    ).all()
    earlier = sum(count for version, _slug, count in rows if version != note.version)
    reasons: dict[str, int] = {}
    for version, slug, count in rows:
        if version == note.version and slug is not None:
            reasons[slug] = reasons.get(slug, 0) + count
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(_reason(slug), count) for slug, count in ordered], earlier


def _reason(slug: str) -> str:
    try:
        return eligibility.SENTENCES[Exclusion(slug)]
    except ValueError:
        return _("It was left out under an earlier rule.")


def _rule(session: Session, note: Note, action: Action | None, verdict: Verdict | None) -> str:
    """The rule behind the status: a moderator's decision, else the rule stored with the status, else today's rule."""
    if blindness.is_lifted(note, action):
        return _("A moderator decided it. That stands until the second look ends.")
    if note.locked:
        return _STAFF["force-published" if note.force_published else "dismissed"]
    if verdict is None:
        return NO_RULE
    sentence = scoring.RULES[note.status_rule if note.status_rule in scoring.RULES else verdict.rule]
    if note.helpful_pending_since is not None:
        minutes = community_settings.read(session, note.community_id).stabilisation_minutes
        pending = ngettext(
            "It is published once that has lasted for %(num)s minute.",
            "It is published once that has lasted for %(num)s minutes.",
            minutes,
        )
        return f"{sentence} {pending}"
    if note.status_locked_at is not None:
        days = community_settings.read(session, note.community_id).lock_days
        final = ngettext(
            "After %(num)s day that became final.", "After %(num)s days that became final.", days
        )
        return f"{sentence} {final}"
    return sentence


def _regime(model: Model) -> str:
    if model.regime is Regime.COLD:
        return _COLD
    return _CAMPS if model.axis else _NO_CAMPS


_CHANGES: Mapping[str, str] = {
    "few-counted": lazy_gettext("More ratings by people whose ratings of other notes turned out well."),
    "divisive": lazy_gettext("More raters of the viewpoint that likes it less, finding it helpful too."),
    "one-sided": lazy_gettext("More raters of the viewpoint that likes it less, finding it helpful too."),
    "unbalanced": lazy_gettext("More raters of the viewpoint that likes it less, finding it helpful too."),
    "high-volume": lazy_gettext("More raters beside the few who rate most."),
    "correlated": lazy_gettext("More raters who do not always rate alike."),
    "both-sides-against": lazy_gettext("Raters on both sides finding it helpful."),
}


def _would_change(
    note: Note, action: Action | None, verdict: Verdict | None, sums: Sums, model: Model
) -> str:
    if blindness.is_closed(note, action):
        return _("Nothing: it is locked.")
    is_decided = action is not None and action.action_state not in IN_REVIEW
    if action is not None and is_decided and action.action_state is not ActionState.APPLIED:
        return _("Nothing: a request is decided once.")
    if note.status_locked_at is not None:
        return _("Only a moderator: its status is final.")
    if verdict is None or sums.counts.total < model.min_ratings:
        more = model.min_ratings - sums.counts.total
        return ngettext(
            "%(num)s more rating: before that no note gets a status.",
            "%(num)s more ratings: before that no note gets a status.",
            more,
        )
    slug = scoring.slug_of(verdict.rule)
    if note.locked:
        return _("Ratings on which both viewpoints agree: they end the second look.")
    if note.status is NoteStatus.CURRENTLY_RATED_HELPFUL and slug == "both-sides-for":
        change = _("Ratings on one of the sides that do not find it helpful.")
        if verdict.regime is Regime.WARM:
            bound = scoring.shown(verdict.threshold - scoring.FOR_BELOW - scoring.INERTIA)
            change = _(
                "Ratings on one of the sides that do not find it helpful, or that bring its score below %(score)s.",
                score=bound,
            )
    elif note.status is NoteStatus.CURRENTLY_RATED_HELPFUL:
        bound = scoring.shown(verdict.threshold - scoring.INERTIA)
        change = _("Ratings that bring its score below %(score)s.", score=bound)
    elif note.status is NoteStatus.CURRENTLY_RATED_NOT_HELPFUL:
        low = scoring.shown(scoring.not_helpful_at(verdict.factor))
        change = _("Ratings that bring its score above %(score)s.", score=low)
    elif slug == "no-camps":
        bar = scoring.shown(verdict.threshold + BLIND_MARGIN)
        change = _(
            "At least %(ratings)s ratings, and a score of at least %(score)s: raters here show no camps.",
            ratings=BLIND_RATINGS,
            score=bar,
        )
    elif slug in _CHANGES:
        change = str(_CHANGES[slug])
    else:
        change = _("Ratings that bring its score to %(score)s.", score=scoring.shown(verdict.threshold))
    if is_decided:
        only = _("That could only open a second look: a request is decided once.")
        return f"{change} {only}"
    return change
