"""Scores at once: one text, batches, the largest batches beside other calls, and bodies made to be slow.

python -m tools.bench.scores
"""

import json
import statistics
import threading
import time
from collections.abc import Callable

from app.core import limits
from app.core.classify import Context
from app.core.classify.corpus import own_examples
from app.core.requests.text_scores import PROCESSOR_SECONDS, Scorers, score_texts
from app.wiring import shipped_classifiers
from tools.bench._service import Caller, Service, service

API = "/api/public/v1"
CALLS = 400
WARM = 40


def body(texts: list[str]) -> dict[str, object]:
    return {"data": {"type": "scores", "attributes": {"texts": texts}}}


def posts() -> list[str]:
    """Posts of two sentences each, all different."""
    texts = [example.text for example in own_examples()]
    return [" ".join(texts[place : place + 2]) for place in range(0, len(texts) - 1, 2)]


def long_text() -> str:
    """A text of the greatest length, of sentences of our own."""
    return "\n".join(posts())[: limits.CONTENT_MAX].ljust(limits.CONTENT_MAX, ".")


def processor(texts: list[str]) -> None:
    scorers = Scorers(shipped_classifiers(), [])
    categories = scorers.known(())
    list(score_texts(scorers, texts[:WARM], Context(), categories))
    for name, chosen in (("a post in a batch", texts[:1_000]), ("a text of 50,000", [long_text()])):
        begin = time.thread_time()
        list(score_texts(scorers, chosen, Context(), categories, processor_seconds=60.0))
        print(f"processor, {name:<20} {(time.thread_time() - begin) / len(chosen) * 1000:8.2f} ms")


def timed(caller: Caller, sent: object, path: str = f"{API}/scores") -> tuple[float, int, bytes]:
    begin = time.perf_counter()
    status, answer = caller.call("POST", path, sent)
    return (time.perf_counter() - begin) * 1000, status, answer


def spread(name: str, taken: list[float]) -> None:
    parts = statistics.quantiles(taken, n=20)
    print(
        f"{name:<44} p50 {statistics.median(taken):8.1f}   p95 {parts[-1]:8.1f}   most {max(taken):8.1f} ms"
    )


def calls(caller: Caller, texts: list[str]) -> None:
    for text in texts[:WARM]:
        timed(caller, body([text]))
    spread("one text", [timed(caller, body([text]))[0] for text in texts[WARM : WARM + CALLS]])
    comment = [{"comment": {"text": text}, "requestedAttributes": {"TOXICITY": {}}} for text in texts[:CALLS]]
    spread("comments:analyze", [timed(caller, one, "/v1alpha1/comments:analyze")[0] for one in comment])
    spread("moderations", [timed(caller, {"input": text}, "/v1/moderations")[0] for text in texts[:CALLS]])
    batches = [texts[place : place + 100] for place in range(0, 2_000, 100)]
    spread("100 posts", [timed(caller, body(batch))[0] for batch in batches])


def large(running: Service, caller: Caller) -> None:
    """The largest batches by several callers at once, and small calls meanwhile."""
    done: list[str] = []
    huge = body([long_text()] * 100)

    def send() -> None:
        own = Caller(running.port, {"Authorization": f"Bearer {running.key}"})
        taken, status, answer = timed(own, huge)
        left = json.loads(answer).get("meta", {}).get("not_reached", "–") if status == 200 else "–"
        done.append(f"{status} after {taken / 1000:.1f} s, {left} texts not reached")

    for count in (1, 4):
        done.clear()
        threads = [threading.Thread(target=send) for _ in range(count)]
        for thread in threads:
            thread.start()
        taken: list[float] = []
        while any(thread.is_alive() for thread in threads) or len(taken) < 20:
            begin = time.perf_counter()
            caller.call("GET", f"{API}/requests")
            taken.append((time.perf_counter() - begin) * 1000)
        for thread in threads:
            thread.join()
        print(
            f"{count} times 100 texts of 50,000 (a call may take {PROCESSOR_SECONDS:g} s): {'; '.join(done)}"
        )
        spread("  GET /requests meanwhile", taken)


def hostile(running: Service) -> None:
    size = limits.SCORES_BODY_MAX_BYTES
    made: dict[str, Callable[[], bytes]] = {
        "8 MiB of [": lambda: b"[" * size,
        "8 MiB of [],": lambda: b"[" + b"[]," * (size // 3 - 1) + b"0]",
        "8 MiB of numbers": lambda: b"[" + b"1," * (size // 2 - 2) + b"1]",
        '8 MiB of {"":0}': lambda: b"[" + b'{"":0},' * (size // 7 - 1) + b"0]",
        "8 MiB of members": lambda: b"{" + b",".join(b'"%d":1' % number for number in range(600_000)) + b"}",
        "8 MiB and a byte": lambda: b" " * (size + 1),
    }
    for name, make in made.items():
        for path in (f"{API}/scores", "/v1/moderations"):
            caller = Caller(running.port, {"Authorization": f"Bearer {running.key}"})
            begin = time.perf_counter()
            status, _ = caller.call("POST", path, raw=make())
            print(f"{name:<20} {path:<24} {status} after {(time.perf_counter() - begin) * 1000:6.0f} ms")


def main() -> None:
    texts = posts()
    processor(texts)
    with service(
        BRIDGENOTE_RATE_LIMIT_SCORES="100000000 per minute", BRIDGENOTE_JOBS_IN_PROCESS="false"
    ) as it:
        caller = Caller(it.port, {"Authorization": f"Bearer {it.key}"})
        calls(caller, texts)
        large(it, caller)
        hostile(it)


if __name__ == "__main__":
    main()
