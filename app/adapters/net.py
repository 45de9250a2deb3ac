"""One guarded connection: name looked up once, every address vetted, one deadline over all of it.

httpx counts its timeouts per read, so a receiver that sends a byte now and then holds a sender for ever; and
it hands names to the system, which may answer differently each time it is asked. Both are settled here, below
httpx, in an httpcore network backend: it connects to the address it has vetted (TLS still asks for the name,
and the Host header keeps it), and gives each socket operation only what is left of the whole deadline.

The messages of the exceptions raised here are the ``error`` texts of ``core.sending.Outcome``.
"""

import errno
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Any

import httpcore
import httpx

from app.core.webhooks.sending import TIMEOUT, Target, is_public

Resolver = Callable[[str, int], Sequence[str]]
"""(host, port) to the IP addresses of the host, best first. Raises OSError or UnicodeError without any."""

Dial = Callable[[str, int, float], socket.socket]
"""(IP address, port, seconds) to a connected socket. Raises OSError."""

ADDRESSES_TRIED = 4


class Deadline:
    """A moment on the monotonic clock, shared by everything that one attempt waits for."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, more than 0. Raises TimeoutError when there are none."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds

    def restart(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds


def system_addresses(host: str, port: int) -> list[str]:
    """What the system's resolver says."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def dial(address: str, port: int, seconds: float) -> socket.socket:
    """A TCP connection to an IP address, never to a name."""
    version = ipaddress.ip_address(address).version
    connection = socket.socket(socket.AF_INET6 if version == 6 else socket.AF_INET, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect((address, port))
        # Head and body are written apart; Nagle's algorithm would hold the body back for an acknowledgement.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        connection.close()
        raise
    return connection


class Lookups:
    """Asks a resolver within a deadline, although ``getaddrinfo`` knows none.

    Each lookup has a thread of its own and callers wait as long as they can afford. A name is looked up by
    one thread at a time, whose answer all its callers share, so a name server that hangs holds one thread per
    name and delays no other name. Nothing is remembered after the answer: the next attempt asks again.
    """

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._lock = threading.Lock()
        self._running: dict[tuple[str, int], Future[Sequence[str]]] = {}

    def addresses(self, host: str, port: int, deadline: Deadline) -> Sequence[str]:
        """The addresses of ``host``; of a literal, itself. Raises httpcore.ConnectError or ConnectTimeout."""
        try:
            return [str(ipaddress.ip_address(host))]
        except ValueError:
            pass
        try:
            found = self._lookup(host, port).result(timeout=deadline.left())
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"{TIMEOUT}: dns") from error
        except (OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise httpcore.ConnectError(f"dns: {reason.lower()}") from error
        if not found:
            raise httpcore.ConnectError("dns: the name has no addresses")
        return found

    def _lookup(self, host: str, port: int) -> "Future[Sequence[str]]":
        with self._lock:
            lookup = self._running.get((host, port))
            if lookup is None:
                lookup = self._running[host, port] = Future()
                # A daemon, so that a hanging name server cannot hold up the end of the process.
                threading.Thread(
                    target=self._run, args=(host, port, lookup), name=f"lookup {host}", daemon=True
                ).start()
        return lookup

    def _run(self, host: str, port: int, lookup: "Future[Sequence[str]]") -> None:
        try:
            found = self._resolver(host, port)
        except BaseException as error:  # carried to the threads that wait, which handle it
            self._finish(host, port)
            lookup.set_exception(error)
        else:
            self._finish(host, port)
            lookup.set_result(found)

    def _finish(self, host: str, port: int) -> None:
        with self._lock:
            del self._running[host, port]


class GuardedStream(httpcore.NetworkStream):
    """A connected socket whose every wait ends at the deadline. httpx's own timeouts are not looked at."""

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
            # The ssl module spends this timeout on the whole handshake, however many reads that takes.
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
    """Connects to one target, once its addresses are all vetted, and to nothing else."""

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
            # httpx read another place in the URL than check_url did. Neither is to be believed.
            raise httpcore.ConnectError(f"address not allowed: {host} port {port}")
        addresses = self._lookups.addresses(host, port, self._deadline)
        if not self._target.trusted:
            # One bad address condemns the name: a mixed answer is how a rebinding attack looks.
            for address in addresses:
                if not is_public(address):
                    raise httpcore.ConnectError(f"address not allowed: {address}")
        return GuardedStream(self._connect(addresses[:ADDRESSES_TRIED], port), self._deadline)

    def _connect(self, addresses: Sequence[str], port: int) -> socket.socket:
        failure: Exception | None = None
        for position, address in enumerate(addresses):
            try:
                # An equal share each, so one address that swallows packets leaves time for the next.
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
    """httpx's transport over one guarded connection: no proxy, no retries, HTTP/1.1, closed after use."""

    def __init__(self, backend: GuardedBackend, tls: ssl.SSLContext) -> None:
        # The parent's constructor has no parameter for a network backend; everything else of it is inherited.
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls, max_connections=1, max_keepalive_connections=0, network_backend=backend
        )


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
