"""Figures of the fault tests, kept for `make faults`, which prints them at the end."""

import json
import os
from collections.abc import Mapping
from pathlib import Path


def note(title: str, figures: Mapping[str, float | str]) -> None:
    """Add one row, where somebody wants them."""
    path = os.environ.get("FAULTS_FIGURES")
    if path:
        with Path(path).open("a") as file:
            file.write(json.dumps({"title": title, "figures": dict(figures)}) + "\n")


def table(path: Path) -> str:
    """All rows as text, in the order in which they came."""
    lines: list[str] = []
    for written in path.read_text().splitlines():
        row = json.loads(written)
        lines += [row["title"], *(f"  {value:>12} {name}" for name, value in row["figures"].items()), ""]
    return "\n".join(lines)
