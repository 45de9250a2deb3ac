"""One guarded way to call a service: budget, circuit breaker, calls at once, retries, and the account of calls."""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from app.core.services.calls import Call, Ledger
from app.core.services.gates import Gate
from app.core.services.kinds import Failure
from app.core.services.settings import ServiceSettings

ATTEMPTS = 3
FIRST_DELAY = 0.5
"""Seconds before the second attempt; each later delay is twice the one before."""
LONGEST_DELAY = 5.0
"""Seconds. A service that asks for a longer wait is not asked again for this post now."""
BUDGET_SPENT = "the daily budget is used up"

T = TypeVar("T")


@dataclass(frozen=True)
class GuardedCalls:
    """Calls of one service with one version of its settings."""

    service_id: uuid.UUID
    settings: ServiceSettings
    gate: Gate
    ledger: Ledger
    sleep: Callable[[float], None] = field(default=time.sleep)

    def ask(self, call: Callable[[], T], model_of: Callable[[T], str], attempts: int = ATTEMPTS) -> T:
        """Call up to ``attempts`` times; every attempt counts in the budget. ``model_of`` names who answered.

        Raises:
            Failure: no attempt gave a usable answer, or asking again cannot help.
        """
        for attempt in range(1, attempts + 1):
            try:
                return self._try(call, model_of)
            except Failure as failure:
                delay = max(FIRST_DELAY * 2 ** (attempt - 1), failure.after or 0.0)
                if attempt == attempts or not failure.retry or delay > LONGEST_DELAY:
                    raise
            self.sleep(delay)
        raise AssertionError("the last attempt returns or raises")

    def _try(self, call: Callable[[], T], model_of: Callable[[T], str]) -> T:
        with self.gate.passed(self.settings.deadline):
            most = self.settings.most_requests
            if not self.ledger.reserve(self.service_id, most, self.settings.price):
                raise Failure(BUDGET_SPENT, retry=False)
            began = time.monotonic()
            try:
                answer = call()
            except Failure as failure:
                # A refused request says nothing about the service's health, a failing one does.
                if failure.retry:
                    self.gate.failed(failure.after)
                self._finish(began, error=failure.reason)
                raise
            except Exception as error:
                # An adapter of an installed package may raise anything. Its message could quote the post.
                self.gate.failed()
                self._finish(began, error=f"the adapter failed: {type(error).__name__}")
                raise Failure(f"the adapter failed: {type(error).__name__}") from error
            self.gate.succeeded()
            self._finish(began, model=model_of(answer))
            return answer

    def _finish(self, began: float, *, error: str = "", model: str = "") -> None:
        ms = round((time.monotonic() - began) * 1000)
        self.ledger.finish(self.service_id, Call(ms, error, model))
