"""The arrows of the house: who may import whom (docs/decisions/0001)."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "app"
CORE_MAY_IMPORT = {"sqlalchemy", "numpy", "scipy", "re2", "rfc8785", "uuid_utils", "argon2", "cryptography"}


def _modules(folder: str = "") -> list[Path]:
    return sorted((APP / folder).rglob("*.py"))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _name(path: Path) -> str:
    return str(path.relative_to(APP))


def test_there_is_something_to_guard() -> None:
    assert len(_modules("core")) > 20
    assert _modules("api")
    assert _modules("web")


@pytest.mark.parametrize("path", _modules("core"), ids=_name)
def test_core_imports_only_itself_and_what_it_is_allowed(path: Path) -> None:
    for imported in _imports(path):
        top = imported.split(".")[0]
        inside = imported.startswith("app.core") or imported == "app"
        assert inside or top in CORE_MAY_IMPORT or top in sys.stdlib_module_names, imported


@pytest.mark.parametrize("path", _modules("core"), ids=_name)
def test_core_never_commits_nor_reads_the_system_clock(path: Path) -> None:
    if path.name in {"db.py", "clock.py"}:
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute):
            assert node.attr not in {"commit", "utcnow"}, f"{path.name}:{node.lineno}"
            is_datetime_now = (
                node.attr == "now" and isinstance(node.value, ast.Name) and node.value.id == "datetime"
            )
            assert not is_datetime_now, f"{path.name}:{node.lineno}"


@pytest.mark.parametrize(
    ("door", "other"), [("api", "web"), ("web", "api"), ("jobs", "web"), ("jobs", "api")]
)
def test_doors_do_not_open_into_each_other(door: str, other: str) -> None:
    for path in _modules(door):
        for imported in _imports(path):
            assert not imported.startswith(f"app.{other}"), f"{_name(path)} imports {imported}"


def test_only_the_engine_knows_the_job_library() -> None:
    users = {_name(path) for path in _modules() if any(i.split(".")[0] == "dbos" for i in _imports(path))}
    assert users == {"jobs/engine.py"}


def test_only_settings_read_the_environment() -> None:
    for path in _modules():
        if _name(path) == "settings.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                assert node.attr not in {"getenv"}, f"{_name(path)}:{node.lineno}"


def test_states_are_assigned_in_one_place_only() -> None:
    """``x.action_state = …`` and its like appear nowhere: ``moves.make_move`` alone changes a state."""
    for path in _modules():
        for node in ast.walk(ast.parse(path.read_text())):
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
