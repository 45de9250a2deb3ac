"""What the log may hold: one line a message, no secrets, the request's id."""

import io
import json
import logging
import traceback
from collections.abc import Iterator

import flask
import pytest
import sqlalchemy as sa
import structlog

from app.process import logs

KEY = "bnk_0123456789ab_" + "s" * 43


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    stream = io.StringIO()
    logs.configure("INFO", as_json=True, stream=stream)
    yield stream
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


def _last(stream: io.StringIO) -> dict[str, object]:
    found: dict[str, object] = json.loads(stream.getvalue().splitlines()[-1])
    return found


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (f"key {KEY} refused", "key bnk_0123456789ab_… refused"),
        ("secret whsec_c2VjcmV0c2VjcmV0 given", "secret whsec_… given"),
        ("sent Authorization: Bearer abcdefgh12345678", "sent Authorization: Bearer …"),
        ("at postgresql://anna:opensesame@db/x", "at postgresql://anna:…@db/x"),
    ],
)
def test_secrets_in_running_text_are_masked(written: io.StringIO, said: str, kept: str) -> None:
    logging.getLogger("somebody").warning(said)
    assert _last(written)["event"] == kept


@pytest.mark.parametrize(
    "name", ["password", "api_key", "webhook_secret", "Authorization", "session_token", "cookie"]
)
def test_values_under_a_secret_name_are_masked(written: io.StringIO, name: str) -> None:
    structlog.get_logger("somebody").info("signed in", **{name: "opensesame"})
    assert "opensesame" not in written.getvalue()
    assert _last(written)["event"] == "signed in"


def test_a_traceback_is_written_once_a_minute_and_its_error_every_time(
    written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(error: Exception) -> dict[str, object]:
        try:
            raise error
        except Exception:
            logging.getLogger("somebody").exception("failed")
        return _last(written)

    away = sa.exc.OperationalError("SELECT 1", {}, Exception("connection refused\nIs it running?"))
    assert "Traceback" in str(fail(away)["exception"])
    again = fail(away)
    assert "exception" not in again
    assert again["error"] == "OperationalError: (builtins.Exception) connection refused"
    assert "Traceback" in str(fail(ValueError("another error"))["exception"])
    monkeypatch.setattr(logs.SpareTracebacks, "SECONDS", 0.0)
    assert "Traceback" in str(fail(away)["exception"])


def test_two_places_that_fail_alike_have_a_traceback_each(written: io.StringIO) -> None:
    for text in ("one", "two"):
        try:
            if text == "one":
                raise ValueError(text)
            raise ValueError(text)
        except ValueError:
            logging.getLogger("somebody").exception("failed")
        assert text in str(_last(written)["exception"])


def test_a_traceback_that_a_library_writes_into_its_message_is_written_once_a_minute(
    written: io.StringIO,
) -> None:
    for _ in range(2):
        try:
            raise ConnectionError("the server is away")
        except ConnectionError:
            logging.getLogger("dbos").warning(f"Exception polling schedules: {traceback.format_exc()}")
    first, second = (json.loads(line) for line in written.getvalue().splitlines())
    assert "Traceback (most recent call last)" in first["event"]
    assert second["event"] == "Exception polling schedules"
    assert second["error"] == "ConnectionError: the server is away"


def test_a_message_stays_on_its_line(written: io.StringIO) -> None:
    logging.getLogger("somebody").info("first\r\nINFO second\x1b[31m")
    assert len(written.getvalue().splitlines()) == 1
    assert "\x1b" not in str(_last(written)["event"])


@pytest.mark.parametrize(
    "control", ["\x7f", "\x80", "\x9b31m", "\x9d", "\u061c", "\u200f", "\u202e", "\u2066", "\u2069"]
)
def test_controls_of_terminals_and_of_direction_are_replaced(written: io.StringIO, control: str) -> None:
    name = f"moderator{control}nimda"
    try:
        raise RuntimeError(name)
    except RuntimeError:
        logging.getLogger("somebody").exception("signed in: %s", name)
    found = _last(written)
    assert "moderator�" in found["event"]
    assert "moderator�" in found["exception"]
    assert control[0] not in written.getvalue()


def test_secrets_in_a_traceback_are_masked(written: io.StringIO) -> None:
    try:
        raise RuntimeError(f"cannot use {KEY}")
    except RuntimeError:
        logging.getLogger("somebody").exception("it failed")
    found = _last(written)
    assert "RuntimeError: cannot use bnk_0123456789ab_…" in str(found["exception"])
    assert KEY not in written.getvalue()


def test_a_line_written_during_a_request_names_it(written: io.StringIO) -> None:
    app = flask.Flask("app")
    with app.test_request_context("/"):
        flask.g.request_id = "abc123"
        logging.getLogger("somebody").info("inside")
    assert _last(written)["request_id"] == "abc123"
    logging.getLogger("somebody").info("outside")
    assert "request_id" not in _last(written)


def test_less_than_the_level_is_left_out_and_noisy_libraries_are_quiet(written: io.StringIO) -> None:
    logging.getLogger("somebody").debug("too small")
    logging.getLogger("httpx").info("one request")
    assert written.getvalue() == ""
    logging.getLogger("httpx").warning("trouble")
    assert _last(written)["level"] == "warning"


def test_text_for_people_has_level_message_and_values() -> None:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    stream = io.StringIO()
    try:
        logs.configure("INFO", stream=stream)
        structlog.get_logger("somebody").info("scored", request="post-1")
    finally:
        root.handlers, root.level = handlers, level
        structlog.reset_defaults()
    line = stream.getvalue()
    assert "info" in line
    assert "scored" in line
    assert "request=post-1" in line
