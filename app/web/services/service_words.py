"""What the pages say about a connected service: one that scores posts, or one that gives vectors (embeddings)."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.core.factcheck.spaces import Progress
from app.core.review.conditions import fails_mostly
from app.core.services.calls import Period
from app.core.services.kinds import Kind
from app.core.vocabulary import ServiceMode


@dataclass(frozen=True)
class ServiceWords:
    """``tags`` is a mode in short, ``does`` a sentence; ``done`` is said after it was chosen, ``buttons`` choose it."""

    tags: Mapping[ServiceMode, str]
    does: Mapping[ServiceMode, str]
    done: Mapping[ServiceMode, str]
    buttons: Mapping[ServiceMode, str]
    title: str
    stop: str
    waits: str
    saved: str
    in_force: str
    added: str
    at_first: str
    model_hint: str
    consent_hint: str
    removal: str
    removed: str


_SCORES = ServiceWords(
    tags={ServiceMode.IN_FORCE: "counts", ServiceMode.OBSERVE: "observed only", ServiceMode.OFF: "off"},
    does={
        ServiceMode.IN_FORCE: (
            "Its scores count: with those of the other classifiers they decide what happens to a post."
        ),
        ServiceMode.OBSERVE: (
            "It scores every new post after the decision. Its scores are stored and lead to nothing."
        ),
        ServiceMode.OFF: "Nothing is sent to it.",
    },
    done={
        ServiceMode.IN_FORCE: "Its scores count from now on.",
        ServiceMode.OBSERVE: "It is only observed from now on.",
        ServiceMode.OFF: "It is switched off: nothing is sent to it.",
    },
    buttons={
        ServiceMode.IN_FORCE: "Count its scores",
        ServiceMode.OBSERVE: "Observe",
        ServiceMode.OFF: "Switch off",
    },
    title="What its scores do",
    stop="Stop counting",
    waits="Try it on recent posts below, then put it in force.",
    saved="Try it on recent posts, then put it in force.",
    in_force="It scores new content only.",
    added="It is observed: its scores do not count yet.",
    at_first=(
        "At first the service is only observed: its scores are stored, and nothing follows from them until you count "
        "them."
    ),
    model_hint="Name a dated version if there is one: scores shift when a model changes.",
    consent_hint=(
        "The text of every new post is sent to the host in the URL. The history shows who agreed, and when."
    ),
    removal="Its key is deleted and nothing is sent to it any more. Its scores and its history stay.",
    removed="Nothing is sent to it; its scores stay.",
)
_VECTORS = ServiceWords(
    tags={ServiceMode.IN_FORCE: "in use", ServiceMode.OBSERVE: "made ready", ServiceMode.OFF: "off"},
    does={
        ServiceMode.IN_FORCE: (
            "New posts are compared with fact-checks by their meaning too, once every fact-check has its vector."
        ),
        ServiceMode.OBSERVE: "It is sent the fact-checks, so that their vectors are ready. No post is sent to it.",
        ServiceMode.OFF: "Nothing is sent to it. Its vectors are kept.",
    },
    done={
        ServiceMode.IN_FORCE: "Posts are compared by meaning too, once every fact-check has its vector.",
        ServiceMode.OBSERVE: "No post is sent to it from now on. Its vectors are kept up to date.",
        ServiceMode.OFF: "It is switched off: nothing is sent to it.",
    },
    buttons={
        ServiceMode.IN_FORCE: "Use it",
        ServiceMode.OBSERVE: "Make vectors ready",
        ServiceMode.OFF: "Switch off",
    },
    title="What it does",
    stop="Stop using it",
    waits="Put it in force below. The vectors in use stay in use until those of another model are complete.",
    saved="Put it in force to use it.",
    in_force="Where the model changed, the old vectors are used until the new ones are complete.",
    added="Your fact-checks are sent to it now. Posts are sent once you use it.",
    at_first=(
        "At first only your fact-checks are sent, so that their vectors are ready. Posts are sent once you use it."
    ),
    model_hint="With another model all vectors are computed again; the old ones are used until then.",
    consent_hint=(
        "The text of your fact-checks and, once you use the service, of every new post is sent to the host in the URL. "
        "The history shows who agreed, and when."
    ),
    removal="Its key and its vectors are deleted and nothing is sent to it any more. Its history stays.",
    removed="Nothing is sent to it; its vectors are deleted.",
)


def words_of(kind: Kind | None) -> ServiceWords:
    """The words for a kind of service."""
    return _VECTORS if kind is not None and kind.embeds else _SCORES


@dataclass(frozen=True)
class ProgressLine:
    """What the vectors of a service are good for at present; ``is_bad``: the service needs attention."""

    progress: Progress
    sentence: str
    is_bad: bool


def progress_line(progress: Progress, today: Period) -> ProgressLine:
    """Say how far a service's vectors are, and whether posts are compared by them."""
    is_failing = fails_mostly(today)
    count = f"{progress.done:,} of {progress.items:,} fact-checks have a vector of {progress.model}."
    if progress.is_changing:
        rest = "The vectors of the model before are used until all have one."
    elif progress.service.mode is not ServiceMode.IN_FORCE:
        rest = "Posts are compared by their words alone until you use the service."
    elif progress.is_used:
        rest = "Posts are compared by words and by meaning."
    else:
        rest = "Posts are compared by their words alone until all have one."
    problem = ""
    if is_failing and progress.service.mode is ServiceMode.IN_FORCE:
        problem = (
            f"Most calls failed today ({today.last_error}): such posts are compared by their words alone."
        )
    elif progress.problem:
        problem = f"It did not go on: {progress.problem}. It is asked again within minutes."
    return ProgressLine(progress, " ".join(filter(None, (count, rest, problem))), bool(problem))
