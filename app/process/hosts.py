"""Refuses requests for an unknown host, and bodies with a content coding that the service does not support.

The settings say which hosts a request may name (docs/run/operations.md). If a proxy is trusted, the host checked
here is the one in X-Forwarded-Host.
"""

import ipaddress
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

import flask
from flask import Flask, Response
from werkzeug.exceptions import BadRequest, UnsupportedMediaType
from werkzeug.sansio.utils import host_is_trusted

from app.settings import Settings
from app.wiring import base_url, wired

HEALTH_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Load balancers and Prometheus call these by IP address. Their answers contain no URL."""
LOOPBACK = ("localhost", ".localhost", "127.0.0.1", "[::1]")
_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - compared with, not listened on


@dataclass(frozen=True)
class Hosts:
    """The hosts that requests may name. ``any_address`` allows every IP address, ``any_name`` every host."""

    names: frozenset[str]
    any_address: bool = False
    any_name: bool = False

    @classmethod
    def from_settings(cls, settings: Settings) -> "Hosts":
        names = set(settings.trusted_host_names)
        if settings.public_url:
            names.add(_bare(urlsplit(settings.public_url).netloc))
        if settings.environment == "production":
            # Without a configured name every host is allowed; ``doctor`` then asks for the setting.
            return cls(frozenset(names), any_name=not names or "*" in names)
        here = set() if settings.host in _EVERYWHERE else {_bare(settings.host)}
        return cls(
            frozenset(names | here | set(LOOPBACK)),
            any_address=settings.host in _EVERYWHERE,
            any_name="*" in names,
        )

    def trusts(self, host: str) -> bool:
        """Whether a ``Host`` header, with or without a port, is well formed and names an allowed host."""
        if not host_is_trusted(host):
            return False
        name = _bare(host)
        return (
            self.any_name
            or name in self.names
            or (self.any_address and _is_address(name))
            or any(name.endswith(suffix) for suffix in self.names if suffix.startswith("."))
        )


def register(app: Flask) -> None:
    """Check every request before its view, and make redirects use the public URL."""
    app.before_request(_check_host)
    app.before_request(_check_coding)
    app.after_request(_redirect_in_public)


class ForeignCoding(UnsupportedMediaType):
    """A 415 with the supported coding in ``Accept-Encoding`` (RFC 9110: 15.5.16)."""

    def get_headers(self, *args: object, **options: object) -> list[tuple[str, str]]:
        return [*super().get_headers(), ("Accept-Encoding", "identity")]


@lru_cache(maxsize=8)
def _hosts(public_url: str, trusted: str, environment: str, host: str) -> Hosts:
    return Hosts.from_settings(wired().settings)


def _check_host() -> None:
    host = flask.request.headers.get("Host")
    settings = wired().settings
    hosts = _hosts(settings.public_url, settings.trusted_hosts, settings.environment, settings.host)
    if host is None:
        return  # HTTP/1.0; the server refuses later versions without a Host
    if flask.request.path in HEALTH_PATHS and host_is_trusted(host):
        return
    if not hosts.trusts(host):
        raise BadRequest("This service does not answer to the host that the request names")


def _check_coding() -> None:
    coding = flask.request.headers.get("Content-Encoding", "").strip().lower()
    if coding not in {"", "identity"}:
        raise ForeignCoding("Content-Encoding must be identity: send the body uncompressed")


def _redirect_in_public(response: Response) -> Response:
    """Replace the request's host with the public URL in redirects by Werkzeug, such as that for a double slash."""
    location = response.headers.get("Location", "")
    requested = flask.request.host_url.rstrip("/")
    if location.startswith(requested + "/"):
        response.headers["Location"] = base_url() + location.removeprefix(requested)
    return response


def _bare(host: str) -> str:
    """Normalise a host for comparison: lower case, ASCII, without port; an IPv6 address in brackets."""
    host = host.lower()
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    name, bracket, _ = host.partition("]")
    if bracket:
        return name + bracket
    name = host.partition(":")[0]
    return name if name.isascii() else name.encode("idna").decode("ascii")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
