"""Fetches feeds of fact-checks over HTTP: the ``FeedFetcher`` used in production.

The same guards as for webhooks: https to public addresses only, each address checked when it is connected to, one
deadline for everything. Redirects are followed, a few of them, and each target is checked like the first address.
"""

import time
from dataclasses import replace
from urllib.parse import urljoin

import httpx

from app.adapters.net import Deadline, Guarded, body, coding
from app.core import texts
from app.core.factcheck.feed_fetches import FEED_BYTES, Fetched
from app.core.outbound import AllowList, BadAddress, check_url, excerpt_of
from app.core.texts import gettext as _

DEADLINE = 60.0
"""Seconds for everything: lookups, connections, redirects and the whole content."""
REDIRECTS = 5
_MOVED = (301, 302, 303, 307, 308)
_HEADER_MAX = 255


class _Failed(Exception):
    """The fetch failed; the text is one sentence without its full stop."""


class HttpFeedFetcher:
    """Fetches from public https URLs and from the hosts in ``allow``. Threads share one instance."""

    def __init__(
        self,
        allow: AllowList,
        guarded: Guarded | None = None,
        deadline: float = DEADLINE,
        most: int = FEED_BYTES,
    ) -> None:
        self._allow = allow
        self._guarded = guarded or Guarded()
        self._seconds = deadline
        self._most = most

    def fetch(self, url: str, etag: str | None, last_modified: str | None) -> Fetched:
        """GET ``url`` if it changed (see ``FeedFetcher.fetch``)."""
        started = time.monotonic()
        deadline = Deadline(self._seconds)
        try:
            fetched = self._follow(url, etag, last_modified, deadline)
        except _Failed as failed:
            fetched = Fetched(problem=f"{failed}.")
        except (httpx.TimeoutException, TimeoutError):
            problem = _(
                "It was not answered completely within %(seconds)s seconds.",
                seconds=texts.short(self._seconds),
            )
            fetched = Fetched(problem=problem)
        except httpx.RemoteProtocolError as error:
            fetched = Fetched(problem=_("The answer is broken: %(why)s.", why=_clean(error)))
        except httpx.TransportError as error:
            fetched = Fetched(problem=_("It cannot be reached: %(why)s.", why=_clean(error)))
        except (httpx.InvalidURL, ValueError) as error:
            fetched = Fetched(problem=_("The address cannot be used: %(why)s.", why=_clean(error)))
        return replace(fetched, milliseconds=round((time.monotonic() - started) * 1000))

    def _follow(self, url: str, etag: str | None, last_modified: str | None, deadline: Deadline) -> Fetched:
        for number in range(REDIRECTS + 1):
            try:
                target = check_url(url, self._allow)
            except BadAddress as bad:
                if number == 0:
                    raise _Failed(_("The address %(problem)s", problem=bad.reason)) from None
                raise _Failed(
                    _("It redirects to %(url)s, which %(problem)s", url=_clean(url)[:100], problem=bad.reason)
                ) from None
            request = httpx.Request("GET", url, headers=_headers(etag, last_modified))
            with self._guarded.exchange(target, request, deadline) as response:
                moved = response.headers.get("Location") if response.status_code in _MOVED else None
                if not moved:
                    return self._answer(response)
            url = urljoin(url, moved).split("#", 1)[0]
        raise _Failed(_("It redirects more than %(most)s times", most=REDIRECTS))

    def _answer(self, response: httpx.Response) -> Fetched:
        if response.status_code == 304:
            return Fetched(is_new=False)
        if response.status_code != 200:
            raise _Failed(_("It answered %(status)s", status=response.status_code))
        packed = coding(response)
        if packed not in ("", "gzip", "x-gzip"):
            raise _Failed(
                _(
                    "Its answer is compressed in a form that was not asked for: %(form)s",
                    form=_clean(packed)[:40],
                )
            )
        too_large = _Failed(_("It is larger than %(size)s MB", size=self._most // 1_048_576))
        announced = response.headers.get("Content-Length", "")
        if announced.isdigit() and len(announced) < 20 and int(announced) > self._most:
            raise too_large
        # What is compressed is unpacked later, with a limit of its own.
        received = body(response, self._most)
        if received is None:
            raise too_large
        return Fetched(
            received,
            etag=_header(response, "ETag"),
            last_modified=_header(response, "Last-Modified"),
            charset=(response.charset_encoding or "")[:_HEADER_MAX],
        )


def _headers(etag: str | None, last_modified: str | None) -> dict[str, str]:
    headers = {
        "User-Agent": "Bridgenote",
        "Accept": "application/ld+json, application/json, text/csv, text/html;q=0.8, */*;q=0.5",
        "Accept-Encoding": "gzip",
        "Connection": "close",
    }
    if etag:
        headers["If-None-Match"] = etag
    if last_modified:
        headers["If-Modified-Since"] = last_modified
    return headers


def _header(response: httpx.Response, name: str) -> str | None:
    value: str | None = response.headers.get(name)
    return value if value and len(value) <= _HEADER_MAX and value.isascii() and value.isprintable() else None


def _clean(error: object) -> str:
    # The text may quote the server's answer.
    return excerpt_of(str(error).encode("utf-8", "replace"))[:200].rstrip(".")
