"""A server that speaks the documented wire shapes of the services that score posts, faults included.

It scores by words: a text with "kitten" is harassment 0.93, hate 0.02. Each path speaks one protocol.
"""

import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORD = "kitten"
"""What the stub takes for harassment."""
HIGH, LOW = 0.93, 0.02
OPENAI_NAMES = (
    "harassment",
    "harassment/threatening",
    "hate",
    "hate/threatening",
    "illicit",
    "illicit/violent",
    "self-harm",
    "self-harm/intent",
    "self-harm/instructions",
    "sexual",
    "sexual/minors",
    "violence",
    "violence/graphic",
)


@dataclass
class Seen:
    """One request that arrived."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Stub:
    """Answers by protocol; ``fault`` replaces the answer: it writes to the handler itself."""

    server: ThreadingHTTPServer
    model: str = "model-1"
    logprobs: bool = True
    chat_text: str | None = None
    vector: "Callable[[str], list[float]]" = lambda text: [float(len(text)), 10.0]
    fault: "Callable[[Any], None] | None" = None
    faults_left: int = 1_000
    seen: list[Seen] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.server_address[1]}"

    def url(self, path: str = "") -> str:
        return f"http://{self.host}{path}"

    def fail(self, fault: "Callable[[Any], None]", times: int = 1_000) -> None:
        """Let the next ``times`` requests end in this fault."""
        self.fault, self.faults_left = fault, times

    def answer_to(self, handler: Any, seen: Seen) -> None:
        """Write the usual answer, for a fault that lets some requests through."""
        _write(handler, 200, json.dumps(self.answer(seen)).encode(), {})

    def answer(self, seen: Seen) -> Any:
        path = seen.path.partition("?")[0]
        if path.endswith("/moderations"):
            return self._moderations(seen.body)
        if path.endswith("/contentsafety/text:analyze"):
            return self._azure(seen.body)
        if path.endswith("/chat/completions"):
            return self._chat(seen.body)
        if path.endswith("/comments:analyze"):
            return self._perspective(seen.body)
        if path.endswith("/embeddings"):
            return self._embeddings(seen.body)
        return self._own(seen.body)

    def _embeddings(self, body: Any) -> Any:
        rows = [
            {"object": "embedding", "index": index, "embedding": self.vector(text)[: body.get("dimensions")]}
            for index, text in enumerate(body["input"])
        ]
        # The vendor numbers the rows; their order is not promised.
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "data": rows[::-1], "model": self.model, "usage": usage}

    def _moderations(self, body: Any) -> Any:
        given = body["input"]
        is_parts = isinstance(given, list) and given and isinstance(given[0], dict)
        # As the vendor does: an array of strings gives one result each, an array of typed parts is one item.
        items = [given] if is_parts or isinstance(given, str) else given
        return {"id": "modr-1", "model": self.model, "results": [_openai_result(item) for item in items]}

    def _azure(self, body: Any) -> Any:
        assert body["outputType"] == "EightSeverityLevels"
        severity = 5 if WORD in body["text"] else 0
        return {
            "blocklistsMatch": [],
            "categoriesAnalysis": [
                {"category": name, "severity": severity if name == "Hate" else 0}
                for name in body["categories"]
            ],
        }

    def _perspective(self, body: Any) -> Any:
        high = {"TOXICITY", "INSULT"} if WORD in body["comment"]["text"] else set()
        return {
            "attributeScores": {
                name: {"summaryScore": {"value": HIGH if name in high else LOW, "type": "PROBABILITY"}}
                for name in body["requestedAttributes"]
            },
            "languages": body.get("languages", ["en"]),
        }

    def _chat(self, body: Any) -> Any:
        said = body["messages"][-1]["content"]
        is_bad = WORD in said
        text, bad_word, good_word = self._chat_words(body, is_bad)
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": self.chat_text or text},
        }
        if self.logprobs and body.get("logprobs"):
            high, low = math.log(HIGH), math.log(1 - HIGH)
            words = [(bad_word, high if is_bad else low), (good_word, low if is_bad else high)]
            words.sort(key=lambda pair: -pair[1])
            choice["logprobs"] = {
                "content": [
                    {"token": "\n\n", "logprob": 0.0, "top_logprobs": [{"token": "\n\n", "logprob": 0.0}]},
                    {
                        "token": words[0][0],
                        "logprob": words[0][1],
                        "top_logprobs": [{"token": token, "logprob": value} for token, value in words],
                    },
                ]
            }
        return {"id": "chat-1", "model": self.model, "choices": [choice]}

    def _chat_words(self, body: Any, is_bad: bool) -> tuple[str, str, str]:
        if "response_format" in body:
            names = body["response_format"]["json_schema"]["schema"]["required"]
            scores = {name: HIGH if is_bad and name == "toxicity" else LOW for name in names}
            return json.dumps(scores), "", ""
        if "Policy:" in body["messages"][-1]["content"]:
            return ("Yes" if is_bad else "No"), "Yes", "No"
        return ("\n\nunsafe\nS10" if is_bad else "\n\nsafe"), "unsafe", "safe"

    def _own(self, body: Any) -> Any:
        return {
            "model": self.model,
            "results": [
                {"scores": {"toxicity": HIGH if WORD in text else LOW, "sarcasm": 0.4}}
                for text in body["texts"]
            ],
        }


def _openai_result(item: Any) -> Any:
    texts = [item] if isinstance(item, str) else [part["text"] for part in item if part["type"] == "text"]
    has_image = not isinstance(item, str) and any(part["type"] == "image_url" for part in item)
    scores = dict.fromkeys(OPENAI_NAMES, 0.001)
    scores["harassment"] = HIGH if any(WORD in text for text in texts) else LOW
    if has_image:
        scores["sexual"] = 0.88
    applied: dict[str, list[str]] = {
        name: (["text"] if texts else []) + (["image"] if has_image and name == "sexual" else [])
        for name in OPENAI_NAMES
    }
    return {
        "flagged": scores["harassment"] > 0.5,
        "categories": {name: value > 0.5 for name, value in scores.items()},
        "category_scores": scores,
        "category_applied_input_types": applied,
    }


# Faults: each writes an answer, or none, to a handler.


def status(code: int, **headers: str) -> Callable[[Any], None]:
    def write(handler: Any) -> None:
        _write(handler, code, b"{}", {name.replace("_", "-"): value for name, value in headers.items()})

    return write


def body(raw: bytes, **headers: str) -> Callable[[Any], None]:
    def write(handler: Any) -> None:
        _write(handler, 200, raw, headers)

    return write


def answering(value: Any) -> Callable[[Any], None]:
    return body(json.dumps(value).encode())


def answering_with(code: int, value: Any) -> Callable[[Any], None]:
    def write(handler: Any) -> None:
        _write(handler, code, json.dumps(value).encode(), {})

    return write


def speaking(language: str, *only: str) -> Callable[[Any], None]:
    """Perspective's error where one of the asked attributes is not among ``only``; it names the first one."""

    def write(handler: Any) -> None:
        seen = handler.server.stub.seen[-1]
        refused = [name for name in seen.body["requestedAttributes"] if name not in only]
        if not refused:
            handler.server.stub.answer_to(handler, seen)
            return
        about = {"detectedLanguages": [language], "attribute": refused[0]}
        detail = {
            "errorType": "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE",
            "languageNotSupportedByAttributeError": about,
        }
        error = {"code": 400, "message": seen.body["comment"]["text"], "details": [detail]}
        _write(handler, 400, json.dumps({"error": error}).encode(), {})

    return write


def dripping(seconds: float = 0.1, cut: threading.Event | None = None) -> Callable[[Any], None]:
    """A byte now and then, for a minute and more: no single read takes long. Sets ``cut`` when the client hangs up."""

    def write(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        for _ in range(1_200):
            try:
                handler.wfile.write(b" ")
                handler.wfile.flush()
            except OSError:
                if cut is not None:
                    cut.set()
                return
            time.sleep(seconds)

    return write


def endless() -> Callable[[Any], None]:
    def write(handler: Any) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            for _ in range(4_000):
                handler.wfile.write(b" " * 65_536)
        except OSError:
            return

    return write


def _write(handler: Any, code: int, raw: bytes, headers: Mapping[str, str]) -> None:
    handler.send_response(code)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(raw)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(raw)


@contextmanager
def serving() -> Iterator[Stub]:
    """A stub on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            seen = Seen(self.path, dict(self.headers), json.loads(raw))
            stub.seen.append(seen)
            if stub.fault is not None and stub.faults_left > 0:
                stub.faults_left -= 1
                stub.fault(self)
                return
            _write(self, 200, json.dumps(stub.answer(seen)).encode(), {})

        def log_message(self, *_arguments: Any) -> None:
            """Failures speak through the tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stub = server.stub = Stub(server)  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
