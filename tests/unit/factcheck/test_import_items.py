"""The command ``import-items``: files are imported and reported, and bad lines named."""

import gzip
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result

from app.commands.main import cli
from app.core.errors import Invalid
from app.core.factcheck import published
from app.core.factcheck.published import Defaults
from app.core.models import FactCheckItem
from app.settings import Settings
from app.wiring import Wiring

CLAIM = "Drinking seawater every morning cures diabetes within two weeks"
LINE = {
    "claim": CLAIM,
    "rating": "Pants on Fire!",
    "url": "https://checks.example.org/seawater",
    "publisher": "Example Checks",
    "dataset": "example",
    "item_id": "sea-1",
}


@pytest.fixture
def import_file(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs the command over these lines: objects, or text as it is."""
    monkeypatch.setenv("BRIDGENOTE_DATABASE_URL", settings.database_url)
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(settings.data_dir))

    def run(*lines: Any, options: tuple[str, ...] = ()) -> Result:
        file = tmp_path / "items.jsonl"
        written = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        file.write_bytes(b"\n".join(written))
        return CliRunner().invoke(cli, ["import-items", str(file), *options])

    return run


def _count(wiring: Wiring) -> int:
    with wiring.database.reading() as session:
        return session.scalar(sa.select(sa.func.count(FactCheckItem.id))) or 0


def test_a_file_is_imported_and_reported(import_file: Callable[..., Result], wiring: Wiring) -> None:
    other = LINE | {
        "item_id": "sea-2",
        "rating": "Research in progress",
        "reviewed_on": "at sea",
        "extra": [1],
    }
    result = import_file(b"\xef\xbb\xbf" + json.dumps(LINE).encode(), b"", other)
    assert result.exit_code == 0, result.output
    assert "2 items of items.jsonl: 2 new, 0 changed, 0 unchanged." in result.output
    assert "'Research in progress' (1)" in result.output
    assert "1 item with a date that cannot be read, imported without it:\n  line 3: at sea\n" in result.output
    again = import_file(LINE | {"claim": "Something else"}, other)
    assert "0 new, 1 changed, 1 unchanged" in again.output
    assert _count(wiring) == 2


def test_the_other_names_of_members_are_read(import_file: Callable[..., Result], wiring: Wiring) -> None:
    line = {k: v for k, v in LINE.items() if k not in {"dataset", "item_id"}}
    assert import_file(line | {"dataset_name": "d", "dataset_item_id": "  7 "}).exit_code == 0
    with wiring.database.reading() as session:
        row = session.scalars(sa.select(FactCheckItem)).one()
        assert (row.dataset_name, row.item_id) == ("d", "  7 ")


BAD: list[tuple[Any, str]] = [
    (b"{nonsense", "row is not JSON"),
    (b"\xff\xfe", "row is not UTF-8"),
    (b"[" * 100_000, "row is not JSON"),
    (b'"text"', "row must be an object"),
    (LINE | {"claim": ""}, "claim must not be blank"),
    (LINE | {"claim": None}, "claim is missing"),
    (LINE | {"claim": "x" * 5001}, "claim must be at most 5,000"),
    (LINE | {"rating": 3}, "rating must be text"),
    (LINE | {"url": "javascript:alert(1)"}, "url must be an address"),
    (LINE | {"url": "https://a.example/<script>"}, "url must be an address"),
    (LINE | {"publisher": "a\x00b"}, "publisher must not contain NUL"),
    (LINE | {"item_id": "x" * 37}, "item_id must be at most 36"),
    (LINE | {"dataset_name": "other"}, "dataset_name differs between dataset_name and dataset"),
    (LINE, "item_id is that of line 1 too"),
]


def test_a_bad_line_is_named_by_number_and_field_and_nothing_is_imported(
    import_file: Callable[..., Result], wiring: Wiring
) -> None:
    for bad, named in BAD:
        result = import_file(LINE, bad)
        assert result.exit_code == 2, named
        assert f"line 2: {named}" in result.output, named
        assert "nothing was imported" in result.output
    assert _count(wiring) == 0


def test_every_problem_of_a_line_is_named(import_file: Callable[..., Result]) -> None:
    result = import_file({})
    assert [line for line in result.output.splitlines() if line.startswith("line 1: ")] == [
        f"line 1: {name} is missing" for name in ("claim", "rating", "url", "publisher", "dataset_name")
    ]


def test_bad_lines_can_be_skipped_and_a_file_tried_without_importing(
    import_file: Callable[..., Result], wiring: Wiring
) -> None:
    assert import_file(LINE, options=("--dry-run",)).exit_code == 0
    assert _count(wiring) == 0
    result = import_file(b"x" * 1_048_577, LINE, b"{", options=("--skip-bad",))
    assert result.exit_code == 0, result.output
    assert "line 1: row is longer than" in result.output
    assert "2 lines left out." in result.output
    assert _count(wiring) == 1


def test_a_damaged_gzip_file_is_a_sentence_and_a_pipe_is_read(
    import_file: Callable[..., Result], wiring: Wiring, tmp_path: Path
) -> None:
    whole = gzip.compress(json.dumps(LINE).encode())
    packed = tmp_path / "items.jsonl.gz"
    for content in (whole[:-9], b"no gzip at all", whole[:20] + b"xxxx" + whole[24:]):
        packed.write_bytes(content)
        result = CliRunner().invoke(cli, ["import-items", str(packed)])
        assert result.exit_code == 2
        assert result.stderr == "Error: items.jsonl.gz is a damaged gzip file. Nothing was imported.\n"
    assert _count(wiring) == 0
    for number, content in enumerate((whole, json.dumps(LINE | {"item_id": "sea-2"}).encode())):
        pipe = tmp_path / f"pipe-{number}"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(content,))
        writer.start()
        result = CliRunner().invoke(cli, ["import-items", str(pipe)])
        writer.join()
        assert result.exit_code == 0, result.output
        assert f"1 item of pipe-{number}: 1 new" in result.output
    assert _count(wiring) == 2


def test_misuse_and_files_without_items_exit_with_2(import_file: Callable[..., Result]) -> None:
    assert CliRunner().invoke(cli, ["import-items"]).exit_code == 2
    assert CliRunner().invoke(cli, ["import-items", "/nowhere/items.jsonl"]).exit_code == 2
    assert import_file().exit_code == 2
    assert import_file(b"{", options=("--skip-bad",)).exit_code == 2


def test_a_row_is_refused_by_field() -> None:
    with pytest.raises(Invalid) as refused:
        published.read(LINE | {"url": "ftp://x", "publisher": 7}, Defaults())
    assert [problem.loc for problem in refused.value.problems] == [("url",), ("publisher",)]
