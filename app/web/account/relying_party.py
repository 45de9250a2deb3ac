"""The service as passkeys know it: the host and the origin of its public URL."""

import ipaddress
from urllib.parse import urlsplit

from app.core.errors import NotFound
from app.core.people.passkeys import RelyingParty
from app.wiring import base_url

_PORTS = {"http": 80, "https": 443}


def relying_party() -> RelyingParty | None:
    """The service as passkeys know it. None where browsers allow none: at an IP address, or without https."""
    parts = urlsplit(base_url())
    host = (parts.hostname or "").encode("idna").decode()
    is_local = host == "localhost" or host.endswith(".localhost")
    if not is_local and (parts.scheme != "https" or _is_address(host)):
        return None
    port = f":{parts.port}" if parts.port not in {None, _PORTS[parts.scheme]} else ""
    return RelyingParty(host, f"{parts.scheme}://{host}{port}")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def require_party() -> RelyingParty:
    """Raises NotFound where passkeys do not work."""
    party = relying_party()
    if party is None:
        raise NotFound("page")
    return party
