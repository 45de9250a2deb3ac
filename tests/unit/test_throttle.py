"""Limits hold over several counters of one file."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.core.errors import TooMany
from app.throttle import FileStorage, Throttle

LIMITS = {
    "key": "100 per minute",
    "ratings": "3 per minute; 5 per day",
    "ai_notes": "1/day",
    "sign_in": "1/day",
}


def _throttle(path: Path) -> Throttle:
    return Throttle(FileStorage(path=path), LIMITS)  # type: ignore[arg-type]


def test_the_hit_over_the_limit_is_refused_with_whole_seconds(tmp_path: Path) -> None:
    throttle = _throttle(tmp_path / "limits.db")
    standings = [throttle.hit("ratings", "ann") for _ in range(3)]
    assert [standing.remaining for standing in standings if standing] == [2, 1, 0]
    with pytest.raises(TooMany) as refusal:
        throttle.hit("ratings", "ann")
    assert 1 <= refusal.value.retry_after <= 60
    assert throttle.hit("ratings", "bob") is not None


def test_two_processes_worth_of_counters_share_one_file(tmp_path: Path) -> None:
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
