"""A function whose name asks a question only answers it: it changes no row, itself or through what it calls."""

import ast
from collections.abc import Iterator
from pathlib import Path

APP = Path(__file__).parents[2] / "app"
ASKING = ("is_", "are_", "may_", "has_", "can_", "was_")
SESSION_CHANGES = {"add", "add_all", "delete", "flush", "merge", "begin_nested"}
STATEMENTS = {"insert", "update", "delete"}

Name = tuple[str, str]
"""A module and one of its functions."""


def _functions() -> dict[Name, ast.FunctionDef]:
    return {
        (module, node.name): node
        for module, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }


def _trees() -> dict[str, ast.Module]:
    paths = [path for room in ("core", "web", "api") for path in (APP / room).rglob("*.py")]
    return {
        ".".join(path.relative_to(APP.parent).with_suffix("").parts): ast.parse(path.read_text())
        for path in paths
    }


def _imported(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for: "actions" → "app.core.actions.actions"."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
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


def _called(function: ast.FunctionDef, module: str, imported: dict[str, str]) -> Iterator[Name]:
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(id=name)):
                place, _, last = imported.get(name, f"{module}.{name}").rpartition(".")
                yield place, last
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=attr)) if owner in imported:
                yield imported[owner], attr


def _changing(functions: dict[Name, ast.FunctionDef]) -> set[Name]:
    """Functions that change a row, themselves or through others."""
    imported = {module: _imported(tree) for module, tree in _trees().items()}
    calls = {name: set(_called(function, name[0], imported[name[0]])) for name, function in functions.items()}
    changing = {
        name for name, function in functions.items() if any(_is_change(node) for node in ast.walk(function))
    }
    while more := {name for name in functions if name not in changing and calls[name] & changing}:
        changing |= more
    return changing


def test_what_changes_rows_is_recognised() -> None:
    changing = _changing(_functions())
    assert ("app.core.actions.moves", "make_move") in changing
    assert ("app.core.history.chain", "record") in changing
    assert ("app.core.notes.verdicts", "follow") in changing, "through make_move"
    assert ("app.core.review.queue", "queue") not in changing


def test_functions_that_ask_change_no_row() -> None:
    functions = _functions()
    asking = {name for name in functions if name[1].lstrip("_").startswith(ASKING)}
    assert len(asking) > 50
    assert sorted(".".join(name) for name in asking & _changing(functions)) == []
