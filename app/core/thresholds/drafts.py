"""A category's thresholds as an operator enters them: the bounds, and those a community begins with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, MISSING, dataclass, field, fields
from enum import StrEnum
from typing import Any

from app.core import limits, texts
from app.core.errors import Invalid
from app.core.models import Category
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds.routing import ESCALATED, STRIKES, UNFINISHED
from app.core.vocabulary import ReviewGroup, Verb

_VERBS = {
    Verb.HIDE: lazy_gettext("Hide the post"),
    Verb.DELETE: lazy_gettext("Delete the post"),
    Verb.FLAG: lazy_gettext("Flag it for review"),
    Verb.NOTIFY: lazy_gettext("Notify the author"),
}
_GROUPS = {
    ReviewGroup.COMMUNITY: lazy_gettext("Community"),
    ReviewGroup.TRUSTED: lazy_gettext("Trusted members"),
    ReviewGroup.STAFF: lazy_gettext("Staff"),
}
_SEVERITY_MAX = 1_000
_STRIKE_DAYS_MAX = 3_650
_TARGET_MAX = 30 * 24 * 60
"""The longest target time of a category, in minutes."""


@dataclass(frozen=True, kw_only=True)
class CategoryField:
    """The declaration of one value of a category.

    It is a number if it has ``bounds``, a text if it has ``most``, else one of ``choices``.

    ``label``: of its field on the thresholds page; empty: it has none. ``words``: its name in errors and lists of
    changes. ``bounds``: least and most of a number, which is whole unless they are fractions. ``empty``: what None
    means; without it, it may not be None. ``choices``: the words of each value. ``most``: characters of a text;
    ``hint``: what it is for. ``api``: its name in the API, which does not show it
    without one; ``meaning``: its description there. ``is_folded``: its field is under "More".
    """

    label: str = ""
    words: str
    bounds: tuple[float, float] | None = None
    empty: str = ""
    choices: Mapping[Any, str] | None = None
    most: int | None = None
    hint: str = ""
    api: str | None = None
    meaning: str = ""
    is_folded: bool = False

    @property
    def is_whole(self) -> bool:
        return self.bounds is not None and isinstance(self.bounds[1], int)


# ruff: noqa: RUF009 - ``_declare`` makes a field
def _declare(words: str, *, default: Any = MISSING, label: str | None = None, **more: Any) -> Any:
    """A field of ``CategoryDraft`` with its declaration. ``label`` None: its ``words``."""
    declared = CategoryField(words=words, label=words if label is None else label, **more)
    return field(default=default, metadata={"field": declared})


@dataclass(frozen=True)
class CategoryDraft:
    """A category's values as an operator enters them. Each but the name is declared once.

    The form, checks, history and the API's schema read the declarations. ``tier1`` None: never act without raters.
    ``requires`` names the classifiers that the category must not go without, ``on_error`` what happens when one
    fails: "retry" or "review" (docs/run/classifiers.md). ``target_minutes``: within which time people should decide;
    None: by severity (``routing.default_target``).
    """

    name: str
    tier2: float = _declare(
        lazy_gettext("Asks people (Tier 2)"),
        bounds=(0.0, 1.0),
        api="tier2_threshold",
        meaning="The score from 0 to 1 from which on people are asked (Tier 2).",
    )
    tier1: float | None = _declare(
        lazy_gettext("Acts by itself (Tier 1)"),
        default=None,
        bounds=(0.0, 1.0),
        empty=lazy_gettext("never"),
        api="tier1_threshold",
        meaning="The score from 0 to 1 from which on the category acts without asking (Tier 1); null: never.",
    )
    _: KW_ONLY
    tier2_action: Verb = _declare(
        lazy_gettext("Tier 2 action"),
        default=Verb.HIDE,
        choices=_VERBS,
        api="tier2_action",
        meaning="What is done if people agree with the score.",
    )
    tier1_action: Verb = _declare(
        lazy_gettext("Tier 1 action"),
        default=Verb.HIDE,
        choices=_VERBS,
        api="tier1_action",
        meaning="What is done without asking.",
    )
    enabled: bool = _declare(
        lazy_gettext("state"),
        default=True,
        label=lazy_gettext("On"),
        choices={True: lazy_gettext("on"), False: lazy_gettext("off")},
        api="enabled",
        meaning="False: scores of the category lead to nothing.",
    )
    severity: int = _declare(
        lazy_gettext("severity"),
        default=0,
        label=lazy_gettext("Severity, higher goes first"),
        bounds=(0, _SEVERITY_MAX),
        is_folded=True,
    )
    target_minutes: int | None = _declare(
        lazy_gettext("target time in minutes"),
        default=None,
        label=lazy_gettext("Decide within (minutes)"),
        bounds=(1, _TARGET_MAX),
        empty=lazy_gettext("by severity"),
        is_folded=True,
    )
    review_group: ReviewGroup = _declare(
        lazy_gettext("review group"),
        default=ReviewGroup.COMMUNITY,
        label=lazy_gettext("Who reviews"),
        choices=_GROUPS,
        api="review_group",
        meaning="Who is asked when a score is not enough to act on.",
        is_folded=True,
    )
    observe_only: bool = _declare(
        lazy_gettext("observe only"),
        default=False,
        label=lazy_gettext("Observe only"),
        choices={True: lazy_gettext("yes"), False: lazy_gettext("no")},
        is_folded=True,
    )
    author_text: str | None = _declare(
        lazy_gettext("Text to the author"),
        default=None,
        most=limits.REASON_MAX,
        hint=lazy_gettext(
            "Goes to the author with a warning, unless the moderator writes something else. Empty: the shipped text."
        ),
        empty=lazy_gettext("the shipped text"),
        api="author_text",
        meaning="What the author of a post is told with a warning, unless the moderator writes something else; null: "
        "the shipped text.",
        is_folded=True,
    )
    report_threshold: float | None = _declare(
        lazy_gettext("Reports ask people"),
        default=1.0,
        label=lazy_gettext("Reports ask people above this weight"),
        hint=lazy_gettext("An ordinary report weighs 0.5. Empty: never."),
        bounds=(0.0, 1_000.0),
        empty=lazy_gettext("never"),
        api="report_threshold",
        meaning="People are asked about a post if its reports in this category weigh more than this; null: never. An "
        "ordinary report weighs 0.5.",
        is_folded=True,
    )
    strike_points: int = _declare(
        lazy_gettext("strike points"),
        default=0,
        label=lazy_gettext("Strike points for the author"),
        bounds=(0, limits.STRIKE_POINTS_MAX),
        is_folded=True,
    )
    strike_days: int = _declare(
        lazy_gettext("days that strikes count"),
        default=90,
        label=lazy_gettext("Strikes count for (days)"),
        bounds=(1, _STRIKE_DAYS_MAX),
        is_folded=True,
    )
    requires: tuple[str, ...] = _declare(lazy_gettext("requires"), default=(), label="")
    on_error: str = _declare(lazy_gettext("When a required classifier fails"), default="retry", label="")


_TIERS = ("tier1", "tier2")
"""Thresholds of scores, which are checked together."""
_DECLARED = {one.name: one.metadata["field"] for one in fields(CategoryDraft) if one.metadata}
FIELDS: dict[str, CategoryField] = {
    **{name: _DECLARED[name] for name in ("tier2", "tier2_action", "tier1")},
    **_DECLARED,
}
"""The declarations by name, in the order of the page."""


DEFAULTS = (
    CategoryDraft("threat", 0.55, severity=70),
    CategoryDraft("self_harm", 0.55, tier2_action=Verb.NOTIFY, severity=60),
    CategoryDraft("hate", 0.55, severity=50),
    CategoryDraft("sexual", 0.55, severity=40),
    CategoryDraft("pii", 0.55, tier1=0.95, severity=35),
    CategoryDraft("toxicity", 0.55, severity=30),
    CategoryDraft("misinformation", 0.55, severity=20),
    CategoryDraft("spam", 0.55, tier1=0.95, severity=10),
)
"""The thresholds of a new community: only spam and pii act without review (docs/moderate/operator.md)."""


def draft_of(category: Category) -> CategoryDraft:
    values = {one.name: getattr(category, one.name) for one in fields(CategoryDraft)}
    return CategoryDraft(**values | {"requires": tuple(category.requires)})


def new_name(name: str) -> None:
    """Check that a community may name a category like this.

    Raises:
        Invalid: the name is malformed, or the service uses it itself for what goes to staff without a category.
    """
    limits.category_name(name)
    if name in {ESCALATED, STRIKES, UNFINISHED}:
        raise Invalid.field("name", _("must not be %(name)s, which the service uses itself", name=name), name)


def check(drafts: Sequence[CategoryDraft]) -> None:
    """Check that the drafts could be saved as a version.

    Raises:
        Invalid: as ``revise``, for its values.
    """
    limits.room(limits.CATEGORIES, len(drafts) - 1, "name")
    seen: set[str] = set()
    for draft in drafts:
        new_name(draft.name)
        if draft.name in seen:
            raise Invalid.field("name", _("%(name)s is there twice", name=draft.name), draft.name)
        seen.add(draft.name)
        limits.thresholds(draft.tier1, draft.tier2)
        for name, declared in FIELDS.items():
            value = getattr(draft, name)
            if declared.most is not None and value is not None:
                limits.text(value, name, declared.most)
            if name in _TIERS or declared.bounds is None or (value is None and declared.empty):
                continue
            least, most = declared.bounds
            if not least <= value <= most:
                bounds = {"least": texts.short(least), "most": texts.short(most)}
                problem = (
                    _("must be a whole number from %(least)s to %(most)s", **bounds)
                    if declared.is_whole
                    else _("must be a number from %(least)s to %(most)s", **bounds)
                )
                raise Invalid.field(name, problem, value)


def plain(drafts: Iterable[CategoryDraft]) -> dict[str, Any]:
    """The drafts by category, as entries of the history keep them."""
    return {draft.name: {name: _plain(getattr(draft, name)) for name in _kept(draft)} for draft in drafts}


def _kept(draft: CategoryDraft) -> list[str]:
    return [name for name in FIELDS if name not in _ADDED or getattr(draft, name) != _ADDED[name]]


_ADDED = {
    "target_minutes": None,
    "author_text": None,
    "report_threshold": None,
    "strike_points": 0,
    "strike_days": 90,
}
"""Values that an entry leaves out while they are these, as entries from before they existed do."""


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value.value if isinstance(value, StrEnum) else value
