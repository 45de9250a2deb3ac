"""The classifiers that score a community's content: the service's, with the community's own rules.

Each process caches compiled rules by version. The database is asked for the version in force for every text, so
that a new version takes effect everywhere at once, without a restart.
"""

import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy.orm import Session

from app.core.classify import Classifier
from app.core.classify.names import COMMUNITY_RULES
from app.core.classify.rulepack import RulePackClassifier
from app.core.classify.rules import RulePack
from app.core.rulesets import versions
from app.core.rulesets.versions import RuleSet

OWN = COMMUNITY_RULES
TEXT_SECONDS = 1.0
"""Processor time, in seconds, that a community's own rules may use per text; usual ones need a thousandth of it."""
KEPT = 256
"""The number of communities whose compiled rules a process caches, most recently used."""


class CommunityRules:
    """A cache of compiled rules by community, shared by the threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[uuid.UUID, tuple[int, Sequence[Classifier], Sequence[Classifier]]] = (
            OrderedDict()
        )

    def classifiers(
        self,
        session: Session,
        community_id: uuid.UUID,
        base: Sequence[Classifier],
        version: int | None = None,
    ) -> Sequence[Classifier]:
        """``base`` adapted to this community, by the version of its rules in force: ``version``, or read here.

        Nothing is compiled yet: that happens with the first text.
        """
        if version is None:
            version = versions.newest_version(session, community_id)
        if version == 0:
            return base
        with self._lock:
            cached = self._kept.get(community_id)
            if cached is not None and cached[0] == version and cached[1] is base:
                self._kept.move_to_end(community_id)
                return cached[2]
        adapted = combined(base, versions.read(session, community_id, version))
        with self._lock:
            self._kept[community_id] = (version, base, adapted)
            self._kept.move_to_end(community_id)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return adapted


def combined(base: Sequence[Classifier], rule_set: RuleSet) -> Sequence[Classifier]:
    """``base`` without the switched-off rules of the shipped pack, and with the community's own rules added."""
    classifiers: list[Classifier] = []
    for classifier in base:
        is_shipped = isinstance(classifier, RulePackClassifier) and bool(rule_set.starter_off)
        classifiers.append(classifier.without_rules(rule_set.starter_off) if is_shipped else classifier)  # type: ignore[attr-defined]
    if rule_set.rules:
        classifiers.append(classifier_for(rule_set))
    return classifiers


def classifier_for(rule_set: RuleSet) -> RulePackClassifier:
    """The community's own rules as a classifier. The thresholds decide whether its scores may act without review."""
    categories = frozenset(str(rule["category"]) for rule in rule_set.rules)
    pack: Callable[[], RulePack] = partial(versions.parsed, rule_set)
    return RulePackClassifier(pack, name=OWN, tier1_categories=categories, seconds=TEXT_SECONDS)
