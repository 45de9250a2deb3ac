"""Guarded outgoing connections: one DNS lookup, every address checked, one deadline for everything.

httpx applies its timeouts per read, so a receiver that sends a byte now and then could hold a sender for ever. It also
lets the system resolve names, and the answer may change between our check and the connection. This module solves both
with an httpcore network backend: it connects to an address that it has checked (TLS and the Host header still use the
name), and gives each socket operation only the time left until the deadline.

The messages of the exceptions raised here are the ``error`` texts of ``core.sending.Outcome``.
"""

import errno
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from typing import Any

import httpcore
import httpx

from app.core.outbound import Target, is_public
from app.core.webhooks.sending import TIMEOUT

Resolver = Callable[[str, int], Sequence[str]]
"""Maps (host, port) to the IP addresses of the host, best first. Raises OSError or UnicodeError if there are none."""

Dial = Callable[[str, int, float], socket.socket]
"""Maps (IP address, port, timeout in seconds) to a connected socket. Raises OSError."""

ADDRESSES_TRIED = 4


class Deadline:
    """A deadline on the monotonic clock, shared by all waits of one attempt."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds left, more than 0. Raises TimeoutError if the deadline has passed."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds

    def restart(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds


@cache
def authorities() -> ssl.SSLContext:
    """The certificate authorities that httpx ships, for every connection: to read them takes 25 ms."""
    return httpx.create_ssl_context(trust_env=False)


def system_addresses(host: str, port: int) -> list[str]:
    """Return the addresses from the system's resolver."""
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in addresses))


def dial(address: str, port: int, seconds: float) -> socket.socket:
    """Open a TCP connection to an IP address, never to a name."""
    version = ipaddress.ip_address(address).version
    connection = socket.socket(socket.AF_INET6 if version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect((address, port))
        # Head and body are written separately; Nagle's algorithm would delay the body until an acknowledgement.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        connection.close()
        raise
    return connection


class Lookups:
    """Resolves names within a deadline, which ``getaddrinfo`` does not support.

    Each lookup runs in its own thread, and callers wait for it until their deadline. All callers for the same name
    share one thread and its answer, so a name server that hangs blocks one thread per name and delays no other name.
    Answers are not cached: the next attempt looks the name up again.
    """

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._lock = threading.Lock()
        self._running: dict[tuple[str, int], Future[Sequence[str]]] = {}

    def addresses(self, host: str, port: int, deadline: Deadline) -> Sequence[str]:
        """Return the addresses of ``host``, which may be an IP. Raises httpcore.ConnectError or ConnectTimeout."""
        try:
            return [str(ipaddress.ip_address(host))]
        except ValueError:
            pass
        try:
            resolved = self._lookup(host, port).result(timeout=deadline.left())
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"{TIMEOUT}: dns") from error
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise httpcore.ConnectError(f"dns: {reason.lower()}") from error
        if not resolved:
            raise httpcore.ConnectError("dns: the name has no addresses")
        return resolved

    def _lookup(self, host: str, port: int) -> "Future[Sequence[str]]":
        with self._lock:
            lookup = self._running.get((host, port))
            if lookup is None:
                lookup = self._running[host, port] = Future()
                # A daemon thread, so that a hanging name server cannot delay the end of the process.
                threading.Thread(
                    target=self._run, args=(host, port, lookup), name=f"lookup {host}", daemon=True
                ).start()
        return lookup

    def _run(self, host: str, port: int, lookup: "Future[Sequence[str]]") -> None:
        try:
            addresses = self._resolver(host, port)
        except BaseException as error:  # the waiting threads raise and handle it
            self._finish(host, port)
            lookup.set_exception(error)
        else:
            self._finish(host, port)
            lookup.set_result(addresses)

    def _finish(self, host: str, port: int) -> None:
        with self._lock:
            del self._running[host, port]


class GuardedStream(httpcore.NetworkStream):
    """A connected socket whose waits all end at the deadline. httpx's own timeouts are ignored."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            self._connection.settimeout(self._deadline.left())
            return self._connection.recv(max_bytes)
        except TimeoutError as error:
            raise httpcore.ReadTimeout(TIMEOUT) from error
        except OSError as error:
            raise httpcore.ReadError(_explained(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)
        try:
            while rest:
                self._connection.settimeout(self._deadline.left())
                rest = rest[self._connection.send(rest) :]
        except TimeoutError as error:
            raise httpcore.WriteTimeout(TIMEOUT) from error
        except OSError as error:
            raise httpcore.WriteError(_explained(error)) from error

    def close(self) -> None:
        self._connection.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        try:
            self._connection.settimeout(self._deadline.left())
            # The ssl module applies this timeout to the whole handshake, not to each read.
            secured = ssl_context.wrap_socket(self._connection, server_hostname=server_hostname)
        except TimeoutError as error:
            self.close()
            raise httpcore.ConnectTimeout(f"{TIMEOUT}: tls") from error
        except (OSError, ValueError) as error:
            self.close()
            raise httpcore.ConnectError(_explained_tls(error)) from error
        return GuardedStream(secured, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object" and isinstance(self._connection, ssl.SSLSocket):
            return self._connection
        return None


class GuardedBackend(httpcore.NetworkBackend):
    """Connects to one target only, after all its addresses have been checked."""

    def __init__(self, target: Target, deadline: Deadline, lookups: Lookups, dial: Dial) -> None:
        self._target = target
        self._deadline = deadline
        self._lookups = lookups
        self._dial = dial

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        if (_plain(host), port) != (self._target.host, self._target.port):
            # httpx and check_url disagree about the host in the URL, so neither can be trusted.
            raise httpcore.ConnectError(f"address not allowed: {host} port {port}")
        addresses = self._lookups.addresses(host, port, self._deadline)
        if not self._target.trusted:
            # One forbidden address refuses the name: DNS rebinding attacks mix allowed and forbidden addresses.
            for address in addresses:
                if not is_public(address):
                    raise httpcore.ConnectError(f"address not allowed: {address}")
        return GuardedStream(self._connect(addresses[:ADDRESSES_TRIED], port), self._deadline)

    def _connect(self, addresses: Sequence[str], port: int) -> socket.socket:
        failure: Exception | None = None
        for position, address in enumerate(addresses):
            try:
                # Divide the time equally, so that one address that does not answer leaves time for the next.
                share = self._deadline.left() / (len(addresses) - position)
                return self._dial(address, port, share)
            except TimeoutError as error:
                failure = httpcore.ConnectTimeout(f"{TIMEOUT}: connecting")
                failure.__cause__ = error
            except OSError as error:
                failure = httpcore.ConnectError(_explained(error))
                failure.__cause__ = error
        raise failure or httpcore.ConnectError("dns: the name has no addresses")


class GuardedTransport(httpx.HTTPTransport):
    """httpx transport for one guarded connection: no proxy, no retries, HTTP/1.1, closed after use."""

    def __init__(self, backend: GuardedBackend, tls: ssl.SSLContext) -> None:
        # The parent's constructor has no parameter for a network backend; everything else is inherited.
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls, max_connections=1, max_keepalive_connections=0, network_backend=backend
        )


class Guarded:
    """Exchanges over guarded connections, each over one of its own. Threads share one instance.

    ``resolver`` resolves names and ``dial`` opens connections; ``tls`` has the trusted authorities, by default those
    that httpx ships.
    """

    def __init__(
        self, resolver: Resolver = system_addresses, dial: Dial = dial, tls: ssl.SSLContext | None = None
    ) -> None:
        self._lookups = Lookups(resolver)
        self._dial = dial
        self._tls = tls

    @contextmanager
    def exchange(
        self, target: Target, request: httpx.Request, deadline: Deadline
    ) -> Iterator[httpx.Response]:
        """Send the request and yield the response with its body unread. Raises httpx.TransportError, TimeoutError."""
        backend = GuardedBackend(target, deadline, self._lookups, self._dial)
        with GuardedTransport(backend, self._tls or authorities()) as transport:
            response = transport.handle_request(request)
            try:
                yield response
            finally:
                response.close()


def coding(response: httpx.Response) -> str:
    """The coding in which the body was sent, in lower case; "" if it was sent as it is."""
    named: str = response.headers.get("Content-Encoding", "").strip().lower()
    return "" if named == "identity" else named


def chunks(response: httpx.Response) -> Iterator[bytes]:
    """The body as it was sent: ``iter_bytes`` would decompress it, and a small one could unpack to any size."""
    yield from response.stream  # type: ignore[misc]  # a sync transport gives a sync stream


def body(response: httpx.Response, most: int) -> bytes | None:
    """Read the body as it was sent; None if it is longer than ``most`` bytes, of which no more are read."""
    received = bytearray()
    for chunk in chunks(response):
        received += chunk
        if len(received) > most:
            return None
    return bytes(received)


def _plain(host: str) -> str:
    # httpx keeps the spelling of an IPv6 literal; check_url gives its shortest form.
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host


def _explained(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, ConnectionResetError | BrokenPipeError | ssl.SSLEOFError):
        return "connection failed: closed by the receiver"
    if isinstance(error, ssl.SSLError):
        return _explained_tls(error)
    if error.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH):
        return "connection failed: no route to the receiver"
    return f"connection failed: {(error.strerror or type(error).__name__).lower()}"


def _explained_tls(error: OSError | ValueError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"tls: {error.verify_message or 'the certificate is not valid'}"
    if isinstance(error, ssl.SSLError) and error.reason:
        return f"tls: {error.reason.replace('_', ' ').lower()}"
    if isinstance(error, ConnectionError | ssl.SSLError):
        return "tls: the receiver ended the handshake"
    return f"tls: {error}"
