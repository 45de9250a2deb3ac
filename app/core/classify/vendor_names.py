"""What other moderation services call their scores, and which category of ours comes closest.

Connected services are read by these tables, and clients of those services are answered by them (docs/doors.md).
"""

from collections.abc import Mapping
from typing import NamedTuple

from app.core.texts import lazy_gettext


class Counterpart(NamedTuple):
    """Our ``category`` for a name of theirs, None where there is none, and what our score does not say."""

    category: str | None
    is_not: str


PERSPECTIVE: Mapping[str, Counterpart] = {
    "TOXICITY": Counterpart(
        "toxicity", lazy_gettext("rudeness that makes people leave: ours is abuse aimed at a person")
    ),
    "SEVERE_TOXICITY": Counterpart(
        "toxicity", lazy_gettext("graded: the same score as TOXICITY, so raise your threshold")
    ),
    "INSULT": Counterpart("toxicity", lazy_gettext("insults alone: harassment and abuse count too")),
    "PROFANITY": Counterpart("toxicity", lazy_gettext("swearing as such: among friends it scores low")),
    "IDENTITY_ATTACK": Counterpart(
        "hate", lazy_gettext("every negative remark about a group: mild ones score low")
    ),
    "THREAT": Counterpart("threat", lazy_gettext("about harm to oneself, which is our self_harm")),
    "SEXUALLY_EXPLICIT": Counterpart(
        "sexual", lazy_gettext("about body parts named soberly, as in medicine")
    ),
    "SPAM": Counterpart("spam", lazy_gettext("off topic or repeated posts: one text is seen at a time")),
}
"""By attribute."""

OPENAI: Mapping[str, Counterpart] = {
    "harassment": Counterpart(
        "toxicity", lazy_gettext("limited to harassment: any abuse aimed at a person counts")
    ),
    "harassment/threatening": Counterpart(
        "threat", lazy_gettext("limited to threats that harass: every threat counts")
    ),
    "hate": Counterpart("hate", lazy_gettext("limited to protected groups as their policy lists them")),
    "hate/threatening": Counterpart("hate", lazy_gettext("limited to violence: the same score as hate")),
    "illicit": Counterpart(None, lazy_gettext("scored")),
    "illicit/violent": Counterpart(None, lazy_gettext("scored")),
    "self-harm": Counterpart(
        "self_harm", lazy_gettext("about the act alone: people who ask for help score too")
    ),
    "self-harm/intent": Counterpart(
        "self_harm", lazy_gettext("told apart from the others: the same score as self-harm")
    ),
    "self-harm/instructions": Counterpart(
        "self_harm", lazy_gettext("told apart from the others: the same score as self-harm")
    ),
    "sexual": Counterpart("sexual", lazy_gettext("about nudity in art or medicine")),
    "sexual/minors": Counterpart(
        "sexual", lazy_gettext("about minors: the same score as sexual, and no means to find abuse")
    ),
    "violence": Counterpart(
        "threat", lazy_gettext("about violence in news or stories: announcing or wishing it counts")
    ),
    "violence/graphic": Counterpart(None, lazy_gettext("scored")),
}
"""By category."""
