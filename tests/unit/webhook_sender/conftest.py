"""Receivers on real sockets of this machine, well behaved and hostile."""

import contextlib
import datetime
import ipaddress
import select
import socket
import ssl
import threading
import time

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.adapters.webhook_sender import HttpSender
from app.core.outbound import AllowList

PUBLIC = "93.184.215.14"
"""Stands for any public address. Nothing is sent there: ``Switchboard`` takes every connection."""


class Receiver:
    """A listening socket that gives each connection to ``answer(connection, receiver)`` on a thread."""

    def __init__(self, answer, wrap=None):
        self.requests = []
        self.connections = 0
        self.closing = threading.Event()
        self._answer, self._wrap = answer, wrap
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.05)
        self.port = self._socket.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/hooks"

    def _accept(self):
        while not self.closing.is_set():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection):
        # A sender that has heard enough hangs up, which these receivers must bear.
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            stack.enter_context(connection)
            connection.settimeout(60)
            if self._wrap is not None:
                connection = stack.enter_context(self._wrap(connection))
            self._answer(connection, self)

    def read_request(self, connection):
        """The head's lines and the body of one request; kept in ``requests``."""
        received = b""
        while b"\r\n\r\n" not in received:
            part = connection.recv(65_536)
            if not part:
                return None
            received += part
        head, _, body = received.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:])
        while len(body) < int(headers.get("Content-Length", "0")):
            body += connection.recv(65_536)
        self.requests.append((lines[0], headers, body))
        return lines, body

    def drip(self, connection, drop):
        """The same bytes again and again, for a minute: longer than any deadline here, but not for ever."""
        for _ in range(1_200):
            if self.closing.wait(0.05):
                return
            connection.sendall(drop)

    def close(self):
        self.closing.set()
        for thread in self._threads:
            thread.join(60)
        self._socket.close()


def replying(wire):
    """An answer that reads the request, sends these bytes and closes."""

    def answer(connection, receiver):
        receiver.read_request(connection)
        connection.sendall(wire)

    return answer


def http(status, body=b"", **headers):
    lines = [f"HTTP/1.1 {status} Reason", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.fixture
def receive():
    with contextlib.ExitStack() as stack:

        def start(answer, wrap=None):
            receiver = Receiver(answer, wrap)
            stack.callback(receiver.close)
            return receiver

        yield start


@pytest.fixture
def sender():
    return HttpSender(AllowList.parse("127.0.0.1,localhost"))


class Timed:
    """How long a ``with`` block took, in seconds."""

    def __enter__(self):
        self._start = time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self._start


class Switchboard:
    """A dial that notes the address asked for and connects to one local port instead, whatever it was."""

    def __init__(self, port):
        self.port = port
        self.dialled = []

    def __call__(self, address, port, seconds):
        self.dialled.append((address, port))
        return socket.create_connection(("127.0.0.1", self.port), seconds)


class Names:
    """A resolver with a script: each lookup takes the next answer, the last one again and again."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def __call__(self, host, port):
        self.asked.append((host, port))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def trap():
    """A port at which no connection must ever arrive; ``trap.caught()`` says whether one did."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        class Trap:
            port = listener.getsockname()[1]

            @staticmethod
            def caught():
                # A connection made by the sender is in the queue before send returns, so no wait is needed.
                return bool(select.select([listener], [], [], 0)[0])

        yield Trap


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


class Authority:
    """A certificate authority of the test's own."""

    def __init__(self, folder):
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
        self._certificate = self._signed(self._name, self._key, authority=True)

    def trusting(self):
        """A client's context that trusts this authority alone."""
        return ssl.create_default_context(
            cadata=self._certificate.public_bytes(serialization.Encoding.PEM).decode()
        )

    def serving(self, host):
        """A server's context with a certificate for ``host``, and the list of names asked for by SNI."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        certificate = self._signed(name, key, host=host)
        chain = self._folder / f"{host}.pem"
        chain.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        asked = []
        context.sni_callback = lambda _socket, wanted, _context: asked.append(wanted)
        return (lambda connection: context.wrap_socket(connection, server_side=True)), asked

    def _signed(self, subject, key, host=None, authority=False):
        today = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(today - datetime.timedelta(days=1))
            .not_valid_after(today + datetime.timedelta(days=2))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        if host is not None:
            try:
                general = x509.IPAddress(ipaddress.ip_address(host))
            except ValueError:
                general = x509.DNSName(host)
            builder = builder.add_extension(x509.SubjectAlternativeName([general]), critical=False)
        return builder.sign(self._key, hashes.SHA256())
