"""What the pages say about a connected service: one that scores posts, or one that gives vectors (embeddings)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.core import texts
from app.core.factcheck.spaces import Progress
from app.core.review.conditions import fails_mostly
from app.core.services.calls import Period
from app.core.services.kinds import Kind
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, number
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
    tags={
        ServiceMode.IN_FORCE: lazy_gettext("counts"),
        ServiceMode.OBSERVE: lazy_gettext("observed only"),
        ServiceMode.OFF: lazy_gettext("off"),
    },
    does={
        ServiceMode.IN_FORCE: (
            lazy_gettext(
                "Its scores count: with those of the other classifiers they decide what happens to a post."
            )
        ),
        ServiceMode.OBSERVE: (
            lazy_gettext(
                "It scores every new post after the decision. Its scores are stored and lead to nothing."
            )
        ),
        ServiceMode.OFF: lazy_gettext("Nothing is sent to it."),
    },
    done={
        ServiceMode.IN_FORCE: lazy_gettext("Its scores count from now on."),
        ServiceMode.OBSERVE: lazy_gettext("It is only observed from now on."),
        ServiceMode.OFF: lazy_gettext("It is switched off: nothing is sent to it."),
    },
    buttons={
        ServiceMode.IN_FORCE: lazy_gettext("Count its scores"),
        ServiceMode.OBSERVE: lazy_gettext("Observe"),
        ServiceMode.OFF: lazy_gettext("Switch off"),
    },
    title=lazy_gettext("What its scores do"),
    stop=lazy_gettext("Stop counting"),
    waits=lazy_gettext("Try it on recent posts below, then put it in force."),
    saved=lazy_gettext("Try it on recent posts, then put it in force."),
    in_force=lazy_gettext("It scores new posts only."),
    added=lazy_gettext("It is observed: its scores do not count yet."),
    at_first=(
        lazy_gettext(
            "At first the service is only observed: its scores are stored, and nothing follows from them "
            "until you count them."
        )
    ),
    model_hint=lazy_gettext("Name a dated version if there is one: scores shift when a model changes."),
    consent_hint=(
        lazy_gettext(
            "The text of every new post is sent to the host in the URL. The history shows who agreed, "
            "and when."
        )
    ),
    removal=lazy_gettext(
        "Its key is deleted and nothing is sent to it any more. Its scores and its history stay."
    ),
    removed=lazy_gettext("Nothing is sent to it; its scores stay."),
)
_VECTORS = ServiceWords(
    tags={
        ServiceMode.IN_FORCE: lazy_gettext("in use"),
        ServiceMode.OBSERVE: lazy_gettext("made ready"),
        ServiceMode.OFF: lazy_gettext("off"),
    },
    does={
        ServiceMode.IN_FORCE: (
            lazy_gettext(
                "New posts are compared with fact-checks by their meaning too, once every fact-check has its "
                "vector."
            )
        ),
        ServiceMode.OBSERVE: lazy_gettext(
            "It is sent the fact-checks, so that their vectors are ready. No post is sent to it."
        ),
        ServiceMode.OFF: lazy_gettext("Nothing is sent to it. Its vectors are kept."),
    },
    done={
        ServiceMode.IN_FORCE: lazy_gettext(
            "Posts are compared by meaning too, once every fact-check has its vector."
        ),
        ServiceMode.OBSERVE: lazy_gettext(
            "No post is sent to it from now on. Its vectors are kept up to date."
        ),
        ServiceMode.OFF: lazy_gettext("It is switched off: nothing is sent to it."),
    },
    buttons={
        ServiceMode.IN_FORCE: lazy_gettext("Use it"),
        ServiceMode.OBSERVE: lazy_gettext("Make vectors ready"),
        ServiceMode.OFF: lazy_gettext("Switch off"),
    },
    title=lazy_gettext("What it does"),
    stop=lazy_gettext("Stop using it"),
    waits=lazy_gettext(
        "Put it in force below. The vectors in use stay in use until those of another model are complete."
    ),
    saved=lazy_gettext("Put it in force to use it."),
    in_force=lazy_gettext(
        "Where the model changed, the old vectors are used until the new ones are complete."
    ),
    added=lazy_gettext("Your fact-checks are sent to it now. Posts are sent once you use it."),
    at_first=(
        lazy_gettext(
            "At first only your fact-checks are sent, so that their vectors are ready. Posts are sent "
            "once you use it."
        )
    ),
    model_hint=lazy_gettext(
        "With another model all vectors are computed again; the old ones are used until then."
    ),
    consent_hint=(
        lazy_gettext(
            "The text of your fact-checks and, once you use the service, of every new post is sent to "
            "the host in the URL. The history shows who agreed, and when."
        )
    ),
    removal=lazy_gettext(
        "Its key and its vectors are deleted and nothing is sent to it any more. Its history stays."
    ),
    removed=lazy_gettext("Nothing is sent to it; its vectors are deleted."),
)


def words_of(kind: Kind | None) -> ServiceWords:
    """The words for a kind of service."""
    return _VECTORS if kind is not None and kind.embeds else _SCORES


def progress_line(progress: Progress, today: Period) -> dict[str, Any]:
    """Say how far a service's vectors are, and whether posts are compared by them; ``is_bad``: it needs attention."""
    is_failing = fails_mostly(today)
    count = _(
        "%(done)s of %(all)s fact-checks have a vector of %(model)s.",
        done=number(progress.done),
        all=number(progress.items),
        model=progress.model,
    )
    if progress.is_changing:
        rest = _("The vectors of the model before are used until all have one.")
    elif progress.service.mode is not ServiceMode.IN_FORCE:
        rest = _("Posts are compared by their words alone until you use the service.")
    elif progress.is_used:
        rest = _("Posts are compared by words and by meaning.")
    else:
        rest = _("Posts are compared by their words alone until all have one.")
    problem = ""
    if is_failing and progress.service.mode is ServiceMode.IN_FORCE:
        problem = _(
            "Most calls failed today (%(problem)s): such posts are compared by their words alone.",
            problem=today.last_error,
        )
    elif progress.problem:
        problem = _(
            "It did not go on: %(problem)s. It is asked again within minutes.",
            problem=texts.stored(progress.problem),
        )
    sentence = " ".join(filter(None, (count, rest, problem)))
    return {"service": progress.service, "sentence": sentence, "is_bad": bool(problem)}
