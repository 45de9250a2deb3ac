"""Creates objects that many tests need, with the core's verbs."""

import uuid

import sqlalchemy as sa

from app.core.models import Action, Note
from app.core.notes import ratings
from app.core.people import accounts, profiles
from app.core.permissions import Actor
from app.core.requests import submitting
from app.core.vocabulary import ActionState, HelpfulnessLevel, Role
from app.wiring import Wiring
from tests.cast import PLATFORM, Cast, Person

REVIEWED = "You are an idiot and everybody here knows it"
SPAM = "Double your Bitcoin today, guaranteed profits! Send 0.1 BTC, get 0.2 back. Telegram: @btc_doubler"


def integration(cast: Cast, *, staff: bool = True, profile_id: uuid.UUID | None = None) -> Actor:
    """Return the actor of the home community's integration."""
    return Actor(
        kind="key",
        name="Forum adapter",
        key_id=uuid.UUID(int=7),
        profile_id=profile_id,
        communities=frozenset({cast.community_id}),
        staff=staff,
    )


def member(
    cast: Cast,
    role: Role,
    name: str = "A member",
    *,
    account_id: uuid.UUID | None = None,
    profile_id: uuid.UUID | None = None,
) -> Actor:
    """Return the actor of somebody with this role in the home community."""
    home = cast.community_id
    return Actor(
        "account", name, account_id, profile_id=profile_id, roles={home: role}, communities=frozenset({home})
    )


def moderator(cast: Cast) -> Actor:
    """Return the home community's moderator as the actor of verbs."""
    person = cast.moderator
    return member(
        cast, Role.MODERATOR, "Moderator", account_id=person.account_id, profile_id=person.profile_id
    )


def submit(
    wiring: Wiring,
    cast: Cast,
    content: str = REVIEWED,
    request_id: str = "post-1",
    *,
    author: str | None = None,
) -> uuid.UUID:
    """Submit a request, without scoring it; return its id."""
    with wiring.database.writing() as session:
        submission = submitting.Submission(
            request_id, "author-1", content, platform_message_id=f"m-{request_id}", platform_author_id=author
        )
        return submitting.submit(session, integration(cast), cast.community_id, submission).request.id


def scored_action(
    wiring: Wiring,
    cast: Cast,
    content: str = REVIEWED,
    request_id: str = "post-1",
    *,
    author: str | None = None,
) -> uuid.UUID:
    """Submit and score a request; return the id of the action that was opened."""
    made = submit(wiring, cast, content, request_id, author=author)
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Action.id).where(Action.request_id == made)).one()


def rate(
    wiring: Wiring, cast: Cast, action_id: uuid.UUID, levels: str, *, first: int = 0, platform: str = PLATFORM
) -> None:
    """Rate an action's rationale with one new rater for each letter: H helpful, S somewhat, N not."""
    words = {
        "H": HelpfulnessLevel.HELPFUL,
        "S": HelpfulnessLevel.SOMEWHAT_HELPFUL,
        "N": HelpfulnessLevel.NOT_HELPFUL,
    }
    for number, letter in enumerate(levels, start=first):
        with wiring.database.writing() as session:
            rater = profiles.ensure(session, platform, f"rater-{number}")
            action = session.get_one(Action, action_id)
            note = session.get_one(Note, action.note_id)
            who = integration(cast, staff=False, profile_id=rater.id)
            ratings.rate(session, who, note, rater, words[letter])


def actor_of(wiring: Wiring, person: Person) -> Actor:
    """A person of the cast as the actor of verbs."""
    with wiring.database.reading() as session:
        return accounts.actor_for(accounts.get(session, person.account_id), person.profile_id)


def state_of(wiring: Wiring, action_id: uuid.UUID) -> ActionState:
    with wiring.database.reading() as session:
        return session.get_one(Action, action_id).action_state
