"""A function whose name asks a question only answers it: it changes no row, itself or through what it calls."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.house.source import APP, modules, nodes_of, walk

ASKING = ("is_", "are_", "may_", "has_", "can_", "was_")
SESSION_CHANGES = {"add", "add_all", "delete", "flush", "merge", "begin_nested"}
STATEMENTS = {"insert", "update", "delete"}

Name = tuple[str, str]
"""A module and one of its functions."""


def _functions() -> dict[Name, ast.FunctionDef]:
    return {
        (module, node.name): node
        for module, path in _paths().items()
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef)
    }


def _paths() -> dict[str, Path]:
    return {
        ".".join(path.relative_to(APP.parent).with_suffix("").parts): path
        for room in ("core", "web", "api")
        for path in modules(room)
    }


def _imported(path: Path) -> dict[str, str]:
    """What each imported name stands for: "actions" → "app.core.actions.actions"."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("app")
        for alias in node.names
    }


def _is_change(node: ast.AST) -> bool:
    """Whether this is a change of a row: a session's verb, a writing statement, an attribute that is set."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="session"), attr=attr)):
            return attr in SESSION_CHANGES
        case ast.Call(func=ast.Attribute(value=ast.Name(id="sa"), attr=attr)):
            return attr in STATEMENTS
        case ast.Call(func=ast.Name(id="setattr")):
            return True
        case ast.Attribute(value=ast.Name(id=owner), ctx=ast.Store()):
            return owner not in {"self", "g"}  # Flask's g holds what a request has found, and no row
    return False


def _called(nodes: Iterable[ast.AST], module: str, imported: dict[str, str]) -> Iterator[Name]:
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id=name)):
                place, _, last = imported.get(name, f"{module}.{name}").rpartition(".")
                yield place, last
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=attr)) if owner in imported:
                yield imported[owner], attr


@cache
def _changing() -> frozenset[Name]:
    """Functions that change a row, themselves or through others."""
    functions = _functions()
    imported = {module: _imported(path) for module, path in _paths().items()}
    nodes = {name: tuple(walk(function)) for name, function in functions.items()}
    calls = {name: set(_called(nodes[name], name[0], imported[name[0]])) for name in functions}
    changing = {name for name in functions if any(map(_is_change, nodes[name]))}
    while more := {name for name in functions if name not in changing and calls[name] & changing}:
        changing |= more
    return frozenset(changing)


def test_what_changes_rows_is_recognised() -> None:
    changing = _changing()
    assert ("app.core.actions.moves", "make_move") in changing
    assert ("app.core.history.chain", "record") in changing
    assert ("app.core.notes.verdicts", "follow") in changing, "through make_move"
    assert ("app.core.review.queue", "queue") not in changing


def test_functions_that_ask_change_no_row() -> None:
    asking = {name for name in _functions() if name[1].lstrip("_").startswith(ASKING)}
    assert len(asking) > 50
    assert sorted(".".join(name) for name in asking & _changing()) == []
