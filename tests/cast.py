"""The cast of most tests: a community's rater, moderator, operator, admin and integration, and an outsider."""

import uuid
from dataclasses import dataclass, field

from app.core import clock
from app.core.communities import communities
from app.core.db import Database
from app.core.people import accounts, keys, profiles
from app.core.permissions import SYSTEM
from app.core.vocabulary import KeyTemplate, Role

PASSWORD = "correct horse battery"
PLATFORM = "discourse"
COMMUNITY = "forum-1"
OTHER_COMMUNITY = "forum-2"


@dataclass
class Person:
    """A person who can sign in with ``email`` and ``PASSWORD``."""

    email: str
    account_id: uuid.UUID
    profile_id: uuid.UUID


@dataclass
class Cast:
    """The cast as ids, not rows, because each test opens its own session."""

    community_id: uuid.UUID
    other_community_id: uuid.UUID
    rater: Person
    moderator: Person
    operator: Person
    admin: Person
    outsider: Person
    adapter_key: str
    read_only_key: str
    metrics_key: str
    foreign_key: str
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def foreign_headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.foreign_key}"}

    @property
    def read_only_headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.read_only_key}"}


SETTINGS: dict[str, object] = {"waves": False}
"""Of both communities: many tests submit one text several times, and want as many rows of the queue."""


def assemble(database: Database) -> Cast:
    """Create the cast in one transaction. The outsider is a moderator of the other community."""
    with database.writing() as session:
        home = communities.open_community(session, SYSTEM, PLATFORM, COMMUNITY, name="Harbour forum")
        away = communities.open_community(session, SYSTEM, PLATFORM, OTHER_COMMUNITY, name="Mountain forum")
        for one in (home, away):  # not new: hide the first steps
            one.getting_started_hidden_at = clock.now()
            one.settings = dict(SETTINGS)

        def person(name: str, role: Role, community_id: uuid.UUID) -> Person:
            email = f"{name}@example.org"
            account = accounts.create(session, email, PASSWORD, display_name=name.title(), confirmed=True)
            membership = accounts.give_role(session, SYSTEM, account, community_id, role)
            membership.welcomed_at = clock.now()  # not new: skip the welcome page
            return Person(email, account.id, profiles.of_account(session, account).id)

        def key(name: str, template: KeyTemplate, where: list[uuid.UUID] | None) -> str:
            return keys.mint(session, SYSTEM, name, template, where).text

        adapter = key("Forum adapter", KeyTemplate.ADAPTER, [home.id])
        return Cast(
            community_id=home.id,
            other_community_id=away.id,
            rater=person("rater", Role.RATER, home.id),
            moderator=person("moderator", Role.MODERATOR, home.id),
            operator=person("operator", Role.OPERATOR, home.id),
            admin=person("admin", Role.ADMIN, home.id),
            outsider=person("outsider", Role.MODERATOR, away.id),
            adapter_key=adapter,
            read_only_key=key("Reader", KeyTemplate.READ_ONLY, [home.id]),
            metrics_key=key("Metrics", KeyTemplate.METRICS, [home.id]),
            foreign_key=key("Other adapter", KeyTemplate.ADAPTER, [away.id]),
            headers={"Authorization": f"Bearer {adapter}"},
        )
