"""A connected service as a classifier: deadline, retries, budget, cache, and checks of everything it answers."""

import hashlib
import math
import time
import unicodedata
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.core.classify import Context, Permanent, Result, Retryable
from app.core.services.calls import AnswerCache, Call, Gate, GuardedCalls, Ledger
from app.core.services.kinds import ASK_WHEN, IF_UNSURE, Adapter, Answer, Failure, Kind
from app.core.services.settings import NAME_PREFIX, ServiceSettings

OVERLAP = 200
"""Characters that two neighbouring parts of a long text share, so that no phrase is cut apart."""
_NAMES_STORED = 200


@dataclass
class ServiceClassifier:
    """Asks one service with one version of its settings. Implements ``core.classify.Classifier``.

    ``adapter`` is a `Failure` when the service cannot be asked at all (its package is gone, its key unreadable, nobody
    agreed to the host): every text then fails, so that people look at what the service must score.
    ``is_observed``: its scores must not count.
    """

    service_id: uuid.UUID
    service_name: str
    number: int
    kind: Kind | None
    settings: ServiceSettings
    adapter: Adapter | Failure
    gate: Gate
    cache: AnswerCache
    ledger: Ledger
    is_observed: bool = False
    sleep: Callable[[float], None] = field(default=time.sleep)

    languages: frozenset[str] | None = None
    cost: int = 100
    calibrated: bool = True
    local: bool = False

    @property
    def name(self) -> str:
        return f"{NAME_PREFIX}{self.service_name}"

    @property
    def version(self) -> str:
        return str(self.number)

    @property
    def categories(self) -> frozenset[str]:
        return self.settings.routed

    @property
    def tier1_categories(self) -> frozenset[str]:
        return self.settings.routed if self.settings.may_act else frozenset()

    @property
    def only_if_unsure(self) -> bool:
        """Whether it is left out where the shipped model is sure (``classify.together``)."""
        return self.settings.options.get(ASK_WHEN.name) == IF_UNSURE

    @property
    def max_chars(self) -> int:
        return self.kind.max_chars if self.kind is not None else 8_000

    def score(self, texts: list[str], context: Context) -> list[Result]:
        """Score each text; failures are in ``Result.error`` (see ``Classifier.score``)."""
        return [self._score(text) for text in texts]

    @property
    def takes_images(self) -> bool:
        return self.kind is not None and self.kind.takes_images

    def score_images(self, text: str, images: Sequence[str]) -> Result:
        """Score pictures, each with the text beside it: the highest scores of all. Every picture is one request.

        ``images`` are data URLs. Failures are in ``Result.error``; then nothing is scored.
        """

        def ask() -> Answer:
            if isinstance(self.adapter, Failure):
                raise self.adapter
            return _highest([self._ask(self.adapter, [text], [image])[0] for image in images])

        return self._result(ask)

    def _score(self, text: str) -> Result:
        key = self.service_id, self.number, content_hash(text)

        def ask() -> Answer:
            answer = self.cache.get(key)
            if answer is not None:
                self.ledger.finish(self.service_id, Call(cached=True))
                return answer
            answer = self._answer(text)
            self.cache.put(key, answer)
            return answer

        return self._result(ask)

    def _result(self, ask: Callable[[], Answer]) -> Result:
        began = time.monotonic()
        try:
            answer = ask()
        except Failure as failure:
            error = Retryable(failure.after, failure.reason) if failure.retry else Permanent(failure.reason)
            return Result(model=self.settings.model, ms=(time.monotonic() - began) * 1000, error=error)
        scores: dict[str, float] = {}
        unrouted: dict[str, float] = {}
        for theirs, value in answer.scores.items():
            ours = self.settings.categories.get(theirs)
            if ours is None:
                unrouted[theirs] = value
            else:
                scores[ours] = max(value, scores.get(ours, 0.0))
        return Result(
            scores=scores,
            model=answer.model or self.settings.model,
            ms=(time.monotonic() - began) * 1000,
            unrouted=unrouted,
            calibrated=answer.calibrated,
        )

    def _answer(self, text: str) -> Answer:
        """The service's answer for a text; for a long one the highest scores of its parts."""
        if isinstance(self.adapter, Failure):
            raise self.adapter
        parts = split(text, self.max_chars)
        batch = max(1, self.kind.batch if self.kind is not None else 1)
        answers: list[Answer] = []
        for start in range(0, len(parts), batch):
            answers += self._ask(self.adapter, parts[start : start + batch])
        combined = _highest(answers)
        if not any(self.settings.categories.get(theirs) is not None for theirs in combined.scores):
            raise Failure("broken answer: it scores none of the mapped categories", retry=False)
        return combined

    def _ask(self, adapter: Adapter, texts: Sequence[str], images: Sequence[str] = ()) -> list[Answer]:
        calls = GuardedCalls(self.service_id, self.settings, self.gate, self.ledger, self.sleep)
        return calls.ask(
            lambda: checked(adapter.ask(texts, images) if images else adapter.ask(texts), len(texts)),
            lambda answers: answers[0].model,
        )


def content_hash(text: str) -> str:
    """The hash of a text that ignores how its letters are composed and how it is spaced."""
    normalised = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.sha256(normalised.encode("utf-8", "surrogatepass")).hexdigest()


def split(text: str, most: int) -> list[str]:
    """A text in overlapping parts of at most ``most`` characters."""
    if len(text) <= most:
        return [text]
    step = most - min(OVERLAP, most // 2)
    return [text[start : start + most] for start in range(0, len(text) - most + step, step)]


def checked(answers: object, count: int) -> list[Answer]:
    """Return a service's answers if there are ``count`` of them and every score is a number from 0.0 to 1.0.

    Raises:
        Failure: otherwise. A wrong number of answers would leave texts without a score that look harmless.
    """
    if not isinstance(answers, Sequence) or not all(isinstance(answer, Answer) for answer in answers):
        raise Failure("broken answer: no list of answers")
    if len(answers) != count:
        raise Failure(f"broken answer: {len(answers)} results for {count} texts")
    return [_checked(answer) for answer in answers]


def _checked(answer: Answer) -> Answer:
    if len(answer.scores) > _NAMES_STORED:
        raise Failure(f"broken answer: more than {_NAMES_STORED} categories")
    for name, value in answer.scores.items():
        if not isinstance(name, str) or not name or "\x00" in name:
            raise Failure("broken answer: a category without a usable name")
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise Failure("broken answer: a score that is no number")
        if not 0.0 <= value <= 1.0:
            raise Failure("broken answer: a score outside 0 to 1")
    model = answer.model if isinstance(answer.model, str) and answer.model.isprintable() else ""
    return Answer(
        {name: float(value) for name, value in answer.scores.items()}, model[:80], answer.calibrated
    )


def _highest(answers: Sequence[Answer]) -> Answer:
    """One answer with the highest score of each category; calibrated only if all are."""
    scores: dict[str, float] = {}
    for answer in answers:
        for name, value in answer.scores.items():
            scores[name] = max(value, scores.get(name, 0.0))
    return Answer(scores, answers[0].model, all(answer.calibrated for answer in answers))


def stored_version(version: str, result: Result) -> str:
    """The version under which a service's scores are stored: its settings' number and the model that answered.

    Backtests then compare like with like, also when the service changed its model by itself.
    """
    return f"{version}+{result.model}"[:100] if result.model else version
