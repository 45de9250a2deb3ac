"""One call of an assistant: who reads, of which community, and how what strangers wrote is marked."""

import secrets
import uuid
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from app.api.shapes import STORABLE, Body
from app.core.communities import communities
from app.core.errors import Conflict, Invalid, NotFound
from app.core.limits import ID_MAX
from app.core.permissions import Actor

ROWS_MAX = 50
EXCERPT = 500
"""Characters of a post that a list shows; an item has all of them."""


@dataclass(frozen=True)
class Call:
    """One call: who reads, and ``mark``, which delimits what strangers wrote. They cannot know it, so not end it."""

    session: Session
    actor: Actor
    mark: str = field(default_factory=lambda: secrets.token_hex(6))

    def untrusted(self, text: str, most: int | None = None) -> str:
        shown = text if most is None or len(text) <= most else f"{text[:most]}…"
        return f"<untrusted-{self.mark}>{shown}</untrusted-{self.mark}>"

    def community(self, reference: str | None) -> uuid.UUID:
        """The community that a call names, or the key's only one. Raises Invalid."""
        if reference is None:
            only = communities.only_one(self.session, self.actor)
            if only is None:
                raise Invalid.field("community", "is needed: this key reads several (list_communities)")
            return only.id
        try:
            return communities.resolve_id(self.session, self.actor, reference)
        except (NotFound, Conflict) as error:
            raise Invalid.field("community", "names no community of this key, or several") from error


class Listing(Body):
    size: int = Field(20, ge=1, le=ROWS_MAX, description=f"Rows, at most {ROWS_MAX}.")


class OfCommunity(Body):
    community: Annotated[str, Field(min_length=1, max_length=ID_MAX), STORABLE] | None = Field(
        None, description="Id, slug or platform id; not needed where the key reads one community."
    )
