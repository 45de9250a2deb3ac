"""Permissions: the lowest role that holds each of them, and what API keys may do.

Views and templates ask ``allows``; verbs call ``require``. No other code decides about permissions.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol, TypeVar

from app.core.errors import Forbidden, NotFound
from app.core.texts import LazyText, lazy_gettext
from app.core.vocabulary import Role

ADMIN_REQUIRED = lazy_gettext("Admin privileges required")


class Permission(StrEnum):
    """Names begin with a verb: lower case, joined by underscores."""

    READ = "read"
    RATE = "rate"
    REPORT = "report"
    WRITE_NOTE = "write_note"
    SUBMIT = "submit"
    SCORE = "score"
    ACKNOWLEDGE = "acknowledge"
    APPEAL = "appeal"
    SEE_QUEUE = "see_queue"
    MODERATE = "moderate"
    SEE_HISTORY = "see_history"
    RETRY_SCORING = "retry_scoring"
    SEE_WEBHOOKS = "see_webhooks"
    MANAGE_WEBHOOKS = "manage_webhooks"
    PREVIEW_POLICY = "preview_policy"
    REVISE_POLICY = "revise_policy"
    MANAGE_KEYS = "manage_keys"
    MANAGE_PEOPLE = "manage_people"
    SEE_SETTINGS = "see_settings"
    PAUSE_ACTIONS = "pause_actions"
    ARCHIVE = "archive"
    SEND_TEST_POST = "send_test_post"


_LEAST_ROLE: Mapping[Permission, Role] = {
    Permission.READ: Role.RATER,
    Permission.RATE: Role.RATER,
    Permission.REPORT: Role.RATER,
    Permission.WRITE_NOTE: Role.RATER,
    Permission.SEE_QUEUE: Role.MODERATOR,
    Permission.MODERATE: Role.MODERATOR,
    Permission.SEE_HISTORY: Role.MODERATOR,
    Permission.RETRY_SCORING: Role.MODERATOR,
    Permission.SEE_WEBHOOKS: Role.OPERATOR,
    Permission.MANAGE_WEBHOOKS: Role.OPERATOR,
    Permission.PREVIEW_POLICY: Role.OPERATOR,
    Permission.REVISE_POLICY: Role.OPERATOR,
    Permission.MANAGE_KEYS: Role.ADMIN,
    Permission.MANAGE_PEOPLE: Role.ADMIN,
    Permission.SEE_SETTINGS: Role.OPERATOR,
    Permission.PAUSE_ACTIONS: Role.OPERATOR,
    Permission.ARCHIVE: Role.ADMIN,
    Permission.SEND_TEST_POST: Role.OPERATOR,
}

REFUSALS: Mapping[Permission, LazyText] = {
    Permission.READ: lazy_gettext("You may not read here"),
    Permission.RATE: lazy_gettext("You may not rate here"),
    Permission.REPORT: lazy_gettext("You may not report here"),
    Permission.WRITE_NOTE: lazy_gettext("You may not write note here"),
    Permission.SUBMIT: lazy_gettext("You may not submit here"),
    Permission.SCORE: lazy_gettext("You may not score here"),
    Permission.ACKNOWLEDGE: lazy_gettext("You may not acknowledge here"),
    Permission.APPEAL: lazy_gettext("You may not appeal here"),
    Permission.SEE_QUEUE: lazy_gettext("You may not see queue here"),
    Permission.MODERATE: lazy_gettext("You may not moderate here"),
    Permission.SEE_HISTORY: lazy_gettext("You may not see history here"),
    Permission.RETRY_SCORING: lazy_gettext("You may not retry scoring here"),
    Permission.SEE_WEBHOOKS: lazy_gettext("You may not see webhooks here"),
    Permission.MANAGE_WEBHOOKS: lazy_gettext("You may not manage webhooks here"),
    Permission.PREVIEW_POLICY: lazy_gettext("You may not preview policy here"),
    Permission.REVISE_POLICY: lazy_gettext("You may not revise policy here"),
    Permission.MANAGE_KEYS: lazy_gettext("You may not manage keys here"),
    Permission.MANAGE_PEOPLE: lazy_gettext("You may not manage people here"),
    Permission.SEE_SETTINGS: lazy_gettext("You may not see settings here"),
    Permission.PAUSE_ACTIONS: lazy_gettext("You may not pause actions here"),
    Permission.ARCHIVE: lazy_gettext("You may not archive here"),
    Permission.SEND_TEST_POST: lazy_gettext("You may not send test post here"),
}
"""What a caller without the permission reads."""

_KEYS_MAY = frozenset(
    {
        Permission.READ,
        Permission.RATE,
        Permission.REPORT,
        Permission.WRITE_NOTE,
        Permission.SUBMIT,
        Permission.SCORE,
        Permission.ACKNOWLEDGE,
        Permission.APPEAL,
        Permission.RETRY_SCORING,
        Permission.SEE_WEBHOOKS,
        Permission.MANAGE_WEBHOOKS,
    }
)
_READ_ONLY_KEYS_MAY = frozenset({Permission.READ, Permission.SEE_WEBHOOKS})
_ASSISTANTS_MAY = frozenset(
    {Permission.READ, Permission.SEE_QUEUE, Permission.SEE_HISTORY, Permission.PREVIEW_POLICY}
)
_STAFF_CALLS = frozenset({Permission.MODERATE})
_ARCHIVED_ALLOWS = frozenset(
    {
        Permission.READ,
        Permission.SEE_QUEUE,
        Permission.SEE_HISTORY,
        Permission.SEE_SETTINGS,
        Permission.SEE_WEBHOOKS,
        Permission.MANAGE_KEYS,
        Permission.MANAGE_PEOPLE,
        Permission.ARCHIVE,
    }
)
ARCHIVED = lazy_gettext("This community is archived: it can be read, and nothing in it changes")


class InCommunity(Protocol):
    """A row that belongs to one community."""

    @property
    def community_id(self) -> uuid.UUID: ...


Row = TypeVar("Row", bound=InCommunity)


@dataclass(frozen=True)
class Actor:
    """Who makes the call. ``communities`` None means every community; those in ``archived`` are read-only.

    ``staff`` is true for a key whose call may make a moderator's moves: the asserted user is staff, or no user is
    asserted and the key itself acts (docs/integrate/api.md). ``assists``: it reads for a moderator
    (docs/integrate/assistants.md).
    """

    kind: Literal["system", "account", "key"]
    name: str
    account_id: uuid.UUID | None = None
    key_id: uuid.UUID | None = None
    profile_id: uuid.UUID | None = None
    roles: Mapping[uuid.UUID, Role] = field(default_factory=dict)
    service_admin: bool = False
    communities: frozenset[uuid.UUID] | None = frozenset()
    staff: bool = False
    read_only: bool = False
    assists: bool = False
    may_open_communities: bool = False
    archived: frozenset[uuid.UUID] = frozenset()

    def sees(self, community_id: uuid.UUID) -> bool:
        """Whether the actor may know that this community exists."""
        return self.communities is None or community_id in self.communities

    def seen_of(self, communities: Iterable[uuid.UUID | None]) -> frozenset[uuid.UUID] | None:
        """Those of the actor's communities that all of these name; None stands for every community."""
        seen = self.communities
        for community_id in communities:
            if community_id is not None:
                seen = frozenset({community_id} if seen is None or community_id in seen else ())
        return seen

    def role_in(self, community_id: uuid.UUID) -> Role | None:
        if self.service_admin:
            return Role.ADMIN
        return self.roles.get(community_id)


SYSTEM = Actor(kind="system", name="Bridgenote", communities=None, may_open_communities=True)


def least_role(permission: Permission) -> Role:
    """The lowest role that holds ``permission``, to name it in a refusal.

    Raises:
        KeyError: only keys hold this permission.
    """
    return _LEAST_ROLE[permission]


def roles_with(permission: Permission) -> list[Role]:
    """The roles of a community that hold ``permission``."""
    least = _LEAST_ROLE[permission]
    return [role for role in Role if role.rank >= least.rank]


def allows(actor: Actor, permission: Permission, community_id: uuid.UUID) -> bool:
    """Whether ``actor`` may use ``permission`` in the community."""
    if not actor.sees(community_id):
        return False
    if actor.kind == "system":
        return True
    if is_closed(actor, permission, community_id):
        return False
    if actor.kind == "key":
        if actor.assists:
            return permission in _ASSISTANTS_MAY
        if actor.read_only:
            return permission in _READ_ONLY_KEYS_MAY
        return permission in _KEYS_MAY or (actor.staff and permission in _STAFF_CALLS)
    role, least = actor.role_in(community_id), _LEAST_ROLE.get(permission)
    return role is not None and least is not None and role.rank >= least.rank


def is_closed(actor: Actor, permission: Permission, community_id: uuid.UUID) -> bool:
    """Whether the community is archived and therefore refuses ``permission`` to everybody."""
    return community_id in actor.archived and permission not in _ARCHIVED_ALLOWS


def require(actor: Actor, permission: Permission, community_id: uuid.UUID, what: str = "community") -> None:
    """Raise unless ``actor`` holds ``permission`` in the community.

    Raises:
        NotFound: the community is not one of the actor's; it looks as if it did not exist.
        Forbidden: the actor sees the community but lacks the permission.
    """
    if not actor.sees(community_id):
        raise NotFound(what)
    if not allows(actor, permission, community_id):
        if is_closed(actor, permission, community_id):
            raise Forbidden(ARCHIVED)
        if actor.kind == "key" and permission in _STAFF_CALLS and not actor.read_only:
            raise Forbidden(ADMIN_REQUIRED)
        raise Forbidden(REFUSALS[permission])


def require_service_admin(actor: Actor, refusal: str) -> None:
    """Raise Forbidden with this sentence unless ``actor`` is a service admin, or the service itself."""
    if not (actor.service_admin or actor.kind == "system"):
        raise Forbidden(refusal)


def require_found(actor: Actor, permission: Permission, row: Row | None, what: str) -> Row:
    """Return ``row`` if the actor holds ``permission`` in its community. Missing and foreign rows look alike.

    Raises:
        NotFound: ``row`` is None, or belongs to a community that is not one of the actor's.
        Forbidden: the actor lacks the permission.
    """
    if row is None:
        raise NotFound(what)
    require(actor, permission, row.community_id, what)
    return row
