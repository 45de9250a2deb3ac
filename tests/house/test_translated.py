"""What people read goes through gettext, so that it can be translated (docs/translating.md)."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

from tests.house.source import APP, modules, nodes_of

TEMPLATES = APP.parent / "templates"
ENGLISH = "api_docs.html"
"""The reference of the API, which is English."""
MARKS = {"_", "gettext", "ngettext", "pgettext", "lazy_gettext"}
UNSEEN = {
    "Bridgenote",
    "Ctrl",
    "Enter",
    "Tab",
    "Esc",
    "Shift",
    "True",
    "None",
    "UTC",
    "JSON",
    "CSV",
    "API",
    "URL",
    "Ctrl + K",
    "Ctrl + Enter",
    "HX-Request",
    "HiddenField",
    "CSRFTokenField",
    "BooleanField",
    "RadioField",
    "SelectMultipleField",
    "MultiCheckboxField",
    "ListWidget",
    "Lax",
    "Strict-Transport-Security",
    "Bearer {}",
    "bytes {}-{}/{}",
    "Contact: {}",
    "Expires: {}",
    "Canonical: {}{}",
    "Set-Cookie",
    "/Users",
    "CommunityFormOfSettings",
}
"""Names, keys and what programs read, which stay as they are."""
SPEAKING_ATTRIBUTES = ("title", "aria-label", "placeholder", "alt", "label", "data-say", "data-confirm")

_TAG = re.compile(r"<[^<>]*>")
_SILENT = re.compile(r"<(script|style|code|kbd|pre)\b.*?</\1>", re.DOTALL)
_ATTRIBUTE = re.compile(rf"\b(?:{'|'.join(SPEAKING_ATTRIBUTES)})=\"([^\"]*)\"")
_WORD = re.compile(r"[^\W\d_]{2,}")
_HOLE = "\x00"
_SENTENCE = re.compile(
    r"[A-Z“][a-z’]+(?:$|[\s,.:!?…])|\b[a-z]+ (?:a|the|of|in|to|for|is|are|and|by|at|it|no|not|more|this|you|your)\b"
)
"""A capital word, or lower-case words that English puts together."""


def _templates(folder: str) -> list[Path]:
    return sorted(path for path in (TEMPLATES / folder).glob("*.html") if path.name != ENGLISH)


def _web_modules(folder: str) -> list[Path]:
    return sorted((APP / "web" / folder).glob("*.py"))


def _folders(root: Path, pattern: str) -> list[str]:
    found = {path.parent.relative_to(root).as_posix() for path in root.rglob(pattern)}
    return sorted("" if name == "." else name for name in found)


def _is_mark(node: object) -> bool:
    return isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name in MARKS


def _written(node: nodes.Node) -> Iterator[str]:
    """What a template writes itself, with a hole for each value and for each marked text."""
    for child in node.iter_child_nodes():
        if isinstance(child, nodes.Block) and child.name == "layout":
            continue  # a class
        if isinstance(child, nodes.TemplateData):
            yield child.data
        elif isinstance(node, nodes.Output):
            yield _HOLE
        else:
            yield from _written(child)


def _constants(node: nodes.Node) -> Iterator[str]:
    """The strings in a template's expressions, without the marked ones and without keys of mappings."""
    for child in node.iter_child_nodes():
        if _is_mark(child):
            continue
        if (
            isinstance(child, nodes.Const)
            and isinstance(child.value, str)
            and not isinstance(node, nodes.Compare)
        ):
            yield child.value
        yield from _constants(child)


def unmarked_in_template(source: str) -> list[str]:
    """The texts of a template that no translation reaches."""
    environment = Environment(extensions=["jinja2.ext.i18n"], autoescape=True)
    environment.newstyle_gettext = True  # type: ignore[attr-defined]
    tree = environment.parse(source)
    written = _SILENT.sub(" ", "".join(_written(tree)))
    said = [match.group(1) for match in _ATTRIBUTE.finditer(written)]
    said += _TAG.sub(_HOLE, written).split(_HOLE)
    said = [
        text for text in said if any(word not in UNSEEN for word in _WORD.findall(re.sub(r"&\w+;", "", text)))
    ]
    said += [text for text in _constants(tree) if text not in UNSEEN and _SENTENCE.search(text)]
    return [" ".join(text.split()) for text in said]


_QUIET_CALLS = re.compile(
    r"(?:^|\.)(?:getLogger|info|warning|error|exception|debug|compile|RuntimeError|LookupError|TypeVar|get|headers)$"
)


def unmarked_in_module(source: str) -> list[str]:
    """The texts of a module that no translation reaches; docstrings and log lines are not for readers."""
    tree = ast.parse(source)
    found: list[str] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in MARKS:
                return
            if _QUIET_CALLS.search(name) and not name.startswith("page."):
                return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node, ast.Subscript | ast.Compare | ast.Assert):
            return
        if isinstance(node, ast.JoinedStr):
            text = "".join(one.value if isinstance(one, ast.Constant) else "{}" for one in node.values)  # type: ignore[misc]
            if text in UNSEEN:
                return
            if _SENTENCE.search(text) or re.search(r"[a-z]{2,} \{\}|\{\} [a-z]{2,}", text):
                found.append(text)
            return
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value not in UNSEEN and _SENTENCE.search(node.value):
                found.append(node.value)
            return
        if isinstance(node, ast.Dict):
            for value in node.values:
                visit(value)
            return
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return found


@pytest.mark.parametrize("folder", _folders(TEMPLATES, "*.html"))
def test_each_text_of_a_template_can_be_translated(folder: str) -> None:
    missed = {path.name: unmarked_in_template(path.read_text()) for path in _templates(folder)}
    missed = {name: texts for name, texts in missed.items() if texts}
    assert not missed


@pytest.mark.parametrize("folder", _folders(APP / "web", "*.py"))
def test_each_text_of_a_view_can_be_translated(folder: str) -> None:
    missed = {path.name: unmarked_in_module(path.read_text()) for path in _web_modules(folder)}
    missed = {name: texts for name, texts in missed.items() if texts}
    assert not missed


def test_no_marked_text_is_inside_an_f_string() -> None:
    """Babel does not find it there, so no catalogue would have it."""
    inside = {
        f"{path.name}:{call.lineno}"
        for path in modules()
        for text in nodes_of(path)
        if isinstance(text, ast.JoinedStr)
        for call in ast.walk(text)
        if isinstance(call, ast.Call) and ast.unparse(call.func) in MARKS
    }
    assert not inside


@pytest.mark.parametrize(
    ("source", "missed"),
    [
        ("<p>{{ name }} waits</p>", ["waits"]),
        ("<p>{% trans %}All wait{% endtrans %} · {{ _('Done') }}</p>", []),
        ('<a title="Go home">{{ icon("home") }}</a>', ["Go home"]),
        ('{{ button("Save all") }}', ["Save all"]),
        ('{{ button(_("Save all"), kind="primary quiet") }}', []),
        ("{{ 'Late' if late else _('In time') }}", ["Late"]),
        ("<kbd>Ctrl</kbd>", []),
    ],
)
def test_the_search_finds_what_a_template_says(source: str, missed: list[str]) -> None:
    assert unmarked_in_template(source) == missed


@pytest.mark.parametrize(
    ("source", "missed"),
    [
        ('"""Say it."""\nsay("Saved.")', ["Saved."]),
        ('say(_("Saved."))', []),
        ('say(f"{name} was saved")', ["{} was saved"]),
        ('log.info("It was saved")', []),
        ('url_for("web.home", _anchor="mine")', []),
    ],
)
def test_the_search_finds_what_a_module_says(source: str, missed: list[str]) -> None:
    assert unmarked_in_module(source) == missed


UNSEEN_IN_CORE = {
    "attachments/adding.py",
    "classify/corpus.py",
    "media/decoder.py",
    "errors.py",
    "history/heads.py",
    "paging.py",
    "people/provider_groups.py",
    "people/provisioning.py",
    "requests/observing.py",
    "requests/submitting.py",
    "requests/text_scores.py",
}
"""Modules whose refusals only integrations read, or jobs store in English."""
SAID_BY_NOBODY = {"Invalid", "NotFound", "IllegalMove"}
"""Refusals without a sentence of their own; pages say another one than the last two."""
DECLARATIONS = {
    "declare": {"2", "3", "choices"},
    "Setting": {"label", "hint", "choices"},
    "_declare": {"0", "label", "enter", "empty", "hint", "choices"},
    "Fact": {"1", "2"},
    "Option": {"1", "2", "label", "hint", "choices"},
    "Kind": {"about", "url_hint"},
    "EventKind": {"label", "when"},
    "Counterpart": {"1"},
    "Example": {"2", "4", "note"},
    "Most": {"1", "2"},
    "Problem": {"2"},
    "Invalid.field": {"1"},
    "require_service_admin": {"1"},
}
"""Which values of these calls people read, by their place or name."""
UNSEEN_IN_MAILS = ("unsubscribe {}:", "List-Unsubscribe=One-Click", "\n\nBridgenote\n")
WHOLLY_SAID = ("upkeep/mail_texts.py", "upkeep/fixed_mails.py")


def _refusals() -> set[str]:
    """The names of the classes of ``Refused``, but of those whose text nobody reads."""
    names = {"Refused"}
    while True:
        more = {
            node.name
            for path in modules("core")
            for node in nodes_of(path)
            if isinstance(node, ast.ClassDef) and {ast.unparse(base) for base in node.bases} & names
        }
        if more <= names:
            return names - SAID_BY_NOBODY
        names |= more


def _unmarked(node: ast.AST) -> Iterator[str]:
    """The words in an expression that no mark holds; not what it compares, looks up or calls."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _WORD.search(node.value):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield from (
            text for part in node.values if isinstance(part, ast.Constant) for text in _unmarked(part)
        )
    elif isinstance(node, ast.Dict):
        yield from (text for value in node.values for text in _unmarked(value))
    elif isinstance(node, ast.IfExp):
        yield from (text for part in (node.body, node.orelse) for text in _unmarked(part))
    elif isinstance(node, ast.Tuple | ast.List | ast.BinOp | ast.BoolOp):
        yield from (text for part in ast.iter_child_nodes(node) for text in _unmarked(part))


def unmarked_in_core(nodes: Iterable[ast.AST], refusals: set[str]) -> list[str]:
    """The texts of refusals and declarations that no translation reaches."""
    found: list[str] = []
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        said = DECLARATIONS.get(name.removeprefix("errors."), {"0"} if name in refusals else set())
        values = {str(place): value for place, value in enumerate(node.args)}
        values |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        found += [text for place, value in values.items() if place in said for text in _unmarked(value)]
    return found


def test_each_refusal_and_declaration_of_core_can_be_translated() -> None:
    refusals = _refusals()
    missed = {
        path.name: texts
        for path in [*modules("core"), *modules("adapters")]
        if path.relative_to(APP / path.relative_to(APP).parts[0]).as_posix() not in UNSEEN_IN_CORE
        if (texts := unmarked_in_core(nodes_of(path), refusals))
    }
    assert not missed


@pytest.mark.parametrize("path", WHOLLY_SAID)
def test_each_text_of_a_mail_can_be_translated(path: str) -> None:
    said = unmarked_in_module((APP / "core" / path).read_text())
    assert said == [text for text in said if text in UNSEEN_IN_MAILS]


@pytest.mark.parametrize(
    ("source", "missed"),
    [
        ('Conflict("It is gone")', ["It is gone"]),
        ('Conflict(_("It is gone"), action.id)', []),
        ('Invalid.field("name", f"must be {most}", "x")', ["must be "]),
        ('Forbidden("No" if late else _("Yes"))', ["No"]),
        ('declare(1, Group.NOTES, lazy_gettext("Rate"), "How often")', ["How often"]),
        ('Setting(label=lazy_gettext("On"), choices={"a": "All"})', ["All"]),
        ('NotFound("note")', []),
    ],
)
def test_the_search_finds_what_core_says(source: str, missed: list[str]) -> None:
    assert unmarked_in_core(ast.walk(ast.parse(source)), _refusals()) == missed
