"""The pages that say what proves what name tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("file", "least"), [("run/reliability.md", 60), ("run/asvs.md", 30), ("security/asvs.md", 40)]
)
def test_every_test_that_the_page_names_is_there(file: str, least: int) -> None:
    page = (ROOT / "docs" / file).read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", page)
    assert len(named) > least
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not (ROOT / path).is_file() or f"def {name}(" not in (ROOT / path).read_text()
    ]
    assert missing == []
