"""The documentation: its links lead somewhere, its pictures are there, and the code refers to pages that exist."""

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from app.commands.main import Commands, cli
from app.settings import Settings
from tests.browser import screenshots
from tests.house.source import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("clients/*/*.md"), *(ROOT / "docs").rglob("*.md")])
LANDED = ROOT / "app" / "migrations" / "versions"
"""Migrations are never edited once they have landed, so their references may be old."""


_LINK = re.compile(r"(?:\]\(|^\[[^\]]+\]:\s+)<?([^()<>\s]+)>?", re.MULTILINE)
"""A link, with or without a title, or what a reference stands for."""
_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,3} (.+)$", re.MULTILINE)
"""Those that the site gives an anchor (`myst_heading_anchors` in `docs/conf.py`)."""
_PAGE_NAMED = re.compile(r"(docs/[\w/.-]+\.(?:md|py))(?:#([\w-]+))?")
_DECISION_NAMED = re.compile(r"\b[Dd]ecisions? (0\d{3})|docs/decisions/(0\d{3})")


@cache
def _text(page: Path) -> str:
    """The page without its blocks of code."""
    return _FENCE.sub("", page.read_text())


def _anchors(page: Path) -> set[str]:
    """The anchors of the page's headings, as GitHub and MyST make them: the second of two equal ones ends in -1."""
    anchors: dict[str, int] = {}
    for match in _HEADING.finditer(_text(page)):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", match[1]).strip()
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        anchors[anchor] = anchors.get(anchor, 0) + 1
    return {f"{anchor}-{n}" if n else anchor for anchor, count in anchors.items() for n in range(count)}


def _broken_links(page: Path) -> Iterator[str]:
    for match in _LINK.finditer(_text(page)):
        if re.match(r"[a-z]+:", match[1]):
            continue
        file, _, anchor = match[1].partition("#")
        target = page.parent / file if file else page
        if not target.exists():
            yield f"{page.relative_to(ROOT)}: {match[1]}"
        elif anchor and anchor not in _anchors(target):
            yield f"{page.relative_to(ROOT)}: {match[1]} (no such heading)"


def _sources() -> Iterator[Path]:
    for folder in ("app", "scripts", "static", "templates", "tests", "tools"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".html", ".css", ".js", ".toml"} and "vendor" not in path.parts:
                yield path
    yield from (ROOT / "Makefile", ROOT / "pyproject.toml")


def test_every_link_leads_to_a_file_and_a_heading_that_are_there() -> None:
    assert len(PAGES) > 30
    assert [link for page in PAGES for link in _broken_links(page)] == []


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n[a](#a-page) [b](https://example.org/x) [c](page.md#none)\n```\n[d](none.md)\n```\n"
        '## Twice\n## Twice\n#### Deep\n[e](#twice-1) [f](<#deep> "Title")\n[g]: other.md\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{__name__}.ROOT", tmp_path)
        assert list(_broken_links(page)) == [
            "page.md: page.md#none (no such heading)",
            "page.md: #deep (no such heading)",
            "page.md: other.md",
        ]


def test_what_the_pages_name_is_there() -> None:
    """Paths of the repository, settings, commands, and words of the Makefile."""
    settings = {f"BRIDGENOTE_{name.upper()}" for name in Settings.model_fields} | {"BRIDGENOTE_TRAINING_DATA"}
    settings |= set(re.findall(r"\$\{(BRIDGENOTE_[A-Z_]+)", (ROOT / "compose.yaml").read_text()))
    commands = set(Commands().list_commands(click.Context(cli)))
    chores = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    missing, paths = [], 0
    for page in PAGES:
        text = page.read_text()
        named = set(
            re.findall(r"`((?:app|clients|docs|scripts|static|templates|tests|tools)/[\w/.-]*)`", text)
        )
        paths += len(named)
        wrong = {path for path in named if not (ROOT / path).exists()}
        wrong |= set(re.findall(r"BRIDGENOTE_[A-Z_]*[A-Z]\b", text)) - settings
        wrong |= set(re.findall(r"python -m app ([a-z][a-z-]+)", text)) - commands
        wrong |= set(re.findall(r"(?:`|^    )make ([a-z0-9-]+)", text, re.MULTILINE)) - chores
        missing += [f"{page.relative_to(ROOT)}: {name}" for name in sorted(wrong)]
    assert paths > 100
    assert missing == []


def test_the_code_refers_to_pages_and_decisions_that_are_there() -> None:
    decisions = {path.name[:4] for path in (ROOT / "docs" / "decisions").glob("0*.md")}
    assert len(decisions) == 16
    missing = []
    for path in _sources():
        if path.is_relative_to(LANDED):
            continue
        text = path.read_text()
        missing += [
            f"{path.relative_to(ROOT)}: {match[0]}"
            for match in _PAGE_NAMED.finditer(text)
            if not (ROOT / match[1]).exists() or (match[2] and match[2] not in _anchors(ROOT / match[1]))
        ]
        missing += [
            f"{path.relative_to(ROOT)}: {match[0]}"
            for match in _DECISION_NAMED.finditer(text)
            if (match[1] or match[2]) not in decisions
        ]
    assert missing == []


def test_the_pictures_are_those_that_pages_show() -> None:
    shown = screenshots.shown()
    assert {path.name for path in screenshots.FOLDER.iterdir()} == set(shown), "run `make screenshots`"
    assert {name for name, _, _ in shown.values()} == set(screenshots.PAGES)
    described = [match[1] for page in PAGES for match in re.finditer(r"!\[([^\]]*)\]\(", page.read_text())]
    assert min(len(words) for words in described) > 20, "somebody who cannot see a picture reads it"


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    build = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-n", "-b", "html", "docs", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert build.returncode == 0, build.stderr
    assert (tmp_path / "index.html").is_file()
