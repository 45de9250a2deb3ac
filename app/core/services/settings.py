"""A service's settings: their values, what is allowed, and their form in the database."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from app.core import limits, texts
from app.core.errors import Invalid, Problem
from app.core.outbound import AllowList, BadAddress, check_url
from app.core.services.kinds import CategoryMap, Kind
from app.core.texts import gettext as _

NAME_PATTERN = r"[a-z][a-z0-9-]{0,39}"
NAME_PREFIX = "service."
"""Comes before a service's name in scores and evidence, so that none is taken for a built-in classifier."""
VENDOR_PREFIX = "vendor:"
"""Comes before the service's own name of a category whose scores are stored and lead to nothing."""
KEY_MAX = 500
MODEL_MAX = 100
OPTION_MAX = 20_000
CATEGORIES_MAX = 100
VENDOR_NAME_MAX = 60
DEADLINE = (0.1, 30.0)
CONCURRENCY = (1, 16)
DAILY_REQUESTS_MAX = 100_000_000
COST_MAX = 1_000_000.0


@dataclass(frozen=True)
class ServiceSettings:
    """One version of a service's settings. Immutable.

    ``categories`` maps the service's categories to ours, or to None: stored, not routed. ``may_act``: its scores may
    exceed Tier 1; otherwise they reach reviewers at most. ``deadline`` is in seconds for one call; ``concurrency`` how
    many calls run at once. ``daily_requests`` and ``daily_cost`` end a day's calls, None for no end; ``price`` is for
    1,000 calls, in the currency that the operator thinks in. ``must_be_measured`` before its scores count, which
    ``checked`` sets.
    """

    url: str = ""
    model: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    categories: CategoryMap = field(default_factory=dict)
    may_act: bool = False
    deadline: float = 5.0
    concurrency: int = 4
    daily_requests: int | None = None
    daily_cost: float | None = None
    price: float = 0.0
    must_be_measured: bool = False

    @property
    def routed(self) -> frozenset[str]:
        """Our categories that it scores."""
        return frozenset(ours for ours in self.categories.values() if ours is not None)

    @property
    def most_requests(self) -> int | None:
        """How many calls a day may make by both limits, None for any number."""
        counts = [] if self.daily_requests is None else [self.daily_requests]
        if self.daily_cost is not None and self.price > 0:
            # A small addition, because 0.3 / 0.1 is slightly less than 3.
            counts.append(math.floor(self.daily_cost * 1000 / self.price + 1e-9))
        return min(counts, default=None)

    @property
    def host(self) -> str:
        """The host that posts are sent to, with its port if the URL names one; empty for a kind that sends nothing."""
        match = re.match(r"https?://([^/?#]+)", self.url, re.IGNORECASE)
        return match[1].lower() if match else ""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "options": dict(self.options), "categories": dict(self.categories)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "ServiceSettings":
        return cls(**stored)


def service_name(name: str) -> str:
    """Return ``name`` if a service may be called so: it is part of the evidence and of rules."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise Invalid.field(
            "name", _("must be 1 to 40 of a to z, 0 to 9 and hyphens, beginning with a letter"), name
        )
    return name


def service_key(key: str) -> str:
    """Return ``key`` if it can be sent in a header."""
    if not re.fullmatch(rf"[!-~]{{1,{KEY_MAX}}}", key):
        # Without the value, which is secret.
        raise Invalid.field(
            "key", _("must be 1 to %(most)s printable ASCII characters without spaces", most=KEY_MAX)
        )
    return key


def pinned(settings: ServiceSettings, kind: Kind) -> ServiceSettings:
    """The settings with the name of the model that their options lead to, for a kind that inspects its files.

    It may take seconds: call it outside of any transaction. Raises Invalid: the files cannot be used.
    """
    return settings if kind.inspect is None else replace(settings, model=kind.inspect(settings.options).model)


def checked(settings: ServiceSettings, kind: Kind, allow: AllowList) -> ServiceSettings:
    """Return the settings if a service of this kind may have them, with the usual category map if they have none.

    Raises:
        Invalid: with one problem for each invalid field.
    """
    problems: list[Problem] = []

    def wrong(name: str, message: str) -> None:
        problems.append(Problem("value_error", (name,), message))

    settings = replace(settings, must_be_measured=kind.inspect is not None)
    if kind.embeds:
        settings = replace(settings, categories={}, may_act=False)
    elif not settings.categories:
        settings = replace(settings, categories=dict(kind.category_map(settings.options)))
    if kind.calls_out:
        try:
            check_url(settings.url, allow)
        except BadAddress as error:
            wrong("url", error.reason)
        else:
            if "?" in settings.url:
                wrong("url", _("must not have a query (?…); the key has a field of its own"))
    if len(settings.model) > MODEL_MAX or not re.fullmatch(r"[!-~]*", settings.model):
        wrong("model", _("must be at most %(most)s ASCII characters without spaces", most=MODEL_MAX))
    elif kind.needs_model and not settings.model:
        wrong("model", _("must name the model to ask"))
    _check_options(settings, kind, wrong)
    if not kind.embeds:
        _check_categories(settings, wrong)
    _check_numbers(settings, wrong)
    if problems:
        raise Invalid(*problems)
    return settings


def _check_options(settings: ServiceSettings, kind: Kind, wrong: Any) -> None:
    known = {option.name: option for option in kind.options}
    for name, value in settings.options.items():
        option = known.get(name)
        if option is None:
            wrong(name, _("is no setting of this kind"))
        elif option.choices and value not in option.choices:
            wrong(name, _("must be one of %(choices)s", choices=", ".join(option.choices)))
        elif len(value) > OPTION_MAX or "\x00" in value:
            wrong(name, _("must be at most %(most)s characters", most=texts.number(OPTION_MAX)))
    try:
        kind.check(settings.options)
    except Invalid as refusal:
        for problem in refusal.problems:
            wrong(str(problem.loc[0]), problem.msg)


def _check_categories(settings: ServiceSettings, wrong: Any) -> None:
    if len(settings.categories) > CATEGORIES_MAX:
        wrong("categories", _("must be at most %(most)s", most=CATEGORIES_MAX))
    if not settings.routed:
        wrong("categories", _("must map at least one of the service's categories to one of yours"))
    for theirs, ours in settings.categories.items():
        if not theirs.isprintable() or not 1 <= len(theirs) <= VENDOR_NAME_MAX:
            wrong(
                "categories", _("must each have a name of at most %(most)s characters", most=VENDOR_NAME_MAX)
            )
        if ours is not None:
            try:
                limits.category_name(ours, "categories")
            except Invalid as refusal:
                wrong(
                    "categories",
                    _("%(problem)s (for %(category)s)", problem=refusal.problems[0].msg, category=theirs),
                )


def _check_numbers(settings: ServiceSettings, wrong: Any) -> None:
    least, most = DEADLINE
    if not least <= settings.deadline <= most:
        wrong(
            "deadline",
            _("must be from %(least)s to %(most)s seconds", least=texts.short(least), most=texts.short(most)),
        )
    few, many = CONCURRENCY
    if not few <= settings.concurrency <= many:
        wrong("concurrency", _("must be a whole number from %(least)s to %(most)s", least=few, most=many))
    if settings.daily_requests is not None and not 0 <= settings.daily_requests <= DAILY_REQUESTS_MAX:
        wrong(
            "daily_requests",
            _("must be a whole number from 0 to %(most)s", most=texts.number(DAILY_REQUESTS_MAX)),
        )
    for name in ("daily_cost", "price"):
        value = getattr(settings, name)
        if value is not None and not 0 <= value <= COST_MAX:
            wrong(name, _("must be a number from 0 to %(most)s", most=f"{COST_MAX:,.0f}"))
    if settings.daily_cost is not None and settings.price <= 0:
        wrong("daily_cost", _("needs a price for 1,000 calls"))
