"""Runs gunicorn: its settings and hooks, and which proxies are trusted."""

# gunicorn has no types: without this, mypy reports every call of an inherited method.
# mypy: disallow-untyped-calls=False

import ipaddress
import logging
import os
import socket
import sys
from collections.abc import Callable, Iterable
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger
from waitress.proxy_headers import proxy_headers_middleware

from app.process import peers
from app.process.worker import WaitressWorker, WSGIApp

BOOT_SECONDS = 60
"""How long a worker may take to load, or to send its next heartbeat, before gunicorn replaces it."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def serve(
    *,
    host: str,
    port: int,
    processes: int,
    threads: int,
    load_app: Callable[[int], WSGIApp],
    stop_app: Callable[[], bool | None],
    trusted_proxies: str = "",
    announce: Callable[[str], None] | None = None,
    graceful_seconds: int = 30,
) -> None:
    """Serve until a signal stops the process, then raise ``SystemExit``: 0, or 1 if the port is taken.

    ``load_app(slot)`` is called in each worker process after the fork, and returns the application. Slots are
    0 … processes − 1; a worker that replaces a dead one gets its slot. ``stop_app()`` is called in the worker
    after its last response. If it returns False, threads are still running, and the worker exits without them.
    ``announce(url)`` is called once, when the first worker can answer.
    ``trusted_proxies``: addresses and networks, separated by commas, whose X-Forwarded headers count. After SIGTERM
    running requests get half of ``graceful_seconds``, and ``stop_app`` the rest; after SIGINT they get two seconds.
    """
    trusted = parse_networks(trusted_proxies)
    try:
        listener = bind(host, port)
    except OSError as error:
        # Errors of name resolution have negative numbers and their own text; the socket's text repeats the address.
        reason = os.strerror(error.errno) if error.errno is not None and error.errno > 0 else error.strerror
        print(f"Cannot listen on {host}, port {port}: {reason}", file=sys.stderr)
        raise SystemExit(1) from None
    bound = listener.getsockname()
    shown = f"[{bound[0]}]" if listener.family == socket.AF_INET6 else bound[0]
    # A full queue is normal while all threads are busy, but waitress would warn for each request.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    _Served(
        {
            "bind": f"fd://{listener.detach()}",
            "workers": processes,
            "worker_class": WaitressWorker,
            "pre_fork": _give_slot,
            "timeout": BOOT_SECONDS,
            "graceful_timeout": graceful_seconds,
            "preload_app": False,
            "control_socket_disable": True,
            "loglevel": "warning",
            "logger_class": _RootLogger,
            "worker_tmp_dir": "/dev/shm" if os.path.isdir("/dev/shm") else None,  # noqa: S108 - gunicorn uses it
            # Set before a worker loads NumPy: its threads would compete with ours for the cores.
            "raw_env": ["OPENBLAS_NUM_THREADS=1"],
        },
        threads=threads,
        load_app=lambda slot: behind_proxies(load_app(slot), trusted),
        stop_app=stop_app,
        announce=lambda: announce(f"http://{shown}:{bound[1]}") if announce is not None else None,
    ).run()


class _Served(BaseApplication):
    def __init__(
        self,
        settings: dict[str, Any],
        *,
        threads: int,
        load_app: Callable[[int], WSGIApp],
        stop_app: Callable[[], bool | None],
        announce: Callable[[], None],
    ) -> None:
        self.threads = threads
        self._settings = settings
        self._load_app = load_app
        self._stop_app = stop_app
        self._announce = announce
        super().__init__()

    def load_config(self) -> None:
        assert self.cfg is not None  # noqa: S101 - for the type checker: BaseApplication has just made it
        for name, value in self._settings.items():
            self.cfg.set(name, value)

    def load_in_worker(self, slot: int, first: bool) -> WSGIApp:
        app = self._load_app(slot)
        if first:
            self._announce()
        return app

    def stop_in_worker(self) -> bool:
        return self._stop_app() is not False


class _RootLogger(Logger):
    """Sends gunicorn's messages to the root logger, so that they have the same format as all other logs."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers = []
        self.error_log.propagate = True


def bind(host: str, port: int) -> socket.socket:
    """Listen there. Raises ``OSError``."""
    # Bound here, because gunicorn would try a taken port five times in five seconds.
    flags = socket.AI_PASSIVE
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)[0]
    return socket.create_server(address[:2], family=family, backlog=2048)


def _give_slot(arbiter: Any, worker: WaitressWorker) -> None:
    """Give the worker the lowest slot that no running worker has. Called in the parent just before the fork."""
    taken = {other.slot for other in arbiter.WORKERS.values()}
    worker.slot = next(slot for slot in range(len(taken) + 1) if slot not in taken)


def parse_networks(text: str) -> list[Network]:
    """Parse addresses and networks separated by commas. Raises ``ValueError`` that names the invalid entry."""
    return [ipaddress.ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip()]


def behind_proxies(app: WSGIApp, trusted: list[Network]) -> WSGIApp:
    """Wrap ``app``: apply the X-Forwarded headers of trusted peers, remove those of all others."""
    headers = {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"}
    with_headers: WSGIApp = proxy_headers_middleware(app, trusted_proxy="*", trusted_proxy_headers=headers)
    without_headers: WSGIApp = proxy_headers_middleware(app)

    def choose(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        peers.mark(environ)
        peer = ipaddress.ip_address(environ["REMOTE_ADDR"].partition("%")[0])
        mapped = getattr(peer, "ipv4_mapped", None)
        is_trusted = any((mapped or peer) in network for network in trusted)
        return (with_headers if is_trusted else without_headers)(environ, start_response)

    return choose
