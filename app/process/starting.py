"""What the port answers while a server starts and waits: ``/healthz`` is 200, and ``/readyz`` says what it waits for.

So a supervisor does not end a process that migrates. Everything else is closed without an answer, and until something
is waited for, connections are refused: a proxy then asks another server.
"""

import json
import socket
import threading
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Any

from app.core import waits
from app.core.alongside import alongside
from app.process.serve import bind

_PATIENCE = 1.0
"""Seconds that one client may take: they are answered one after the other."""
_MOST = 16_384
_LOOKED_EVERY = 0.1


def answering(host: str, port: int) -> AbstractContextManager[None]:
    """Answer there, from a thread, until the block ends."""
    return alongside("starting", partial(_answer, host, port))


def _answer(host: str, port: int, ended: threading.Event) -> None:
    while not waits.current():
        if ended.wait(_LOOKED_EVERY):
            return
    # A taken port ends the start once the wait is over, as it does without one.
    with suppress(OSError), bind(host, port) as listener:
        listener.settimeout(_LOOKED_EVERY)
        while not ended.is_set():
            with suppress(OSError):
                _let_in(listener)


def _let_in(listener: socket.socket) -> None:
    client, _ = listener.accept()
    with client:
        client.settimeout(_PATIENCE)
        if response := _response(client.recv(_MOST)):
            client.sendall(response)
            client.shutdown(socket.SHUT_WR)
            client.recv(_MOST)  # until it closes: a reset could overtake the answer


def _response(request: bytes) -> bytes:
    path = [*request.split(b" ", 2), b"", b""][1].partition(b"?")[0]
    if path == b"/healthz":
        status, body = "200 OK", dict[str, Any](status="ok", service="bridgenote")
    elif path == b"/readyz":
        checks = {"start": f"fail: {waits.current() or 'the service starts'}"}
        status, body = "503 Service Unavailable", dict[str, Any](status="not ready", checks=checks)
    else:
        return b""
    content = json.dumps(body).encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        "Cache-Control: no-store\r\nRetry-After: 2\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + content
