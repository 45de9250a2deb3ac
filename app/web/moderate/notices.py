"""Notices page. The count of unread notices in the header is in ``bell``.

A notice says that a decision of the reader was changed, a claim was taken over, or a webhook was disabled.
"""

import uuid
from typing import Any

from flask import Response, g, url_for

from app.core import clock
from app.core.history import notices
from app.core.history.notices import NoticeEntry
from app.core.models import Community, HistoryEntry
from app.core.paging import Slice
from app.core.permissions import Permission
from app.core.review import assignments, claims, desk
from app.core.states import ACTION
from app.core.texts import gettext as _
from app.core.texts import ngettext
from app.core.upkeep import attention, mail_texts
from app.core.upkeep.attention import TITLES
from app.core.vocabulary import ActionState, ActionVerb, AttentionReason
from app.web import auth, community_choice, cursor_links, forms, page
from app.web.blueprint import web
from app.web.categories import category_name
from app.web.filters import state_word
from app.web.item import pending_undo
from app.web.item.timeline import actor_name, cause_words, why_words
from app.web.item.verb_words import NAMES, WORDS
from app.wiring import wired

PAGE_SIZE = 30


@web.get("/notices")
def notices_page() -> Response:
    _require_moderator()
    part = Slice(size=PAGE_SIZE, after=forms.query_arg("after") or None)
    community, show = auth.current_community(), forms.query_arg("show")
    overturned = notices.is_reversal(community.id, clock.now() - desk.OVERTURNED_FOR)
    narrowed = {"unread": [notices.is_unread()], "overturned": [overturned]}.get(show, [])
    kept = {**community_choice.carried(), **({"show": show} if narrowed else {})}
    with wired().database.reading() as session:
        listed = notices.list_for(session, auth.current_actor(), part, *narrowed)
        rows = [_row(entry) for entry in listed.rows]
    return page.render(
        "moderate/notices.html",
        rows=rows,
        show=show if narrowed else "",
        has_unread=not all(row["is_read"] for row in rows),
        links=page.PageLinks(
            previous=url_for("web.notices_page", **kept) if part.after else None,
            next=url_for("web.notices_page", after=listed.next, **kept) if listed.next else None,
            summary=cursor_links.total(
                listed, lambda count: ngettext("%(num)s notice", "%(num)s notices", count)
            ),
        ),
    )


@web.post("/notices/read")
def read_all_notices() -> Response:
    _require_moderator()
    with wired().database.writing() as session:
        count = notices.mark_read(session, auth.current_actor())
    message = ngettext("%(num)s notice marked as read.", "%(num)s notices marked as read.", count)
    return page.done(None, url_for("web.notices_page"), message)


@web.post("/notices/<uuid:notice_id>/read")
def read_notice(notice_id: uuid.UUID) -> Response:
    _require_moderator()
    with wired().database.writing() as session:
        notices.mark_read(session, auth.current_actor(), notice_id)
    return page.done(None, url_for("web.notices_page"), _("Marked as read."))


def _require_moderator() -> None:
    """Raise Forbidden unless the reader moderates one of their communities; notices are about all of these."""
    community = auth.current_community()
    if not can_have_notices():
        auth.require(Permission.SEE_HISTORY, community.id)


def _row(notice_entry: NoticeEntry) -> dict[str, Any]:
    """Return one notice. ``kind`` chooses its sentence: ``who`` took over the reader's claim, sent an item to staff,
    gave it to the reader; a webhook was disabled; attention is wanted, as ``post`` says; else ``who`` reopened or
    overturned the ``decision``, the button that the reader pressed, and the item ``became`` something else.
    """
    entry, action = notice_entry.entry, notice_entry.action
    if "attention" in entry.after:
        return _attention_row(notice_entry)
    if entry.object_type == "webhook":
        return _webhook_row(notice_entry)
    if entry.object_type == "learned_model":
        return _learned_row(notice_entry)
    lapsed = entry.what == "hold.lapsed"
    decision = NAMES.get(str(entry.after.get("verb", "")), "") if lapsed else ""
    if notice_entry.decided is not None:
        decision = _verb_name(notice_entry.decided)
    by_service = entry.actor_kind == "system"
    return _notice(
        notice_entry,
        decision=decision,
        post=pending_undo.in_words(action, 80) if action is not None else _("a note"),
        became=_("Not carried out") if lapsed else state_word(str(entry.after.get("action_state", ""))),
        who="" if lapsed else _("the community") if by_service else actor_name(notice_entry.text),
        reason=cause_words(entry.cause) if lapsed else why_words(entry, notice_entry.text),
        decided_at=notice_entry.decided.at if notice_entry.decided is not None else None,
        url=url_for("web.item", action_id=action.id)
        if action is not None
        else url_for("web.note", note_id=notice_entry.notice.note_id),
        entry_url=url_for("web.history_entry", entry_id=entry.id)
        if action is not None and not lapsed
        else None,
        kind=_KINDS.get(entry.what) or ("reopening" if entry.after.get("reopens") else "decision"),
    )


_KINDS = {
    claims.TAKEN_OVER: "claim",
    assignments.ASSIGNED: "assignment",
    "action.escalated": "escalation",
}


def _notice(notice_entry: NoticeEntry, **shown: Any) -> dict[str, Any]:
    notice = notice_entry.notice
    return {
        "id": notice.id,
        "at": notice_entry.entry.at,
        "is_read": notice.read_at is not None,
        "open_words": _("Open post"),
        "who": "",
        "decided_at": None,
        "entry_url": None,
        **shown,
    }


def _verb_name(entry: HistoryEntry) -> str:
    """Return the label of the button for the decision that this entry records, or an empty string."""
    state = next((state for state in ActionState if state == entry.after.get("action_state")), None)
    verb = ActionVerb.REOPEN if entry.after.get("reopens") else ACTION.verb_to(state) if state else None
    return WORDS[verb].name if verb is not None and verb in WORDS else ""


def _webhook_row(notice_entry: NoticeEntry) -> dict[str, Any]:
    entry = notice_entry.entry
    place = str(entry.before.get("url", "")).partition("://")[2]
    return _notice(
        notice_entry,
        post=place,
        reason=cause_words(entry.cause),
        url=url_for("web.webhook_page", webhook_id=entry.object_id),
        kind="webhook",
        open_words=_("Open webhook"),
    )


def _attention_row(notice_entry: NoticeEntry) -> dict[str, Any]:
    entry = notice_entry.entry
    reason = AttentionReason(entry.after["attention"])
    community = _community_of(entry)
    slug = community.slug if community is not None else None
    if reason is AttentionReason.WEBHOOK_FAILING:
        url, open_words = url_for("web.webhook_page", webhook_id=entry.object_id), _("Open webhook")
    elif reason is AttentionReason.PAUSED:
        url, open_words = url_for("web.community_page", section="danger", community=slug), _("Open community")
    else:
        url, open_words = url_for("web.review", community=slug), _("Open review queue")
    said = attention.sentence(entry.after, mail_texts.zone_of(auth.current_reader().account))
    return _community_row(notice_entry, community, TITLES[reason], url, open_words, said)


def _learned_row(notice_entry: NoticeEntry) -> dict[str, Any]:
    """Return the row of a version of the community's own model that began or ceased to score by itself."""
    entry = notice_entry.entry
    category, version = str(entry.after["category"]), entry.after.get("version")
    community = _community_of(entry)
    title = (
        _(
            "Version %(version)s of the own model for %(category)s is in force",
            version=version,
            category=category_name(category),
        )
        if version
        else _("The own model for %(category)s is out of force", category=category_name(category))
    )
    url = url_for(
        "web.learned_page", category=category, community=community.slug if community is not None else None
    )
    return _community_row(notice_entry, community, title, url, _("Open own model"))


def _community_of(entry: HistoryEntry) -> Community | None:
    return next((one for one in auth.current_reader().communities if one.id == entry.community_id), None)


def _community_row(
    notice_entry: NoticeEntry,
    community: Community | None,
    title: str,
    url: str,
    open_words: str,
    said: str = "",
) -> dict[str, Any]:
    return _notice(
        notice_entry,
        post=_("%(title)s in %(community)s", title=title, community=community.name)
        if community is not None
        else str(title),
        reason=said or f"{cause_words(notice_entry.entry.cause)}.",
        url=url,
        kind="attention",
        open_words=open_words,
    )


MOST_SHOWN = 99


@web.app_context_processor
def header_context() -> dict[str, Any]:
    """Give templates of all pages, the API's documents too, the bell as a function: only a header calls it."""
    return {"unread_notices": unread_count, "bell_count": count_in_words}


def can_have_notices() -> bool:
    """Whether the reader moderates one of their communities; notices are about all of these."""
    return any(
        auth.may(Permission.SEE_HISTORY, community.id) for community in auth.current_reader().communities
    )


def unread_count() -> int | None:
    """Count the reader's unread notices. None, without a query, if they can have none or the page shows no bell.

    Where the navigation has counts, it has counted these with them.
    """
    who = None if g.get("bare_page") else auth.reader()
    if who is None or not can_have_notices():
        return None
    if "unread_notices" not in g:
        with wired().database.reading() as session:
            g.unread_notices = notices.unread(session, auth.current_actor())
    count: int = g.unread_notices
    return count


def count_in_words(count: int) -> str:
    """Return the number, or "99+" above that."""
    return f"{MOST_SHOWN}+" if count > MOST_SHOWN else str(count)
