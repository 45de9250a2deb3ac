"""What raters' pages are made of. Blind by construction: what is not in here cannot reach a rater's page.

Before they answer, raters see no score, no count or split of ratings, no other answers and no note's status
(DASHBOARD: The item page). Templates get these values only, never the rows behind them.
"""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from app.core import policies
from app.core.models import Action, Note, Rating, Request
from app.core.ratings import Stats
from app.core.vocabulary import (
    ActionState,
    ActionTier,
    ActionType,
    Classification,
    HelpfulnessLevel,
    NoteStatus,
    ReviewGroup,
    Verb,
)
from app.web import excerpts, thread
from app.web.filters import highlight

HIDDEN = "Content hidden"
"""What lists show in place of a sensitive post."""
ANSWERS: Mapping[str, HelpfulnessLevel] = {
    "yes": HelpfulnessLevel.HELPFUL,
    "no": HelpfulnessLevel.NOT_HELPFUL,
    "unsure": HelpfulnessLevel.SOMEWHAT_HELPFUL,
}
"""An answer is a rating of the action's rationale note (DASHBOARD: The rater's flow)."""
OPTIONS = (("yes", "Yes", "check"), ("no", "No", "x"), ("unsure", "Not sure", "circle-question-mark"))
ANSWER_WORDS = {value: label for value, label, _icon in OPTIONS}

_QUESTIONS: Mapping[str, str] = {
    Verb.HIDE: "Should this post be hidden?",
    Verb.DELETE: "Should this post be deleted?",
    Verb.FLAG: "Should this post be flagged?",
    Verb.NOTIFY: "Should the author of this post get a notice?",
    ActionType.WARN: "Should the author of this post be warned?",
    ActionType.SILENCE: "Should the author of this post be silenced?",
    ActionType.UNHIDE: "Should this post be shown again?",
}

CATEGORY_NAMES = {"pii": "Private details", "self_harm": "Self-harm"}

CLASSIFICATIONS = {
    Classification.MISLEADING: "Misinformed or potentially misleading",
    Classification.NOT_MISLEADING: "Not misleading",
}
WHY_MISLEADING = {
    "factual_error": "It says something that is wrong",
    "missing_context": "It leaves out something important",
    "outdated": "It was true once, but is outdated",
    "unverified": "It states a guess as a fact",
    "manipulated": "A picture, recording or quotation was altered",
    "satire": "It is satire that people may take seriously",
    "other": "Something else",
}
WHY_NOT_MISLEADING = {
    "correct": "It is factually correct",
    "correct_then": "It was correct when it was written",
    "clear_satire": "It is clearly satire",
    "opinion": "It is a personal opinion",
    "fine_other": "Something else",
}
GOOD_POINTS = {
    "good_sources": "Cites good sources",
    "clear": "Easy to understand",
    "addresses_claim": "Answers the post directly",
    "adds_context": "Adds important context",
    "neutral": "Neutral wording",
}
BAD_POINTS = {
    "poor_sources": "Sources missing or unreliable",
    "not_in_sources": "Sources do not say this",
    "incorrect": "Something in it is wrong",
    "opinion_note": "Opinion or guess",
    "unclear": "Hard to understand",
    "misses_point": "Misses the point",
    "biased": "Argues or takes sides",
    "not_needed": "Not needed on this post",
}
NUMBERS_ALONE = "Numbers alone do not decide: people who usually disagree have to agree."
_REASON_WORDS = WHY_MISLEADING | WHY_NOT_MISLEADING | GOOD_POINTS | BAD_POINTS
LEVEL_WORDS = {
    HelpfulnessLevel.HELPFUL: "Helpful",
    HelpfulnessLevel.SOMEWHAT_HELPFUL: "Somewhat",
    HelpfulnessLevel.NOT_HELPFUL: "Not helpful",
}


@dataclass(frozen=True)
class BlindItem:
    """An item before it is answered: the post, what it is checked against, and the question."""

    id: uuid.UUID
    category: str
    meaning: str
    question: str
    content: Markup
    is_excerpt: bool
    is_long: bool
    has_marks: bool
    warning: str | None
    channel: str | None
    author: str | None
    posted_at: datetime
    around: thread.Surroundings


@dataclass(frozen=True)
class Progress:
    """How many rated and how many are needed; never how they rated."""

    count: int
    needed: int

    @property
    def more(self) -> int:
        return max(0, self.needed - self.count)

    @property
    def words(self) -> str:
        if self.more:
            return f"{self.count} of {self.needed} ratings. {self.more} more needed."
        return f"{self.count} ratings."

    @property
    def why_not_enough(self) -> str:
        """Why the last missing rating may not be the last."""
        return NUMBERS_ALONE


@dataclass(frozen=True)
class Outcome:
    """What became of it, once decided; ``yes``, ``no`` and ``unsure`` count the answers."""

    state: str
    yes: int
    no: int
    unsure: int


@dataclass(frozen=True)
class Question:
    """The one question to this reader. ``progress`` needs an own answer, ``outcome`` a decision."""

    item: BlindItem
    answer: str | None
    is_open: bool
    progress: Progress | None
    outcome: Outcome | None

    @property
    def answer_words(self) -> str:
        return ANSWER_WORDS.get(self.answer or "", "")


@dataclass(frozen=True)
class Step:
    """One public step of an item's timeline."""

    icon: str
    text: str
    at: datetime


@dataclass(frozen=True)
class NoteView:
    """A person's or a model's note. ``status`` and ``progress`` stay None until the reader has rated or wrote it."""

    id: uuid.UUID
    summary: str
    classification: str
    reasons: tuple[str, ...]
    sources: tuple[str, ...]
    is_ai: bool
    is_own: bool
    is_edited: bool
    written_at: datetime
    own_level: str | None
    own_reasons: tuple[str, ...]
    is_open: bool
    status: str | None
    explanation: str | None
    progress: Progress | None


def category_name(name: str | None) -> str:
    """A category as a heading: "Self-harm", "Spam"."""
    return CATEGORY_NAMES.get(name or "", (name or "No category").replace("_", " ").capitalize())


def is_veiled(category: str | None, *, warn: bool) -> bool:
    """Whether a post of this category stays hidden until asked for; ``warn``: the reader wants that."""
    return warn and category in policies.SENSITIVE


def question_of(action: Action) -> str:
    """The question, its verb following what the platform would do."""
    return _QUESTIONS.get(action.decided_verb) or _QUESTIONS.get(
        action.action_type, "Should we act on this post?"
    )


def blind_item(action: Action, *, warn: bool, whole: bool = False) -> BlindItem:
    """The item as a rater may see it. ``warn``: the reader wants sensitive categories behind "Show content"."""
    request = action.request
    text, spans = request.content, excerpts.spans(action)
    start, end = (0, len(text)) if whole else excerpts.window(text, spans)
    shown = [(first - start, last - start) for first, last in spans]
    marked = highlight(text[start:end], shown)
    return BlindItem(
        id=action.id,
        category=category_name(action.category),
        meaning=policies.describe(action.category or ""),
        question=question_of(action),
        content=Markup("{}{}{}").format("…" if start else "", marked, "…" if end < len(text) else ""),
        is_excerpt=start > 0 or end < len(text),
        is_long=excerpts.is_long(text, start, end),
        has_marks=bool(spans),
        warning=f"Hidden because it may upset you: {category_name(action.category).lower()}."
        if is_veiled(action.category, warn=warn)
        else None,
        channel=request.platform_channel_id,
        author=request.platform_author_id,
        posted_at=request.platform_timestamp or request.requested_at,
        around=thread.of(request.extra),
    )


def is_decided(action: Action) -> bool:
    """Whether the item has its decision, so that counts may be shown.

    A Tier 1 action acts before anybody rated; its raters are asked until a second look ends.
    """
    if action.action_state in {ActionState.UNDER_REVIEW, ActionState.RETRO_REVIEW}:
        return False
    if action.action_state in {ActionState.PROPOSED, ActionState.APPLIED}:
        return action.action_tier is not ActionTier.IMMEDIATE
    return True


def is_for_raters(action: Action) -> bool:
    """Staff reviews are for moderators alone."""
    return action.review_group is not ReviewGroup.STAFF


def question(
    action: Action, item: BlindItem, own: Rating | None, counts: Stats | None, needed: int
) -> Question:
    """The question to one reader. ``counts`` is needed only when decided, and ignored before."""
    note = action.note
    is_open = note is not None and not note.locked and action.restores_id is None
    answer = next((word for word, level in ANSWERS.items() if own and own.helpfulness_level is level), None)
    decided = is_decided(action)
    return Question(
        item=item,
        answer=answer,
        is_open=is_open,
        progress=Progress(note.ratings_count, needed)
        if note is not None and answer and not decided
        else None,
        outcome=Outcome(
            action.action_state.value, counts.helpful, counts.not_helpful, counts.somewhat_helpful
        )
        if decided and counts is not None
        else None,
    )


def note_view(note: Note, *, mine: Collection[uuid.UUID], own: Rating | None, needed: int) -> NoteView:
    """A note as this reader may see it; ``mine`` are the profiles that are this reader."""
    is_own = note.author_id in mine
    current = own if own is not None and own.note_version == note.version else None
    is_seen = is_own or current is not None
    return NoteView(
        id=note.id,
        summary=note.summary,
        classification=CLASSIFICATIONS[note.classification],
        reasons=tuple(_REASON_WORDS[one] for one in note.reasons if one in _REASON_WORDS),
        sources=tuple(note.sources),
        is_ai=note.ai_generated,
        is_own=is_own,
        is_edited=note.version > 1,
        written_at=note.created_at,
        own_level=LEVEL_WORDS[current.helpfulness_level] if current else None,
        own_reasons=tuple(_REASON_WORDS[one] for one in current.reasons if one in _REASON_WORDS)
        if current
        else (),
        is_open=not note.locked,
        status=note.status.value if is_seen else None,
        explanation=explained(note, needed) if is_seen else None,
        progress=Progress(note.ratings_count, needed)
        if is_seen and note.status is NoteStatus.NEEDS_MORE_RATINGS
        else None,
    )


def timeline(action: Action, request: Request, *, answered: bool) -> list[Step]:
    """The public steps, oldest first. Before the reader has answered, only how the item came here."""
    steps = [
        Step("send", "Submitted", request.requested_at),
        Step("messages-square", "Members were asked", action.created_at),
    ]
    if answered or is_decided(action):
        for icon, text, at in (
            ("scale", "Decided: act", action.proposed_at if action.action_tier else None),
            ("circle-check", "Carried out by the platform", action.applied_at),
            ("scan-eye", "Second look began", action.retro_review_at),
            ("badge-check", "Confirmed", action.confirmed_at),
            ("undo-2", "Overturned", action.overturned_at),
            ("circle-minus", "Decided: no action", action.dismissed_at),
        ):
            if at is not None:
                steps.append(Step(icon, text, at))
    return sorted(steps, key=lambda step: step.at)


def explained(note: Note, needed: int) -> str:
    """Why a note has the status that it has."""
    if note.status is NoteStatus.CURRENTLY_RATED_HELPFUL:
        if note.force_published:
            return "A moderator published this note."
        return "People who usually disagree both found it helpful, so it is shown with the post."
    if note.status is NoteStatus.CURRENTLY_RATED_NOT_HELPFUL:
        if note.dismissed_at is not None:
            return "A moderator dismissed this note."
        return "Enough people found it not helpful, so it is not shown with the post."
    if note.ratings_count < needed:
        return f"It gets a status after {needed} ratings, if people who usually disagree agree by then."
    return "There are enough ratings, but people who usually disagree do not agree on it yet."
