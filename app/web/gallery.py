"""The gallery: each part in each state, with invented rows, at `/preview`. Development only.

Page authors copy from `templates/parts/_example_*.html`; nothing here touches the database.
"""

import uuid
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from flask import Blueprint, Response
from werkzeug.datastructures import MultiDict
from wtforms import (
    BooleanField,
    EmailField,
    Form,
    PasswordField,
    RadioField,
    SelectField,
    StringField,
    TextAreaField,
)
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # its types are older
from wtforms.validators import Email, InputRequired, Length

from app.core import clock
from app.core.models import Community
from app.core.vocabulary import ActionType, ActionVerb
from app.web import page
from app.web.filter_forms import SeveralField
from app.web.filters import STATES, highlight
from app.web.moderate import verb_buttons
from app.web.page import NavItem, PageLinks


def _same(*words: str) -> list[SelectChoice]:
    return [SelectChoice(word, word) for word in words]


class SignInExample(Form):
    """The sign-in form, to show labels and errors."""

    email = EmailField(
        "Email", [InputRequired("Enter your email address."), Email("Enter an email like a@b.org.")]
    )
    password = PasswordField("Password", [InputRequired("Enter your password.")])


class ControlsExample(Form):
    """One control of each kind."""

    name = StringField("Filter name")
    category = SelectField("Category", choices=_same("Any", "Harassment", "Misinformation", "Spam"))
    comment = TextAreaField("Comment", [Length(max=1000, message="Use at most 1,000 characters.")])
    channels = SeveralField("Channel", choices=_same("announcements", "general", "market"))
    warnings = BooleanField("Hide sensitive content until I ask for it")
    classification = RadioField(
        "What is this post?",
        choices=[SelectChoice("misleading", "Misleading"), SelectChoice("fine", "Not misleading")],
    )


class DecisionExample(Form):
    """The decision panel's form."""

    policy = SelectField(
        "Policy", choices=_same("Harassment: threats and intimidation", "Spam: repeated links")
    )
    reason = TextAreaField("Reason", [InputRequired("Enter a reason. The author and the log will show it.")])


_TEXTS = [
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


def _navigation(role: str) -> list[tuple[str, list[NavItem]]]:
    rate = [
        NavItem("Help needed", "#", "hand-helping", current=role == "rater"),
        NavItem("My impact", "#", "trending-up"),
    ]
    moderate = [
        NavItem("Review queue", "#", "inbox", current=role != "rater", count=24),
        NavItem("Second look", "#", "scan-eye", count=3),
        NavItem("Action history", "#", "history"),
        NavItem("Insights", "#", "chart-column"),
    ]
    operate = [
        NavItem("Thresholds", "#", "sliders-horizontal"),
        NavItem("Classifiers", "#", "scan-text"),
        NavItem("Datasets", "#", "database"),
        NavItem("Webhooks", "#", "webhook"),
        NavItem("Deliveries", "#", "send"),
        NavItem("Reasons and policies", "#", "scale"),
    ]
    administer = [NavItem("API keys", "#", "key-round"), NavItem("People", "#", "users")]
    settings = ("You", [NavItem("Settings", "#", "settings")])
    if role == "rater":
        return [("Rate", rate), settings]
    return [
        ("Rate", rate),
        ("Moderate", moderate),
        ("Operate", operate),
        ("Administer", administer),
        settings,
    ]


def _rows(count: int) -> list[SimpleNamespace]:
    now = clock.now()
    states = ["under_review", "under_review", "retro_review", "under_review", "proposed"]
    return [
        SimpleNamespace(
            id=f"row-{n}",
            text=_TEXTS[n % len(_TEXTS)],
            category=_CATEGORIES[n % len(_CATEGORIES)],
            score=0.97 - 0.013 * n,
            state=states[n % len(states)],
            since=now - timedelta(minutes=3 + 41 * n * n),
            ratings=n % 5,
            needed=5,
            claimed_by="Sam" if n % 6 == 2 else None,
        )
        for n in range(count)
    ]


def _place(passage: str) -> tuple[int, int]:
    start = _TEXTS[0].index(passage)
    return start, start + len(passage)


def preview_blueprint() -> Blueprint:
    """`/preview`, the gallery, and `/preview/<example>`, a mock-up; both also with `/light` and `/dark`."""
    preview = Blueprint("preview", __name__)

    def common(role: str, theme: str) -> dict[str, Any]:
        # Rows that no database holds: pages ask more of a community with each new feature, and find it here too.
        communities = [
            Community(id=uuid.UUID(int=number), name=name, slug=f"example-{number}")
            for number, name in enumerate(("Riverside Forum", "Café Anglais"), 1)
        ]
        return {
            "nav": _navigation(role),
            "communities": communities if role != "rater" else communities[:1],
            "current_community": communities[0],
            "current_account": SimpleNamespace(name="Ada Rivers" if role == "rater" else "Sam Okoro"),
            "theme": theme,
            "keys_on": True,
            "rows": _rows(18),
            "subject": _TEXTS[0],
            "marked": highlight(_TEXTS[0], [_place("never park anywhere"), _place("We know where you live")]),
            "now": clock.now(),
            "verbs": [
                verb_buttons.button(verb, ActionType.HIDE)
                for verb in (ActionVerb.FORCE_PUBLISH, ActionVerb.DISMISS)
            ],
            "links": PageLinks(None, "#next", "1 to 18 of 24"),
            "first_links": PageLinks("#previous", "#next", "19 to 36 of 212"),
        }

    @preview.get("/preview")
    @preview.get("/preview/<any(light, dark):theme>")
    def gallery(theme: str = "system") -> Response:
        controls = ControlsExample(
            MultiDict({"comment": "x" * 1004, "name": "Spam", "category": "Spam", "classification": "fine"})
        )
        controls.validate()
        return page.render("preview.html", **common("admin", theme), states=list(STATES), controls=controls)

    @preview.get("/preview/<any(queue, rate, item, signin, empty):example>")
    @preview.get("/preview/<any(queue, rate, item, signin, empty):example>/<any(light, dark):theme>")
    def one(example: str, theme: str = "system") -> Response:
        role = "rater" if example == "rate" else "admin"
        context = common(role, theme)
        if example == "signin":
            context |= {"nav": [], "current_account": None, "communities": []}
        sign_in = SignInExample(MultiDict({"email": "ada@"}))
        sign_in.validate()
        decision = DecisionExample(MultiDict({}))
        status = 422 if example == "signin" else 200
        return page.render(
            "preview_page.html",
            status=status,
            example=example,
            form=sign_in if example == "signin" else decision,
            **context,
        )

    @preview.post("/preview/echo")
    def echo() -> Response:
        """Answers any example's form, so that messages and the undo bar can be tried."""
        return page.done("parts/_example_undo.html", "/preview", "Claimed. Yours for 10 minutes.")

    return preview
