"""Decides whether a request comes directly from this machine; some content is only for a person at this machine.

``serve`` marks every request before it reads or removes proxy headers. A connection from a loopback address is not
enough: a reverse proxy on this machine opens such connections for all its clients, and another site can let its host
name resolve to 127.0.0.1 (DNS rebinding).
"""

import ipaddress
from collections.abc import Mapping, MutableMapping
from typing import Any

PEER = "bridgenote.peer"
"""Key in the WSGI environment: the address of the connection itself, independent of headers."""
PROXIED = "bridgenote.proxied"
"""Key in the WSGI environment: whether the request had a proxy header, trusted or not."""
LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})

_PROXY_HEADERS = frozenset(
    f"HTTP_{name}"
    for name in (
        "CF_CONNECTING_IP",
        "CLIENT_IP",
        "FASTLY_CLIENT_IP",
        "FORWARDED",
        "TRUE_CLIENT_IP",
        "VIA",
        "X_CLIENT_IP",
        "X_CLUSTER_CLIENT_IP",
        "X_ORIGINAL_FORWARDED_FOR",
        "X_REAL_IP",
    )
)


def mark(environ: MutableMapping[str, Any]) -> None:
    """Store the connection's address and whether there are proxy headers, before these are applied or removed."""
    environ[PEER] = environ["REMOTE_ADDR"]
    environ[PROXIED] = _has_proxy_header(environ)


def is_direct_from_here(environ: Mapping[str, Any]) -> bool:
    """Whether the request comes from this machine, uses a loopback name, and did not pass a proxy.

    False for HTTP/1.0: browsers do not send it, but nginx as a proxy does, and nginx adds no proxy header by default.
    """
    if environ.get(PROXIED, False) or _has_proxy_header(environ):
        return False
    if environ.get("SERVER_PROTOCOL") == "HTTP/1.0":
        return False
    host = str(environ.get("HTTP_HOST", "")).lower()
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return name in LOOPBACK_NAMES and all(
        _is_loopback(str(environ.get(key, ""))) for key in ("REMOTE_ADDR", PEER) if key in environ
    )


def _has_proxy_header(environ: Mapping[str, Any]) -> bool:
    return any(name.startswith("HTTP_X_FORWARDED") or name in _PROXY_HEADERS for name in environ)


def _is_loopback(text: str) -> bool:
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False
