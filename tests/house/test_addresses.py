"""Addresses of our own pages come from `url_for`: a path stands once, at its view."""

import ast
import re
from pathlib import Path

import pytest

from tests.house.source import ROOT, modules, nodes_of, walk

TEMPLATES = ROOT / "templates"

_ATTRIBUTE = re.compile(r"""\b(?:href|action|formaction|src|hx-(?:get|post|put|patch|delete))=["']/[^"'{]*""")
_EXPRESSION = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)
_PATH = re.compile(r"""(?<!\w)["']/[a-z][^"']*["']""")

ELSEWHERE = ("/api/public/v1", "/static/")
"""What the paths of the interface and of files begin with: shown to people, and compared."""


def written_out(text: str) -> list[str]:
    """The addresses in a template that nobody asked `url_for` for."""
    return [
        *_ATTRIBUTE.findall(text),
        *(path for expression in _EXPRESSION.findall(text) for path in _PATH.findall(expression)),
    ]


def test_what_is_looked_for_is_found() -> None:
    assert written_out('<a href="/people">x</a>') == ['href="/people']
    assert written_out('<a href="/people/{{ id }}">x</a>') == ['href="/people/']
    assert written_out('{{ link_button("People", "/people") }}') == ['"/people"']
    assert written_out('{{ button("x", attrs={"formaction": "/people/" ~ id}) }}') == ['"/people/"']
    assert written_out('<a href="{{ url_for("web.people") }}" data-key="/">1/2</a>') == []


@pytest.mark.parametrize(
    "template",
    sorted(TEMPLATES.rglob("*.html")),
    ids=lambda path: str(path.relative_to(TEMPLATES)),
)
def test_templates_ask_for_addresses(template: Path) -> None:
    found = written_out(template.read_text())
    assert [one for one in found if not one.strip("\"'").startswith(ELSEWHERE)] == []


def test_views_ask_for_addresses() -> None:
    """A path stands in the decorator of its view, and nowhere else."""
    wrong = []
    for path in modules("web"):
        routes = {
            id(node)
            for function in nodes_of(path)
            if isinstance(function, ast.FunctionDef)
            for decorator in function.decorator_list
            for node in walk(decorator)
        }
        wrong += [
            f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
            for node in nodes_of(path)
            if isinstance(node, ast.Constant) and id(node) not in routes and _is_path(node.value)
        ]
    assert wrong == []


def _is_path(value: object) -> bool:
    if not isinstance(value, str) or value.startswith(ELSEWHERE):
        return False
    return re.match(r"/[a-z][\w/.-]*([?#].*)?$", value) is not None
