"""Groups to roles: given, raised, lowered and taken as a provider's groups say; never what people gave."""

import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.communities import joining
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.models import (
    Account,
    Action,
    HistoryEntry,
    HistoryText,
    Identity,
    IdentityProvider,
    Membership,
    ProviderGroup,
    ProviderGroupMember,
    Removal,
    SignIn,
)
from app.core.people import accounts, group_maps, group_roles, invitations, mailed_links, members, sessions
from app.core.permissions import SYSTEM
from app.core.vocabulary import Role, SessionEnd
from app.wiring import Wiring
from tests.cast import Cast, Person
from tests.factories import actor_of, scored_action

MODERATORS, ADMINS = "forum-moderators", "forum-admins"
MAP = {MODERATORS: Role.MODERATOR, ADMINS: Role.ADMIN}


@dataclass
class Directory:
    """A provider whose groups give roles in the home community, and what it says about people."""

    wiring: Wiring
    provider_id: uuid.UUID
    community_id: uuid.UUID

    def says(self, person: Person, *groups: str) -> int:
        """The provider claims that the person is in these groups, and the roles are applied."""
        with self.wiring.database.writing() as session:
            identity = session.scalars(
                sa.select(Identity).where(
                    Identity.account_id == person.account_id, Identity.provider_id == self.provider_id
                )
            ).first()
            if identity is None:
                identity = Identity(
                    account_id=person.account_id, provider_id=self.provider_id, subject=str(person.account_id)
                )
                session.add(identity)
            identity.claimed_groups = list(groups)
            session.flush()
            return group_roles.apply(session, self.provider_id, person.account_id)

    def sends(self, person: Person, name: str) -> None:
        """The provider sends a group with this one member by SCIM, and the roles are applied."""
        with self.wiring.database.writing() as session:
            identity_id = session.scalars(
                sa.select(Identity.id).where(
                    Identity.account_id == person.account_id, Identity.provider_id == self.provider_id
                )
            ).one()
            group = ProviderGroup(provider_id=self.provider_id, name=name)
            session.add(group)
            session.flush()
            session.add(ProviderGroupMember(group_id=group.id, identity_id=identity_id))
            session.flush()
            group_roles.apply(session, self.provider_id, person.account_id)


def add_provider(
    wiring: Wiring, cast: Cast, label: str = "Harbour SSO", roles: Mapping[str, Role] = MAP
) -> Directory:
    with wiring.database.writing() as session:
        provider = IdentityProvider(
            label=label, issuer=f"https://{label.split()[0].lower()}.example.org", client_id="bridgenote"
        )
        session.add(provider)
        session.flush()
        group_maps.set_map(session, SYSTEM, provider.id, cast.community_id, roles)
        return Directory(wiring, provider.id, cast.community_id)


@pytest.fixture
def directory(wiring: Wiring, cast: Cast) -> Directory:
    return add_provider(wiring, cast)


def role(directory: Directory, person: Person) -> Role | None:
    with directory.wiring.database.reading() as session:
        return session.scalar(
            sa.select(Membership.role).where(
                Membership.account_id == person.account_id, Membership.community_id == directory.community_id
            )
        )


def membership_id(directory: Directory, person: Person) -> uuid.UUID:
    with directory.wiring.database.reading() as session:
        return session.scalars(
            sa.select(Membership.id).where(
                Membership.account_id == person.account_id, Membership.community_id == directory.community_id
            )
        ).one()


def changes(directory: Directory, person: Person) -> Sequence[tuple[str, str, str | None, str | None]]:
    """Who gave or took roles of this person since the cast was assembled: actor, kind, before, after."""
    with directory.wiring.database.reading() as session:
        rows = session.execute(
            sa.select(HistoryEntry, HistoryText.actor_name)
            .join(HistoryText)
            .where(
                HistoryEntry.object_id == person.account_id,
                HistoryEntry.community_id == directory.community_id,
                HistoryEntry.what.in_(("role.given", "role.taken")),
            )
            .order_by(HistoryEntry.number)
        )
        listed = [(name, entry.actor_kind, entry.before["role"], entry.after["role"]) for entry, name in rows]
        return [row for row in listed if row[0] != SYSTEM.name]


def test_a_group_gives_a_role_the_highest_counts_and_the_history_says_who(
    directory: Directory, cast: Cast
) -> None:
    assert directory.says(cast.outsider, "staff", MODERATORS) == 1
    assert role(directory, cast.outsider) is Role.MODERATOR
    assert directory.says(cast.outsider, MODERATORS, ADMINS) == 1
    assert directory.says(cast.outsider, ADMINS) == 0
    assert role(directory, cast.outsider) is Role.ADMIN
    assert directory.says(cast.outsider, MODERATORS) == 1
    assert directory.says(cast.outsider) == 1
    assert role(directory, cast.outsider) is None
    by = ("Harbour SSO", "system")
    assert changes(directory, cast.outsider) == [
        (*by, None, "moderator"),
        (*by, "moderator", "admin"),
        (*by, "admin", "moderator"),
        (*by, "moderator", None),
    ]
    with directory.wiring.database.reading() as session:
        assert not session.get_one(Account, cast.outsider.account_id).service_admin


def test_values_of_groups_are_compared_exactly(directory: Directory, cast: Cast) -> None:
    assert directory.says(cast.outsider, MODERATORS.upper(), f"{MODERATORS} ", "") == 0
    assert role(directory, cast.outsider) is None


def test_groups_by_scim_count_beside_those_of_the_claims(directory: Directory, cast: Cast) -> None:
    directory.says(cast.outsider, MODERATORS)
    directory.sends(cast.outsider, ADMINS)
    assert role(directory, cast.outsider) is Role.ADMIN
    directory.says(cast.outsider)
    assert role(directory, cast.outsider) is Role.ADMIN


def test_a_role_that_people_gave_is_raised_and_comes_back(directory: Directory, cast: Cast) -> None:
    directory.says(cast.rater, MODERATORS)
    assert role(directory, cast.rater) is Role.MODERATOR
    directory.says(cast.rater)
    assert role(directory, cast.rater) is Role.RATER
    directory.says(cast.operator, MODERATORS)
    assert role(directory, cast.operator) is Role.OPERATOR
    directory.says(cast.operator)
    assert role(directory, cast.operator) is Role.OPERATOR


def test_one_provider_does_not_take_what_another_gives(
    directory: Directory, wiring: Wiring, cast: Cast
) -> None:
    other = add_provider(wiring, cast, "Mountain SSO")
    directory.says(cast.outsider, ADMINS)
    other.says(cast.outsider, MODERATORS)
    assert role(directory, cast.outsider) is Role.ADMIN
    directory.says(cast.outsider)
    assert role(directory, cast.outsider) is Role.MODERATOR
    other.says(cast.outsider)
    assert role(directory, cast.outsider) is None
    assert [name for name, *_ in changes(directory, cast.outsider)] == [
        "Harbour SSO",
        "Mountain SSO",
        "Mountain SSO",
    ]


def test_groups_of_a_removed_provider_give_nothing(directory: Directory, wiring: Wiring, cast: Cast) -> None:
    directory.says(cast.outsider, MODERATORS)
    with wiring.database.writing() as session:
        session.get_one(IdentityProvider, directory.provider_id).removed_at = clock.now()
        group_roles.apply_later(session, directory.provider_id)
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    assert role(directory, cast.outsider) is None


def test_the_last_admin_stays_one_and_an_alarm_says_so(
    directory: Directory, wiring: Wiring, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    directory.says(cast.outsider, ADMINS)
    with wiring.database.writing() as session:
        members.set_disabled(session, SYSTEM, cast.admin.account_id, True, "Left")
    with caplog.at_level(logging.WARNING):
        assert directory.says(cast.outsider) == 0
    assert role(directory, cast.outsider) is Role.ADMIN
    assert "role.last_admin_kept" in [record.message for record in caplog.records]
    with wiring.database.writing() as session:
        members.set_disabled(session, SYSTEM, cast.admin.account_id, False, "Back")
    assert directory.says(cast.outsider) == 1
    assert role(directory, cast.outsider) is None


def test_of_all_admins_who_lose_the_role_at_once_one_stays(
    directory: Directory, wiring: Wiring, cast: Cast
) -> None:
    people = (cast.outsider, cast.rater)
    for person in people:
        directory.says(person, ADMINS)
    with wiring.database.writing() as session:
        members.set_disabled(session, SYSTEM, cast.admin.account_id, True, "Left")
        session.execute(sa.update(Identity).values(claimed_groups=[]))
        ids = [person.account_id for person in people]
        assert group_roles.apply_all(session, directory.provider_id, ids) == 1
    assert [role(directory, person) for person in people].count(Role.ADMIN) == 1


def test_who_was_removed_comes_back_by_an_invitation_alone(
    directory: Directory, wiring: Wiring, cast: Cast
) -> None:
    directory.says(cast.outsider, MODERATORS)
    with wiring.database.writing() as session:
        members.remove(
            session, actor_of(wiring, cast.admin), membership_id(directory, cast.outsider), "Too harsh"
        )
    assert directory.says(cast.outsider, MODERATORS, ADMINS) == 0
    assert role(directory, cast.outsider) is None
    with wiring.database.writing() as session:
        session.execute(sa.delete(Removal))
    directory.says(cast.outsider, MODERATORS)
    assert role(directory, cast.outsider) is Role.MODERATOR


def test_people_raise_but_do_not_lower_what_groups_give(
    directory: Directory, wiring: Wiring, cast: Cast
) -> None:
    directory.says(cast.outsider, MODERATORS)
    admin, member = actor_of(wiring, cast.admin), membership_id(directory, cast.outsider)
    with wiring.database.writing() as session, pytest.raises(Conflict, match="Harbour SSO"):
        members.change_role(session, admin, member, Role.RATER, "Too harsh")
    with wiring.database.writing() as session:
        members.change_role(session, admin, member, Role.OPERATOR, "Knows webhooks")
    directory.says(cast.outsider)
    assert role(directory, cast.outsider) is Role.OPERATOR


def test_an_accepted_invitation_outlasts_the_group(directory: Directory, wiring: Wiring, cast: Cast) -> None:
    directory.says(cast.outsider, ADMINS)
    with wiring.database.writing() as session:
        link = invitations.invite(
            session, SYSTEM, cast.community_id, "another@example.org", Role.MODERATOR, by_mail=False
        )
        session.flush()
        link.email = cast.outsider.email
        minted = mailed_links.mint(session, link.id)
        assert minted is not None
        invitations.accept(session, accounts.get(session, cast.outsider.account_id), minted[1])
    assert role(directory, cast.outsider) is Role.ADMIN
    directory.says(cast.outsider)
    assert role(directory, cast.outsider) is Role.MODERATOR


def test_who_is_a_rater_by_a_group_cannot_leave_by_themselves(
    directory: Directory, wiring: Wiring, cast: Cast
) -> None:
    with wiring.database.writing() as session:
        group_maps.set_map(session, SYSTEM, directory.provider_id, cast.community_id, {"all": Role.RATER})
    directory.says(cast.outsider, "all")
    actor = actor_of(wiring, cast.outsider)
    with wiring.database.writing() as session, pytest.raises(Conflict, match="Harbour SSO"):
        joining.leave(session, actor, accounts.get(session, cast.outsider.account_id), cast.community_id)


def test_lost_rights_end_sessions_with_the_reason_and_free_what_was_held(
    directory: Directory, wiring: Wiring, cast: Cast
) -> None:
    action_id = scored_action(wiring, cast)
    directory.says(cast.outsider, MODERATORS)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        action.claimed_by_id, action.claimed_until = cast.outsider.account_id, clock.now()
        action.assigned_to_id = cast.outsider.account_id
        sessions.begin(session, session.get_one(Account, cast.outsider.account_id), "Firefox")
    directory.says(cast.outsider, ADMINS)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(SignIn.ended_at)).one() is None
    directory.says(cast.outsider)
    with wiring.database.reading() as session:
        ended = session.scalars(sa.select(SignIn)).one()
        assert ended.ended_at is not None
        assert ended.end_reason is SessionEnd.ROLES
        action = session.get_one(Action, action_id)
        assert (action.claimed_by_id, action.assigned_to_id) == (None, None)


def test_a_changed_map_is_applied_to_all_by_a_job_and_is_in_the_history(
    directory: Directory, wiring: Wiring, cast: Cast
) -> None:
    directory.says(cast.outsider, "night-shift")
    directory.says(cast.rater, "night-shift")
    with wiring.database.writing() as session:
        group_maps.set_map(
            session,
            SYSTEM,
            directory.provider_id,
            cast.community_id,
            {"night-shift": Role.MODERATOR},
            "New team",
        )
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    assert {role(directory, cast.outsider), role(directory, cast.rater)} == {Role.MODERATOR}
    with wiring.database.reading() as session:
        entry = session.scalars(
            sa.select(HistoryEntry)
            .where(HistoryEntry.what == "groups.mapped")
            .order_by(HistoryEntry.number.desc())
        ).first()
        assert entry is not None
        assert entry.before["groups"] == f"{ADMINS}: admin\n{MODERATORS}: moderator"
        assert entry.after == {"name": "Harbour SSO", "groups": "night-shift: moderator"}


def test_the_job_goes_through_all_people_of_a_provider(
    directory: Directory, wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_roles, "BATCH", 2)
    people = (cast.outsider, cast.rater, cast.moderator, cast.operator, cast.admin)
    for person in people:
        directory.says(person, "everyone")
    with wiring.database.writing() as session:
        group_maps.set_map(
            session, SYSTEM, directory.provider_id, cast.community_id, {"everyone": Role.ADMIN}
        )
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    assert {role(directory, person) for person in people} == {Role.ADMIN}


def test_only_service_admins_set_what_groups_give(directory: Directory, wiring: Wiring, cast: Cast) -> None:
    admin = actor_of(wiring, cast.admin)
    with wiring.database.writing() as session, pytest.raises(Forbidden):
        group_maps.set_map(session, admin, directory.provider_id, cast.community_id, {})
    with wiring.database.writing() as session, pytest.raises(NotFound):
        group_maps.set_map(session, SYSTEM, uuid.uuid4(), cast.community_id, {})
    with wiring.database.writing() as session, pytest.raises(NotFound):
        group_maps.set_map(session, SYSTEM, directory.provider_id, uuid.uuid4(), {})


@pytest.mark.parametrize(
    ("roles", "why"),
    [
        ({" ": Role.RATER}, "blank"),
        ({"x" * 256: Role.RATER}, "at most 255"),
        ({"a\0b": Role.RATER}, "NUL"),
        ({f"group-{number}": Role.RATER for number in range(101)}, "at most 100"),
    ],
)
def test_bad_names_of_groups_are_refused(
    directory: Directory, wiring: Wiring, cast: Cast, roles: dict[str, Role], why: str
) -> None:
    with wiring.database.writing() as session, pytest.raises(Invalid, match=why):
        group_maps.set_map(session, SYSTEM, directory.provider_id, cast.community_id, roles)


def test_a_hundred_people_without_a_change_cost_as_many_queries_as_one(
    directory: Directory, wiring: Wiring, cast: Cast
) -> None:
    people = (cast.outsider, cast.rater, cast.moderator)
    for person in people:
        directory.says(person, MODERATORS)

    def statements(account_ids: Sequence[uuid.UUID]) -> int:
        counted = 0

        def count(*_: object) -> None:
            nonlocal counted
            counted += 1

        with wiring.database.writing() as session:
            sa.event.listen(wiring.database.engine, "before_cursor_execute", count)
            try:
                assert group_roles.apply_all(session, directory.provider_id, account_ids) == 0
            finally:
                sa.event.remove(wiring.database.engine, "before_cursor_execute", count)
        return counted

    one = statements([cast.outsider.account_id])
    assert statements([person.account_id for person in people]) == one
    assert one <= 8
