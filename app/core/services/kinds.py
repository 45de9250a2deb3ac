"""What kinds of services there are: the protocol that an adapter implements, and how operators describe a service.

Adapters, also those of installed packages, implement `Adapter` and are described by a `Kind` (docs/run/classifiers.md).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.core.outbound import AllowList
from app.core.texts import lazy_gettext

ENTRY_POINTS = "bridgenote.classifiers"
"""The group of entry points under which installed packages offer their kinds."""

CategoryMap = Mapping[str, str | None]
"""Maps the service's name of a category to ours; None: its scores are stored and lead to nothing."""


class Failure(Exception):
    """The service gave no usable answer. ``retry``: asking again may help, after ``after`` seconds if it said so.

    ``reason`` is shown to operators and stored, so it never quotes the answer or the post. ``refused``: the service
    refuses this request, such as one with a text that is too long; another one may be answered.
    """

    def __init__(
        self, reason: str, *, retry: bool = True, after: float | None = None, refused: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry = retry
        self.after = after
        self.refused = refused


@dataclass(frozen=True)
class Answer:
    """A service's answer for one text: scores 0.0–1.0 under the service's own names of categories.

    ``model`` is the model's name as the service gives it; ``calibrated`` False: the scores are no probabilities, and
    must not act without review.
    """

    scores: Mapping[str, float]
    model: str = ""
    calibrated: bool = True


@dataclass(frozen=True)
class Embeddings:
    """A service's vectors, one for each text, in order; ``model`` as it names its model."""

    vectors: Sequence[Sequence[float]]
    model: str = ""


class EmbeddingAdapter(Protocol):
    """Speaks the protocol of one service that turns texts into vectors. Several threads use it at once."""

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return a vector for each text. The whole call ends within the connection's deadline.

        Raises:
            Failure: the service gave no usable answer.
        """
        ...


class Adapter(Protocol):
    """Speaks one service's protocol. Several threads use it at once."""

    def ask(self, texts: Sequence[str], images: Sequence[str] = ()) -> Sequence[Answer]:
        """Return one answer for each text, in order. ``images`` are URLs that belong to the only text.

        The whole call ends within the connection's deadline.

        Raises:
            Failure: the service gave no usable answer.
        """
        ...


@dataclass(frozen=True)
class Connection:
    """What an adapter needs to reach a service. ``deadline`` is in seconds and covers the whole call.

    ``options`` are the values of the kind's own fields; ``categories`` the names of categories that operators mapped.
    ``allow`` lists the hosts to which plain http and private addresses are allowed.
    """

    url: str
    model: str = ""
    key: str = field(default="", repr=False)
    options: Mapping[str, str] = field(default_factory=dict)
    categories: Sequence[str] = ()
    deadline: float = 5.0
    allow: AllowList = field(default_factory=AllowList)


@dataclass(frozen=True)
class Option:
    """A setting that only one kind has. With ``choices`` (value → label) it is one of them; ``long``: many lines."""

    name: str
    label: str
    hint: str = ""
    default: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    long: bool = False


@dataclass(frozen=True)
class InspectedModel:
    """The model that the options of a kind lead to. ``model`` names it, and changes with every change of its files.

    ``title`` is what people call it. ``thresholds`` are the scores from which on its maker says that a category
    applies.
    """

    model: str
    title: str = ""
    thresholds: Mapping[str, float] = field(default_factory=dict)


ALWAYS, IF_UNSURE = "always", "if_unsure"
ASK_WHEN = Option(
    "ask_when",
    lazy_gettext("Ask it"),
    lazy_gettext(
        "Unsure is also where it does not score one of this service's categories, or not in the language of the post."
    ),
    default=ALWAYS,
    choices={
        ALWAYS: lazy_gettext("About every post"),
        IF_UNSURE: lazy_gettext("Only where the shipped model is unsure (0.2 to 0.8)"),
    },
)
"""For a kind whose calls are scarce or slow (``classify.together``)."""


def _no_options(_options: Mapping[str, str]) -> CategoryMap:
    return {}


def _accept(_options: Mapping[str, str]) -> None:
    """Accept all options."""


def scores_nothing(_connection: Connection) -> Adapter:
    """``Kind.connect`` of a kind that scores no posts."""
    raise Failure("it scores no posts", retry=False)


@dataclass(frozen=True)
class Kind:
    """A kind of service: how operators set it up, and how to reach it.

    ``category_map`` gives the usual map for these options. ``check`` raises ``Invalid`` for options that do not fit
    together. ``batch`` is how many texts one request may carry, ``max_chars`` the longest text. ``calls_out`` False:
    it runs inside this process and sends nothing, so it needs neither a URL nor consent. ``url``, ``model``: the
    usual values. ``needs_key``: it refuses requests without a key. ``embed``: how to reach a service that scores
    nothing, but turns texts into vectors by which fact-checks are found.

    ``inspect``: for models that are files of this machine. It checks and names them before settings are saved, may
    take seconds, and raises ``Invalid``. ``missing`` says what must be installed or set first, empty if nothing.
    """

    name: str
    title: str
    about: str
    connect: Callable[[Connection], Adapter]
    category_map: Callable[[Mapping[str, str]], CategoryMap] = _no_options
    check: Callable[[Mapping[str, str]], None] = _accept
    url: str = ""
    url_hint: str = ""
    model: str = ""
    needs_model: bool = False
    has_model: bool = True
    needs_key: bool = False
    calls_out: bool = True
    takes_images: bool = False
    batch: int = 1
    max_chars: int = 8_000
    options: Sequence[Option] = ()
    embed: Callable[[Connection], EmbeddingAdapter] | None = None
    inspect: Callable[[Mapping[str, str]], InspectedModel] | None = None
    missing: str = ""

    @property
    def embeds(self) -> bool:
        return self.embed is not None
