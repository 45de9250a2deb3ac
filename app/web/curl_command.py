"""Curl commands, ready to paste into a shell."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

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


def base_url() -> str:
    """Return the service's URL for integrations: the public URL, else the URL this browser used."""
    return wired().settings.public_url or request.url_root.rstrip("/")


def submit_line(community: Community, key: str | None = None) -> dict[str, Any]:
    """Return the command that submits a test post to this community, and the page that follows the post to its item.

    Without a key, the command has a placeholder.
    """
    reference = test_posts.new_reference()
    resource = {"type": "requests", "attributes": test_posts.attributes(community.id, reference, TEXT)}
    headers = {"Authorization": f"Bearer {key or PLACEHOLDER}", "Content-Type": "application/json"}
    body = json.dumps({"data": resource}, separators=(",", ":"))
    return {
        "text": post(f"{base_url()}/api/public/v1/requests", headers, body),
        "follow_url": url_for("web.test_post_page", reference=reference, community=community.slug),
        "has_key": key is not None,
    }
