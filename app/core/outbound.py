"""Calls to other hosts: the URLs that are allowed, and what of an answer can be kept.

Used for webhooks, connected services, feeds of fact-checks and attachments. ``adapters.net`` opens the connections;
this module needs only the standard library. Sources: OWASP ASVS 5.0, 1.3.6, 13.2.4, 15.3.2; RFC 9110.
"""

import codecs
import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from app.core.texts import gettext as _

EXCERPT_BYTES = 1024
URL_LENGTH = 2048
HTTPS_PORTS = (443, 8443)
RETRY_AFTER_LIMIT = 600
"""Seconds. A host that asks for a longer wait gets this one."""

_RETRY_AFTER_SILLY = 86_400
_DEFAULT_PORTS = {"http": 80, "https": 443}
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<place>[^/?#]*)(?P<rest>.*)", re.DOTALL)
_PLACE = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[^:\[\]]+))(?::(?P<port>[0-9]{1,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")

_REFUSED_V4 = tuple(
    ipaddress.IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; some clouds keep their metadata here
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's host agent, in public space but reachable only from inside it
        "169.254.0.0/16",  # link-local, with the metadata address 169.254.169.254
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays, withdrawn
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
# Only 2000::/3 is assigned as global unicast, so everything outside it is refused without being listed:
# unspecified, loopback, IPv4-compatible (::/96), NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard, unique local,
# link-local, site-local (fec0::/10), multicast. These are the exceptions within it.
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
_REFUSED_V6 = tuple(
    ipaddress.IPv6Network(block)
    for block in (
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which carries an IPv4 address inside
        "3fff::/20",  # documentation
    )
)


class BadAddress(ValueError):
    """A URL to which we never send. ``reason`` completes "The URL …"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Target:
    """The host that a URL names. ``host``: lowercase, IPv6 without brackets. ``trusted``: on the allow-list."""

    scheme: str
    host: str
    port: int
    trusted: bool


@dataclass(frozen=True, slots=True)
class AllowList:
    """Hosts, each with one port or any port (None), for which plain http and private addresses are allowed."""

    entries: frozenset[tuple[str, int | None]] = frozenset()

    @classmethod
    def parse(cls, text: str) -> "AllowList":
        """Parse ``host,host:port,[::1]:port``. Raises ValueError naming a bad entry."""
        entries: set[tuple[str, int | None]] = set()
        for entry in filter(None, (part.strip() for part in text.split(","))):
            try:
                bare_v6 = entry.count(":") > 1 and not entry.startswith("[")
                entries.add(_host_and_port(f"[{entry}]" if bare_v6 else entry))
            except BadAddress as error:
                raise ValueError(f"allowed host {entry!r}: it {error.reason}") from error
        return cls(frozenset(entries))

    def permits(self, host: str, port: int) -> bool:
        return (host, port) in self.entries or (host, None) in self.entries


def check_url(url: str, allow: AllowList) -> Target:
    """Parse a URL that was entered. Raises BadAddress for one to which we never send.

    Only the text is checked here: the IP addresses that a name resolves to are checked at every attempt. The
    grammar is narrower than a URL's on purpose, so that no other parser can read another host into the same text.
    """
    if len(url) > URL_LENGTH:
        raise BadAddress(_("must have at most %(url_length)s characters", url_length=URL_LENGTH))
    if not all("!" <= character <= "~" for character in url):
        raise BadAddress(_("must be written in ASCII without spaces (a domain name in its xn-- form)"))
    if "\\" in url:
        raise BadAddress(_("must not contain a backslash"))
    match = _URL.fullmatch(url)
    if match is None or match["scheme"].lower() not in _DEFAULT_PORTS:
        raise BadAddress(_("must start with https://"))
    if "#" in match["rest"]:
        raise BadAddress(_("must not have a fragment (#…)"))
    scheme = match["scheme"].lower()
    host, written_port = _host_and_port(match["place"])
    port = _DEFAULT_PORTS[scheme] if written_port is None else written_port
    if allow.permits(host, port):
        return Target(scheme, host, port, trusted=True)
    if scheme != "https":
        raise BadAddress(_("must start with https://"))
    if port not in HTTPS_PORTS:
        raise BadAddress(_("must use port 443 or 8443"))
    if _is_literal(host):
        if not is_public(host):
            raise BadAddress(_("must not name a private or reserved address"))
    elif "." not in host:
        raise BadAddress(_("must name a host with its full domain"))
    return Target(scheme, host, port, trusted=False)


def is_public(address: str | ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an IP address is on the public Internet; False for text that is no IP address.

    We keep our own list because ``is_global`` is true for multicast, NAT64, 6to4, site-local and IPv4-compatible
    addresses, each of which can lead back into the internal network.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if isinstance(ip, ipaddress.IPv4Address):
        return not any(ip in block for block in _REFUSED_V4)
    return ip in _GLOBAL_V6 and not any(ip in block for block in _REFUSED_V6)


def parse_retry_after(value: str | None, now: datetime) -> int | None:
    """Seconds to wait by a ``Retry-After`` header, 0–600: whole seconds or an HTTP date (RFC 9110, 10.2.3).

    Longer waits are cut to 600. None for implausible values: other text, signs, fractions, more than a day.
    """
    text = (value or "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        seconds = int(text)
    elif len(text) <= 40 and text[:1].isalpha():
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        seconds = max(0, round((moment - now).total_seconds()))
    else:
        return None
    return None if seconds > _RETRY_AFTER_SILLY else min(seconds, RETRY_AFTER_LIMIT)


def excerpt_of(raw: bytes) -> str:
    """The first kilobyte as text that can be stored, logged and shown on one line.

    Control and direction-changing characters are replaced: PostgreSQL refuses a NUL, a line break forges log lines,
    and a right-to-left override makes a text read as another one.
    """
    cut = raw[:EXCERPT_BYTES]
    # final=False drops a character that the cut itself split; a short response is decoded to its end.
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(cut, final=len(raw) <= EXCERPT_BYTES)
    return "".join(_storable(character) for character in text)


def _storable(character: str) -> str:
    if character in "\t\n\r\u2028\u2029":
        return " "
    return "\ufffd" if unicodedata.category(character) in ("Cc", "Cf", "Cs") else character


def _host_and_port(place: str) -> tuple[str, int | None]:
    if "@" in place:
        raise BadAddress(_("must not contain a user name or password"))
    match = _PLACE.fullmatch(place)
    if match is None:
        raise BadAddress(_("must name a host, with at most one port"))
    port = None if match["port"] is None else int(match["port"])
    if port is not None and not 1 <= port <= 65_535:
        raise BadAddress(_("must have a port from 1 to 65535"))
    if match["six"] is not None:
        try:
            return str(ipaddress.IPv6Address(match["six"])), port
        except ValueError as error:
            raise BadAddress(_("must have a valid IPv6 address in its brackets")) from error
    host = match["name"].lower()
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadAddress(_("must name a valid host"))
    # C libraries read 127.1, 2130706433 and 0x7f.0.0.1 as addresses; here only four plain numbers are one.
    if _NUMERIC_LABEL.fullmatch(labels[-1]) and not _is_literal(host):
        raise BadAddress(_("must write an IPv4 address as four decimal numbers"))
    return host, port


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
