"""The page that says where things are names files, functions and rooms that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()


def test_every_path_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`((?:app|docs|templates|tests)/[\w/.]*)`", PAGE))
    assert len(named) > 50
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_every_verb_stands_in_the_file_it_is_named_with() -> None:
    named = re.findall(r"`(app/[\w/]+\.py)`\s+`(\w+)`", PAGE)
    assert len(named) > 7
    assert [pair for pair in named if f"def {pair[1]}(" not in (ROOT / pair[0]).read_text()] == []


def test_modules_that_are_told_apart_are_all_in_the_core() -> None:
    told_apart = set(re.findall(r"`(\w+\.py)`", PAGE))
    assert len(told_apart) > 10
    assert sorted(name for name in told_apart if not (ROOT / "app" / "core" / name).is_file()) == []


def test_every_room_is_on_the_page() -> None:
    rooms = {path.name for path in (ROOT / "app").iterdir() if (path / "__init__.py").is_file()}
    assert sorted(room for room in rooms - {"migrations"} if f"`app/{room}/`" not in PAGE) == []
