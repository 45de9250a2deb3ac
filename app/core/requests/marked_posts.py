"""Posts with their marks: of the author, of each site linked to, and of the text (docs/moderate/waves.md)."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from app.core.classify import likeness
from app.core.classify.likeness import Likeness
from app.core.models import Request

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True)
class MarkedPost:
    """A post to read facts of. ``post_id``: of an edit or a repeated submission the first post: they count as one."""

    request_id: uuid.UUID
    community_id: uuid.UUID
    post_id: uuid.UUID
    at: datetime
    author: str | None
    metadata: Mapping[str, Any] | None
    sites: Sequence[str]
    likeness: Likeness

    @property
    def author_mark(self) -> int | None:
        return None if self.author is None else likeness.mark("author", self.author)

    @property
    def links_mark(self) -> int | None:
        return None if self.author is None else likeness.mark("links", self.author)

    @property
    def site_marks(self) -> list[int]:
        return [likeness.mark("site", site) for site in self.sites]

    @property
    def counted_marks(self) -> list[int]:
        """The marks that other posts are counted by."""
        return [mark for mark in (self.author_mark, self.links_mark) if mark is not None] + self.site_marks

    def marks(self) -> list[int]:
        """Every mark that the post leaves."""
        own = [self.author_mark, self.links_mark if self.sites else None]
        return [mark for mark in own if mark is not None] + self.site_marks + list(self.likeness.marks)


COLUMNS = (
    Request.id,
    Request.community_id,
    Request.edit_of,
    Request.duplicate_of,
    Request.requested_at,
    Request.platform_author_id,
    Request.extra,
    Request.content,
)
"""What ``marked`` needs of a request."""


def marked(request: Any) -> MarkedPost:
    """The post of a request, or of a row of ``COLUMNS``."""
    return MarkedPost(
        request.id,
        request.community_id,
        request.edit_of or request.duplicate_of or request.id,
        request.requested_at,
        request.platform_author_id,
        request.extra,
        likeness.sites_of(request.content),
        likeness.likeness_of(request.content),
    )
