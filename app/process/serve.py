"""How the service is served: gunicorn's settings and hooks, written once."""

# gunicorn has no types; calling what we inherit from it would be an error at every line.
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
"""How long a worker may take to load, or go without a sign of life, before it is replaced."""

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
    """Serve until a signal ends it, then leave through ``SystemExit``: 0, or 1 when the port is taken.

    ``load_app(slot)`` is called in each worker process, after the fork, and gives the application. Slots are
    0 … processes − 1; a worker that replaces a dead one has its slot. ``stop_app()`` is called in the worker
    once its last response is out; False from it says that threads are still at work, for which nobody waits.
    ``announce(url)`` is called once, when the first worker can answer.
    ``trusted_proxies``: addresses and networks, separated by commas, whose X-Forwarded headers count. SIGTERM
    gives running requests half of ``graceful_seconds``, and ``stop_app`` the rest; SIGINT gives two seconds.
    """
    trusted = parse_networks(trusted_proxies)
    try:
        listener = _bind(host, port)
    except OSError as error:
        # Address resolution has negative numbers and words of its own; the socket's words repeat the address.
        reason = os.strerror(error.errno) if error.errno is not None and error.errno > 0 else error.strerror
        print(f"Cannot listen on {host}, port {port}: {reason}", file=sys.stderr)
        raise SystemExit(1) from None
    bound = listener.getsockname()
    shown = f"[{bound[0]}]" if listener.family == socket.AF_INET6 else bound[0]
    # A full queue is no fault while every thread works; waitress warns at each request.
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
            "worker_tmp_dir": "/dev/shm" if os.path.isdir("/dev/shm") else None,  # noqa: S108 - gunicorn makes it
            # Set before a worker loads NumPy: threads inside each of our threads only fight over the cores.
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
    """gunicorn's messages go to the root logger, so they look like everything else the service writes."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers = []
        self.error_log.propagate = True


def _bind(host: str, port: int) -> socket.socket:
    # Bound here, not by gunicorn, which would try a taken port five times over five seconds.
    flags = socket.AI_PASSIVE
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)[0]
    return socket.create_server(address[:2], family=family, backlog=2048)


def _give_slot(arbiter: Any, worker: WaitressWorker) -> None:
    """The lowest slot that no living worker has. Called in the parent, just before the fork."""
    taken = {other.slot for other in arbiter.WORKERS.values()}
    worker.slot = next(slot for slot in range(len(taken) + 1) if slot not in taken)


def parse_networks(text: str) -> list[Network]:
    """Addresses and networks separated by commas. Raises ``ValueError`` naming the one that is neither."""
    return [ipaddress.ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip()]


def behind_proxies(app: WSGIApp, trusted: list[Network]) -> WSGIApp:
    """Believe the X-Forwarded headers of trusted peers, and remove everybody else's."""
    headers = {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"}
    believing: WSGIApp = proxy_headers_middleware(app, trusted_proxy="*", trusted_proxy_headers=headers)
    doubting: WSGIApp = proxy_headers_middleware(app)

    def choose(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        peers.mark(environ)
        peer = ipaddress.ip_address(environ["REMOTE_ADDR"].partition("%")[0])
        mapped = getattr(peer, "ipv4_mapped", None)
        is_trusted = any((mapped or peer) in network for network in trusted)
        return (believing if is_trusted else doubting)(environ, start_response)

    return choose
