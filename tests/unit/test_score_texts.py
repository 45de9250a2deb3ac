"""``score-texts``, once as a program of its own: JSON lines in, scores out, in order, without a database."""

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

from click.testing import CliRunner, Result

from app.commands import main
from app.core.classify import CATEGORIES
from app.core.communities import communities
from app.core.db import Database
from app.core.permissions import SYSTEM

ROOT = Path(__file__).parents[2]
TALK = "Does anyone know a good bakery near the station?"
ABUSE = "You are a pathetic idiot, nobody wants you here."
SPAM = "BUY 10,000 REAL FOLLOWERS for only $9! Limited offer, click here: https://bit.ly/followers-now"


def _invoke(folder: Path, lines: bytes, *options: str) -> Result:
    environment = {"BRIDGENOTE_DATA_DIR": str(folder)}
    return CliRunner(env=environment).invoke(main.cli, ["score-texts", *options], input=lines)


def _lines(*rows: dict[str, object]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_each_line_gets_its_scores_in_order_and_no_database_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "var"
    rows = ({"text": TALK}, {"text": ABUSE}, {"text": SPAM}, {"text": "", "id": 4})
    done = _invoke(folder, _lines(*rows))
    assert done.exit_code == 0, done.stderr
    talk, abuse, spam, empty = (json.loads(line) for line in done.stdout.splitlines())
    assert set(talk) == set(CATEGORIES)
    assert max(talk.values()) < 0.5
    assert abuse["toxicity"] > 0.5 > abuse["spam"]
    assert spam["spam"] > 0.95
    assert empty.pop("id") == 4
    assert max(empty.values()) < 0.5
    assert not folder.exists()


def test_the_language_decides_what_is_scored(tmp_path: Path) -> None:
    text = "Du bist ein Idiot, halt die Klappe."
    other = "Tu es vraiment un idiot, personne ne veut lire tout cela."
    done = _invoke(
        tmp_path / "var",
        _lines({"text": text, "language": "de"}, {"text": other, "language": "fr"}, {"text": text}),
    )
    german, french, unknown = (json.loads(line) for line in done.stdout.splitlines())
    assert german["toxicity"] > 0.5
    assert "toxicity" not in french, "neither the model nor the rules can read it"
    assert unknown["toxicity"] > 0.5


def test_a_bad_line_ends_it_and_is_named(tmp_path: Path) -> None:
    for bad, words in (
        (b"not json\n", b"line 2 is not JSON"),
        (b'["text"]\n', b"line 2 must be an object"),
        (b'{"text": 7}\n', b"line 2 must be an object"),
        (b'{"text": "a", "language": 7}\n', b'line 2: "language" must be'),
        (b'{"text": "a", "id": [1]}\n', b'line 2: "id" must be'),
        (b'{"text": "\xff"}\n', b"line 2 is not JSON"),
    ):
        done = _invoke(tmp_path / "var", _lines({"text": TALK}) + bad + _lines({"text": TALK}))
        assert done.exit_code == 2
        assert words in done.stderr_bytes
        assert len(done.stdout_bytes.splitlines()) == 1


def test_scores_are_written_as_the_lines_come(tmp_path: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "app", "score-texts"],
        cwd=ROOT,
        env=os.environ | {"BRIDGENOTE_DATA_DIR": str(tmp_path / "var")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert program.stdin is not None
    assert program.stdout is not None
    with program:
        for text in (TALK, ABUSE):
            program.stdin.write(_lines({"text": text}))
            program.stdin.flush()
            started = time.monotonic()
            assert json.loads(program.stdout.readline())["toxicity"] >= 0.0
            assert time.monotonic() - started < 60
        program.stdin.close()
        assert program.wait(timeout=60) == 0
    assert not (tmp_path / "var").exists()


def test_a_community_is_named_by_id_or_name_and_scores_with_its_own_classifiers(
    tmp_path: Path, sqlite_template: Path
) -> None:
    folder = tmp_path / "var"
    folder.mkdir()
    (folder / "bridgenote.db").write_bytes(sqlite_template.read_bytes())
    database = Database(f"sqlite:///{folder / 'bridgenote.db'}")
    with database.writing() as session:
        community = communities.open_community(session, SYSTEM, "discourse", "forum-1", name="The Harbour")
        identity = str(community.id)
    database.dispose()
    for reference in (identity, "forum-1", "The Harbour"):
        done = _invoke(folder, _lines({"text": ABUSE}), "--community", reference)
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["toxicity"] > 0.5
    unknown = _invoke(folder, _lines({"text": ABUSE}), "--community", str(uuid.uuid4()))
    assert unknown.exit_code == 1
    assert "Traceback" not in unknown.stderr
    assert unknown.stdout == ""
