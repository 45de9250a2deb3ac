"""A storm: clients that submit, rate and acknowledge while the service is killed under them, and what must hold then.

Each keeps what it was told, and says again what was not answered.
"""

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import sqlalchemy as sa

from app.core.db import Database
from app.core.history import chain as history
from app.core.models import Action, Decision, Delivery, Event, Rating, Request
from app.core.vocabulary import ActionState, EventName, RequestStatus
from tests.faults.dispatcher_receiver import Receiver

SPAM = "Double your Bitcoin today, guaranteed profits! Send 0.1 BTC, get 0.2 back. Telegram: @btc_doubler"
REVIEWED = "You are such an idiot, nobody wants to read this."
CLEAN = "The council meets on Tuesday at seven to discuss the new bike lanes."
RATERS = 6
_API = "/api/public/v1"


@dataclass
class Caller:
    """One connection a call. ``odd`` holds answers that no client should ever get."""

    port: int
    key: str
    odd: list[tuple[str, int, bytes]] = field(default_factory=list)

    def call(self, method: str, path: str, kind: str = "", **attributes: Any) -> tuple[int, Any]:
        """Status and JSON; status 0 when there was no answer."""
        document: dict[str, Any] = {"type": kind, "attributes": attributes}
        if method == "PATCH":
            document["id"] = path.rpartition("/")[2]
        body = json.dumps({"data": document}) if kind else None
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, _API + path, body, headers)
            response = connection.getresponse()
            said = response.read()
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()
        if response.status >= 500:
            self.odd.append((path, response.status, said))
        return response.status, json.loads(said) if said else None


@dataclass
class Storm:
    """Three submitters, a few raters and an acknowledger; ``told`` and the like is what they were answered.

    A submitter that has sent ``plenty`` since ``goes_on`` was last called slows down: everything must be scored and
    sent before the test ends, and a slow machine would never finish what a minute at full speed leaves.
    """

    port: int
    key: str
    community: str
    receiver: Receiver
    plenty: float = 15
    told: dict[str, str] = field(default_factory=dict)
    rated: dict[tuple[str, str], str] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    odd: list[tuple[str, int, bytes]] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)
    _slow_from: float = 0

    def begin(self) -> None:
        work: list[Callable[[], None]] = [partial(self._submit, name) for name in "abc"]
        work += [self._look, self._rate, self._acknowledge]
        self._threads = [threading.Thread(target=one) for one in work]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def goes_on(self, *, submissions: int, ratings: int, acknowledgements: int = 0) -> Callable[[], bool]:
        """Whether so many more of each have been answered than when this was called."""
        least = (
            len(self.told) + submissions,
            len(self.rated) + ratings,
            len(self.acknowledged) + acknowledgements,
        )
        self._slow_from = len(self.told) + self.plenty
        return lambda: (
            len(self.told) >= least[0] and len(self.rated) >= least[1] and len(self.acknowledged) >= least[2]
        )

    def _caller(self) -> Caller:
        return Caller(self.port, self.key, self.odd)

    def _submit(self, name: str) -> None:
        caller, number = self._caller(), 0
        while not self._ended.is_set():
            request_id = f"{name}-{number}"
            status, said = caller.call(
                "POST",
                "/requests",
                "requests",
                request_id=request_id,
                requested_by="ann",
                community_server_id=self.community,
                original_message_content=f"{(SPAM, REVIEWED, CLEAN)[number % 3]} [{request_id}]",
            )
            if status in {200, 201}:
                self.told[request_id] = said["data"]["id"]
                number += 1
            pause = 0.03 if len(self.told) < self._slow_from else 1
            self._ended.wait(pause if status else 0.1)

    def _look(self) -> None:
        """Finds reviews to rate, as an integration would list them."""
        caller = self._caller()
        while not self._ended.is_set():
            status, said = caller.call(
                "GET", "/moderation-actions?filter%5Baction_state%5D=under_review&page%5Bsize%5D=50"
            )
            if status == 200:
                self._notes += [
                    note_id
                    for one in reversed(said["data"])
                    if (note_id := one["attributes"]["note_id"]) not in self._notes
                ]
            self._ended.wait(0.3)

    def _rate(self) -> None:
        """Every rater on each note in turn, so that some come to a consensus in mid-storm."""
        caller, turn = self._caller(), 0
        while not self._ended.is_set():
            number, rater = turn // RATERS, f"rater-{turn % RATERS}"
            if number >= len(self._notes):
                self._ended.wait(0.1)
                continue
            note_id = self._notes[number]
            status, _ = caller.call(
                "POST", "/ratings", "ratings", note_id=note_id, rater_id=rater, helpfulness_level="HELPFUL"
            )
            if status in {200, 201}:
                self.rated[note_id, rater] = "HELPFUL"
            # A note that is decided takes no more; what was not answered is said again.
            turn += bool(status)
            self._ended.wait(0.03 if status else 0.1)

    def _acknowledge(self) -> None:
        caller, seen = self._caller(), 0
        while not self._ended.is_set():
            for arrival in self.receiver.arrivals[seen:]:
                payload = arrival.payload or {}
                if payload.get("event") == EventName.ACTION_CREATED:
                    action_id = payload["data"]["id"]
                    status, _ = caller.call(
                        "PATCH",
                        f"/moderation-actions/{action_id}",
                        "moderation-actions",
                        action_state="applied",
                    )
                    if status == 200:
                        self.acknowledged.add(action_id)
                    elif not status:
                        break  # it is said again once somebody answers
                    else:
                        self.odd.append((action_id, status, b"an acknowledgement was refused"))
                seen += 1
            self._ended.wait(0.1)


def is_settled(database: Database, receiver: Receiver, *, hurry: bool) -> bool:
    """Whether nothing is left to be scored or sent. ``hurry``: leases of the dead count as run out."""
    time.sleep(0.3)
    if hurry:
        with database.writing() as session:
            session.execute(
                sa.update(Delivery).where(Delivery.leased_until.is_not(None)).values(leased_until=None)
            )
    with database.reading() as session:
        pending = session.scalar(sa.select(sa.func.count()).where(Request.status == RequestStatus.PENDING))
        unscored = session.scalar(
            sa.select(sa.func.count()).where(
                Request.status == RequestStatus.IN_PROGRESS, Request.id.not_in(sa.select(Action.request_id))
            )
        )
        told = {str(one) for one in session.scalars(sa.select(Event.id))}
    return not pending and not unscored and told <= set(receiver.event_ids)


def check(database: Database, receiver: Receiver, storm: Storm) -> dict[str, int]:
    """Everything that must hold; the figures of it. Raises AssertionError."""
    assert storm.odd == [], "somebody was answered with a 5xx"
    with database.reading() as session:
        stored = {one.request_id: one for one in session.scalars(sa.select(Request))}
        lost = [name for name, identity in storm.told.items() if str(stored[name].id) != identity]
        assert lost == [], "a request that a client was told of is gone"
        assert not [one for one in stored.values() if one.status is RequestStatus.FAILED]
        ratings = {(str(one.note_id), one.rater_ref) for one in session.scalars(sa.select(Rating))}
        assert storm.rated.keys() <= ratings, "a rating that a client was told of is gone"
        actions = {str(one.id): one for one in session.scalars(sa.select(Action))}
        unheard = [one for one in storm.acknowledged if actions[one].applied_at is None]
        assert unheard == [], "an acknowledgement that was taken is gone"
        requests = Counter(one.request_id for one in actions.values() if one.restores_id is None)
        assert [one for one, count in requests.items() if count > 1] == [], "a request was acted on twice"
        decisions = session.execute(
            sa.select(Request.request_id, Decision.decision).join(Decision, Decision.request_id == Request.id)
        ).all()
        decided = {request_id: decision for request_id, decision in decisions}
        assert len(decisions) == len(decided)
        spam = [name for name in storm.told if int(name.split("-")[1]) % 3 == 0]
        assert [name for name in spam if decided.get(name) != "hide"] == []
        by_people = [
            one
            for one in actions.values()
            if one.action_state in {ActionState.PROPOSED, ActionState.APPLIED}
            and one.action_tier is not None
            and one.action_tier.number == 2
        ]
        community_id = next(iter(stored.values())).community_id
        held, broken = history.verify(session, community_id)
        assert broken is None
    assert all(arrival.payload is not None for arrival in receiver.arrivals), "a signature does not verify"
    ids: dict[str, set[str]] = {}
    for arrival in receiver.arrivals:
        assert arrival.payload is not None
        if arrival.payload.get("event_type") == EventName.DECISION:
            ids.setdefault(arrival.payload["request_id"], set()).add(arrival.event_id)
    assert [name for name, found in ids.items() if len(found) > 1] == [], "told under two ids"
    assert decided.keys() == ids.keys()
    arrived = Counter(receiver.event_ids)
    return {
        "submissions told": len(storm.told),
        "ratings told": len(storm.rated),
        "acknowledgements told": len(storm.acknowledged),
        "decisions": len(decided),
        "by consensus": len(by_people),
        "events": len(arrived),
        "lost": 0,
        "sent twice": sum(count - 1 for count in arrived.values()),
        "history entries": held,
    }
