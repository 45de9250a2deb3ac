"""Whether a request comes straight from this machine: for what only somebody who sits at it may see.

``serve`` marks every request before it reads or removes any header of a proxy. A connection from a loopback address is
not enough, for a reverse proxy on this machine makes such connections for the whole world, and a page of another site
can have its own host name resolve to 127.0.0.1 (DNS rebinding).
"""

import ipaddress
from collections.abc import Mapping, MutableMapping
from typing import Any

PEER = "bridgenote.peer"
"""In the WSGI environment: the address that the connection came from, whatever its headers say."""
PROXIED = "bridgenote.proxied"
"""In the WSGI environment: whether a header of a proxy came with the request, believed or not."""
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
    """Keep what the connection itself says, before headers are read into its place or removed."""
    environ[PEER] = environ["REMOTE_ADDR"]
    environ[PROXIED] = _has_proxy_header(environ)


def is_direct_from_here(environ: Mapping[str, Any]) -> bool:
    """Whether somebody at this machine asks, by a loopback name, without a proxy in between.

    A request in HTTP/1.0 is refused too: no browser sends one, but nginx does, which adds no header of its own unless
    it is told to.
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
