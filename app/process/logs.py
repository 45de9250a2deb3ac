"""Logging: one stream and one format, for our own messages and those of all libraries.

Each line has the time (UTC), the level, the logger and, inside a web request, the ``X-Request-Id`` of the response.
Secrets are masked in values and in text. Line breaks and controls in values are replaced, so a message is always one
line (ASVS 5.0: 16.2.5, 16.4.1); only a traceback has several. The same one is written at most once a minute: an outage
of the database must not fill the disk.
"""

import logging
import re
import sys
import threading
import time
import traceback
from collections.abc import Hashable, MutableMapping
from typing import Any, TextIO

import flask
import structlog
from structlog.typing import Processor

from app.core import security_events
from app.core.db import is_unavailable

MASK = "…"
_SECRET_NAMES = re.compile(
    r"password|passwd|secret|token|authori[sz]ation|cookie|api_?key|encryption_key|signature", re.IGNORECASE
)
_SECRETS = (
    # Our API keys keep their public part, which identifies the key but gives no access.
    (re.compile(r"(bnk_[0-9a-f]{12}_)[A-Za-z0-9_-]+"), rf"\1{MASK}"),
    (re.compile(r"(whsec_)[A-Za-z0-9+/=_-]+"), rf"\1{MASK}"),
    (re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), rf"\1 {MASK}"),
    # The tokens of one-time links, wherever the URL is written, also inside a query string.
    (
        re.compile(
            r"((?:/|%2F)+(?:confirm|reset|join|first-admin|sign-in(?:/|%2F)+link|unsubscribe(?:/|%2F)+[^\s/%]+)(?:/|%2F)+)[^\s/?#&\"'<>]+",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"(\w://[^\s/:@]*:)[^\s/@]+(?=@)"), rf"\1{MASK}"),
)
_LINE_BREAKS = re.compile(r"[\r\n\x0b\x0c\x85\u2028\u2029]")
# Controls of terminals (C0, DEL, C1: \x9b begins an escape sequence too), and those that turn the direction of text.
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_RAISED = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception)\b.*", re.MULTILINE)
"""The line of a traceback that names the error."""
_QUIET = ("alembic", "dbos", "httpx", "httpcore", "mcp", "urllib3", "uvicorn")


def configure(
    level: str = "INFO", *, as_json: bool = False, stream: TextIO | None = None, security_level: str = "INFO"
) -> None:
    """Log messages of ``level`` and above to ``stream`` (default: stderr), as text or as one JSON object per line.

    Security events have their own level, because a quieter log must not lose them.
    """
    stream = stream or sys.stderr
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _add_request_id,
        _add_security_fields,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: Processor
    if as_json:
        renderer = structlog.processors.JSONRenderer(ensure_ascii=False)
    else:
        # The plain traceback: the pretty one prints local variables, which may contain secrets.
        renderer = structlog.dev.ConsoleRenderer(
            colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                SpareTracebacks(),
                structlog.processors.format_exc_info,
                mask_secrets,
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    logging.getLogger(security_events.LOGGER).setLevel(security_level)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


class SpareTracebacks:
    """Processor that leaves a traceback to the log once in ``SECONDS``; otherwise ``error`` has its first line.

    Some libraries (DBOS) write tracebacks into their messages; these are of one kind if what stands before is equal.
    Errors are of one kind if their stacks are equal. All errors that say that the database is away are of one kind by
    their type, because every request and every background thread meets them.
    """

    SECONDS = 60.0
    _LONGEST = 300

    def __init__(self) -> None:
        self._written: dict[Hashable, float] = {}
        self._lock = threading.Lock()

    def __call__(
        self, _logger: Any, _method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        info = event.get("exc_info")
        error = sys.exc_info()[1] if info is True else info[1] if isinstance(info, tuple) else info
        if isinstance(error, BaseException) and not self._is_due(_kind(error)):
            del event["exc_info"]
            text = next(iter(str(error).splitlines()), "")
            event["error"] = f"{type(error).__name__}: {text[: self._LONGEST]}"
        message, begin, frames = str(event.get("event", "")).partition("Traceback (most recent call last)")
        if begin and not self._is_due(message):
            event["event"] = message.rstrip(": \n")
            event["error"] = "".join(_RAISED.findall(frames)[-1:])[: self._LONGEST]
        return event

    def _is_due(self, kind: Hashable) -> bool:
        now = time.monotonic()
        with self._lock:
            for known, at in list(self._written.items()):
                if now - at >= self.SECONDS:
                    del self._written[known]
            if kind in self._written:
                return False
            self._written[kind] = now
            return True


def _kind(error: BaseException) -> Hashable:
    if is_unavailable(error):
        return (type(error),)
    frames = traceback.walk_tb(error.__traceback__)
    return type(error), *((frame.f_code.co_filename, line) for frame, line in frames)


def mask(text: str) -> str:
    """Return ``text`` with known kinds of secrets masked: keys, webhook secrets, credentials, passwords in URLs."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def mask_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Processor that runs before the renderer: masks secrets, and replaces line breaks in values."""
    for name, value in list(event.items()):
        if _SECRET_NAMES.search(name):
            event[name] = MASK
        elif name == "exception":
            event[name] = _CONTROLS.sub("�", mask(str(value)))
        elif isinstance(value, str):
            event[name] = one_line(mask(value))
        elif not isinstance(value, bool | int | float | None):
            event[name] = one_line(mask(str(value)))
    return event


def _add_security_fields(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    fields = getattr(event.get("_record"), security_events.FIELDS, {})
    event.update({name: value for name, value in fields.items() if value is not None})
    return event


def one_line(text: str) -> str:
    """Return ``text`` as a terminal can show it: without line breaks and controls."""
    return _CONTROLS.sub("�", _LINE_BREAKS.sub("⏎", text))


def _add_request_id(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if flask.has_request_context() and (request_id := flask.g.get("request_id")):
        event.setdefault("request_id", request_id)
    return event
