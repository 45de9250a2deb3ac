"""Plain words: no riddles in docstrings, comments, names and docs, and no public name that is a bare preposition."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.house.source import ROOT, modules, nodes_of, text_of, walk

BARE = frozenset({"of", "by", "at", "in", "on", "under", "about", "among", "own", "several", "one"})
"""Names that say nothing alone: `Matrix.from_ratings(…)` can be read, `Matrix.of(…)` must be looked up."""
BARE_STILL: frozenset[str] = frozenset()
"""Public names that are still to be changed. This list only gets shorter."""

RIDDLES = (
    "anew",
    "for good",
    "hears of",
    "keepers",
    "letterhead",
    "lies about",
    "operator's word",
    "quieted",
    "staff's word",
    "stands in",
    "suffrage",
    "surroundings",
    "told of",
    "what became of",
    "whoever",
)
"""Words that a reader has to work out; each has a plain equivalent."""
RIDDLES_STILL: tuple[str, ...] = ()
"""Folders and modules that are still to be rewritten. This list only gets shorter."""
PAGES = (
    "README.md",
    "clients/*/README.md",
    "Makefile",
    "docs/**/*.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "scripts/*",
    "static/js/**/*.js",
    "static/css/*.css",
)
"""What people read beside the code."""
LANDED = "app/migrations/versions"
"""Migrations are never edited once they have landed."""

_PATTERN = re.compile(rf"\b(?:{'|'.join(RIDDLES)})\b", re.IGNORECASE)
_BROKEN = re.compile(_PATTERN.pattern.replace(" ", r"\s+"), re.IGNORECASE)
"""The same in text whose lines break anywhere."""


def _modules() -> list[Path]:
    return [path for path in modules() if not _name(path).startswith(LANDED)]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _public_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def _bare(nodes: Iterable[ast.AST]) -> set[str]:
    return BARE.intersection(_public_names(nodes))


def _prose(source: str, nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Docstrings (of constants too), comments, and names with their words apart, each with its line."""
    for node in nodes:
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.lineno, " ".join(node.value.value.split())
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, _words_of(node.name)
        elif isinstance(node, ast.arg):
            yield node.lineno, _words_of(node.arg)
        elif isinstance(node, ast.Name):
            yield node.lineno, _words_of(node.id)
    yield from _comments(source)


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Comments, those of consecutive lines as one, because a phrase may be broken between two lines."""
    first, last, text = 0, -1, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        if line != last + 1:
            yield first, text
            first, text = line, ""
        last, text = line, f"{text} {token.string.lstrip('# ')}"
    yield first, text


def _words_of(identifier: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", identifier)


def _riddles(source: str, nodes: Iterable[ast.AST]) -> set[str]:
    # Few modules have all the words of one, and to take a module apart takes long.
    lowered = source.lower()
    if not any(all(word in lowered for word in riddle.split()) for riddle in RIDDLES):
        return set()
    return {
        f"{line}: {match[0].lower()}"
        for line, text in _prose(source, nodes)
        for match in _PATTERN.finditer(text)
    }


def _riddles_in_text(text: str) -> set[str]:
    return {
        f"{text.count(chr(10), 0, match.start()) + 1}: {' '.join(match[0].lower().split())}"
        for match in _BROKEN.finditer(text)
    }


def _comments_of_template(text: str) -> str:
    """The template without all that is no comment; the lines stay."""
    return "".join(
        part if part.startswith("{#") else "\n" * part.count("\n")
        for part in re.split(r"(\{#.*?#\})", text, flags=re.DOTALL)
    )


def _bare_in(source: str) -> set[str]:
    return _bare(walk(ast.parse(source)))


def _riddles_in(source: str) -> set[str]:
    return _riddles(source, walk(ast.parse(source)))


@cache
def _bare_in_app() -> frozenset[str]:
    return frozenset(f"{_name(path)}: {name}" for path in _modules() for name in _bare(nodes_of(path)))


@cache
def _riddles_in_app() -> tuple[str, ...]:
    return tuple(
        f"{_name(path)}:{riddle}"
        for path in _modules()
        for riddle in sorted(_riddles(text_of(path), nodes_of(path)))
    )


def test_bare_names_and_riddles_are_noticed_wherever_they_can_be_written() -> None:
    assert _bare_in("class Matrix:\n    @classmethod\n    def of(cls): ...\n") == {"of"}
    assert _bare_in("def from_ratings(of, one): ...\ndef _at(): ...\n") == set()
    assert _riddles_in('"""Sealed anew."""\n') == {"1: anew"}
    assert _riddles_in('LIMIT = 1\n"""Fails for\ngood."""\n') == {"2: for good"}
    assert _riddles_in("x = 1\n# One lock for\n# whoever waits.\n") == {"2: whoever"}
    assert _riddles_in("def told_of(x): ...\n") == {"1: told of"}
    assert _riddles_in("class KeyKeepers: ...\n") == {"1: keepers"}
    assert _riddles_in('label = "Whoever signed this"\n') == set()


def test_no_public_name_is_a_bare_preposition() -> None:
    assert sorted(_bare_in_app() - BARE_STILL) == []


def test_docstrings_comments_and_names_are_plain() -> None:
    assert [riddle for riddle in _riddles_in_app() if not riddle.startswith(RIDDLES_STILL)] == []


def test_a_riddle_is_noticed_across_lines_and_in_comments_of_templates_alone() -> None:
    assert _riddles_in_text("Sealed\nfor\n  good.\n") == {"2: for good"}
    assert _riddles_in_text(_comments_of_template("<p>for good</p>\n{# Told\nof it. #}\n")) == {"2: told of"}


def test_pages_scripts_and_comments_of_templates_are_plain() -> None:
    pages = {path: text_of(path) for pattern in PAGES for path in ROOT.glob(pattern)}
    templates = {path: _comments_of_template(text_of(path)) for path in (ROOT / "templates").rglob("*.html")}
    assert len(pages) > 30
    assert len(templates) > 100
    found = [
        f"{_name(path)}:{riddle}"
        for path, text in (pages | templates).items()
        for riddle in _riddles_in_text(text)
    ]
    assert sorted(found) == []


def test_nothing_is_excused_that_is_plain_by_now() -> None:
    assert sorted(BARE_STILL - _bare_in_app()) == []
    plain = [place for place in RIDDLES_STILL if not any(r.startswith(place) for r in _riddles_in_app())]
    assert plain == []
