"""A request that two programs could read in two ways is refused, and what hides behind it is never read."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from app.settings import Settings
from tests.faults.service import Service, free_port

SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LENGTH = b"Content-Length: 5\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One server for the whole file: what is refused must leave it as it was."""
    folder = tmp_path_factory.mktemp("framing")
    settings = Settings(
        _env_file=None, data_dir=folder / "var", port=free_port(), encryption_key=SecretStr("k" * 40)
    ).ready()
    started = Service(
        settings,
        folder / "serve.log",
        environment={"BRIDGENOTE_LOG_FORMAT": "json", "BRIDGENOTE_WEB_PROCESSES": "1"},
    )
    started.start()
    yield started
    started.end()


def talk(service: Service, *parts: bytes) -> bytes:
    """Everything that the server says until it closes the connection."""
    with socket.create_connection(("127.0.0.1", service.settings.port), timeout=60) as client:
        for number, part in enumerate(parts):
            if number:
                time.sleep(0.05)
            client.sendall(part)
        return b"".join(iter(lambda: client.recv(65_536), b""))


def logged(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


def head(*fields: bytes, line: bytes = b"POST /sign-in HTTP/1.1") -> bytes:
    return b"".join([line, b"\r\nHost: localhost\r\n", *fields, b"\r\n"])


TWO_FRAMINGS = {
    "length, then chunked": head(LENGTH, CHUNKED),
    "chunked, then length": head(CHUNKED, LENGTH),
    "length of 0 and chunked": head(b"Content-Length: 0\r\n", CHUNKED),
    "far apart": head(LENGTH, b"X-A: b\r\n" * 20, CHUNKED),
    "lower case": head(b"content-length: 5\r\n", b"transfer-encoding: chunked\r\n"),
    "mixed case": head(b"cONTENT-lENGTH: 5\r\n", b"tRANSFER-eNCODING: chunked\r\n"),
    "coding in capitals": head(LENGTH, b"Transfer-Encoding: CHUNKED\r\n"),
    "identity": head(LENGTH, b"Transfer-Encoding: identity\r\n"),
    "no value": head(LENGTH, b"Transfer-Encoding:\r\n"),
    "underscores": head(LENGTH, b"Transfer_Encoding: chunked\r\n"),
    "underscore in the length": head(CHUNKED, b"Content_Length: 5\r\n"),
    "HTTP/1.0": head(LENGTH, CHUNKED, line=b"POST /sign-in HTTP/1.0"),
    "GET": head(LENGTH, CHUNKED, line=b"GET /sign-in HTTP/1.1"),
    "waiting for leave": head(LENGTH, CHUNKED, b"Expect: 100-continue\r\n"),
    "kept alive": head(LENGTH, CHUNKED, b"Connection: keep-alive\r\n"),
}
LENGTHS = {
    "two lengths": head(LENGTH, b"Content-Length: 6\r\n"),
    "two equal lengths": head(LENGTH, LENGTH),
    "two lengths on a line": head(b"Content-Length: 5, 5\r\n"),
    "plus": head(b"Content-Length: +5\r\n"),
    "minus": head(b"Content-Length: -5\r\n"),
    "hexadecimal": head(b"Content-Length: 0x5\r\n"),
    "underscore": head(b"Content-Length: 1_0\r\n"),
    "point": head(b"Content-Length: 5.0\r\n"),
    "quotes": head(b'Content-Length: "5"\r\n'),
    "space inside": head(b"Content-Length: 5 5\r\n"),
    "empty": head(b"Content-Length:\r\n"),
    "superscript": head("Content-Length: ²\r\n".encode("latin-1")),
    "full width": head("Content-Length: ５\r\n".encode()),
    "word": head(b"Content-Length: five\r\n"),
    "5,000 digits": head(b"Content-Length: " + b"9" * 5000 + b"\r\n"),
    "plus, waiting for leave": head(b"Content-Length: +5\r\n", b"Expect: 100-continue\r\n"),
    "vertical tab": head(b"Content-Length: \x0b5\r\n"),
    "space before the colon": head(b"Content-Length : 5\r\n"),
    "underscored name": head(b"Content_Length: 5\r\n"),
}
CODINGS = {
    "twice": head(CHUNKED, CHUNKED),
    "twice on a line": head(b"Transfer-Encoding: chunked, chunked\r\n"),
    "gzip before": head(b"Transfer-Encoding: gzip, chunked\r\n"),
    "identity after": head(b"Transfer-Encoding: chunked, identity\r\n"),
    "identity": head(b"Transfer-Encoding: identity\r\n"),
    "unknown": head(b"Transfer-Encoding: xchunked\r\n"),
    "empty": head(b"Transfer-Encoding:\r\n"),
    "comma": head(b"Transfer-Encoding: ,chunked\r\n"),
    "quotes": head(b'Transfer-Encoding: "chunked"\r\n'),
    "parameter": head(b"Transfer-Encoding: chunked;q=1\r\n"),
    "capitals": head(b"Transfer-Encoding: Chunked\r\n"),
    "vertical tab": head(b"Transfer-Encoding: \x0bchunked\r\n"),
    "unicode space": head(b"Transfer-Encoding: \x85chunked\r\n"),
    "NUL": head(b"Transfer-Encoding: chunked\x00\r\n"),
    "space before the colon": head(b"Transfer-Encoding : chunked\r\n"),
    "tab before the colon": head(b"Transfer-Encoding\t: chunked\r\n"),
    "space before the name": head(b"X-A: b\r\n", b" Transfer-Encoding: chunked\r\n"),
    "HTTP/1.0": head(CHUNKED, line=b"POST /sign-in HTTP/1.0"),
    "underscored name": head(b"Transfer_Encoding: chunked\r\n"),
}
LINES = {
    "folded": head(b"Transfer-Encoding:\r\n chunked\r\n"),
    "folded elsewhere": head(b"X-A: b\r\n\tc\r\n"),
    "folded at once": head(b"X-A: b\r\n").replace(b"Host", b" Host"),
    "CR alone in a value": head(b"X-A: b\rTransfer-Encoding: chunked\r\n"),
    "CR before CR LF": head(b"X-A: b\r\r\n"),
    "CR in the first line": head(line=b"POST /sign-in HTTP/1.1\r"),
    "LF alone between headers": head(b"X-A: b\nTransfer-Encoding: chunked\r\n"),
    "LF alone at every end": head(LENGTH).replace(b"\r\n", b"\n"),
    "LF alone at the end": head(LENGTH).removesuffix(b"\r\n") + b"\n",
    "no colon": head(b"X-A\r\n"),
    "no name": head(b": b\r\n"),
    "NUL in a value": head(b"X-A: b\x00c\r\n"),
    "NUL in a name": head(b"X\x00A: b\r\n"),
    "not ASCII in a name": head("X-é: b\r\n".encode()),
}
FIRST_LINES = {
    "no version": head(line=b"GET /sign-in"),
    "HTTP/0.9": head(line=b"GET /sign-in HTTP/0.9"),
    "HTTP/1.2": head(CHUNKED, line=b"POST /sign-in HTTP/1.2"),
    "HTTP/2.0": head(CHUNKED, line=b"POST /sign-in HTTP/2.0"),
    "version in lower case": head(line=b"GET /sign-in http/1.1"),
    "two spaces": head(line=b"GET  /sign-in HTTP/1.1"),
    "tab": head(line=b"GET\t/sign-in HTTP/1.1"),
    "space in the target": head(line=b"GET /sign in HTTP/1.1"),
    "lower case": head(line=b"get /sign-in HTTP/1.1"),
    "no slash": head(line=b"GET sign-in HTTP/1.1"),
    "an authority": head(line=b"CONNECT localhost:80 HTTP/1.1"),
    "another host in the target": head(line=b"GET http://evil.example/sign-in HTTP/1.1"),
}
HOSTS = {
    "none": b"GET /sign-in HTTP/1.1\r\n\r\n",
    "two": head(b"Host: evil.example\r\n"),
    "two equal": head(b"Host: localhost\r\n"),
    "empty": b"GET /sign-in HTTP/1.1\r\nHost:\r\n\r\n",
    **{
        said: b"GET /sign-in HTTP/1.1\r\nHost: " + value + b"\r\n\r\n"
        for said, value in {
            "a path": b"localhost/evil",
            "an account": b"me@localhost",
            "a space": b"localhost evil",
            "a comma": b"localhost,evil",
            "a query": b"localhost?evil",
            "markup": b"<script>",
            "quotes": b'"localhost"',
            "a port of letters": b"localhost:http",
            "no end to the brackets": b"[::1",
            "not ASCII": "löcalhost".encode(),
            "escaped": b"local%68ost",
        }.items()
    },
}
REPEATED = {
    "name of a user": head(b"X-Adapter-Username: Ada\r\n", b"X-Adapter-Username: Bob\r\n"),
    "the same name": head(b"X-Adapter-Username: Ada\r\n", b"X-A: b\r\n", b"x-adapter-username: Ada\r\n"),
    "id of a user": head(b"X-Adapter-User-Id: 7\r\n", b"X-Adapter-User-Id: 8\r\n"),
}
KINDS = {
    "two framings": TWO_FRAMINGS,
    "length": LENGTHS,
    "coding": CODINGS,
    "line": LINES,
    "first line": FIRST_LINES,
    "host": HOSTS,
    "repeated": REPEATED,
}
HEADS = {f"{kind}: {name}": text for kind, texts in KINDS.items() for name, text in texts.items()}

LAST = b"0\r\n\r\n"
BODIES = {
    "size with LF alone": b"5\nhello\r\n" + LAST,
    "size with LF before CR LF": b"5\n\r\nhello\r\n" + LAST,
    "size with CR alone": b"5\rhello\r\n" + LAST,
    "size with a sign": b"+5\r\nhello\r\n" + LAST,
    "size with 0x": b"0x5\r\nhello\r\n" + LAST,
    "size with an underscore": b"0_5\r\nhello\r\n" + LAST,
    "no size": b"\r\nhello\r\n" + LAST,
    "empty line between chunks": b"5\r\nhello\r\n\r\n" + LAST,
    "chunk longer than its size": b"3\r\nhello\r\n" + LAST,
    "chunk ends with LF alone": b"5\r\nhello\n" + LAST,
    "extension with LF alone": b"5;a\nb\r\nhello\r\n" + LAST,
    "size of 40 digits": b"0" * 39 + b"5\r\nhello\r\n" + LAST,
    "endless size line": b"5;" + b"a" * 3000 + b"\r\nhello\r\n" + LAST,
    "trailer with LF alone": b"0\r\nX-A: b\n\r\n\r\n",
    "trailer that is a request": b"0\r\nGET /healthz HTTP/1.1\r\n\r\n",
    "endless trailers": b"0\r\n" + b"X-A: b\r\n" * 3000 + b"\r\n",
}


def assert_refused_once(service: Service, answer: bytes) -> None:
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n"), answer
    assert answer.count(b"HTTP/1.1 ") == 1
    fields, _, body = answer.partition(b"\r\n\r\n")
    assert b"Connection: close" in fields
    assert b"Content-Type: application/json" in fields
    assert set(json.loads(body)) == {"detail"}
    shown = next(line for line in fields.split(b"\r\n") if line.startswith(b"X-Request-Id: "))
    request_id = shown.removeprefix(b"X-Request-Id: ").decode()
    lines = logged(service.log)
    assert not [line for line in lines if "healthz" in str(line)]
    assert len([line for line in lines if request_id in str(line)]) == 1


@pytest.mark.parametrize("text", HEADS.values(), ids=HEADS)
def test_an_ambiguous_head_is_answered_once_and_ends_the_connection(service: Service, text: bytes) -> None:
    assert_refused_once(service, talk(service, text + SMUGGLED))


@pytest.mark.parametrize("text", HEADS.values(), ids=HEADS)
def test_an_ambiguous_head_that_comes_in_pieces_is_answered_once(service: Service, text: bytes) -> None:
    middle = text.rindex(b"\r") if b"\r" in text else len(text) // 2
    assert_refused_once(service, talk(service, text[: middle + 1], text[middle + 1 :] + SMUGGLED))


@pytest.mark.parametrize("text", BODIES.values(), ids=BODIES)
def test_an_ambiguous_chunked_body_is_answered_once(service: Service, text: bytes) -> None:
    assert_refused_once(service, talk(service, head(CHUNKED) + text + SMUGGLED))
    assert_refused_once(service, talk(service, head(CHUNKED), *[text[:2], text[2:] + SMUGGLED]))


def test_a_good_request_before_an_ambiguous_one_is_answered(service: Service) -> None:
    good = head(line=b"GET /static/css/base.css HTTP/1.1")
    answer = talk(service, good + TWO_FRAMINGS["length, then chunked"] + SMUGGLED)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.count(b"HTTP/1.1 ") == 2
    assert answer.count(b"HTTP/1.1 400 ") == 1


def test_a_request_that_waits_for_leave_without_a_body_does_not_swallow_the_next(service: Service) -> None:
    waiting = head(b"Expect: 100-continue\r\n", line=b"GET /sign-in HTTP/1.1")
    last = head(b"Connection: close\r\n", line=b"GET /static/css/base.css HTTP/1.1")
    answer = talk(service, waiting + last)
    assert answer.count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize("pieces", [1, 3], ids=["at once", "in pieces"])
def test_one_framing_keeps_the_connection(service: Service, pieces: int) -> None:
    form = b"email=a%40b.example&password=x"
    sized = head(b"Content-Length: %d\r\n" % len(form)) + form
    chunks = b"%x;name=value\r\n%b\r\n0\r\nX-Checked: yes\r\n\r\n" % (len(form), form)
    last = head(b"Connection: close\r\n", line=b"GET http://localhost/sign-in HTTP/1.1")
    text = sized + head(CHUNKED) + chunks + last
    cut = len(text) // pieces + 1
    answer = talk(service, *(text[start : start + cut] for start in range(0, len(text), cut)))
    # Both forms reach the application, which misses their token.
    assert answer.count(b"HTTP/1.1 400 ") == 2
    assert answer.count(b"HTTP/1.1 ") == 3
    assert answer.count(b"HTTP/1.1 200 ") == 1


def test_one_name_with_a_comma_reaches_the_application(service: Service) -> None:
    line = b"GET /api/public/v1/requests HTTP/1.1"
    answer = talk(service, head(b"X-Adapter-Username: Ada, Jr.\r\n", b"Connection: close\r\n", line=line))
    assert answer.startswith(b"HTTP/1.1 401 ")


def test_http_1_0_needs_no_host(service: Service) -> None:
    answer = talk(service, b"GET /static/css/base.css HTTP/1.0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.0 200 ")


def test_a_head_that_never_ends_is_431(service: Service) -> None:
    answer = talk(service, head(b"X-A: " + b"a" * 70_000 + b"\r\n") + SMUGGLED)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert httpx.get(f"http://127.0.0.1:{service.settings.port}/static/css/base.css").status_code == 200
