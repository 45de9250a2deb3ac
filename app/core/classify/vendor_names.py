"""What other moderation services call their scores, and which category of ours comes closest.

Connected services are read by these tables, and clients of those services are answered by them (docs/doors.md).
"""

from collections.abc import Mapping
from typing import NamedTuple


class Counterpart(NamedTuple):
    """Our ``category`` for a name of theirs, None where there is none, and what our score does not say."""

    category: str | None
    is_not: str


PERSPECTIVE: Mapping[str, Counterpart] = {
    "TOXICITY": Counterpart("toxicity", "rudeness that makes people leave: ours is abuse aimed at a person"),
    "SEVERE_TOXICITY": Counterpart("toxicity", "graded: the same score as TOXICITY, so raise your threshold"),
    "INSULT": Counterpart("toxicity", "insults alone: harassment and abuse count too"),
    "PROFANITY": Counterpart("toxicity", "swearing as such: among friends it scores low"),
    "IDENTITY_ATTACK": Counterpart("hate", "every negative remark about a group: mild ones score low"),
    "THREAT": Counterpart("threat", "about harm to oneself, which is our self_harm"),
    "SEXUALLY_EXPLICIT": Counterpart("sexual", "about body parts named soberly, as in medicine"),
    "SPAM": Counterpart("spam", "off topic or repeated posts: one text is seen at a time"),
}
"""By attribute."""

OPENAI: Mapping[str, Counterpart] = {
    "harassment": Counterpart("toxicity", "limited to harassment: any abuse aimed at a person counts"),
    "harassment/threatening": Counterpart("threat", "limited to threats that harass: every threat counts"),
    "hate": Counterpart("hate", "limited to protected groups as their policy lists them"),
    "hate/threatening": Counterpart("hate", "limited to violence: the same score as hate"),
    "illicit": Counterpart(None, "scored"),
    "illicit/violent": Counterpart(None, "scored"),
    "self-harm": Counterpart("self_harm", "about the act alone: people who ask for help score too"),
    "self-harm/intent": Counterpart("self_harm", "told apart from the others: the same score as self-harm"),
    "self-harm/instructions": Counterpart(
        "self_harm", "told apart from the others: the same score as self-harm"
    ),
    "sexual": Counterpart("sexual", "about nudity in art or medicine"),
    "sexual/minors": Counterpart(
        "sexual", "about minors: the same score as sexual, and no means to find abuse"
    ),
    "violence": Counterpart("threat", "about violence in news or stories: announcing or wishing it counts"),
    "violence/graphic": Counterpart(None, "scored"),
}
"""By category."""
