"""Which pages there are to look at, by role: whatever the navigation offers, and the pages behind it."""

import uuid
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.communities.declarations import Section
from app.core.models import Account, Action, Community, Delivery, KeyCommunity, Membership, Profile, Request
from app.core.notes import notes
from app.core.people import accounts, profiles
from app.core.permissions import SYSTEM, Actor
from app.core.rulesets import drafts
from app.core.services import services
from app.core.services.calls import Call
from app.core.services.services import Registry
from app.core.services.settings import ServiceSettings
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import draft_of
from app.core.vocabulary import Classification, ServiceMode
from app.core.webhooks import events, queue
from app.core.webhooks import registrations as webhooks
from app.core.webhooks.sending import Outcome
from app.web.community.community import SECTIONS
from tests.browser.conftest import Visitor
from tests.browser.live import DOUBTFUL, Service
from tests.browser.place import Person, Place
from tests.hostile import HARD

VEILED = "I know where you live. Sleep well."
WAITING = (DOUBTFUL[0], VEILED, HARD[-1])
"""Posts of three kinds: plain, veiled, and so long that it scrolls in a frame."""
RULE = {"id": "spam.tour", "category": "spam", "kind": "phrase", "pattern": "harbour tour", "weight": 0.7}
UNKNOWN = "/review/00000000-0000-7000-8000-000000000009"


@dataclass(frozen=True)
class Filled:
    """What stands in a community that is not empty."""

    actions: tuple[str, ...]
    decided: str
    note_id: str
    own_note_id: str
    member: str
    key: str
    service_id: str
    webhook_id: str
    delivery_ids: tuple[str, ...]


def fill(service: Service, place: Place) -> Filled:
    """Posts under review, one decided and carried out, notes by two people, a saved version of the thresholds."""
    *open_, decided = place.queue_together(*WAITING, DOUBTFUL[1])
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
            one
            for one in threshold_sets.current(session, place.community_id).categories
            if one.name == "spam"
        )
        draft = replace(draft_of(spam), tier1=0.9)
        threshold_sets.set_category(session, olga, place.community_id, draft, "Market day")
        drafts.put_rule(session, olga, place.community_id, RULE)
        drafts.publish(session, olga, place.community_id, "Tours are spam here")
        drafts.put_rule(session, olga, place.community_id, {**RULE, "weight": 0.9}, instead_of=RULE["id"])
        of_rater = sa.select(Membership.id).where(Membership.account_id == rita.account_id)
        member = session.scalars(of_rater).one()
        of_place = sa.select(KeyCommunity.key_id).where(KeyCommunity.community_id == place.community_id)
        key = session.scalars(of_place.limit(1)).one()
    hook = webhook(service, place)
    connected = connected_service(service, place)
    return Filled(tuple(open_), decided, note_id, str(own.id), str(member), str(key), connected, *hook)


def connected_service(service: Service, place: Place) -> str:
    """A service that is off, with two versions, some calls, and a model that changed: its id."""
    pool = service.wiring.services
    registry = Registry(pool.kinds, pool.sealer, pool.allow)
    settings = ServiceSettings("https://models.example/score", categories={"toxicity": "toxicity"}, price=2.0)
    with service.wiring.database.writing() as session:
        olga = actor_of(session, place.operator)
        made = services.add(
            session, olga, place.community_id, registry, "http", "own", settings, "Try it", consent=True
        )
        services.set_mode(session, olga, made.id, ServiceMode.OFF, "Not now")
        services.change(session, olga, made.id, registry, replace(settings, deadline=2.0), "Faster")
    for model, error in (("model-1", ""), ("model-2", ""), ("", "no answer within 2 s")):
        pool.ledger.reserve(made.id, None, settings.price)
        pool.ledger.finish(made.id, Call(120, error, model))
    return str(made.id)


def webhook(service: Service, place: Place) -> tuple[str, tuple[str, ...]]:
    """A disabled webhook, one delivery to it that arrived, one given up and one that waits: its id and theirs."""
    wiring = service.wiring
    with wiring.database.writing() as session:
        community = session.get_one(Community, place.community_id)
        url = "https://platform.example/plugins/moderation/9f52c0d1a76b4e0c8d35e7f60b1a2c48?token=1"
        secret = "a secret between two machines"
        made, _ = webhooks.register(session, SYSTEM, wiring.sealer, wiring.allow, community, url, secret)
        told = [events.emit_test(session, made).id for _ in range(3)]
        webhooks.change(session, SYSTEM, wiring.sealer, wiring.allow, made.id, is_active=False)
        sent = session.scalars(
            sa.select(Delivery).where(Delivery.event_id.in_(told)).order_by(Delivery.id)
        ).all()
        outcomes = (Outcome(200, 41, '{"ok": true}'), Outcome(404, 95, "<p>No such hook</p>"))
        for one, outcome in zip(sent[:2], outcomes, strict=True):
            one.leased_by = "test"
            session.flush()
            queue.record_attempt(session, one.id, "test", outcome, clock.now(), ())
    return str(made.id), tuple(str(one.id) for one in sent)


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
    found["Communities"] = "/communities"
    found["What is kept of you"] = "/settings/my-data"
    found["Security"] = "/security"
    found |= {f"Settings, {part}": f"/settings/{part}" for part in ("reading", "keys", "mail", "account")}
    if "Review queue" in found:
        found["Review queue, nothing found"] = "/review?q=nothing+like+it"
        found["Action history, nothing found"] = "/history?from=2001-01-01&to=2001-01-02"
        found["Reports, resolved"] = "/reports?tab=resolved"
        found["Reporters"] = "/reports?tab=reporters"
        found["Authors, nothing found"] = "/authors?q=nothing+like+it"
        if filled is not None:
            found["Author"] = "/authors/of?author=author-1"
    else:
        found["Refused"] = "/review"
    found["Create a community"] = "/community/new"
    if "Community" in found:
        found |= {f"Community, {name}": f"/community/{name}" for name in SECTIONS if name != Section.SIGN_IN}
        found["Pause automatic actions"] = "/community/danger/pause"
        found["Setting changes"] = "/history/settings"
        found["Getting started"] = "/getting-started"
        found["Send a test post"] = "/test-post"
        found["Overturn what was done"] = "/community/overturns"
        found["Overturn, previewed"] = "/community/overturns?category=spam&since=2001-01-01T00:00"
    if "People" in found:
        found["Archive"] = "/community/danger/archive"
        found["People, nobody found"] = "/people?q=nobody+like+this"
    if "Classifiers" in found:
        found["Add rule"] = "/classifiers/new-rule"
        found["Shipped rules"] = "/classifiers/shipped/spam"
        found["Add a service"] = "/classifiers/services/new"
        found["Add a guard model"] = "/classifiers/services/new?kind=chat_guard"
        if filled is not None:
            found["Service"] = f"/classifiers/services/{filled.service_id}"
            found["Service, compared"] = f"/classifiers/services/{filled.service_id}/comparison"
            found["Rule"] = f"/classifiers/rules/{RULE['id']}"
    if filled is not None:
        kinds = ("with notes", "veiled", "long")
        for kind, action_id in zip(kinds, filled.actions, strict=True):
            found[f"Item, {kind}"] = f"/review/{action_id}"
        found["Item, decided"] = f"/review/{filled.decided}"
        if any(label.startswith("Webhooks") for label in found):
            found["Webhook"] = f"/endpoints/{filled.webhook_id}"
            found["Events"] = "/endpoints/events?event=moderation_action.created"
            found["Replay a range"] = "/deliveries/replay?which=all"
            for kind, delivery_id in zip(
                ("arrived", "given up", "waiting"), filled.delivery_ids, strict=True
            ):
                found[f"Delivery, {kind}"] = f"/deliveries/{delivery_id}"
        found["Note"] = f"/notes/{filled.note_id}"
        if "People" in found:
            found["Member"] = f"/people/{filled.member}?q=a"
            found["Revoke a key"] = f"/keys/{filled.key}/revoke"
        if visitor.name == "Rita":
            found["Own note"] = f"/notes/{filled.own_note_id}"
            found["Edit note"] = f"/notes/{filled.own_note_id}/edit"
    return found


OPEN_PAGES = {
    "Start": "/",
    "Start, answered": "/?answer=yes",
    "Sign in": "/sign-in",
    "Sign in first": "/sign-in?next=/review",
    "Nothing here": "/nothing-here",
    "Create account": "/sign-up",
    "Check your mail": "/mail-sent?about=confirm",
    "Forgot your password": "/forgot",
}
"""Pages for whoever is not signed in."""
