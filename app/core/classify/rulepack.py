"""The built-in classifier: scores a text with a rule pack, in well under a millisecond for a usual post.

It is a starter. It detects unmistakable spam and private details reliably enough to act without review (Tier 1).
Everything else goes to reviewers, because identity words and quoted abuse cause false alarms that only people can
recognise.
"""

import functools
import hashlib
import json
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import resources
from types import MappingProxyType

from app.core.classify import Context, Match, OutOfTime, Result
from app.core.classify.checks import CHECKS, in_link
from app.core.classify.facts import Facts
from app.core.classify.normalise import Reading
from app.core.classify.patterns import SET_WORK, Pattern, PatternSet, Stopwatch, TimeIsUp
from app.core.classify.reading import Seen, see
from app.core.classify.rules import (
    FACTS_ONLY,
    Rule,
    RulePack,
    compile_rule,
    compile_unless,
    looked_for,
    parse_pack,
)
from app.core.classify.vocabulary import Vocabulary, shipped_words

CODE_VERSION = 4
"""Increase it with any change to this package that could change a score of an unchanged pack."""

UNLESS_FACTOR = 0.25
UNLESS_REACH = 80  # Bytes before and after a match: about a sentence.
MATCHES_PER_RULE = 20
NOT_OF_HELP = frozenset({"spam", "pii"})
"""Categories that nothing counts for in a sentence that names a line for people in a crisis."""


@dataclass(frozen=True, slots=True)
class _CompiledRule:
    rule: Rule
    pattern: Pattern
    unless: Pattern | None
    languages: frozenset[str]


def _languages(rule: Rule) -> frozenset[str]:
    return frozenset(tag.lower().split("-")[0] for tag in rule.languages)


def _meets(rule: Rule, facts: Facts) -> bool:
    return all(condition.is_met(facts) for condition in rule.when)


def _asked(rule: Rule, facts: Facts) -> tuple[tuple[str, int], ...]:
    """The facts that the rule asks, with their values."""
    return tuple((condition.fact, facts[condition.fact]) for condition in rule.when)


def _code_points(text: bytes, offsets: list[int]) -> dict[int, int]:
    """Map byte offsets into UTF-8 text to code point offsets, in one pass over the text."""
    by_offset: dict[int, int] = {}
    previous = points = 0
    for offset in sorted(set(offsets)):
        points += len(text[previous:offset].decode())
        by_offset[offset] = points
        previous = offset
    return by_offset


class CompiledPack:
    """A pack ready to scan texts. Immutable, so threads may share it.

    Raises:
        PatternError: a rule of the pack does not compile; packs from `parse_pack` always do.
    """

    def __init__(self, pack: RulePack) -> None:
        self.pack = pack
        self._rules = [
            _CompiledRule(
                rule,
                compile_rule(rule, pack.lists),
                compile_unless(rule, pack.lists),
                _languages(rule),
            )
            for rule in pack.rules
            if rule.enabled and rule.kind != FACTS_ONLY
        ]
        self._facts_only = [
            (rule, _languages(rule)) for rule in pack.rules if rule.enabled and rule.kind == FACTS_ONLY
        ]
        self._set = PatternSet([compiled.pattern for compiled in self._rules])
        self._vocabulary = vocabulary_of(pack)

    def read(
        self,
        text: str,
        language: str | None = None,
        off: Collection[str] = (),
        *,
        seconds: float | None = None,
        facts: Facts = MappingProxyType({}),
    ) -> tuple[dict[str, float], tuple[Match, ...]]:
        """Return the scores of all categories of the pack (4 decimals, 0.0 without a match) and the matches.

        ``language`` is a primary subtag. Rules whose ids are in ``off`` are skipped as if disabled, and those that ask
        ``facts`` which the post does not meet or of which nothing is known. The rules of a
        category combine by noisy-OR, ``1 - Π(1 - weight)``; a rule counts once, by its heaviest match. Matches are
        in order of the text, at most 20 per rule.

        Raises:
            TimeIsUp: the rules took more than ``seconds`` of processor time.
        """
        seen = see(text)
        matches: dict[tuple[str, int, int], Match] = {
            (rule.id, 0, 0): Match(
                rule.id, rule.category, 0, 0, round(rule.weight, 4), facts=_asked(rule, facts)
            )
            for rule, languages in self._facts_only
            if rule.id not in off
            and (not language or not languages or language in languages)
            and _meets(rule, facts)
        }
        readings = [seen.plain]
        if seen.folded(self._vocabulary) is not seen.plain:
            readings.append(seen.folded(self._vocabulary))
        stopwatch = Stopwatch(seconds)
        for reading in readings:
            encoded = reading.text.encode()
            for index in self._candidates(encoded, stopwatch):
                compiled = self._rules[index]
                if compiled.rule.id in off:
                    continue
                if language and compiled.languages and language not in compiled.languages:
                    continue
                if not _meets(compiled.rule, facts):
                    continue
                if compiled.rule.kind == "domain" and reading is not seen.plain:
                    continue  # Host names are not disguised: "goooogle.com" is another site.
                # Once per process, and not charged: otherwise the first long text would pay for compiling hundreds
                # of rules.
                with stopwatch.paused():
                    compiled.pattern.prepare()
                with stopwatch.measure(compiled.rule.id):
                    asked = _asked(compiled.rule, facts)
                    for match in self._matches(compiled, seen, reading, encoded, stopwatch):
                        found = replace(match, facts=asked) if asked else match
                        matches.setdefault((match.rule, match.start, match.end), found)
        return self._scores(matches.values()), _foremost(matches.values())

    def _candidates(self, encoded: bytes, stopwatch: Stopwatch) -> Iterable[int]:
        """Indexes of the rules that may match.

        Testing them cannot be stopped, so all rules are returned where that would take long.
        """
        if stopwatch.is_limited and self.pack.size * len(encoded) > SET_WORK:
            return range(len(self._rules))
        if stopwatch.is_limited:
            with stopwatch.paused():
                for index in self._set.possible(encoded):
                    self._rules[index].pattern.prepare()
        return self._set.candidates(encoded)

    def _matches(
        self, compiled: _CompiledRule, seen: Seen, reading: Reading, encoded: bytes, stopwatch: Stopwatch
    ) -> Iterator[Match]:
        pause = stopwatch.check if stopwatch.is_limited else None
        spans = list(compiled.pattern.spans(encoded, pause=pause))
        points = _code_points(encoded, [offset for span in spans for offset in span])
        rule = compiled.rule
        for first, last in spans:
            start, end = points[first], points[last]
            if rule.check is not None:
                place = seen.source_span(reading, start, end)
                spelt = seen.source[slice(*place)]
                end = start + CHECKS[rule.check](reading.text[start:end], spelt)
                if end == start or in_link(seen.source, *place):
                    continue
            if rule.category in NOT_OF_HELP and seen.is_offered(reading, start, end):
                continue
            start, end = seen.source_span(reading, start, end)
            stopwatch.check()
            weight = rule.weight
            around = encoded[max(0, first - UNLESS_REACH) : last + UNLESS_REACH]
            if compiled.unless is not None and compiled.unless.hits(around):
                weight *= UNLESS_FACTOR
            yield Match(rule.id, rule.category, start, end, round(weight, 4), seen.is_quoted(start, end))

    def _scores(self, matches: Iterable[Match]) -> dict[str, float]:
        heaviest: dict[tuple[str, str], float] = {}
        for match in matches:
            key = match.category, match.rule
            heaviest[key] = max(heaviest.get(key, 0.0), match.weight)
        no_match = dict.fromkeys(sorted(self.pack.categories), 1.0)
        for (category, _), weight in heaviest.items():
            no_match[category] *= 1.0 - weight
        return {category: round(1.0 - left, 4) for category, left in no_match.items()}


def _foremost(matches: Iterable[Match]) -> tuple[Match, ...]:
    """The heaviest matches of each rule, in order of the text. A passage found in both readings is one match."""
    kept: dict[str, list[Match]] = {}
    for match in sorted(matches, key=lambda match: (-match.weight, match.start, -match.end)):
        same = kept.setdefault(match.rule, [])
        if len(same) < MATCHES_PER_RULE and all(match.end <= m.start or m.end <= match.start for m in same):
            same.append(match)
    chosen = (match for same in kept.values() for match in same)
    return tuple(sorted(chosen, key=lambda match: (match.start, match.end, match.rule)))


@functools.cache
def starter_pack() -> RulePack:
    """The pack that is shipped with the service, packs/starter.json, read once for the whole process."""
    source = resources.files("app.core.classify").joinpath("packs", "starter.json")
    return parse_pack(json.loads(source.read_text(encoding="utf-8")))


@functools.cache
def shared_vocabulary() -> Vocabulary:
    """What the shipped rules and the shipped model look for: both read a post with the same disguises undone."""
    return Vocabulary(looked_for(starter_pack()), shipped_words())


def vocabulary_of(pack: RulePack) -> Vocabulary:
    """The vocabulary by which the disguises in a post are undone for this pack."""
    if pack.digest == starter_pack().digest:
        return shared_vocabulary()
    return Vocabulary(looked_for(pack), shipped_words())


@functools.cache
def _shipped() -> CompiledPack:
    """The starter pack, compiled once for the whole process: that takes longer than most posts."""
    return CompiledPack(starter_pack())


class RulePackClassifier:
    """A rule pack as a `Classifier`; by default the starter pack, under the name ``builtin.rules``.

    The pack is read and compiled once, on first use, and shared by all threads. A rule with a language is skipped
    only in a post of another one; in a post that the starter pack cannot read, a category without a match is not
    scored. Rules are not calibrated: 0.8 means "heavier than 0.6", not "right
    eight times in ten". ``seconds``: processor time that the rules may use per text; None for the shipped pack,
    whose rules are known to be fast.
    """

    cost = 0
    local = True
    calibrated = False
    max_chars = 50_000

    def __init__(
        self,
        pack: RulePack | Callable[[], RulePack] | None = None,
        name: str = "builtin.rules",
        tier1_categories: frozenset[str] = frozenset({"spam", "pii"}),
        *,
        seconds: float | None = None,
    ) -> None:
        self.name = name
        self._pack = pack
        self.languages: frozenset[str] | None = frozenset({"en"}) if pack is None else None
        self._tier1 = tier1_categories
        self._seconds = seconds
        self._lock = threading.Lock()
        self._compiled: CompiledPack | None = None
        self._whole: RulePackClassifier | None = None
        self._off: frozenset[str] = frozenset()

    def without_rules(self, rules: Iterable[str]) -> "RulePackClassifier":
        """The same pack with these rules switched off; both share the compiled rules."""
        reduced = RulePackClassifier(self._pack, self.name, self._tier1, seconds=self._seconds)
        reduced._whole, reduced._off = self, frozenset(rules)
        return reduced

    def load(self) -> CompiledPack:
        """Return the compiled pack. Call it at start-up, so that the first text need not wait."""
        if self._whole is not None:
            return self._whole.load()
        with self._lock:
            if self._compiled is None:
                pack = self._pack() if callable(self._pack) else self._pack
                self._compiled = _shipped() if pack is None else CompiledPack(pack)
            return self._compiled

    @property
    def version(self) -> str:
        """``<code version>.<pack version>+<12 digits of the pack's digest>``, plus 8 digits for switched-off rules."""
        pack = self.load().pack
        whole = f"{CODE_VERSION}.{pack.version}+{pack.digest[:12]}"
        if not self._off:
            return whole
        return f"{whole}-{hashlib.sha256(','.join(sorted(self._off)).encode()).hexdigest()[:8]}"

    @property
    def categories(self) -> frozenset[str]:
        return self.load().pack.categories

    @property
    def tier1_categories(self) -> frozenset[str]:
        return self._tier1 & self.categories

    def score(self, texts: list[str], context: Context) -> list[Result]:
        """Return one result per text, in order. Texts may have any length; the time is linear in it.

        A text for which the rules ran out of time gets no scores, and its result says so.
        """
        compiled = self.load()
        language = context.primary_language
        model = f"{self.name} {self.version}"
        results = []
        for text in texts:
            started = time.perf_counter()
            scores: dict[str, float] = {}
            matches: tuple[Match, ...] = ()
            error = None
            try:
                scores, matches = compiled.read(
                    text, language, self._off, seconds=self._seconds, facts=context.facts
                )
            except TimeIsUp as stopped:
                error = OutOfTime(stopped.rule, round(stopped.seconds * 1000))
            if self.languages is not None and language and language not in self.languages:
                # The rules cannot read it: what they found counts, but that they found nothing says nothing.
                scores = {category: score for category, score in scores.items() if score > 0}
            elapsed = round((time.perf_counter() - started) * 1000, 3)
            results.append(Result(scores=scores, matches=matches, model=model, ms=elapsed, error=error))
        return results
