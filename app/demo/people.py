"""The people of the demo: four sign-ins, their colleagues, and two camps of raters."""

import secrets
from dataclasses import replace

from sqlalchemy.orm import Session

from app.core import clock
from app.core.models import Account, Community, Profile
from app.core.people import accounts, keys, profiles
from app.core.permissions import SYSTEM, Actor
from app.core.vocabulary import KeyTemplate, Role
from app.demo.sign_ins import PLATFORM, Demo, SignIn

CAMPS = (
    (
        "tide_table_tom",
        "brinda.sails",
        "spinnaker_sal",
        "halyard_hugo",
        "mooring_17",
        "capstan_cass",
        "pilot_gig_pia",
        "luff_and_leach",
        "berth_no_9",
        "keel_over_kay",
    ),
    (
        "netmender",
        "lobster_lou",
        "old_lamplighter",
        "quayside_jo",
        "gull_watcher",
        "chandlers_cat",
        "saltmarsh_sue",
        "ferry_fred",
        "pasty_paul",
        "driftwood_dee",
    ),
)
"""Two camps of ten raters: people who sail, and people who fish or live by the quay. They also write posts."""
_COLLEAGUES = (
    ("marta", "Marta H.", Role.MODERATOR, 12.0),
    ("piet", "Piet V.", Role.RATER, 20.0),
    ("ines", "Ines D.", Role.RATER, 26.0),
)
"""Local part of the e-mail address, name, role, and days between the community's opening and joining."""
_NO_PASSWORD = "!"  # noqa: S105 - not a hash, so no password matches it
"""Nobody signs in as a colleague, and computing a real hash would take time."""


class People:
    """The accounts, profiles and API key that act in the story."""

    def __init__(self, session: Session, community: Community) -> None:
        self._session = session
        self._community = community
        self._by_role: dict[Role, Actor] = {}
        sign_ins = []
        for role in Role:
            email, password = f"{role}@demo.example", secrets.token_urlsafe(9)
            account = accounts.create(
                session,
                email,
                password,
                display_name=f"Demo {role}",
                confirmed=True,
                service_admin=role is Role.ADMIN,
            )
            self._by_role[role] = self._join(account, role)
            sign_ins.append(SignIn(role.value, email, password))
        self.moderators = [self._by_role[Role.MODERATOR]]
        # The key may open communities, so that visitors can try the whole API with it.
        minted = keys.mint(
            session, SYSTEM, "Harbour forum", KeyTemplate.ADAPTER, [community.id], may_open_communities=True
        )
        self.integration = Actor(
            kind="key",
            name=minted.key.name,
            key_id=minted.key.id,
            communities=frozenset({community.id}),
            staff=True,
        )
        self.camps = tuple(
            [profiles.ensure(session, PLATFORM, handle, display_name=handle) for handle in camp]
            for camp in CAMPS
        )
        self._profiles = {profile.platform_user_id: profile for camp in self.camps for profile in camp}
        self.demo = Demo(tuple(sign_ins), minted.text)

    def arrivals(self) -> list[tuple[float, str]]:
        """Yield for each colleague the days after the opening, and the argument for ``arrive``."""
        return [(days, address) for address, _, _, days in _COLLEAGUES]

    def arrive(self, address: str) -> None:
        """Let a colleague join the community."""
        name, role = next((name, role) for local_part, name, role, _ in _COLLEAGUES if local_part == address)
        account = accounts.insert(
            self._session, f"{address}@demo.example", _NO_PASSWORD, display_name=name, confirmed=True
        )
        actor = self._join(account, role)
        if role is Role.MODERATOR:
            self.moderators.append(actor)

    def __getitem__(self, role: Role) -> Actor:
        """Return the actor of the demo sign-in with this role."""
        return self._by_role[role]

    def member(self, handle: str) -> tuple[Actor, Profile]:
        """Return a forum member as actor and profile; ``""`` is the demo rater, who uses the dashboard."""
        if not handle:
            actor = self._by_role[Role.RATER]
            return actor, self._session.get_one(Profile, actor.profile_id)
        profile = self._profiles[handle]
        return replace(self.integration, profile_id=profile.id, staff=False), profile

    def _join(self, account: Account, role: Role) -> Actor:
        membership = accounts.give_role(self._session, SYSTEM, account, self._community.id, role)
        membership.welcomed_at = clock.now()
        profile = profiles.of_account(self._session, account)
        return accounts.actor_for(accounts.get(self._session, account.id), profile.id)
