"""A gunicorn worker that serves with waitress: one event loop reads and writes for all clients, threads run the app.

gunicorn's own threaded worker gives each connection a thread, so a few clients that send half a request block all
others. Here a request reaches a thread only when it has arrived completely. gunicorn keeps the other tasks: the
listening socket, restarting a worker that died, and a graceful stop.
"""

# gunicorn and waitress have no types: without this, mypy reports every call of an inherited method.
# mypy: disallow-untyped-calls=False

import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from app.core import limits
from app.process.connection import Channel

log = logging.getLogger(__name__)

WSGIApp = Callable[[dict[str, Any], Any], Iterable[bytes]]

MAX_BODY = max(limits.DATASET_FILE_BYTES, limits.SCORES_BODY_MAX_BYTES) + 1024 * 1024
"""Maximum bytes of a body that are read. The application's limits are lower; the highest is that of a dataset file
inside its form. ``connection.Parser`` describes how larger bodies are handled."""
ARRIVAL_SECONDS = 60
"""How long a request may take to arrive, and how long an idle connection stays open."""
CONNECTIONS = 500
CROWDED = 400
"""If one process has more connections than this, it closes those that have been silent the longest."""
QUICK_SECONDS = 2.0
"""How long running requests may take after Ctrl-C, instead of the graceful timeout."""


class Served(Protocol):
    """The attributes of the gunicorn application that the worker uses."""

    threads: int

    def load_in_worker(self, slot: int, first: bool) -> WSGIApp: ...

    def stop_in_worker(self) -> bool: ...


class Listener(TcpWSGIServer):
    """The waitress server, on a socket that gunicorn has bound."""

    channel_class = Channel

    def __init__(
        self, application: WSGIApp, sock: socket.socket, channels: dict[int, Any], threads: int
    ) -> None:
        dispatcher = ThreadedTaskDispatcher()
        dispatcher.set_thread_count(threads)
        self._arriving: dict[int, tuple[Any, float]] = {}
        super().__init__(
            application,
            channels,
            _sock=sock,
            dispatcher=dispatcher,
            bind_socket=False,
            sockinfo=(sock.family, sock.type, sock.proto, sock.getsockname()),
            adj=Adjustments(
                threads=threads,
                ident=None,
                backlog=2048,
                connection_limit=CONNECTIONS,
                channel_timeout=ARRIVAL_SECONDS,
                cleanup_interval=5,
                max_request_body_size=MAX_BODY,
                max_request_header_size=64 * 1024,
                expose_tracebacks=False,
                log_socket_errors=False,
                asyncore_use_poll=True,
                # serve.py removes untrusted headers: waitress can trust only one address, we trust networks.
                clear_untrusted_proxy_headers=False,
            ),
        )

    def readable(self) -> bool:
        """Accept only while a thread is free, so that a busy process leaves clients to an idle one."""
        self._make_room()
        return bool(super().readable()) and not self.task_dispatcher.queue

    def _make_room(self) -> None:
        """With too many connections, close those that have been silent the longest, so that new clients can connect.

        At its limit, waitress would accept no connections until the silent ones are a minute old.
        """
        crowd = len(self.active_channels) - CROWDED
        if crowd > 0:
            silent = [
                channel
                for channel in self.active_channels.values()
                if not (channel.is_answering or channel.will_close)
            ]
            for channel in sorted(silent, key=lambda channel: channel.last_activity)[:crowd]:
                channel.will_close = True

    def stop_accepting(self) -> None:
        """Accept the connections in the backlog, then close the socket: otherwise the kernel would reset them."""
        self.accepting = False
        self.del_channel()
        listening = self.socket
        while listening is not None:
            try:
                connection, address = listening.accept()
            except ConnectionAbortedError:
                continue
            except OSError:
                break
            self.set_socket_options(connection)
            self.channel_class(self, connection, self.fix_addr(address), self.adj, map=self._map)
        if listening is not None:
            listening.close()

    def maintenance(self, now: float) -> None:
        """Close idle connections, and those whose request takes too long to arrive."""
        super().maintenance(now)
        arriving: dict[int, tuple[Any, float]] = {}
        for number, channel in self.active_channels.items():
            if channel.is_overdue(now):
                channel.will_close = True
            request = channel.request
            if request is None:
                continue
            known, since = self._arriving.get(number, (None, now))
            arriving[number] = (request, since if known is request else now)
            if now - arriving[number][1] > ARRIVAL_SECONDS:
                channel.will_close = True
        self._arriving = arriving


class _Waker(wasyncore.file_dispatcher):
    """Wakes the event loop when a signal arrives: Python then writes a byte into the pipe."""

    def writable(self) -> bool:
        return False

    def handle_read(self) -> None:
        self.recv(4096)


class WaitressWorker(Worker):
    """Runs under gunicorn's arbiter. ``slot`` is set before the fork; see serve.py."""

    slot: int = 0
    quick = False

    def load_wsgi(self) -> None:
        served: Served = self.app
        self.wsgi = served.load_in_worker(self.slot, self.age == 1)

    def handle_quit(self, sig: int, frame: Any) -> None:
        """Ctrl-C: stop gracefully, but with a short timeout. The base class would stop in the middle of a response."""
        self.quick = True
        self.alive = False

    def run(self) -> None:
        served: Served = self.app
        channels: dict[int, Any] = {}
        # One thread pool per listener; serve() makes a single one.
        listeners = [Listener(self.wsgi, each.sock, channels, served.threads) for each in self.sockets]
        waker = _Waker(self.PIPE[0], channels)
        try:
            while self.alive:
                self._turn(channels, 1.0)
                if self.ppid != os.getppid():
                    self.log.warning("The parent process is gone: ending.")
                    self.alive = False
            self._finish(listeners, channels)
        finally:
            waker.close()
            ended = served.stop_in_worker()
        if not ended:
            end_now()

    def _turn(self, channels: dict[int, Any], timeout: float) -> None:
        self.notify()
        wasyncore.loop(timeout=timeout, use_poll=True, map=channels, count=1)

    def _finish(self, listeners: list[Listener], channels: dict[int, Any]) -> None:
        """Accept no more connections, answer the requests that have arrived, close the other connections."""
        for listener in listeners:
            listener.stop_accepting()
        began = time.monotonic()
        while True:
            open_channels = [each for each in channels.values() if isinstance(each, Channel)]
            if not open_channels or time.monotonic() - began > self.patience():
                break
            for channel in open_channels:
                channel.wind_down(time.time())
            self._turn(channels, 0.02)
        for listener in listeners:
            listener.task_dispatcher.shutdown(timeout=0.2)

    def patience(self) -> float:
        """For how many seconds the worker waits for running requests when it ends."""
        # The arbiter kills the worker at the graceful timeout, and stop_in_worker needs part of that time too.
        return QUICK_SECONDS if self.quick else max(1.0, self.cfg.graceful_timeout / 2)


def end_now() -> None:
    """Exit this process without waiting for its threads; the interpreter would wait for them without limit.

    Used when jobs run longer than allowed: the process that starts next runs them again.
    """
    log.warning("Ending with jobs still at work; they will run again.")
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
