"""The service's modules as syntax trees: each is read, parsed and walked through once for all guards.

Nobody may change these trees.
"""

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
APP = ROOT / "app"


def modules(folder: str = "") -> list[Path]:
    return sorted((APP / folder).rglob("*.py"))


@cache
def text_of(path: Path) -> str:
    return path.read_text()


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """What ``walk`` finds in the module."""
    collects = gc.isenabled()
    # Nothing of a tree is garbage; to look for some while it grows takes longer than to parse it.
    gc.disable()
    try:
        return tuple(walk(ast.parse(text_of(path))))
    finally:
        if collects:
            gc.enable()


def forget() -> None:
    """Give the memory back: a hundred megabytes of trees."""
    nodes_of.cache_clear()
    text_of.cache_clear()


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """As ``ast.walk``, in its order, in half the time; without ``Load`` and its like, which stand in a ``ctx``."""
    found = [node]
    for one in found:
        yield one
        for value in vars(one).values():
            if isinstance(value, list):
                found += [part for part in value if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                found.append(value)
