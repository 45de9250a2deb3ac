"""The classifiers that score for a community: those of the service, with the community's own rules.

Each process keeps what it has compiled by version. Which version is in force is asked of the database for every text,
so a new one counts everywhere at once, and nothing needs a restart.
"""

import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy.orm import Session

from app.core.classify import Classifier
from app.core.classify.rulepack import RulePackClassifier
from app.core.classify.rules import RulePack
from app.core.rulesets import versions
from app.core.rulesets.versions import RuleSet

OWN = "community.rules"
TEXT_SECONDS = 1.0
"""Processor time that a community's own rules may take over one text; usual ones take a thousandth of it."""
KEPT = 256
"""Communities whose compiled rules a process keeps, those last used."""


class CommunityRules:
    """Compiled rules by community, shared by the threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[uuid.UUID, tuple[int, Sequence[Classifier], Sequence[Classifier]]] = (
            OrderedDict()
        )

    def classifiers(
        self, session: Session, community_id: uuid.UUID, base: Sequence[Classifier]
    ) -> Sequence[Classifier]:
        """``base`` as this community wants it. It compiles nothing yet: that happens with the first text."""
        version = versions.newest_version(session, community_id)
        if version == 0:
            return base
        with self._lock:
            known = self._kept.get(community_id)
            if known is not None and known[0] == version and known[1] is base:
                self._kept.move_to_end(community_id)
                return known[2]
        made = combined(base, versions.read(session, community_id, version))
        with self._lock:
            self._kept[community_id] = (version, base, made)
            self._kept.move_to_end(community_id)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return made


def combined(base: Sequence[Classifier], wanted: RuleSet) -> Sequence[Classifier]:
    """``base`` with rules of the shipped pack switched off, and with the community's own rules beside it."""
    made: list[Classifier] = []
    for one in base:
        is_shipped = isinstance(one, RulePackClassifier) and bool(wanted.starter_off)
        made.append(one.without_rules(wanted.starter_off) if is_shipped else one)  # type: ignore[attr-defined]
    if wanted.rules:
        made.append(classifier_for(wanted))
    return made


def classifier_for(wanted: RuleSet) -> RulePackClassifier:
    """The community's own rules as a classifier. Whether its scores may act alone is the thresholds' word."""
    categories = frozenset(str(rule["category"]) for rule in wanted.rules)
    pack: Callable[[], RulePack] = partial(versions.parsed, wanted)
    return RulePackClassifier(pack, name=OWN, tier1_categories=categories, seconds=TEXT_SECONDS)
