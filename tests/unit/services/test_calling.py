"""A service as a classifier: retries, breaker, budget, cache, long texts, and what its answers become."""

import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from app.core.classify import Context, Permanent, Retryable
from app.core.services.calling import ServiceClassifier, content_hash, split
from app.core.services.calls import FAILURES, PAUSE, AnswerCache, Call, Gate
from app.core.services.kinds import Answer, Failure, Kind
from app.core.services.settings import ServiceSettings
from tests.clocks import advance


@dataclass
class Account:
    """Keeps what was counted; ``most`` calls are in the budget."""

    most: int = 1_000
    reserved: int = 0
    calls: list[Call] = field(default_factory=list)

    def reserve(self, service_id: uuid.UUID, most: int | None, price: float) -> bool:
        if self.reserved >= self.most:
            return False
        self.reserved += 1
        return True

    def finish(self, service_id: uuid.UUID, call: Call) -> None:
        self.calls.append(call)


@dataclass
class Scripted:
    """Answers, or raises, in this order; then answers 0.4."""

    script: list[Answer | Failure | Exception] = field(default_factory=list)
    asked: list[list[str]] = field(default_factory=list)

    def ask(self, texts: Sequence[str], images: Sequence[str] = ()) -> Sequence[Answer]:
        self.asked.append(list(texts))
        step = self.script.pop(0) if self.script else Answer({"bad": 0.4}, "model-1")
        if isinstance(step, Exception):
            raise step
        return [step] * len(texts)


@dataclass
class Rig:
    adapter: Scripted = field(default_factory=Scripted)
    account: Account = field(default_factory=Account)
    now: float = 100.0
    slept: list[float] = field(default_factory=list)
    kind: Kind = field(
        default_factory=lambda: Kind("k", "K", "", connect=lambda _c: Scripted(), max_chars=1_000)
    )
    settings: ServiceSettings = field(
        default_factory=lambda: ServiceSettings(
            categories={"bad": "toxicity", "worse": "toxicity", "odd": None}
        )
    )

    def __post_init__(self) -> None:
        self.gate = Gate(self.settings.concurrency, lambda: self.now)
        self.classifier = ServiceClassifier(
            uuid.UUID(int=1),
            "stub",
            3,
            self.kind,
            self.settings,
            self.adapter,
            self.gate,
            AnswerCache(),
            self.account,
            sleep=self.slept.append,
        )

    def score(self, text: str = "Hello"):  # type: ignore[no-untyped-def]
        (result,) = self.classifier.score([text], Context())
        return result


def test_scores_are_mapped_the_highest_counts_and_the_rest_is_kept_unrouted() -> None:
    rig = Rig(Scripted([Answer({"bad": 0.3, "worse": 0.7, "odd": 0.2, "new": 0.9}, "model-2")]))
    result = rig.score()
    assert (result.scores, result.unrouted) == ({"toxicity": 0.7}, {"odd": 0.2, "new": 0.9})
    assert (result.model, result.error, result.calibrated) == ("model-2", None, True)
    assert (rig.classifier.name, rig.classifier.version) == ("service.stub", "3")
    assert rig.classifier.tier1_categories == frozenset()


def test_it_asks_three_times_with_growing_delays() -> None:
    rig = Rig(Scripted([Failure("it failed (503)"), Failure("it failed (503)")]))
    assert rig.score().scores == {"toxicity": 0.4}
    assert rig.slept == [0.5, 1.0]
    assert (rig.account.reserved, [call.error for call in rig.account.calls]) == (
        3,
        ["it failed (503)", "it failed (503)", ""],
    )
    rig = Rig(Scripted([Failure("it failed (503)")] * 3))
    assert rig.score().error == Retryable(None, "it failed (503)")
    assert len(rig.adapter.asked) == 3


def test_retry_after_is_waited_for_when_short_and_otherwise_left_to_later() -> None:
    rig = Rig(Scripted([Failure("over its rate limit (429)", after=3)]))
    rig.classifier.sleep = lambda seconds: setattr(rig, "now", rig.now + seconds)
    began = rig.now
    assert rig.score().error is None
    assert rig.now - began == 3
    rig = Rig(Scripted([Failure("over its rate limit (429)", after=60)]))
    assert rig.score().error == Retryable(60, "over its rate limit (429)")
    assert rig.slept == []
    # Nobody asks before the time is over.
    assert rig.score("Another").error == Retryable(60.0, "paused after failures in a row")
    assert len(rig.adapter.asked) == 1


def test_a_permanent_failure_is_not_repeated() -> None:
    rig = Rig(Scripted([Failure("it rejects the key (401)", retry=False)]))
    assert rig.score().error == Permanent("it rejects the key (401)")
    assert len(rig.adapter.asked) == 1


def test_failures_in_a_row_open_the_breaker_until_one_call_succeeds() -> None:
    rig = Rig(Scripted([Failure("it failed (500)")] * FAILURES))
    rig.score("1")
    rig.score("2")
    assert len(rig.adapter.asked) == FAILURES
    assert rig.score("3").error is not None
    assert len(rig.adapter.asked) == FAILURES
    rig.now += PAUSE + 1
    assert rig.score("4").error is None
    assert rig.score("5").error is None


def test_an_adapter_that_raises_anything_is_a_failure_without_its_words() -> None:
    rig = Rig(Scripted([KeyError("You kitten")] * 3))
    error = rig.score().error
    assert isinstance(error, Retryable)
    assert error.reason == "the adapter failed: KeyError"


def test_the_budget_ends_the_calls_of_a_day() -> None:
    rig = Rig(account=Account(most=1))
    assert rig.score("1").error is None
    assert rig.score("2").error == Permanent("the daily budget is used up")
    assert rig.score("1").error is None  # from the cache, at no cost


@pytest.mark.parametrize(
    ("requests", "cost", "price", "most"),
    [
        (None, None, 0.0, None),
        (5, None, 0.0, 5),
        (None, 0.3, 100.0, 3),
        (2, 0.3, 100.0, 2),
        (None, 0.0, 1.0, 0),
    ],
)
def test_requests_and_cost_both_limit_a_day(
    requests: int | None, cost: float | None, price: float, most: int | None
) -> None:
    settings = ServiceSettings(daily_requests=requests, daily_cost=cost, price=price)
    assert settings.most_requests == most


def test_the_same_content_is_asked_once_a_day() -> None:
    rig = Rig()
    rig.score("Caf\u00e9  au lait")
    rig.score("Cafe\u0301 au\nlait ")
    assert len(rig.adapter.asked) == 1
    assert [call.cached for call in rig.account.calls] == [False, True]
    advance(seconds=timedelta(hours=25).total_seconds())
    rig.score("Caf\u00e9 au lait")
    assert len(rig.adapter.asked) == 2
    assert content_hash("Caf\u00e9") != content_hash("caf\u00e9")


def test_failures_are_not_cached() -> None:
    rig = Rig(Scripted([Failure("it refuses the request (400)", retry=False)]))
    assert rig.score().error is not None
    assert rig.score().error is None


def test_long_texts_are_asked_in_overlapping_parts_and_the_highest_score_counts() -> None:
    rig = Rig(Scripted([Answer({"bad": 0.1}), Answer({"bad": 0.8}, calibrated=False), Answer({"bad": 0.2})]))
    result = rig.score("".join(chr(97 + n % 26) for n in range(2_500)))
    assert (result.scores, result.calibrated) == ({"toxicity": 0.8}, False)
    assert [len(texts[0]) for texts in rig.adapter.asked] == [1000, 1000, 900]
    for length in (1, 999, 1_000, 1_001, 1_800, 1_801, 50_000):
        text = "".join(chr(33 + n % 90) for n in range(length))
        parts = split(text, 1_000)
        assert max(map(len, parts)) <= 1_000
        assert parts[0] + "".join(part[200:] for part in parts[1:]) == text


def test_an_answer_without_any_mapped_category_is_no_pass() -> None:
    rig = Rig(Scripted([Answer({"odd": 0.0})]))
    assert rig.score().error == Permanent("broken answer: it scores none of the mapped categories")


def test_a_service_that_cannot_be_asked_fails_every_text() -> None:
    rig = Rig()
    rig.classifier.adapter = Failure("no kind vanished is installed", retry=False)
    assert rig.score().error == Permanent("no kind vanished is installed")


def test_at_most_so_many_calls_run_at_once_and_the_rest_give_up_after_the_deadline() -> None:
    release = threading.Event()

    class Hanging(Scripted):
        def ask(self, texts: Sequence[str], images: Sequence[str] = ()) -> Sequence[Answer]:
            self.asked.append(list(texts))
            assert release.wait(120)
            return [Answer({"bad": 0.1})]

    settings = ServiceSettings(categories={"bad": "toxicity"}, concurrency=1, deadline=0.1)
    rig = Rig(Hanging(), settings=settings)
    thread = threading.Thread(target=rig.score, args=("1",))
    thread.start()
    while not rig.adapter.asked:
        time.sleep(0.01)
    error = rig.score("2").error
    release.set()
    thread.join()
    assert error == Retryable(None, "too many calls at once")
    assert len(rig.adapter.asked) == 1
