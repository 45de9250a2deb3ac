"""Reading rule packs, refusing bad ones, and what each kind of rule finds."""

from types import SimpleNamespace
from typing import Any

import pytest

from app.core.classify import Context, Match, patterns, rulepack
from app.core.classify.patterns import Pattern, PatternSet, TimeIsUp
from app.core.classify.rulepack import CompiledPack
from app.core.classify.rules import parse_pack
from app.core.errors import Invalid


def rule(kind: str, pattern: str, weight: float = 0.6, **more: Any) -> dict[str, Any]:
    return {"id": "r1", "category": "spam", "kind": kind, "pattern": pattern, "weight": weight, **more}


def pack(*rules: dict[str, Any], lists: dict[str, list[str]] | None = None) -> CompiledPack:
    return CompiledPack(parse_pack({"name": "p", "version": "1", "lists": lists or {}, "rules": list(rules)}))


def found(compiled: CompiledPack, text: str) -> list[str]:
    return [text[match.start : match.end] for match in compiled.read(text)[1]]


@pytest.mark.parametrize(
    ("kind", "pattern", "text", "expected"),
    [
        ("word", "foo", "foo foo foo, foofoox (Foo) foo_ foo1 fooé", ["foo", "foo", "foo", "Foo"]),
        ("word", "été", "L'ÉTÉ était été", ["ÉTÉ", "été"]),
        ("word", "c++", "I like C++ and c", ["C", "c"]),
        ("word", "免费", "今天免费送", ["免费"]),
        (
            "phrase",
            "free money",
            "free money, FREE-money free,  money freemoneyx",
            ["free money", "FREE-money", "free,  money"],
        ),
        ("regex", r"colou?rs?", "Color colours discolour", ["Color", "colours"]),
        ("regex", r"\d{3}-\d{2}", "123-45 1123-45 123-456", ["123-45"]),
        (
            "domain",
            "bit.ly",
            "https://bit.ly/x www.bit.ly abit.ly bit.lyx bit[.]ly",
            ["bit.ly", "www.bit.ly", "bit[.]ly"],
        ),
    ],
)
def test_a_rule_finds_whole_words_each_time(kind: str, pattern: str, text: str, expected: list[str]) -> None:
    assert found(pack(rule(kind, pattern)), text) == expected


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("a(b", r"missing \) at position 1"),
        (r"[(]\(a)b", r"unexpected \) at position 6"),
        ("abc*+d**", r"bad repetition operator"),
        ("ok [z-a]", r"invalid character class range: z-a at position 4"),
        ("foo(?=bar)", "look-around is not available in RE2 at position 3"),
        (r"(a)\1", "back-references are not available in RE2 at position 3"),
        ("abc\\", r"trailing \\ at position 3"),
        ("a{1001}", "invalid repetition size"),
        ("(?:foo)?", "matches empty text"),
        ("", "the pattern is empty"),
        ("x\ud800", "surrogate"),
        ("a{{nobody}}", r"there is no list \{\{nobody\}\} at position 1"),
        ("x" * 6_000, "longer than 5,000 characters"),
    ],
)
def test_a_bad_pattern_is_refused_with_rule_field_and_place(pattern: str, complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint) as caught:
        pack(rule("regex", pattern, id="bad.one"))
    (problem,) = caught.value.problems
    assert problem.loc == ("rules", 0, "pattern")
    assert problem.msg.startswith("rule bad.one: ")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": "Bad Id"}, "id"),
        ({"category": "No Such"}, "category"),
        ({"kind": "glob"}, "kind"),
        ({"weight": 1.5}, "weight"),
        ({"weight": float("nan")}, "weight"),
        ({"weight": True}, "weight"),
        ({"unless": ["a("]}, "unless"),
        ({"unless": "a"}, "unless"),
        ({"languages": [1]}, "languages"),
        ({"enabled": "yes"}, "enabled"),
        ({"check": "magic"}, "check"),
        ({"check": ["luhn"]}, "check"),
        ({"kind": "regex", "pattern": r"\pL{100}"}, "pattern"),
        ({"colour": "red"}, "colour"),
        ({"kind": "domain", "pattern": "no spaces here"}, "pattern"),
        ({"kind": "word", "pattern": "!!!"}, "pattern"),
    ],
)
def test_a_bad_field_is_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as caught:
        pack(rule("word", "foo") | change)
    assert [problem.loc for problem in caught.value.problems] == [("rules", 0, field)]


def test_all_problems_of_a_pack_are_told_at_once() -> None:
    with pytest.raises(Invalid) as caught:
        pack(rule("regex", "("), rule("word", "fine", weight=7), "not a rule")  # type: ignore[arg-type]
    assert [problem.loc[1] for problem in caught.value.problems] == [0, 1, 2, 1]


def test_lists_that_contain_themselves_or_stand_too_deep_are_refused() -> None:
    with pytest.raises(Invalid, match="contains itself"):
        pack(rule("regex", "x {{a}}"), lists={"a": ["{{b}}"], "b": ["{{a}}"]})
    chain = {f"l{number}": [f"{{{{l{number + 1}}}}}"] for number in range(3_000)} | {"l3000": ["end"]}
    with pytest.raises(Invalid, match="lists stand within each other"):
        pack(rule("regex", "x {{l0}}"), lists=chain)


def test_a_small_pack_cannot_ask_for_a_large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    once = patterns.check
    monkeypatch.setattr(patterns, "check", lambda pattern: checked.append(pattern) or once(pattern))
    heavy = [rule("regex", rf"\pL{{10}}x{number}", id=f"r{number}") for number in range(1_000)]
    with pytest.raises(Invalid, match="too large together"):
        pack(*heavy)
    assert len(checked) < 500
    with pytest.raises(Invalid) as caught:
        pack(*[rule("regex", f"({number}", id=f"r{number}") for number in range(1_000)])
    assert len(caught.value.problems) == 50
    with pytest.raises(Invalid, match="at most 50 categories"):
        pack(*[rule("word", "foo", id=f"r{number}", category=f"c{number}") for number in range(51)])


def test_rules_of_a_category_combine_by_noisy_or_and_count_once() -> None:
    compiled = pack(rule("word", "foo", 0.5), rule("word", "bar", 0.6, id="r2"))
    assert compiled.read("foo foo foo")[0] == {"spam": 0.5}
    assert compiled.read("foo bar")[0] == {"spam": 0.8}


def test_an_exception_nearby_multiplies_a_hit_down() -> None:
    compiled = pack(rule("word", "kill", 0.8, unless=["process(?:es)?"]))
    assert compiled.read("kill the process")[0] == {"spam": 0.2}
    assert compiled.read("kill him. " + "It was a long day. " * 10 + "process")[0] == {"spam": 0.8}


def test_the_heaviest_hit_counts_when_only_one_of_two_is_excepted() -> None:
    compiled = pack(rule("word", "kill", 0.8, unless=["process"]))
    assert compiled.read("kill the process " + "and then " * 20 + "kill him")[0] == {"spam": 0.8}


def test_every_category_of_the_pack_is_scored_also_by_rules_switched_off() -> None:
    compiled = pack(rule("word", "foo"), rule("word", "bar", id="r2", category="hate", enabled=False))
    assert compiled.read("bar")[0] == {"hate": 0.0, "spam": 0.0}


@pytest.mark.parametrize(
    ("language", "score"), [(None, 0.6), ("de", 0.6), ("de-AT", 0.6), ("DE_ch", 0.6), ("en", 0.0), ("", 0.6)]
)
def test_a_rule_with_a_language_is_left_out_for_another(language: str | None, score: float) -> None:
    compiled = pack(rule("word", "gratis", languages=["de"]))
    assert compiled.read("gratis", Context(language=language).primary_language)[0] == {"spam": score}


@pytest.mark.parametrize(
    ("check", "pattern", "text", "expected"),
    [
        (
            "luhn",
            r"(?:\d[ -]?){12,18}\d",
            "4012 8888 8888 1881 and 4012 8888 8888 1882",
            ["4012 8888 8888 1881"],
        ),
        ("luhn", r"(?:\d[ -]?){12,18}\d", "0000000000000000", []),
        (
            "iban",
            r"[a-z]{2}\d{2}(?: ?[a-z0-9]){11,30}",
            "to GB82 WEST 1234 5698 7654 32 now please",
            ["GB82 WEST 1234 5698 7654 32"],
        ),
        ("iban", r"[a-z]{2}\d{2}(?: ?[a-z0-9]){11,30}", "GB82 WEST 1234 5698 7654 33", []),
        ("iban", r"[a-z]{2}\d{2}(?: ?[a-z0-9]){11,30}", "XX82 WEST 1234 5698 7654 32", []),
        ("ssn", r"\d{3}-\d{2}-\d{4}", "219-09-9999, 666-12-1234, 900-12-1234, 123-00-1234", ["219-09-9999"]),
    ],
)
def test_a_check_tells_real_numbers_from_digits(
    check: str, pattern: str, text: str, expected: list[str]
) -> None:
    assert found(pack(rule("regex", pattern, check=check)), text) == expected


def test_full_width_digits_are_digits_to_a_check() -> None:
    compiled = pack(rule("regex", r"\d{16}", check="luhn"))
    assert found(compiled, "４０１２８８８８８８８８１８８１") == ["４０１２８８８８８８８８１８８１"]


def test_at_most_twenty_places_are_shown_for_a_rule() -> None:
    _, matches = pack(rule("word", "foo")).read("foo " * 500)
    assert [(match.start, match.end) for match in matches] == [(n * 4, n * 4 + 3) for n in range(20)]
    assert matches[0] == Match("r1", "spam", 0, 3, 0.6)


def test_a_domain_is_not_read_through_disguises() -> None:
    compiled = pack(rule("domain", "gogle.com"), rule("word", "gogle", id="r2", category="hate"))
    assert compiled.read("gooooogle.com")[0] == {"hate": 0.6, "spam": 0.0}


def test_patterns_with_and_without_words_of_their_own_are_found_together() -> None:
    patterns = [
        *(Pattern(f"w{n}(?: [^ ]+){{0,20}} x") for n in range(40)),
        Pattern(r"\d{3}"),
        Pattern("[yz]{5}"),
    ]
    assert PatternSet(patterns).candidates(b"w3 and w4 then x 123") == [3, 4, 40]


def test_rules_made_to_be_slow_are_stopped_and_the_slowest_is_named() -> None:
    # Each keeps hundreds of half-finished readings alive at every letter: together they would take some ten seconds.
    slow = [rule("regex", f"[ab]*a[ab]{{{900 - n}}}c", id=f"slow-{n}") for n in range(50)]
    with pytest.raises(TimeIsUp) as stopped:
        pack(*slow).read("abbab" * 10_000, seconds=0.05)
    assert stopped.value.rule.startswith("slow-")


def test_compiling_rules_takes_none_of_the_time_of_the_text_that_needs_them_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = pack(*(rule("word", f"word{n}", id=f"r-{n}") for n in range(5)))
    moment, compiling = 0.0, patterns.re2.compile

    def compile_for_a_second(*given: Any) -> Any:
        nonlocal moment
        moment += 1.0
        return compiling(*given)

    monkeypatch.setattr(patterns.re2, "compile", compile_for_a_second)
    monkeypatch.setattr(patterns, "time", SimpleNamespace(thread_time=lambda: moment))
    monkeypatch.setattr(rulepack, "SET_WORK", 0)
    scores, _ = compiled.read("word3", seconds=0.5)
    assert (scores["spam"] > 0, moment) == (True, 5.0)


def test_what_time_a_text_may_take_changes_nothing_about_what_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = " ".join(f"{'word' if n % 7 else 'sword'} x{n} w{'o' * (n % 5)}rd" for n in range(3_000))
    encoded = text.encode()
    whole = list(Pattern("w(?:o)+rd(?: x[0-9]+)?").spans(encoded, limit=10_000))
    monkeypatch.setattr(patterns, "SEARCH_WORK", 1)
    pauses: list[None] = []
    pieces = Pattern("w(?:o)+rd(?: x[0-9]+)?").spans(encoded, limit=10_000, pause=lambda: pauses.append(None))
    assert list(pieces) == whole
    assert len(pauses) - len(whole) >= len(encoded) // (8 * patterns.REACH)


def test_the_digest_follows_the_content_of_the_pack() -> None:
    first = parse_pack({"name": "p", "version": "1", "rules": [rule("word", "foo")]})
    same = parse_pack({"version": "1", "name": "p", "rules": [rule("word", "foo")]})
    other = parse_pack({"name": "p", "version": "1", "rules": [rule("word", "foo", 0.61)]})
    assert first.digest == same.digest != other.digest
