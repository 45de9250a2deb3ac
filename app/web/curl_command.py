"""Curl commands, ready to paste into a shell."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from flask import request, url_for

from app.core.models import Community
from app.core.requests import test_posts
from app.wiring import wired


def post(url: str, headers: Mapping[str, str], body: str, *, option: str = "-d") -> str:
    """Return the command that posts ``body``, a header a line. The option ``--data-binary`` changes no byte of it."""
    lines = (
        f"curl -sS {shlex.quote(url)}",
        *(f"  -H {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()),
        f"  {option} {shlex.quote(body)}",
    )
    return " \\\n".join(lines)


PLACEHOLDER = "YOUR_KEY"
TEXT = test_posts.TEXTS["spam"]


@dataclass(frozen=True)
class CurlLine:
    """A command that submits a test post (``text``), and the page that follows it to its item (``follow_url``)."""

    text: str
    follow_url: str
    has_key: bool


def base_url() -> str:
    """Return the service's URL for integrations: the public URL, else the URL this browser used."""
    return wired().settings.public_url or request.url_root.rstrip("/")


def submit_line(community: Community, key: str | None = None) -> CurlLine:
    """Return the command that submits a test post to this community; without a key, it has a placeholder."""
    reference = test_posts.new_reference()
    resource = {"type": "requests", "attributes": test_posts.attributes(community.id, reference, TEXT)}
    headers = {"Authorization": f"Bearer {key or PLACEHOLDER}", "Content-Type": "application/json"}
    body = json.dumps({"data": resource}, separators=(",", ":"))
    return CurlLine(
        post(f"{base_url()}/api/public/v1/requests", headers, body),
        url_for("web.test_post_page", reference=reference, community=community.slug),
        key is not None,
    )
