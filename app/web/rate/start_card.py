"""The card on the start page that can be answered: one made-up post. Nothing of it is stored."""

from typing import Any

from app.core.scoring import Camp, Mark, Strip
from app.core.texts import lazy_gettext
from app.web.item.views import OPTIONS
from app.web.viewpoints import draw_strip

_STRIP = Strip(Camp(Mark(7, 0.8), None), Camp(Mark(6, 0.4), Mark(3, 1.0)))
_SAID = {
    "yes": lazy_gettext("You said yes, as most did."),
    "no": lazy_gettext("You said no, as three others did."),
    "unsure": lazy_gettext("You were not sure. That is an answer, too."),
}


def card(answer: str) -> dict[str, Any]:
    """Return the card; ``answer`` is the value of a button. Any other text is no answer.

    ``said`` is the visitor's answer in words, ``strip`` that of the made-up raters; none before they answered.
    """
    strip = draw_strip(_STRIP) if answer in _SAID else None
    return {"options": OPTIONS, "said": _SAID.get(answer), "strip": strip}
