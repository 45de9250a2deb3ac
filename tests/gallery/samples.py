"""Invented rows for the gallery's pages, in the view models that the pages themselves use. No database holds them."""

import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

from markupsafe import Markup
from werkzeug.datastructures import MultiDict

from app.core import clock
from app.core.models import Community
from app.core.scoring import Camp, Mark, Strip
from app.web.account.sessions import SignInForm
from app.web.filters import highlight
from app.web.item import verb_words
from app.web.item.answering import AnswerForm
from app.web.item.pending_undo import PendingDecision
from app.web.item.reporting import ReportForm, Reporting
from app.web.item.threads import Message, ThreadContext
from app.web.item.views import OPTIONS, BlindItem, Question
from app.web.list_filters import QueueForm
from app.web.moderate.forms import BulkForm, QueueSettingsForm, SaveFilterForm
from app.web.moderate.queue_rows import QueueRow
from app.web.moderate.row_lists import QUEUE
from app.web.page import PageLinks
from app.web.veils import Veil
from app.web.viewpoints import StripView, draw_strip

TEXTS = [
    "If I see your van outside the school again I will make sure you never park anywhere. "
    "We know where you live.",
    "Vaccines contain microchips, a nurse told me this herself and showed the paperwork",
    "Buy followers cheap!!! 10k for $5, instant, no password → link in bio",
    "شاهدوا هذا المقطع قبل أن يحذفوه، الحقيقة التي يخفونها عنكم",
    "The council voted 7–2 to close the library. Here are the minutes, page 14.",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnungsentwurfsdiskussionsrunde",
    "she is literally the worst mod this server has ever had and everyone is too afraid to say it 🙃🙃🙃",
    "New study: drinking seawater cures long covid. Share before it gets taken down.",
]
_CATEGORIES = ["Harassment", "Misinformation", "Spam", "Misinformation", "Off topic", "Spam", "Harassment"]
_NEEDED = 5


def communities() -> list[Community]:
    """Rows that no database holds: pages ask more of a community with each new feature, and find it here too."""
    return [
        Community(id=uuid.UUID(int=number), name=name, slug=f"example-{number}", policy_text=policy)
        for number, (name, policy) in enumerate(
            (("Riverside Forum", "Hide posts that threaten a person."), ("Café Anglais", "")), 1
        )
    ]


def marked() -> Markup:
    """A post with the passages marked for which it was scored."""
    places = []
    for passage in ("never park anywhere", "We know where you live"):
        start = TEXTS[0].index(passage)
        places.append((start, start + len(passage)))
    return highlight(TEXTS[0], places)


def strips() -> list[StripView]:
    """Camps that agree, camps that do not, and too few answers to draw any."""
    nothing = Camp(None, None)
    return [
        draw_strip(Strip(Camp(Mark(7, 0.8), None), Camp(Mark(5, 0.4), Mark(3, 1.0)))),
        draw_strip(Strip(Camp(Mark(31, 0.6), Mark(4, 0.0)), Camp(None, Mark(26, 0.8))), is_question=False),
        draw_strip(Strip(nothing, nothing)),
    ]


def queue(count: int) -> dict[str, Any]:
    """What the review queue shows; of no rows, that filters found nothing."""
    filters, bulk = QueueForm(MultiDict({} if count else {"q": "seawater"})), BulkForm(MultiDict())
    filters.offer(sorted(set(_CATEGORIES)))
    return {
        "rows": [_row(number) for number in range(count)],
        "count": count,
        "posts": count,
        "filters": filters,
        "is_narrowed": filters.is_narrowed,
        "clear_url": "#clear",
        "form": bulk,
        "bulk": bulk,
        "bulk_buttons": verb_words.buttons_for_several(BulkForm.VERBS),
        "bulk_chosen": None,
        "reasons": [],
        "reasons_name": "",
        "done": "",
        "pending": None,
        "lacks_key": False,
        "searched": None,
        "links": PageLinks(None, "#next", f"1 to {count} of 24"),
        "saved": [],
        "saved_current": None,
        "save_form": SaveFilterForm(MultiDict()),
        "may_save": False,
        "present_words": "",
        "queue_form": QueueSettingsForm(MultiDict()),
        "colleagues": {},
        "may_queue": False,
        "bulk_url": "#decide",
        "matching_url": "#matching" if count else None,
        "chips": [],
        "waiting": "24",
        "new": 3,
        "new_words": "3 new items",
        "new_url": "#new",
        "show_url": "#show",
        "query": "",
        "page_query": "",
        "item_query": "",
        "row_query": "?at=queue",
        "settled_url": "#settled",
        "list": QUEUE,
        "needed": _NEEDED,
        "is_roomy": False,
        "out_of_band": False,
    }


def _row(number: int) -> QueueRow:
    return QueueRow(
        id=uuid.UUID(int=number + 1),
        version=1,
        text=TEXTS[number % len(TEXTS)],
        is_veiled=number % 9 == 8,
        category=_CATEGORIES[number % len(_CATEGORIES)],
        reasons_of="*",
        score=0.97 - 0.013 * number,
        since=clock.now() - timedelta(minutes=3 + 41 * number * number),
        ratings=number % _NEEDED,
        is_staffs=number % 7 == 5,
        claimant="Sam" if number % 6 == 2 else None,
        is_mine=number % 6 == 3,
        is_open=number % 8 != 7,
        state="dismissed" if number % 8 == 7 else "under_review",
        held=_held() if number == 4 else None,
        apart="",
        author=f"author-{number}",
        channel="#market",
        facts=("2 hidden",) if number % 5 == 0 else (),
        severity=number % 4 + 1,
        overdue="3 h" if number > 6 else "",
        is_far_overdue=number > 8,
        disagreement="split" if number % 5 == 4 else "",
    )


def _held() -> PendingDecision:
    """A colleague's decision that can still be undone, by them alone."""
    return PendingDecision(uuid.UUID(int=99), False, "Sam", "", "The post will stay.", "Dismissing", 8)


def _reporting(post_id: uuid.UUID) -> Reporting:
    form = ReportForm()
    form.offer(["spam", "hate", "other"])
    return Reporting(post_id, form, own=False, may=True)


def _item(number: int) -> BlindItem:
    category, post_id = _CATEGORIES[number], uuid.UUID(int=number + 1)
    around = ThreadContext(
        "Parking at the school", None, (Message("ada", "Park wherever you like.", None, None),)
    )
    veil = Veil(post_id, "Sexual content. Hidden by your settings.", False, "#item", ())
    return BlindItem(
        id=post_id,
        category=category,
        kind=category.lower(),
        meaning="Threats and intimidation" if number == 0 else category,
        question="Should this post be hidden?",
        content=marked() if number == 0 else Markup.escape(TEXTS[number]),
        is_excerpt=number == 1,
        is_long=False,
        has_marks=number == 0,
        veil=veil if number == 1 else None,
        channel="general",
        author="riverrat_77",
        posted_at=clock.now() - timedelta(minutes=44),
        around=around if number == 0 else replace(around, messages=()),
    )


def cards() -> dict[str, Any]:
    """What a rater's page of cards shows."""
    return {
        "cards": [("rate/_review_card.html", _item(number)) for number in range(3)],
        "place": 1,
        "last": None,
        "answered_today": 7,
        "cards_left": 24,
        "at_once": 3,
        "given": None,
        "options": OPTIONS,
        "count": 2,
        "poll_url": "#new",
        "poll_seconds": 15,
        "show_url": "#show",
    }


def item() -> dict[str, Any]:
    """What an item's page shows a rater."""
    shown, form = _item(0), AnswerForm(MultiDict())
    return {
        "item": shown,
        "question": Question(shown, None, True, False, None, None),
        "options": OPTIONS,
        "form": form,
        "answer_form": form,
        "focus": False,
        "steps": [("messages-square", "Sent for review", shown.posted_at)],
        "moderates": False,
        "panel": None,
        "changes": [],
        "past": None,
        "fact_check": None,
        "reporting": _reporting(shown.id),
        "why": None,
        "action_id": shown.id,
        "notes": [],
        "rating_forms": {},
        "note_form": None,
        "preview": None,
        "may_write": False,
        "may_draft": False,
        "draft": None,
        "draft_language": "",
        "writing": False,
        "written": None,
    }


def sign_in() -> dict[str, Any]:
    """The sign-in page after a mistake."""
    form = SignInForm(MultiDict({"email": "ada@"}))
    form.validate()
    return {
        "form": form,
        "unconfirmed": False,
        "demo": [],
        "role_words": {},
        "can_sign_up": True,
        "kept": None,
        "signed_out": "",
        "offers_passkeys": True,
        "providers": (),
        "passwords_are_on": True,
    }
