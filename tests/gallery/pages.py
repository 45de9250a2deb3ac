"""The gallery: each part in each state, and whole pages with invented rows, at `/preview`.

The pages are those of the service, drawn from their own templates; nothing here touches the database.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

from flask import Blueprint, Response, url_for
from werkzeug.datastructures import MultiDict
from wtforms import (
    BooleanField,
    Form,
    RadioField,
    SelectField,
    StringField,
    TextAreaField,
)
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # its types are older
from wtforms.validators import Length

from app.core import clock
from app.core.vocabulary import ActionType, ActionVerb
from app.web import page
from app.web.filter_forms import SeveralField
from app.web.filters import STATES
from app.web.item import verb_words
from app.web.page import NavItem, PageLinks
from tests.gallery import samples


def _same(*words: str) -> list[SelectChoice]:
    return [SelectChoice(word, word) for word in words]


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


EXAMPLES: Mapping[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "queue": ("moderate/review.html", partial(samples.queue, 18)),
    "empty": ("moderate/review.html", partial(samples.queue, 0)),
    "rate": ("rate/help_needed.html", samples.cards),
    "item": ("item/item.html", samples.item),
    "signin": ("account/sign_in.html", samples.sign_in),
}
"""The page that each address of the gallery shows, and what with."""


def preview_blueprint() -> Blueprint:
    """`/preview`, the gallery, and `/preview/<example>`, a mock-up; both also with `/light` and `/dark`."""
    preview = Blueprint("preview", __name__, template_folder="templates")

    def common(role: str, theme: str) -> dict[str, Any]:
        communities = samples.communities()
        return {
            "nav": _navigation(role),
            "communities": communities if role != "rater" else communities[:1],
            "current_community": communities[0],
            "current_account": SimpleNamespace(
                name="Ada Rivers" if role == "rater" else "Sam Okoro", get_id=lambda: role
            ),
            "theme": theme,
            "keys_on": True,
            "texts": samples.TEXTS,
            "marked": samples.marked(),
            "strips": samples.strips(),
            "now": clock.now(),
            "earlier": clock.now() - timedelta(minutes=167),
            "verbs": [
                verb_words.button(verb, ActionType.HIDE)
                for verb in (ActionVerb.FORCE_PUBLISH, ActionVerb.DISMISS)
            ],
            "first_links": PageLinks("#previous", "#next", "19 to 36 of 212"),
        }

    @preview.get("/preview")
    @preview.get("/preview/<any(light, dark):theme>")
    def gallery(theme: str = "system") -> Response:
        controls = ControlsExample(
            MultiDict({"comment": "x" * 1004, "name": "Spam", "category": "Spam", "classification": "fine"})
        )
        controls.validate()
        return page.render("gallery.html", **common("admin", theme), states=list(STATES), controls=controls)

    @preview.get("/preview/<any(queue, rate, item, signin, empty):example>")
    @preview.get("/preview/<any(queue, rate, item, signin, empty):example>/<any(light, dark):theme>")
    def example_page(example: str, theme: str = "system") -> Response:
        context = common("rater" if example in ("rate", "item") else "admin", theme)
        if example == "signin":
            context |= {"nav": [], "current_account": None, "communities": []}
        template, sample = EXAMPLES[example]
        status = 422 if example == "signin" else 200
        return page.render(template, status=status, **context, **sample())

    @preview.post("/preview/echo")
    def echo() -> Response:
        """Answers any example's form, so that messages and the undo bar can be tried."""
        return page.done("gallery_undo.html", url_for("preview.gallery"), "Claimed. Yours for 10 minutes.")

    return preview
