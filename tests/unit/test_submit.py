"""``submit``: a file of posts is submitted once, whatever happens, or only observed (docs/run/commands.md)."""

import contextlib
import gzip
import json
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result

from app.commands import main as cli
from app.commands import submit as command
from app.core import clock
from app.core.actions import actions
from app.core.db import Database
from app.core.history import chain
from app.core.insights import trends
from app.core.models import (
    Action,
    Attachment,
    Decision,
    Event,
    HistoryEntry,
    PostScores,
    Request,
    SampledPost,
    Score,
)
from app.core.periods import Period
from app.core.permissions import SYSTEM
from app.core.requests import observing, submitting
from app.core.thresholds import previews, threshold_sets
from app.core.thresholds.drafts import draft_of
from app.core.vocabulary import RequestStatus
from app.jobs.communities import roll_up
from app.process import runtime
from app.settings import Settings
from app.wiring import Wiring
from tests.api.conftest import HARMLESS, INSULT, SPAM
from tests.cast import COMMUNITY, PLATFORM, Cast
from tests.inline_engine import InlineEngine
from tests.unit.test_cli import ROOT
from tests.warm import Process

WORDS = ("submit", "--platform", PLATFORM, "--community", COMMUNITY)
TEXTS = (SPAM, INSULT, HARMLESS)

Submit = Callable[..., Result]


@pytest.fixture
def submit(wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Submit:
    """Run the command in this process and on this test's database; its jobs wait until ``jobs.run_all()``."""
    monkeypatch.setattr(command, "opened_wiring", lambda: nullcontext(wiring))

    def run(file: Path | str, *words: str, stdin: bytes | None = None) -> Result:
        result = CliRunner().invoke(cli.cli, (*WORDS, *words, str(file)), input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return run


def posts(count: int, **attributes: Any) -> list[dict[str, Any]]:
    """Posts of the last month: of three in turn one is spam, one an insult, one harmless."""
    begin = clock.now() - timedelta(days=30)
    return [
        {
            "request_id": f"post-{number}",
            "requested_by": "forum",
            "original_message_content": TEXTS[number % 3],
            "platform_message_id": f"message-{number}",
            "platform_timestamp": clock.iso(begin + number * timedelta(hours=3)),
        }
        | attributes
        for number in range(count)
    ]


def written(file: Path, lines: Sequence[Any]) -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def rows(wiring: Wiring, model: Any) -> int:
    with wiring.database.reading() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(model)) or 0


@pytest.mark.both_databases
def test_a_month_is_observed_as_of_when_it_was_posted_and_nothing_follows(
    submit: Submit, wiring: Wiring, cast: Cast, jobs: InlineEngine, tmp_path: Path
) -> None:
    """The thresholds' preview, the observed categories and Insights show it; nobody is asked or told."""
    with wiring.database.writing() as session:
        drafts = [draft_of(one) for one in threshold_sets.current(session, cast.community_id).categories]
    roll_up(wiring.database)  # so that the slots in which the posts fall are counted already
    sent = posts(60)
    before = rows(wiring, Event)
    result = submit(written(tmp_path / "posts.jsonl", sent), "--observe")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("60 submitted, 0 known before, 0 refused.\n")
    with wiring.database.reading() as session:
        stored = session.scalars(sa.select(Request)).all()
        assert {one.status for one in stored} == {RequestStatus.COMPLETED}
        assert {clock.iso(one.requested_at) for one in stored} == {one["platform_timestamp"] for one in sent}
        assert all(one.requested_at == one.scored_at == one.completed_at for one in stored)
        assert all(one.language for one in stored)
        moments = dict(session.execute(sa.select(PostScores.request_id, PostScores.scored_at)).all())
        assert moments == {one.id: one.requested_at for one in stored if one.id in moments}
        assert len(moments) >= 40
        assert (
            session.scalar(
                sa.select(sa.func.count()).where(Score.created_at > clock.now() - timedelta(days=1))
            )
            == 0
        )
        causes = Counter(
            session.scalars(sa.select(HistoryEntry.cause).where(HistoryEntry.what == "request.completed"))
        )
        assert causes == {observing.CAUSE: 60}
        assert chain.verify(session, cast.community_id)[1] is None
    for model in (Action, Decision, SampledPost, Attachment):
        assert rows(wiring, model) == 0, model
    assert rows(wiring, Event) == before
    assert jobs.run_all() == 0

    with wiring.database.reading() as session:
        preview = previews.preview(session, SYSTEM, cast.community_id, drafts)
    month = next(period for period in preview.periods if period.days == 90)
    told = {
        line.split()[0]: [int(word) for word in line.split() if word.isdigit()]
        for line in result.stdout.splitlines()[2:]
    }
    assert told.pop("nothing") == [60 - month.before.acted - month.before.reviewed]
    assert told == {
        name: [change.before.acted, change.before.reviewed] for name, change in month.categories.items()
    }
    assert told["spam"][0] == 20
    week = next(period for period in preview.periods if period.days == 7)
    assert week.scored == 0

    roll_up(wiring.database)
    today = clock.now().date()
    period = Period(today - timedelta(days=31), today - timedelta(days=20), UTC)
    with wiring.database.reading() as session:
        volume = trends.for_community(session, SYSTEM, cast.community_id, period).volume
    assert sum(day.submitted for day in volume) == 60
    assert max(day.submitted for day in volume) == 8


@pytest.mark.both_databases
def test_called_again_it_goes_on_and_sends_nothing_twice(
    submit: Submit, wiring: Wiring, jobs: InlineEngine, tmp_path: Path
) -> None:
    sent = posts(9)
    assert submit(written(tmp_path / "some.jsonl", sent[:4])).stdout == (
        "4 submitted, 0 known before, 0 refused.\n4 are not scored yet: the running service does it.\n"
    )
    result = submit(written(tmp_path / "all.jsonl", [*sent, sent[0]]))
    assert result.exit_code == 0
    assert result.stdout.startswith("5 submitted, 5 known before, 0 refused.\n")
    assert rows(wiring, Request) == 9
    again = submit(tmp_path / "all.jsonl", "--observe")
    assert again.stdout.startswith("0 submitted, 10 known before, 0 refused.\n")
    assert {request.status for request in _requests(wiring)} == {RequestStatus.PENDING}


def _requests(wiring: Wiring) -> Sequence[Request]:
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Request)).all()


def test_an_observed_post_that_is_submitted_later_is_known_and_one_that_was_submitted_stays(
    submit: Submit, wiring: Wiring, cast: Cast, jobs: InlineEngine, tmp_path: Path
) -> None:
    with wiring.database.writing() as session:
        live = submitting.Submission("post-0", "forum", SPAM)
        submitting.submit(session, SYSTEM, cast.community_id, live)
    jobs.run_all()
    file = written(tmp_path / "posts.jsonl", posts(3))
    assert submit(file, "--observe").stdout.startswith("2 submitted, 1 known before")
    assert rows(wiring, Action) == 1
    with wiring.database.writing() as session:
        receipt = submitting.submit(
            session, SYSTEM, cast.community_id, submitting.Submission("post-1", "forum", INSULT)
        )
    assert not receipt.new
    assert jobs.run_all() == 0
    assert rows(wiring, Action) == 1


def test_a_member_may_still_have_an_observed_post_reviewed(
    submit: Submit, wiring: Wiring, cast: Cast, tmp_path: Path
) -> None:
    submit(written(tmp_path / "posts.jsonl", posts(1)), "--observe")
    (request,) = _requests(wiring)
    with wiring.database.writing() as session:
        submitting.escalate(session, SYSTEM, session.get_one(Request, request.id))
        assert actions.live_for(session, request.id) is not None


def test_what_is_wrong_with_a_line_is_told_by_its_number_and_the_others_go_on(
    submit: Submit, wiring: Wiring, cast: Cast, tmp_path: Path
) -> None:
    (good,) = posts(1)
    wrong: list[tuple[bytes, str]] = [
        (b"not json", "is not valid JSON: Expecting value at character 0"),
        (b'{"a": "\xff"}', "is not UTF-8"),
        (b'{"a": NaN}', "holds NaN, which is not JSON"),
        (b'{"a": 1, "a": 2}', 'has the member "a" twice'),
        (b"[" * 100_000, "is nested more than 64 levels deep"),
        (b"[]", "Input should be an object"),
        (_line(good, requested_by=7), "requested_by: Input should be a valid string"),
        (_line(good, original_message_content="\n"), "original_message_content: must not be blank"),
        (_line(good, request_id="a\0"), "request_id: must not contain NUL characters"),
        (_line(good, answer=42), "answer: Extra inputs are not permitted"),
        (
            _line(good, community_server_id="another"),
            "community_server_id: names another community than --community",
        ),
        (_line(good, platform_timestamp="yesterday"), "platform_timestamp: Input should be an ISO 8601 date"),
        (_line(good, platform_timestamp=None), "platform_timestamp: is needed"),
        (
            _line(good, platform_timestamp="0001-01-01T00:00:00Z"),
            "platform_timestamp: must be within the last 366 days",
        ),
        (
            _line(good, platform_timestamp="9999-01-01T00:00:00Z"),
            "platform_timestamp: must be within the last 366 days",
        ),
        (_line(good, metadata={"x": "y" * 70_000}), "metadata: must be at most 64 KB"),
        (_line(good, metadata={"x": "y" * 1_100_000}), "is longer than 1,048,576 bytes"),
        (_line(good, attachments=[{"url": "ftp://x", "kind": "image"}]), "attachments.0.url: "),
    ]
    file = tmp_path / "posts.jsonl"
    same = [
        _line(good, community_server_id=name, request_id=name) for name in (COMMUNITY, str(cast.community_id))
    ]
    file.write_bytes(b"\xef\xbb\xbf" + b"\n".join([_line(good), b"", *(line for line, _ in wrong), *same]))
    result = submit(file, "--observe")
    assert result.exit_code == 1
    assert result.stdout.startswith(f"3 submitted, 0 known before, {len(wrong)} refused.\n")
    told = result.stderr.splitlines()
    assert len(told) == len(wrong)
    for number, (line, (_, words)) in enumerate(zip(told, wrong, strict=True), 3):
        assert line.startswith(f"line {number}: {words}"), line
    assert rows(wiring, Request) == 3


def _line(post: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps(post | changes).encode()


def test_categories_that_only_observe_have_their_figures_at_once(
    submit: Submit, wiring: Wiring, cast: Cast, tmp_path: Path
) -> None:
    with wiring.database.writing() as session:
        drafts = [draft_of(one) for one in threshold_sets.current(session, cast.community_id).categories]
        silent = [replace(draft, observe_only=True) for draft in drafts]
        threshold_sets.revise(session, SYSTEM, cast.community_id, silent, "Before we go live")
    result = submit(written(tmp_path / "posts.jsonl", posts(9)), "--observe")
    since = clock.now() - timedelta(days=31)
    with wiring.database.reading() as session:
        figures = threshold_sets.observed(session, SYSTEM, cast.community_id, since)
    assert (figures["spam"].acted, figures["toxicity"].reviewed) == (3, 3)
    assert re.search(r"spam +3 acted on at once +0 sent to people", result.stdout)


@pytest.mark.parametrize(
    ("terminal", "shown"), [("1", "100%"), ("0", "120 submitted, 0 known before, 0 refused …")]
)
def test_a_terminal_shows_a_bar_and_everything_else_lines(
    submit: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: str, shown: str
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", terminal)
    monkeypatch.setattr(command, "PLAIN_SECONDS", 0.0)
    result = submit(written(tmp_path / "posts.jsonl", posts(120)), "--observe")
    assert shown in result.stderr
    assert ("━" in result.stderr) == (terminal == "1")
    assert result.stdout.startswith("120 submitted, 0 known before, 0 refused.\n")


def test_lines_come_from_a_pipe_or_packed_too(submit: Submit, wiring: Wiring, tmp_path: Path) -> None:
    lines = b"\n".join(_line(post) for post in posts(4))
    assert submit("-", stdin=lines).stdout.startswith("4 submitted,")
    packed = tmp_path / "posts.jsonl.gz"
    packed.write_bytes(gzip.compress(lines))
    assert submit(packed, "--observe").stdout.startswith("0 submitted, 4 known before")
    packed.write_bytes(gzip.compress(lines)[:-20])
    damaged = submit(packed)
    assert (damaged.exit_code, damaged.stderr) == (2, "Error: posts.jsonl.gz is a damaged gzip file\n")
    assert rows(wiring, Request) == 4


def test_a_file_without_posts_changes_nothing(submit: Submit, wiring: Wiring, tmp_path: Path) -> None:
    result = submit(written(tmp_path / "empty.jsonl", []))
    assert (result.exit_code, result.stdout) == (0, "0 submitted, 0 known before, 0 refused.\n")
    assert rows(wiring, Request) == 0


def _is_killed_and_goes_on(database: Database, file: Path, *words: str) -> None:
    """Kill the command once it has committed some of its posts, call it again, and look for each post once."""
    sent = posts(800, platform_timestamp=clock.iso(clock.now() - timedelta(days=3)))
    called = ("app", *WORDS, *words, written(file, sent))
    process = Process(*called, cwd=ROOT)
    try:
        end = time.monotonic() + 60
        while _stored(database) < 50 and time.monotonic() < end:
            time.sleep(0.01)
    finally:
        process.kill()
    assert process.wait() != 0
    done = _stored(database)
    assert 50 <= done < 800
    again = Process(*called, cwd=ROOT, stdout=subprocess.PIPE)
    said, _ = again.communicate(240)
    assert again.wait() == 0
    assert said.startswith(f"{800 - done} submitted, {done} known before, 0 refused.\n")
    with database.reading() as session:
        stored = session.execute(sa.select(Request.id, Request.request_id)).all()
        scored = set(session.scalars(sa.select(Score.request_id)))
    assert Counter(one.request_id for one in stored) == Counter(one["request_id"] for one in sent)
    assert scored == ({one.id for one in stored} if words else set())


def _stored(database: Database) -> int:
    """How many posts are committed; 0 while there is no database."""
    with contextlib.suppress(sa.exc.OperationalError), database.reading() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(Request)) or 0
    return 0


@pytest.mark.parametrize("words", [(), ("--observe",)], ids=["submitted", "observed"])
def test_what_is_killed_in_the_middle_goes_on_when_it_is_called_again(
    tmp_path: Path, words: tuple[str, ...], warm_processes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "var"
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(folder))
    runtime.migrate(Settings(_env_file=None, data_dir=folder).ready())
    database = Database(f"sqlite:///{folder / 'bridgenote.db'}")
    try:
        _is_killed_and_goes_on(database, tmp_path / "posts.jsonl", *words)
    finally:
        database.dispose()


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_so_it_does_on_postgresql(
    wiring: Wiring, tmp_path: Path, warm_processes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(tmp_path / "var"))
    monkeypatch.setenv("BRIDGENOTE_DATABASE_URL", wiring.settings.database_url)
    _is_killed_and_goes_on(wiring.database, tmp_path / "posts.jsonl", "--observe")
