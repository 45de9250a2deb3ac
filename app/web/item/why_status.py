"""Why a note has its status, for ``templates/item/_why_status.html``. ``why`` checks that the reader may see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import url_for
from sqlalchemy.orm import Session

from app.core import texts
from app.core.communities import getting_started
from app.core.communities.getting_started import Hearing, Raters
from app.core.helpfulness import viewpoints
from app.core.models import Action, Community, Note, Rating
from app.core.notes import explanations
from app.core.notes.blindness import is_decided
from app.core.panels import results
from app.core.permissions import Permission
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.vocabulary import IN_REVIEW, ActionState, NoteStatus, ReviewGroup
from app.web import auth
from app.web.viewpoints import draw_strip

_NOTE_WORDS = (lazy_gettext("Helpful"), lazy_gettext("Somewhat"), lazy_gettext("Not helpful"))
_ANSWER_WORDS = (lazy_gettext("Yes"), lazy_gettext("Not sure"), lazy_gettext("No"))
_TONES = ("for", "half", "against")


def why(session: Session, note: Note, action: Action | None, own: Rating | None) -> dict[str, Any] | None:
    """Return why the note has its status, or None if the reader may not see it yet (blind review).

    Moderators always may. Raters may for an item once it is decided; for a note with a status, once they rated it,
    wrote it, or can no longer rate it. ``action`` is the item of the note.

    ``words`` are the three answers, each with its CSS class in the bars; ``counts``: how many of the ratings that count
    gave each; ``segments`` are the same as a bar named ``title``: class, position and width in percent. ``is_covered``:
    hidden until opened, because this moderator could still answer as a member. ``draw``: for admins, the draw of the
    panel that decided. ``strip``: where the answers lie, once nobody can be swayed by it, if there are camps.
    """
    is_over = _is_over(note, action, own)
    if not (is_over or auth.may(Permission.MODERATE, note.community_id)):
        return None
    explanation = explanations.explain(session, note)
    words = _ANSWER_WORDS if note.rationale else _NOTE_WORDS
    counted = explanation.counts
    counts = (counted.helpful, counted.somewhat_helpful, counted.not_helpful)
    answers = ", ".join(
        f"{texts.number(count)} {texts.in_sentence(word)}" for count, word in zip(counts, words, strict=True)
    )
    strip = viewpoints.of_note(session, note) if is_over else None
    is_admin = auth.may(Permission.MANAGE_PEOPLE, note.community_id)
    draw = results.decided(session, note.id) if note.rationale and is_admin else None
    return {
        "explanation": explanation,
        "is_question": note.rationale,
        "words": list(zip(_TONES, words, strict=True)),
        "counts": counts,
        "title": _("All raters: %(answers)s", answers=answers),
        "segments": _segments(counts),
        "is_covered": not is_over,
        "strip": draw_strip(strip, is_question=note.rationale) if strip is not None else None,
        "draw": draw,
    }


def _is_over(note: Note, action: Action | None, own: Rating | None) -> bool:
    if note.rationale:
        return action is not None and is_decided(action)
    has_spoken = note.author_id == auth.current_profile_id() or (
        own is not None and own.note_version == note.version
    )
    return (has_spoken or note.locked) and note.status is not NoteStatus.NEEDS_MORE_RATINGS


def _segments(counts: tuple[int, int, int]) -> list[tuple[str, float, float]]:
    total, at, segments = sum(counts), 0.0, []
    for tone, count in zip(_TONES, counts, strict=True):
        width = 100 * count / total if total else 0.0
        if count:
            segments.append((tone, round(at, 2), round(width, 2)))
        at += width
    return segments


@dataclass(frozen=True)
class Missing:
    """An explanation, and links as (label, URL) to pages that the reader may open."""

    text: str
    links: Sequence[tuple[str, str]] = ()


def missing_for(session: Session, action: Action) -> Sequence[Missing]:
    """Return what blocks this item: too few raters to decide it, or no integration to carry out the decision."""
    if action.action_state is ActionState.PROPOSED:
        hearing = getting_started.hearing(session, action.community_id)
        return () if hearing.is_heard else (_unheard(hearing, action),)
    if action.action_state in IN_REVIEW and action.review_group is ReviewGroup.COMMUNITY:
        community = session.get_one(Community, action.community_id)
        raters = getting_started.raters(session, community)
        return () if raters.are_enough else (_too_few(raters, action),)
    return ()


def _unheard(hearing: Hearing, action: Action) -> Missing:
    links = [(_("How to poll"), url_for("docs_page.read_docs"))]
    if auth.may(Permission.MANAGE_WEBHOOKS, action.community_id):
        links.insert(
            0, (_("Webhooks") if hearing.webhooks else _("Register a webhook"), url_for("web.endpoints"))
        )
        return Missing(
            _(
                "The webhook is disabled and nobody polls: enable it or poll. Until then the platform does nothing."
            )
            if hearing.webhooks
            else _(
                "No webhook is registered and nobody polls: register one or poll. Until then the platform does nothing."
            ),
            links,
        )
    return Missing(
        _(
            "The webhook is disabled and nobody polls, so the platform does nothing. An operator can enable it."
        )
        if hearing.webhooks
        else _(
            "No webhook is registered and nobody polls, so the platform does nothing. An operator can register one."
        ),
        links,
    )


def _too_few(raters: Raters, action: Action) -> Missing:
    needed = raters.needed
    if auth.may(Permission.MANAGE_PEOPLE, action.community_id):
        text = _(
            "%(needed)s ratings are needed, and nobody can rate here: invite raters, or decide it yourself.",
            needed=needed,
        )
        if raters.count:
            text = ngettext(
                "%(needed)s ratings are needed, and only %(num)s person can rate here: invite raters, or decide it "
                "yourself.",
                "%(needed)s ratings are needed, and only %(num)s people can rate here: invite raters, or decide it "
                "yourself.",
                raters.count,
                needed=needed,
            )
        return Missing(text, [(_("Invite raters"), url_for("web.people"))])
    text = _(
        "%(needed)s ratings are needed, and nobody can rate here: ask an admin to invite raters, or decide it "
        "yourself.",
        needed=needed,
    )
    if raters.count:
        text = ngettext(
            "%(needed)s ratings are needed, and only %(num)s person can rate here: ask an admin to invite raters, or "
            "decide it yourself.",
            "%(needed)s ratings are needed, and only %(num)s people can rate here: ask an admin to invite raters, or "
            "decide it yourself.",
            raters.count,
            needed=needed,
        )
    return Missing(text)
