"""How long a moderator can undo: a minute where a test undoes, so that no slow machine sends the decision first, and a
few seconds where it waits until the time is over."""

import sqlalchemy as sa

from app.core import limits
from app.core.models import Account
from tests.browser.live import Service
from tests.browser.place import Person


def take_a_minute(service: Service, person: Person) -> None:
    """Give this person the longest time to undo from their next decision on."""
    _set(service, person, limits.UNDO_SECONDS[1])


def be_brief(service: Service, person: Person) -> None:
    """Give this person less time to undo than anybody may choose, for what is to be carried out."""
    _set(service, person, 5)


def _set(service: Service, person: Person, seconds: int) -> None:
    with service.wiring.database.writing() as session:
        account = session.scalars(sa.select(Account).where(Account.email == person.email)).one()
        account.undo_seconds = seconds
