"""The page that says where things are names functions and rooms that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "develop" / "architecture.md").read_text()


def test_every_verb_stands_in_the_file_it_is_named_with() -> None:
    named = re.findall(r"`(app/[\w/]+\.py)`\s+`(\w+)`", PAGE)
    assert len(named) > 7
    assert [pair for pair in named if f"def {pair[1]}(" not in (ROOT / pair[0]).read_text()] == []


def test_modules_that_are_named_alone_are_somewhere_in_the_core() -> None:
    alone = {name for name in re.findall(r"`(\w+(?:/\w+)?\.py)`", PAGE) if not name.startswith("app/")}
    assert len(alone) > 10
    missing = [name for name in alone if not list((ROOT / "app" / "core").rglob(name.rpartition("/")[2]))]
    assert sorted(missing) == []


def test_every_package_of_the_core_is_on_the_page() -> None:
    packages = {path.parent.name for path in (ROOT / "app" / "core").glob("*/__init__.py")}
    assert sorted(name for name in packages if f"`app/core/{name}/`" not in PAGE) == []


def test_every_room_is_on_the_page() -> None:
    rooms = {path.name for path in (ROOT / "app").iterdir() if (path / "__init__.py").is_file()}
    assert sorted(room for room in rooms - {"migrations"} if f"`app/{room}/`" not in PAGE) == []
