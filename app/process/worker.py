"""A gunicorn worker that serves with waitress: one loop talks to all clients, threads only compute.

gunicorn's own threaded worker gives each connection a thread, so a handful of clients that send half a
request stop everybody. Here a request reaches a thread once it has arrived whole. gunicorn keeps what it is
good at: the listening socket, starting a worker again when one dies, and a graceful end.
"""

# gunicorn and waitress have no types; calling what we inherit from them would be an error at every line.
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

MAX_BODY = limits.DATASET_FILE_BYTES + 1024 * 1024
"""Bytes of a body that are read at most. The service's own limits are lower, the highest that of a dataset's file with
the form around it; see ``connection.Parser`` for what is above."""
ARRIVAL_SECONDS = 60
"""How long a request may take to arrive, and how long an idle connection is kept."""
CONNECTIONS = 500
CROWDED = 400
"""Of more connections than this, in one process, those that have been silent for longest are closed."""
QUICK_SECONDS = 2.0
"""How long running requests may take after Ctrl-C, instead of the graceful time."""


class Served(Protocol):
    """What the worker needs of its gunicorn application."""

    threads: int

    def load_in_worker(self, slot: int, first: bool) -> WSGIApp: ...

    def stop_in_worker(self) -> bool: ...


class Listener(TcpWSGIServer):
    """Waitress's server on a socket that gunicorn has bound."""

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
                # serve.py has wrapped the application: waitress trusts one address, we trust networks.
                clear_untrusted_proxy_headers=False,
            ),
        )

    def readable(self) -> bool:
        """Accept only while a thread is free, so that a busy process leaves clients to an idle one."""
        self._make_room()
        return bool(super().readable()) and not self.task_dispatcher.queue

    def _make_room(self) -> None:
        """Of too many connections, close those that have been silent for longest: nobody is to keep others out.

        Waitress would accept no more at its limit, until the silent ones are a minute old.
        """
        crowd = len(self.active_channels) - CROWDED
        if crowd > 0:
            silent = [
                one for one in self.active_channels.values() if not (one.is_answering or one.will_close)
            ]
            for channel in sorted(silent, key=lambda one: one.last_activity)[:crowd]:
                channel.will_close = True

    def stop_accepting(self) -> None:
        """Take whoever waits to be let in, then close: the kernel resets connections that nobody has taken."""
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
        """Close idle connections, and those whose request trickles in for too long."""
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
    """Ends the loop's wait when a signal arrives: Python writes a byte into the pipe."""

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
        """Ctrl-C: like a graceful end, with little patience. The base class would end in mid-response."""
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
        """Let nobody in any more, answer what has arrived, close the rest."""
        for listener in listeners:
            listener.stop_accepting()
        began = time.monotonic()
        while True:
            open_channels = [each for each in channels.values() if isinstance(each, Channel)]
            if not open_channels or time.monotonic() - began > self._patience():
                break
            for channel in open_channels:
                channel.wind_down(time.time())
            self._turn(channels, 0.02)
        for listener in listeners:
            listener.task_dispatcher.shutdown(timeout=0.2)

    def _patience(self) -> float:
        # The arbiter kills at its graceful timeout; what stop_in_worker needs comes out of the same time.
        return QUICK_SECONDS if self.quick else max(1.0, self.cfg.graceful_timeout / 2)


def end_now() -> None:
    """End this process without waiting for its threads, which the interpreter would do without limit.

    For jobs that outlasted their time: they are done again by whoever takes over.
    """
    log.warning("Ending with jobs still at work; they will run again.")
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
