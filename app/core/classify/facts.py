"""Facts that rules may ask beside words: their names, and conditions on them (docs/moderate/waves.md).

Facts are whole numbers, stored with a post when it is scored. A fact that is not known meets no condition.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core import author_facts, limits

Facts = Mapping[str, int]
"""The known facts of a post, by name."""


@dataclass(frozen=True, slots=True)
class Fact:
    """``label``: its name in a form. ``one`` and ``many``: what it says of a post, with the number for ``{}``.

    ``most``: the largest number that a rule may ask for; a count stops there, with the post itself in it.
    """

    name: str
    label: str
    one: str
    many: str
    most: int
    is_count: bool = True

    def words(self, value: int) -> str:
        """What the fact says of a post: "4 posts by the author with links in the last hour"."""
        number = f"{value:,} or more" if self.is_count and value >= self.most else f"{value:,}"
        return (self.one if value == 1 else self.many).format(number)


def _count(name: str, label: str, one: str, many: str, most: int = limits.FACT_COUNTED) -> list[Fact]:
    """The same count in the last hour and in the last day."""
    return [
        Fact(
            f"{name}_{time}",
            f"{label}, last {time}",
            f"{one} in the last {time}",
            f"{many} in the last {time}",
            most,
        )
        for time in ("hour", "day")
    ]


FACTS: Mapping[str, Fact] = {
    fact.name: fact
    for fact in (
        Fact(
            "account_age_hours",
            "Age of the author's account, hours",
            "Author's account is {} hour old",
            "Author's account is {} hours old",
            limits.FACT_HOURS,
            is_count=False,
        ),
        Fact(
            "posts_count",
            "Author's posts on the platform",
            "{} post on the platform",
            "{} posts on the platform",
            author_facts.COUNT_MAX,
            is_count=False,
        ),
        Fact(
            "trust_level",
            "Author's trust level",
            "trust level {}",
            "trust level {}",
            author_facts.TRUST_MAX,
            is_count=False,
        ),
        *_count("author_posts", "Author's posts here", "{} post by the author", "{} posts by the author"),
        *_count(
            "author_links", "Author's posts with links here", "{} post with links", "{} posts with links"
        ),
        *_count(
            "host_posts",
            "Posts that link to the same site",
            "{} post that links to this site",
            "{} posts that link to this site",
        ),
        *_count("alike", "Posts alike", "{} post like this", "{} posts like this", limits.FACT_ALIKE),
        Fact(
            "alike_authors",
            "Authors of posts alike, last day",
            "by {} author",
            "by {} authors",
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
        bounds = [
            f"{name} {value:,}"
            for name, value in (("at least", self.at_least), ("below", self.below))
            if value is not None
        ]
        return f"{FACTS[self.fact].label}: {' and '.join(bounds)}"


def conditions_of(raw: Mapping[str, Mapping[str, int]]) -> tuple[Condition, ...]:
    """The conditions of a valid ``when`` of a rule."""
    return tuple(
        Condition(name, bounds.get(AT_LEAST), bounds.get(BELOW)) for name, bounds in sorted(raw.items())
    )


def problems_of(raw: object) -> list[str]:
    """What is wrong with the ``when`` of a rule; empty if it is valid."""
    if not isinstance(raw, dict):
        return ["must be an object from facts to bounds"]
    problems = [problem for name, bounds in raw.items() for problem in _condition_problems(name, bounds)][
        :BOUNDS_MAX
    ]
    if not problems and sum(len(bounds) for bounds in raw.values()) > BOUNDS_MAX:
        problems = [f"must have at most {BOUNDS_MAX} bounds"]
    return problems


def _condition_problems(name: object, bounds: Any) -> list[str]:
    fact = FACTS.get(name) if isinstance(name, str) else None
    if fact is None:
        return [f"{str(name)[:80]!r} is no fact; facts are {', '.join(FACTS)}"]
    if not isinstance(bounds, dict) or not bounds or not bounds.keys() <= {AT_LEAST, BELOW}:
        return [f"{name} must have {AT_LEAST}, {BELOW} or both, and nothing else"]
    for bound, value in bounds.items():
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= fact.most:
            return [f"{name}: {bound} must be a whole number from 0 to {fact.most:,}"]
    if bounds.get(AT_LEAST, 0) >= bounds.get(BELOW, fact.most + 1):
        return [f"{name}: {AT_LEAST} must be less than {BELOW}"]
    return []


def explanation(facts: Sequence[tuple[str, int]]) -> str:
    """Facts in words, one sentence: "Author's account is 3 hours old; 4 posts with links in the last hour"."""
    return "; ".join(FACTS[name].words(value) for name, value in facts if name in FACTS)
