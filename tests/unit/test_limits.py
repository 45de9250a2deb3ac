"""What people can multiply has an end, also when several add one at the same moment."""

import threading
from collections.abc import Callable

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.errors import Invalid
from app.core.factcheck import feeds
from app.core.factcheck.feeds import FeedDraft
from app.core.models import Action, Community
from app.core.outbound import AllowList
from app.core.people import accounts, invitations, keys
from app.core.permissions import SYSTEM, Actor
from app.core.review import authors, reason_templates, saved_filters
from app.core.review.reason_templates import ReasonDraft
from app.core.vocabulary import KeyTemplate, Role
from app.core.webhooks import registrations as webhooks
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast, Person

pytestmark = pytest.mark.both_databases

ALLOW = AllowList.parse("")
Add = Callable[[Session, Wiring, Cast, int], object]


def acting(session: Session, person: Person) -> Actor:
    return accounts.actor_for(accounts.get(session, person.account_id))


def webhook(session: Session, wiring: Wiring, cast: Cast, number: int) -> object:
    community = session.get_one(Community, cast.community_id)
    url = f"https://hooks.example.org/{number}"
    return webhooks.register(session, SYSTEM, wiring.sealer, ALLOW, community, url, "a long secret")


def key(session: Session, wiring: Wiring, cast: Cast, number: int) -> object:
    return keys.mint(session, SYSTEM, f"Key {number}", KeyTemplate.READ_ONLY, [cast.community_id])


def invitation(session: Session, wiring: Wiring, cast: Cast, number: int) -> object:
    address = f"guest-{number}@example.org"
    return invitations.invite(session, SYSTEM, cast.community_id, address, Role.RATER)


def reason(session: Session, wiring: Wiring, cast: Cast, number: int) -> object:
    return reason_templates.add(session, SYSTEM, cast.community_id, ReasonDraft(f"Reason {number}", "Text"))


def feed(session: Session, wiring: Wiring, cast: Cast, number: int) -> object:
    draft = FeedDraft(f"https://checks.example.org/{number}", "Checks")
    return feeds.add(session, SYSTEM, ALLOW, cast.community_id, draft)


def own_filter(session: Session, wiring: Wiring, cast: Cast, number: int) -> object:
    actor = acting(session, cast.moderator)
    return saved_filters.save(session, actor, cast.community_id, f"Filter {number}", {"sort": "newest"})


def shared_filter(session: Session, wiring: Wiring, cast: Cast, number: int) -> object:
    person = (cast.moderator, cast.operator, cast.admin)[number % 3]
    actor = acting(session, person)
    query = {"sort": "newest"}
    return saved_filters.save(session, actor, cast.community_id, f"Filter {number}", query, shared=True)


LIMITED = {
    "WEBHOOKS": (webhook, "url"),
    "KEYS": (key, "communities"),
    "INVITATIONS": (invitation, "email"),
    "REASONS": (reason, "title"),
    "FEEDS": (feed, "url"),
    "OWN_FILTERS": (own_filter, "name"),
    "SHARED_FILTERS": (shared_filter, "name"),
}


@pytest.mark.parametrize("name", LIMITED)
def test_many_who_add_at_once_get_no_more_than_the_limit(
    name: str, wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    add, field = LIMITED[name]
    # The cast has three keys of its own.
    most = 5 if name == "KEYS" else 2
    monkeypatch.setattr(limits, name, getattr(limits, name)._replace(number=most))
    together, added = threading.Barrier(6), list[int]()
    refused: list[str] = []

    def try_one(number: int) -> None:
        together.wait()
        try:
            with wiring.database.writing() as session:
                add(session, wiring, cast, number)
            added.append(number)
        except Invalid as refusal:
            refused.append(f"{refusal.problems[0].loc[0]} {refusal.problems[0].msg}")

    threads = [threading.Thread(target=try_one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(added) == 2
    assert len(refused) == 4
    assert all(one.startswith(f"{field} cannot be ") and f"at most {most} " in one for one in refused)


def test_what_is_known_already_can_still_be_changed_at_the_limit(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WEBHOOKS", "OWN_FILTERS", "SHARED_FILTERS", "INVITATIONS"):
        monkeypatch.setattr(limits, name, getattr(limits, name)._replace(number=1))
    with wiring.database.writing() as session:
        for _ in range(2):
            webhook(session, wiring, cast, 1)
            shared_filter(session, wiring, cast, 1)
            invitation(session, wiring, cast, 1)


def test_a_note_about_an_author_can_be_taken_back_at_the_limit(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "AUTHOR_NOTES", limits.AUTHOR_NOTES._replace(number=2))
    factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        actor = acting(session, cast.moderator)
        item = session.scalars(sa.select(Action)).one()
        item.platform_author_id = "author-1"
        authors.write_note(session, actor, item.community_id, item.platform_author_id, "Sells boats")
        authors.write_note(
            session, actor, item.community_id, item.platform_author_id, "Sells boats and sails"
        )
        with pytest.raises(Invalid, match="cannot be added"):
            authors.write_note(session, actor, item.community_id, item.platform_author_id, "Sells nothing")
        assert authors.write_note(session, actor, item.community_id, item.platform_author_id, "").text == ""
