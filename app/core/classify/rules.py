"""Rule packs: the form of a rule, parsing a pack, and the validation when a pack is saved.

A pack is a JSON object ``{"name", "version", "note", "lists": {name: [expression…]}, "rules": [rule…]}``. In a
regex and in ``unless``, ``{{name}}`` matches any one expression of that list. Rules match the text as normalise.py
returns it: lower case, single spaces, straight quotes. ``when`` asks facts: ``{"author_links_hour": {"at_least": 3}}``.
"""

import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core import errors, limits, texts
from app.core.classify import facts, patterns
from app.core.classify.checks import CHECKS
from app.core.classify.normalise import plain_text
from app.core.texts import gettext as _

FACTS_ONLY = "facts"
KINDS = ("word", "phrase", "regex", "domain", FACTS_ONLY)
UNLESS_MAX = 50
EXPANDED_MAX = 200_000
"""Most characters of an expression with its lists expanded: lists within lists grow by multiplication."""
LISTS_DEEP = 20
PROGRAMS_MAX = 400_000
"""Most instructions that all expressions of a pack may compile to: some tenths of a second. The starter pack has
300,000.
"""
CATEGORIES_MAX = 50
"""Each category is one row for every scored text."""
PROBLEMS_MAX = 50
"""Parsing stops after this many problems."""
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_LIST = re.compile(r"\{\{([a-z0-9_]+)\}\}")


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to look for.

    ``kind``: *word* and *phrase* are plain text (any punctuation or spaces between the words of a phrase), *regex*
    is an RE2 expression, *domain* a host name that also matches its subdomains. All match whole words only. *facts*
    looks for no words: its pattern is empty.
    ``when``: conditions on facts, all of which the post must meet (`facts`).
    ``weight``: 0.0–1.0, the score of the category when only this rule matches. ``unless``: RE2 expressions; a match
    near one of them counts a quarter. ``languages``: primary BCP 47 subtags to which the rule applies; empty for
    all. ``check``: a name in `checks.CHECKS`; the matched text must pass that check.
    """

    id: str
    category: str
    kind: str
    weight: float
    pattern: str = ""
    when: tuple[facts.Condition, ...] = ()
    unless: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    enabled: bool = True
    note: str = ""
    check: str | None = None


@dataclass(frozen=True)
class RulePack:
    """A validated pack. ``digest``: SHA-256 of its canonical JSON, hexadecimal.

    ``size``: instructions that its expressions compile to.
    """

    name: str
    version: str
    note: str
    lists: Mapping[str, tuple[str, ...]]
    rules: tuple[Rule, ...]
    digest: str
    size: int = 0

    @functools.cached_property
    def categories(self) -> frozenset[str]:
        """Categories with at least one rule, enabled or not: all of them are scored."""
        return frozenset(rule.category for rule in self.rules)


def _problem(index: int, rule: object, field: str, msg: str, value: Any = None) -> errors.Problem:
    if isinstance(rule, str) and rule:
        msg = _("rule %(rule)s: %(problem)s", rule=rule, problem=msg)
    return errors.Problem("value_error", ("rules", index, field), msg, value)


def expand(pattern: str, lists: Mapping[str, Sequence[str]]) -> str:
    """The expression with its lists expanded, including lists within lists.

    Raises:
        PatternError: names a list that is unknown, contains itself, or makes the expression too long.
    """
    length = 0

    def written_out(text: str, within: tuple[str, ...]) -> str:
        def alternatives(match: "re.Match[str]") -> str:
            name = match[1]
            if name not in lists:
                raise patterns.PatternError(_("there is no list {{%(name)s}}", name=name), match.start())
            if name in within:
                raise patterns.PatternError(_("the list {{%(name)s}} contains itself", name=name))
            if len(within) >= LISTS_DEEP:
                raise patterns.PatternError(
                    _("more than %(most)s lists stand within each other", most=LISTS_DEEP)
                )
            nonlocal length
            written = "(?:" + "|".join(written_out(entry, (*within, name)) for entry in lists[name]) + ")"
            length += len(written)
            if length > EXPANDED_MAX:
                raise patterns.PatternError(
                    _("with the list {{%(name)s}} written out it is too long", name=name)
                )
            return written

        return _LIST.sub(alternatives, text)

    return written_out(pattern, ())


def _checked_expression(pattern: str, lists: Mapping[str, Sequence[str]]) -> int:
    """Check an expression and return its size. Raises `PatternError`; positions refer to the unexpanded expression."""
    size = patterns.check(_LIST.sub(lambda match: "x" * len(match[0]), pattern))
    return patterns.check(expand(pattern, lists)) if _LIST.search(pattern) else size


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _rule_problems(
    index: int, raw: object, lists: Mapping[str, Sequence[str]]
) -> tuple[list[errors.Problem], int]:
    """The problems of a rule, and the size of its expressions."""
    if not isinstance(raw, dict):
        return [errors.Problem("value_error", ("rules", index), _("must be an object"), raw)], 0
    rule = raw.get("id")
    problems: list[errors.Problem] = []
    size = 0

    def refuse(field: str, msg: str) -> None:
        problems.append(_problem(index, rule, field, msg, raw.get(field)))

    for field in sorted(set(map(str, raw)) - set(Rule.__dataclass_fields__)):
        refuse(field, _("is not a field of a rule"))
    if not isinstance(rule, str) or not _ID.fullmatch(rule):
        refuse(
            "id",
            _("must be 1 to 80 characters of a-z, 0-9, '.', '_' or '-', starting with a letter or digit"),
        )
    if not isinstance(raw.get("category"), str) or not re.fullmatch(limits.CATEGORY_PATTERN, raw["category"]):
        refuse("category", _("must be lower case letters, digits and _, starting with a letter"))
    weight = raw.get("weight")
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0.0 <= weight <= 1.0:
        refuse("weight", _("must be a number from 0.0 to 1.0"))
    if not isinstance(raw.get("enabled", True), bool):
        refuse("enabled", _("must be true or false"))
    if not isinstance(raw.get("note", ""), str):
        refuse("note", _("must be text"))
    if not _texts(raw.get("languages", [])):
        refuse("languages", _("must be a list of language tags"))
    if raw.get("check") is not None and raw["check"] not in list(CHECKS):
        refuse("check", _("must be one of %(choices)s", choices=", ".join(CHECKS)))
    kind, pattern = raw.get("kind"), raw.get("pattern")
    for problem in facts.problems_of(raw.get("when", {})):
        refuse("when", problem)
    if kind not in KINDS:
        refuse("kind", _("must be one of %(choices)s", choices=", ".join(KINDS)))
    elif kind == FACTS_ONLY:
        for field in ("pattern", "unless", "check"):
            if raw.get(field):
                refuse(field, _("must be empty in a rule that asks facts only"))
        if not raw.get("when"):
            refuse("when", _("must ask at least one fact"))
    elif not isinstance(pattern, str):
        refuse("pattern", _("must be text"))
    else:
        try:
            size += patterns.check(_core(kind, pattern, lists))
        except patterns.PatternError as exc:
            refuse("pattern", str(exc))
    unless = raw.get("unless", [])
    if not _texts(unless) or len(unless) > UNLESS_MAX:
        refuse("unless", _("must be a list of at most %(most)s expressions", most=UNLESS_MAX))
        return problems, size
    for expression in unless:
        try:
            size += _checked_expression(expression, lists)
        except patterns.PatternError as exc:
            refuse("unless", _("%(problem)s (in %(expression)s)", problem=exc, expression=f"{expression!r}"))
    return problems, size


def _rule(raw: dict[str, Any]) -> Rule:
    sequences = {key: tuple(raw.get(key, ())) for key in ("unless", "languages")}
    return Rule(**{**raw, **sequences, "when": facts.conditions_of(raw.get("when", {}))})


def parse_pack(raw: object) -> RulePack:
    """Parse a pack from its JSON value.

    Raises:
        Invalid: the problems (the first ones of many), each with the rule, the field and, if known, the position.
    """
    if not isinstance(raw, dict):
        raise errors.Invalid.field("pack", _("must be an object"), raw)
    name, version, rules = raw.get("name"), raw.get("version"), raw.get("rules")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise errors.Invalid.field("name", _("must be 1 to 80 characters of a-z, 0-9, '.', '_' or '-'"), name)
    if not isinstance(version, str) or not version.strip():
        raise errors.Invalid.field("version", _("must be text"), version)
    if not isinstance(rules, list) or len(rules) > limits.RULES.number:
        raise errors.Invalid.field(
            "rules", _("must be a list of at most %(number)s rules", number=texts.number(limits.RULES.number))
        )
    lists = raw.get("lists", {})
    if not isinstance(lists, dict) or not all(_texts(entries) and entries for entries in lists.values()):
        raise errors.Invalid.field("lists", _("must be an object of non-empty lists of expressions"))
    if not isinstance(raw.get("note", ""), str):
        raise errors.Invalid.field("note", _("must be text"))
    category_names = {str(rule.get("category")) for rule in rules if isinstance(rule, dict)}
    if len(category_names) > CATEGORIES_MAX:
        raise errors.Invalid.field("rules", _("must be of at most %(most)s categories", most=CATEGORIES_MAX))
    problems: list[errors.Problem] = []
    size = 0
    for index, rule in enumerate(rules):
        rule_problems, rule_size = _rule_problems(index, rule, lists)
        problems += rule_problems
        size += rule_size
        if size > PROGRAMS_MAX:
            raise errors.Invalid.field(
                "rules", _("are too large together: repeat less in them, or have fewer")
            )
        if len(problems) >= PROBLEMS_MAX:
            break
    seen: set[str] = set()
    for index, rule in enumerate(rules):
        if isinstance(rule, dict) and isinstance(rule.get("id"), str):
            if rule["id"] in seen:
                problems.append(
                    _problem(index, rule["id"], "id", _("is used twice in this pack"), rule["id"])
                )
            seen.add(rule["id"])
    if problems:
        raise errors.Invalid(*problems)
    canonical = json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return RulePack(
        name=name,
        version=version,
        note=raw.get("note", ""),
        lists={key: tuple(entries) for key, entries in lists.items()},
        rules=tuple(_rule(rule) for rule in rules),
        digest=hashlib.sha256(canonical.encode()).hexdigest(),
        size=size,
    )


# Scripts without spaces between words: an edge would match a word only when it stands alone.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def _literal(text: str) -> str:
    """Plain text as an expression: its words, with 1 to 3 characters between them that are no letters or digits."""
    words = [word for word in re.split(r"[\W_]+", plain_text(text)) if word]
    if not words:
        raise patterns.PatternError(_("the pattern has no letter or digit"))
    return r"[^\pL\pN]{1,3}".join(re.escape(word) for word in words)


def _host(domain: str) -> str:
    labels = plain_text(domain).strip().strip(".").split(".")
    if len(labels) < 2 or not all(re.fullmatch(r"[\w-]+", label) for label in labels):
        raise patterns.PatternError(_("a domain is a host name such as example.com"))
    # People write "example[.]com" and "example dot com" to evade filters.
    dot = r"(?:\.| ?[\[(] ?(?:\.|dot) ?[\])] ?| dot )"
    return r"(?:[\pL\pN-]+\.)*" + dot.join(map(re.escape, labels))


def _core(kind: str, pattern: str, lists: Mapping[str, Sequence[str]]) -> str:
    """The expression of a rule without its edges. Raises `PatternError`."""
    if kind == "regex":
        _checked_expression(pattern, lists)
        return expand(pattern, lists)
    core = _host(pattern) if kind == "domain" else _literal(pattern)
    patterns.check(core)
    return core


def _within_edges(core: str, first: str = "", last: str = "") -> patterns.Pattern:
    return patterns.Pattern(core, before=not _UNSPACED.match(first), after=not _UNSPACED.match(last))


def compile_rule(rule: Rule, lists: Mapping[str, Sequence[str]]) -> patterns.Pattern:
    """The rule as a pattern over the UTF-8 bytes of a reading. Raises `PatternError`."""
    core = _core(rule.kind, rule.pattern, lists)
    if rule.kind in ("word", "phrase"):
        plain = plain_text(rule.pattern).strip()
        return _within_edges(core, plain[:1], plain[-1:])
    return _within_edges(core)


def compile_unless(rule: Rule, lists: Mapping[str, Sequence[str]]) -> patterns.Pattern | None:
    """All exceptions of a rule as one pattern, None when it has none."""
    if not rule.unless:
        return None
    return _within_edges("|".join(f"(?:{expand(expression, lists)})" for expression in rule.unless))


def looked_for(pack: RulePack) -> frozenset[str]:
    """The words that the pack's rules look for, used to undo disguises."""
    words: set[str] = set()
    for rule in pack.rules:
        if rule.kind in ("domain", FACTS_ONLY):
            continue
        text = expand(rule.pattern, pack.lists) if rule.kind == "regex" else plain_text(rule.pattern)
        if rule.kind == "regex":
            text = re.sub(
                r"\\p(?:\w|\{\w+\})|\\[A-Za-z]|\(\?(?:P?<\w+>|[\w-]*:)|\[[^\]]*\]", " ", text
            ).lower()
            # "followers?" looks for both forms.
            words.update(match[1] for match in re.finditer(r"([^\W\d_]+)[^\W\d_]\?", text))
            text = text.replace("?", "")
        words.update(re.findall(r"[^\W\d_]+", text))
    return frozenset(words)
