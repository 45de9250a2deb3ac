"""Which pages there are to look at, by role: whatever the navigation offers, and the pages behind it."""

import uuid
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import accounts, notes, policies, profiles
from app.core.models import Account, Action, Profile, Request
from app.core.permissions import Actor
from app.core.vocabulary import Classification
from app.demo_posts import HARD
from tests.browser.conftest import Visitor
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import Person, Place

VEILED = "I know where you live. Sleep well."
WAITING = (DOUBTFUL[0], VEILED, HARD[-1])
"""Posts of three kinds: plain, veiled, and so long that it scrolls in a frame."""
UNKNOWN = "/review/00000000-0000-7000-8000-000000000009"


@dataclass(frozen=True)
class Filled:
    """What stands in a community that is not empty."""

    actions: tuple[str, ...]
    decided: str
    note_id: str
    own_note_id: str


def fill(service: Service, place: Place) -> Filled:
    """Posts under review, one decided and carried out, notes by two people, a saved version of the thresholds."""
    *open_, decided = place.queue(*WAITING, DOUBTFUL[1])
    place.rate(place.action(decided)["note_id"], "HHHHHH")
    place.acknowledge(decided)
    request = place.request_uuid(place.action(open_[0])["request_id"])
    note_id = place.write_note(request, f"A member explains it: {HARD[0]}")
    place.rate(note_id, "HHN")
    with service.wiring.database.writing() as session:
        rita = actor_of(session, place.rater)
        on = session.get_one(Request, session.get_one(Action, uuid.UUID(open_[0])).request_id)
        author = session.get_one(Profile, rita.profile_id)
        said, nothing = "Nobody claims a fact here.", Classification.NOT_MISLEADING
        own = notes.write(
            session, rita, place.community_id, author, said, nothing, request=on, reasons=["opinion"]
        )
        olga = actor_of(session, place.operator)
        spam = next(
            one for one in policies.current(session, place.community_id).categories if one.name == "spam"
        )
        draft = replace(policies.draft_of(spam), tier1=0.9)
        policies.set_category(session, olga, place.community_id, draft, "Market day")
    return Filled(tuple(open_), decided, note_id, str(own.id))


def actor_of(session: Session, person: Person) -> Actor:
    """Somebody with an account, as the dashboard acts for them."""
    account = session.scalars(sa.select(Account).where(Account.email == person.email)).one()
    profile = profiles.of_account(session, account)
    return accounts.actor_for(accounts.get(session, account.id), profile.id)


def navigation(visitor: Visitor) -> dict[str, str]:
    """The links of the main navigation that lead to pages: label → address."""
    visitor.open("/settings")
    links = visitor.page.get_by_role("navigation", name="Main").get_by_role("link").all()
    found = {link.inner_text().strip(): link.get_attribute("href") or "" for link in links}
    return {label: address for label, address in found.items() if address.startswith("/")}


def pages(visitor: Visitor, filled: Filled | None) -> dict[str, str]:
    """Every page that this visitor can reach, those that refuse them too: what it is → address."""
    found = navigation(visitor) | {"Welcome": "/welcome", "Not found": UNKNOWN}
    if "Review queue" in found:
        found["Review queue, nothing found"] = "/review?q=nothing+like+it"
        found["Action history, nothing found"] = "/history?from=2001-01-01&to=2001-01-02"
    else:
        found["Refused"] = "/review"
    if filled is not None:
        kinds = ("with notes", "veiled", "long")
        for kind, action_id in zip(kinds, filled.actions, strict=True):
            found[f"Item, {kind}"] = f"/review/{action_id}"
        found["Item, decided"] = f"/review/{filled.decided}"
        found["Note"] = f"/notes/{filled.note_id}"
        if visitor.name == "Rita":
            found["Own note"] = f"/notes/{filled.own_note_id}"
            found["Edit note"] = f"/notes/{filled.own_note_id}/edit"
    return found


OPEN_PAGES = {
    "Start": "/",
    "Sign in": "/sign-in",
    "Sign in first": "/sign-in?next=/review",
    "Nothing here": "/nothing-here",
}
"""Pages for whoever is not signed in."""
