"""Limits hold over several counters of one file."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FuturesTimeout
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.core.errors import TooMany
from app.core.write_lock import WriteLock
from app.throttle import FileStorage, Throttle

LIMITS = {
    "key": "100 per day",
    "ratings": "3 per minute; 5 per day",
    "ai_notes": "1/day",
    "sign_in": "1/day",
}


def _throttle(path: Path) -> Throttle:
    return Throttle(FileStorage(path=path), LIMITS)  # type: ignore[arg-type]


def _wait_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no writer give up because another gets no processor time."""
    monkeypatch.setattr(WriteLock, "PATIENCE", math.inf)
    monkeypatch.setattr(WriteLock, "LONGEST", math.inf)


def test_the_hit_over_the_limit_is_refused_with_whole_seconds(tmp_path: Path) -> None:
    throttle = _throttle(tmp_path / "limits.db")
    standings = [throttle.hit("ratings", "ann") for _ in range(3)]
    assert [standing.remaining for standing in standings if standing] == [2, 1, 0]
    with pytest.raises(TooMany) as refusal:
        throttle.hit("ratings", "ann")
    assert 1 <= refusal.value.retry_after <= 60
    assert throttle.hit("ratings", "bob") is not None


def test_two_processes_worth_of_counters_share_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _wait_on_a_busy_machine(monkeypatch)
    throttles = [_throttle(tmp_path / "limits.db") for _ in range(2)]

    def hit(number: int) -> bool:
        try:
            throttles[number % 2].hit("key", "k")
        except TooMany:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        passed = sum(pool.map(hit, range(140)))
    assert passed == 100


def test_a_hit_waits_for_another_process_that_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _wait_on_a_busy_machine(monkeypatch)
    throttle, other = (_throttle(tmp_path / "limits.db") for _ in range(2))
    throttle.hit("key", "k")
    with ThreadPoolExecutor(1) as pool:
        with WriteLock(str(tmp_path / "limits.db")).held():
            waiting = pool.submit(throttle.hit, "key", "k")
            with pytest.raises(FuturesTimeout):
                waiting.result(0.1)
        counted = waiting.result()
    standing = other.hit("key", "k")
    assert counted is not None
    assert standing is not None
    assert (counted.remaining, standing.remaining) == (98, 97)


@contextmanager
def _held_too_long(path: Path) -> Iterator[None]:
    """Another process holds the file for longer than anybody waits."""
    with pytest.MonkeyPatch.context() as hurry, WriteLock(str(path)).held():
        hurry.setattr(WriteLock, "PATIENCE", 0.05)
        hurry.setattr(WriteLock, "LOOK_EVERY", 0.02)
        yield


def test_a_file_that_cannot_be_reached_is_said_once_and_its_return_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _wait_on_a_busy_machine(monkeypatch)
    monkeypatch.setattr(Throttle, "ALONE_SECONDS", 0.0)
    throttle = _throttle(tmp_path / "limits.db")
    throttle.hit("key", "k")
    with _held_too_long(tmp_path / "limits.db"):
        for _ in range(3):
            throttle.hit("ratings", "ann")
    alone = "Rate limits are counted by each process alone: another writer of the database does not end"
    assert [record.message for record in caplog.records] == [alone]
    standing = throttle.hit("key", "k")
    assert standing is not None
    assert standing.remaining == 98
    throttle.hit("key", "k")
    assert [record.message for record in caplog.records] == [
        alone,
        "Rate limits are shared by all processes again.",
    ]


def test_a_storage_that_hangs_is_not_asked_at_every_hit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _wait_on_a_busy_machine(monkeypatch)
    monkeypatch.setattr(Throttle, "ALONE_SECONDS", 3600.0)
    throttle = _throttle(tmp_path / "limits.db")
    with _held_too_long(tmp_path / "limits.db"):
        throttle.hit("sign_in", "ann")
    with pytest.raises(TooMany):
        throttle.hit("sign_in", "ann")
    assert _throttle(tmp_path / "limits.db").hit("sign_in", "ann") is not None


def test_without_room_for_its_file_a_process_counts_alone(tmp_path: Path) -> None:
    throttle = _throttle(tmp_path)  # a folder, which cannot be written as a file
    for _ in range(3):
        throttle.check("sign_in", "ann")
        throttle.hit("ratings", "ann")
    throttle.hit("sign_in", "ann")
    for refused in (throttle.hit, throttle.check):
        with pytest.raises(TooMany):
            refused("sign_in", "ann")
    with pytest.raises(TooMany):
        throttle.hit("ratings", "ann")
    assert not throttle.reachable()


def test_limits_can_be_switched_off(tmp_path: Path) -> None:
    throttle = _throttle(tmp_path / "limits.db")
    throttle.enabled = False
    assert [throttle.hit("ai_notes", "k") for _ in range(5)] == [None] * 5
