"""Refuses requests that name a host of somebody else, or a body in a coding that nobody here reads.

The names that a request may give as its host come from the settings: docs/operations.md, "Hosts". What is checked here
is what the proxy hands on in X-Forwarded-Host, where a proxy is trusted.
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
"""Load balancers and Prometheus ask for these by address. Their answers hold no URL."""
LOOPBACK = ("localhost", ".localhost", "127.0.0.1", "[::1]")
_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - compared with, not listened on


@dataclass(frozen=True)
class Hosts:
    """The hosts by which this service may be called. ``any_address`` takes numbers too, ``any_name`` everything."""

    names: frozenset[str]
    any_address: bool = False
    any_name: bool = False

    @classmethod
    def from_settings(cls, settings: Settings) -> "Hosts":
        names = set(settings.trusted_host_names)
        if settings.public_url:
            names.add(_bare(urlsplit(settings.public_url).netloc))
        if settings.environment == "production":
            # Without any name nobody could tell a foreign one: ``doctor`` asks for the setting.
            return cls(frozenset(names), any_name=not names or "*" in names)
        here = set() if settings.host in _EVERYWHERE else {_bare(settings.host)}
        return cls(
            frozenset(names | here | set(LOOPBACK)),
            any_address=settings.host in _EVERYWHERE,
            any_name="*" in names,
        )

    def trusts(self, host: str) -> bool:
        """Whether a ``Host`` header, with a port or without, is well formed and names one of them."""
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
    """Check every request before its view, and point redirects to where people reach the service."""
    app.before_request(_check_host)
    app.before_request(_check_coding)
    app.after_request(_redirect_in_public)


class ForeignCoding(UnsupportedMediaType):
    """415 that names the coding that is read (RFC 9110: 15.5.16)."""

    def get_headers(self, *args: object, **options: object) -> list[tuple[str, str]]:
        return [*super().get_headers(), ("Accept-Encoding", "identity")]


@lru_cache(maxsize=8)
def _hosts(public_url: str, trusted: str, environment: str, host: str) -> Hosts:
    return Hosts.from_settings(wired().settings)


def _check_host() -> None:
    given = flask.request.headers.get("Host")
    settings = wired().settings
    hosts = _hosts(settings.public_url, settings.trusted_hosts, settings.environment, settings.host)
    if given is None:
        return  # HTTP/1.0; anything later the server refuses without one
    if flask.request.path in HEALTH_PATHS and host_is_trusted(given):
        return
    if not hosts.trusts(given):
        raise BadRequest("This service does not answer to the host that the request names")


def _check_coding() -> None:
    coding = flask.request.headers.get("Content-Encoding", "").strip().lower()
    if coding not in {"", "identity"}:
        raise ForeignCoding("Content-Encoding must be identity: send the body uncompressed")


def _redirect_in_public(response: Response) -> Response:
    """Werkzeug's own redirects, such as that of a doubled slash, name the host that was asked."""
    location = response.headers.get("Location", "")
    asked = flask.request.host_url.rstrip("/")
    if location.startswith(asked + "/"):
        response.headers["Location"] = base_url() + location.removeprefix(asked)
    return response


def _bare(host: str) -> str:
    """A host as names are compared: in lower case, ASCII, without its port; an IPv6 address in brackets."""
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
