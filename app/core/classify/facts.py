"""Facts that rules may ask beside words: their names, and conditions on them (docs/moderate/waves.md).

Facts are whole numbers, stored with a post when it is scored. A fact that is not known meets no condition.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core import author_facts, limits
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext, number

Facts = Mapping[str, int]
"""The known facts of a post, by name."""


@dataclass(frozen=True, slots=True)
class Fact:
    """``label``: its name in a form. ``says``: what it says of a post with this number.

    ``most``: the largest number that a rule may ask for; a count stops there, with the post itself in it.
    """

    name: str
    label: str
    says: Callable[[int], str]
    most: int
    is_count: bool = True

    def words(self, value: int) -> str:
        """What the fact says of a post: "4 posts by the author with links in the last hour"."""
        said = self.says(value)
        return _("%(fact)s, or more", fact=said) if self.is_count and value >= self.most else said


FACTS: Mapping[str, Fact] = {
    fact.name: fact
    for fact in (
        Fact(
            "account_age_hours",
            lazy_gettext("Age of the author’s account, hours"),
            lambda count: ngettext(
                "Author’s account is %(num)s hour old", "Author’s account is %(num)s hours old", count
            ),
            limits.FACT_HOURS,
            is_count=False,
        ),
        Fact(
            "posts_count",
            lazy_gettext("Author’s posts on the platform"),
            lambda count: ngettext("%(num)s post on the platform", "%(num)s posts on the platform", count),
            author_facts.COUNT_MAX,
            is_count=False,
        ),
        Fact(
            "trust_level",
            lazy_gettext("Author’s trust level"),
            lambda count: ngettext("trust level %(num)s", "trust level %(num)s", count),
            author_facts.TRUST_MAX,
            is_count=False,
        ),
        Fact(
            "author_posts_hour",
            lazy_gettext("Author’s posts here, last hour"),
            lambda count: ngettext(
                "%(num)s post by the author in the last hour",
                "%(num)s posts by the author in the last hour",
                count,
            ),
            limits.FACT_COUNTED,
        ),
        Fact(
            "author_posts_day",
            lazy_gettext("Author’s posts here, last day"),
            lambda count: ngettext(
                "%(num)s post by the author in the last day",
                "%(num)s posts by the author in the last day",
                count,
            ),
            limits.FACT_COUNTED,
        ),
        Fact(
            "author_links_hour",
            lazy_gettext("Author’s posts with links here, last hour"),
            lambda count: ngettext(
                "%(num)s post with links in the last hour", "%(num)s posts with links in the last hour", count
            ),
            limits.FACT_COUNTED,
        ),
        Fact(
            "author_links_day",
            lazy_gettext("Author’s posts with links here, last day"),
            lambda count: ngettext(
                "%(num)s post with links in the last day", "%(num)s posts with links in the last day", count
            ),
            limits.FACT_COUNTED,
        ),
        Fact(
            "host_posts_hour",
            lazy_gettext("Posts that link to the same site, last hour"),
            lambda count: ngettext(
                "%(num)s post that links to this site in the last hour",
                "%(num)s posts that link to this site in the last hour",
                count,
            ),
            limits.FACT_COUNTED,
        ),
        Fact(
            "host_posts_day",
            lazy_gettext("Posts that link to the same site, last day"),
            lambda count: ngettext(
                "%(num)s post that links to this site in the last day",
                "%(num)s posts that link to this site in the last day",
                count,
            ),
            limits.FACT_COUNTED,
        ),
        Fact(
            "alike_hour",
            lazy_gettext("Posts alike, last hour"),
            lambda count: ngettext(
                "%(num)s post like this in the last hour", "%(num)s posts like this in the last hour", count
            ),
            limits.FACT_ALIKE,
        ),
        Fact(
            "alike_day",
            lazy_gettext("Posts alike, last day"),
            lambda count: ngettext(
                "%(num)s post like this in the last day", "%(num)s posts like this in the last day", count
            ),
            limits.FACT_ALIKE,
        ),
        Fact(
            "alike_authors",
            lazy_gettext("Authors of posts alike, last day"),
            lambda count: ngettext("by %(num)s author", "by %(num)s authors", count),
            limits.FACT_ALIKE,
        ),
    )
}
"""Every fact, in the order of forms and explanations."""
AT_LEAST, BELOW = "at_least", "below"
BOUNDS_MAX = 4
"""Most bounds of one rule: the form of a rule has room for these."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One fact, from ``at_least`` up to but not including ``below``; None: no bound on that side."""

    fact: str
    at_least: int | None = None
    below: int | None = None

    def is_met(self, facts: Facts) -> bool:
        value = facts.get(self.fact)
        if value is None:
            return False
        return (self.at_least is None or value >= self.at_least) and (
            self.below is None or value < self.below
        )

    @property
    def words(self) -> str:
        """The condition: "Author's posts with links here, last hour: at least 3"."""
        fact = FACTS[self.fact].label
        if self.below is None:
            return _("%(fact)s: at least %(least)s", fact=fact, least=number(self.at_least or 0))
        if self.at_least is None:
            return _("%(fact)s: below %(below)s", fact=fact, below=number(self.below))
        return _(
            "%(fact)s: at least %(least)s and below %(below)s",
            fact=fact,
            least=number(self.at_least),
            below=number(self.below),
        )


def conditions_of(raw: Mapping[str, Mapping[str, int]]) -> tuple[Condition, ...]:
    """The conditions of a valid ``when`` of a rule."""
    return tuple(
        Condition(name, bounds.get(AT_LEAST), bounds.get(BELOW)) for name, bounds in sorted(raw.items())
    )


def problems_of(raw: object) -> list[str]:
    """What is wrong with the ``when`` of a rule; empty if it is valid."""
    if not isinstance(raw, dict):
        return [_("must be an object from facts to bounds")]
    problems = [problem for name, bounds in raw.items() for problem in _condition_problems(name, bounds)][
        :BOUNDS_MAX
    ]
    if not problems and sum(len(bounds) for bounds in raw.values()) > BOUNDS_MAX:
        problems = [_("must have at most %(most)s bounds", most=BOUNDS_MAX)]
    return problems


def _condition_problems(name: object, bounds: Any) -> list[str]:
    fact = FACTS.get(name) if isinstance(name, str) else None
    if fact is None:
        return [
            _("%(name)s is no fact; facts are %(facts)s", name=repr(str(name)[:80]), facts=", ".join(FACTS))
        ]
    if not isinstance(bounds, dict) or not bounds or not bounds.keys() <= {AT_LEAST, BELOW}:
        return [_("%(name)s must have at_least, below or both, and nothing else", name=name)]
    for bound, value in bounds.items():
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= fact.most:
            return [
                _(
                    "%(name)s: %(bound)s must be a whole number from 0 to %(most)s",
                    name=name,
                    bound=bound,
                    most=number(fact.most),
                )
            ]
    if bounds.get(AT_LEAST, 0) >= bounds.get(BELOW, fact.most + 1):
        return [_("%(name)s: at_least must be less than below", name=name)]
    return []


def explanation(facts: Sequence[tuple[str, int]]) -> str:
    """Facts in words, one sentence: "Author's account is 3 hours old; 4 posts with links in the last hour"."""
    return "; ".join(FACTS[name].words(value) for name, value in facts if name in FACTS)
