"""Items for raters' pages. The classes contain only what a rater may see, so pages cannot show more (blind review).

Before they answer, raters see no score, no number or split of ratings, no other answers and no note's status
(docs/develop/design-system.md). Templates get only these values, never the database rows.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from app.core import texts
from app.core.models import Action, Rating, Request, SampleAnswer, SampledPost
from app.core.notes import blindness
from app.core.notes.blindness import is_decided, is_settled
from app.core.notes.ratings import Stats
from app.core.questions import question_of
from app.core.raters.samples import Asked
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.thresholds import threshold_sets
from app.core.vocabulary import HelpfulnessLevel
from app.web import markup, veils
from app.web.categories import UNNAMED, category_name, content_name
from app.web.filters import highlight
from app.web.item import media, threads
from app.web.item.media import Media
from app.web.veils import Veil

ANSWERS: Mapping[str, HelpfulnessLevel] = {
    "yes": HelpfulnessLevel.HELPFUL,
    "no": HelpfulnessLevel.NOT_HELPFUL,
    "unsure": HelpfulnessLevel.SOMEWHAT_HELPFUL,
}
"""The rating of the action's rationale note for each answer (docs/develop/design-system.md)."""
OPTIONS = (
    ("yes", lazy_gettext("Yes"), "check"),
    ("no", lazy_gettext("No"), "x"),
    ("unsure", lazy_gettext("Not sure"), "circle-question-mark"),
)
ANSWER_WORDS = {value: label for value, label, _icon in OPTIONS}

SAMPLE_ENDED = lazy_gettext(
    "This question is closed. It was asked to learn from the answers: nothing was decided about this post."
)
NUMBERS_ALONE = lazy_gettext("A majority is not enough: people who usually disagree must agree.")


@dataclass(frozen=True)
class BlindItem:
    """An item before it is answered: the post, the category's description, and the question.

    ``kind`` is the category's name for text after "Possible". ``rendered`` is the whole post with its markup, None
    without any. ``is_folded``: it is long, and is shown in part at first, unless ``shows_marks_below``: a marked
    passage would be hidden. ``media`` are its attachments. ``edit`` names the text, where the post was edited.
    ``drawn``: how long the reader, who was drawn for it, has to answer; empty for everybody else.
    """

    id: uuid.UUID
    category: str
    kind: str
    meaning: str
    question: str
    content: Markup
    is_excerpt: bool
    is_long: bool
    has_marks: bool
    veil: Veil | None
    channel: str | None
    author: str | None
    posted_at: datetime
    around: threads.ThreadContext
    unnamed: str = ""
    rendered: Markup | None = None
    is_folded: bool = False
    shows_marks_below: bool = False
    media: Media | None = None
    drawn: str = ""
    edit: str = ""


@dataclass(frozen=True)
class Progress:
    """How many people rated and how many are needed, but not how they rated."""

    count: int
    needed: int

    @property
    def more(self) -> int:
        return max(0, self.needed - self.count)

    @property
    def words(self) -> str:
        if self.more:
            return ngettext(
                "%(count)s of %(needed)s ratings. %(num)s more needed.",
                "%(count)s of %(needed)s ratings. %(num)s more needed.",
                self.more,
                count=self.count,
                needed=self.needed,
            )
        return ngettext("%(num)s rating.", "%(num)s ratings.", self.count)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a decided item; ``yes``, ``no`` and ``unsure`` count the answers."""

    state: str
    yes: int
    no: int
    unsure: int


@dataclass(frozen=True)
class Question:
    """The question for this reader. ``progress`` is set once the reader answered, ``outcome`` once it is decided.

    ``is_settled``: the reader has seen the outcome, so their answer can no longer change. ``closed``: why answers are
    not needed any more, where there is no outcome. ``reported_as``: the reasons of reports, once the reader answered.
    """

    item: BlindItem
    answer: str | None
    is_open: bool
    is_settled: bool
    progress: Progress | None
    outcome: Outcome | None
    closed: str = ""
    reported_as: str = ""

    @property
    def answer_words(self) -> str:
        return ANSWER_WORDS.get(self.answer or "", "")


def blind_item(action: Asked, url: str, *, whole: bool = False, form: str | None = None) -> BlindItem:
    """Return the item as a rater may see it, on the page with this ``url``.

    ``form`` is the id of a form with typed text, which must be kept when the content is shown.
    """
    request = action.post
    text, spans = request.content, markup.matched_spans(action)
    start, end = (0, len(text)) if whole else markup.window(text, spans)
    shifted_spans = [(first - start, last - start) for first, last in spans]
    marked = highlight(text[start:end], shifted_spans)
    is_whole = start == 0 and end == len(text)
    folded = markup.lines(text[start:end]) > markup.FOLD_LINES
    return BlindItem(
        id=action.id,
        category=category_name(action.category),
        kind=texts.in_sentence(content_name(action.category)),
        meaning=str(threshold_sets.describe(action.category or "")),
        question=question_of(action.action_type, action.decided_verb),
        content=Markup("{}{}{}").format("…" if start else "", marked, "…" if end < len(text) else ""),
        is_excerpt=start > 0 or end < len(text),
        is_long=markup.is_long(text, start, end),
        has_marks=bool(spans),
        veil=veils.for_action(action, url, form=form),
        channel=request.platform_channel_id,
        author=request.platform_author_id,
        posted_at=request.platform_timestamp or request.requested_at,
        around=threads.from_metadata(request.extra),
        unnamed=UNNAMED.get(action.category or "", ""),
        rendered=markup.rendered(text) if is_whole else None,
        is_folded=folded,
        shows_marks_below=folded
        and any(markup.lines(text[start:last]) > markup.FOLD_LINES for _first, last in spans),
        media=media.for_action(action),
        edit=edit_of(action),
    )


def edit_of(action: Asked) -> str:
    """Name the text of the post that an answer is about; empty for the first."""
    newest = None if isinstance(action, SampledPost) else action.newest_request_id
    return "" if newest is None else str(newest)


def question(
    action: Action, item: BlindItem, own: Rating | None, counts: Stats | None, needed: int
) -> Question:
    """Return the question for one reader. ``counts`` is needed only for a decided item, and ignored before."""
    note = action.note
    if own is not None and note is not None and own.note_version != note.version:
        own = None  # their answer was about an earlier text
    settled = is_settled(action, own)
    is_closed = note is None or blindness.is_closed(note, action)
    is_open = not is_closed and action.restores_id is None and not settled
    answer = next((word for word, level in ANSWERS.items() if own and own.helpfulness_level is level), None)
    decided = is_decided(action)
    return Question(
        item=item,
        answer=answer,
        is_open=is_open,
        is_settled=settled,
        progress=Progress(note.ratings_count, needed)
        if note is not None and answer and not decided
        else None,
        outcome=Outcome(
            action.action_state.value, counts.helpful, counts.not_helpful, counts.somewhat_helpful
        )
        if decided and counts is not None
        else None,
    )


def sample_question(
    sample: SampledPost, item: BlindItem, own: SampleAnswer | None, needed: int, *, is_open: bool
) -> Question:
    """Return the question of a sample for one reader: as of an item, until it ends."""
    answer = next((word for word, level in ANSWERS.items() if own and own.level is level), None)
    return Question(
        item=item,
        answer=answer,
        is_open=is_open,
        is_settled=False,
        progress=Progress(sample.answers, needed) if answer and is_open else None,
        outcome=None,
        closed="" if is_open else SAMPLE_ENDED,
    )


def timeline(action: Asked, request: Request, *, answered: bool) -> list[tuple[str, str, datetime]]:
    """Return the public steps (icon, text, time), oldest first; until the reader answered, those before the review."""
    steps = [
        ("send", _("Submitted"), request.requested_at),
        ("messages-square", _("Members were asked"), action.created_at),
    ]
    if isinstance(action, Action) and (answered or is_decided(action)):
        later = (
            ("scale", _("Decided: act"), action.proposed_at if action.action_tier else None),
            ("circle-check", _("Carried out by the platform"), action.applied_at),
            ("scan-eye", _("Second look began"), action.retro_review_at),
            ("badge-check", _("Confirmed"), action.confirmed_at),
            ("undo-2", _("Overturned"), action.overturned_at),
            ("circle-minus", _("Decided: no action"), action.dismissed_at),
        )
        steps += [(icon, text, at) for icon, text, at in later if at is not None]
    return sorted(steps, key=lambda step: step[2])
