"""Plain words: no riddles in docstrings, comments and names, and no public name that is a bare preposition."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
APP = ROOT / "app"

BARE = frozenset({"of", "by", "at", "in", "on", "under", "about", "among", "own", "several", "one"})
"""Names that say nothing alone: `Matrix.from_ratings(…)` can be read, `Matrix.of(…)` must be looked up."""
BARE_STILL = {"app/web/gallery.py: one"}
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
LANDED = "app/migrations/versions"
"""Migrations are never edited once they have landed."""

_PATTERN = re.compile(rf"\b(?:{'|'.join(RIDDLES)})\b", re.IGNORECASE)


def _modules() -> list[Path]:
    return [path for path in sorted(APP.rglob("*.py")) if not _name(path).startswith(LANDED)]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _public_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def _bare(source: str) -> set[str]:
    return BARE.intersection(_public_names(ast.parse(source)))


def _prose(source: str) -> Iterator[tuple[int, str]]:
    """Docstrings (of constants too), comments, and names with their words apart, each with its line."""
    for node in ast.walk(ast.parse(source)):
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


def _riddles(source: str) -> set[str]:
    return {
        f"{line}: {match[0].lower()}" for line, text in _prose(source) for match in _PATTERN.finditer(text)
    }


@cache
def _bare_in_app() -> frozenset[str]:
    return frozenset(f"{_name(path)}: {name}" for path in _modules() for name in _bare(path.read_text()))


@cache
def _riddles_in_app() -> tuple[str, ...]:
    return tuple(
        f"{_name(path)}:{riddle}" for path in _modules() for riddle in sorted(_riddles(path.read_text()))
    )


def test_bare_names_and_riddles_are_noticed_wherever_they_can_be_written() -> None:
    assert _bare("class Matrix:\n    @classmethod\n    def of(cls): ...\n") == {"of"}
    assert _bare("def from_ratings(of, one): ...\ndef _at(): ...\n") == set()
    assert _riddles('"""Sealed anew."""\n') == {"1: anew"}
    assert _riddles('LIMIT = 1\n"""Fails for\ngood."""\n') == {"2: for good"}
    assert _riddles("x = 1\n# One lock for\n# whoever waits.\n") == {"2: whoever"}
    assert _riddles("def told_of(x): ...\n") == {"1: told of"}
    assert _riddles("class KeyKeepers: ...\n") == {"1: keepers"}
    assert _riddles('label = "Whoever signed this"\n') == set()


def test_no_public_name_is_a_bare_preposition() -> None:
    assert sorted(_bare_in_app() - BARE_STILL) == []


def test_docstrings_comments_and_names_are_plain() -> None:
    assert [riddle for riddle in _riddles_in_app() if not riddle.startswith(RIDDLES_STILL)] == []


def test_nothing_is_excused_that_is_plain_by_now() -> None:
    assert sorted(BARE_STILL - _bare_in_app()) == []
    plain = [place for place in RIDDLES_STILL if not any(r.startswith(place) for r in _riddles_in_app())]
    assert plain == []
