"""Fixtures for tests of the dashboard: a signed-in client for each person, which posts forms like the pages do."""

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any

import flask
import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.core.classify import Context, Match, Result
from app.core.models import Account, Action, Event, Hold, Note, Request
from app.core.notes import notes, ratings
from app.core.people import profiles, sessions
from app.core.permissions import SYSTEM, Actor
from app.core.requests import submitting
from app.core.vocabulary import Classification, EventName, HelpfulnessLevel
from app.web import security
from app.wiring import Wiring
from tests.cast import PLATFORM, Cast, Person
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.web.mailbox import Mailbox
from tests.web.one_line import OneLineClient

SCORE = 0.8317
"""The score of every post: a number that no page shows by chance."""
HTMX = {"HX-Request": "true"}
SMALL_PAGE = "/communities"
"""For everybody who is signed in, and written in a quarter of the time that the settings take."""
TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')


@dataclass
class Visitor:
    """One browser. ``post`` adds the token of a form.

    Who has been signed in by a fixture has one as any page would give it: to write a page for each takes a tenth of the
    time of these tests. Others load a page when the first token is needed.
    """

    client: FlaskClient
    page_with_form: str = SMALL_PAGE
    signed_in_as: uuid.UUID | None = None

    @cached_property
    def token(self) -> str:
        if self.signed_in_as is not None:
            with self.client.application.test_request_context():
                made, secret = security.csrf_token_for(self.signed_in_as), flask.session["csrf_token"]
            with self.client.session_transaction() as kept:
                kept["csrf_token"] = secret
            return made
        found = TOKEN.search(self.client.get(self.page_with_form).text)
        assert found, "every form carries a token"
        return found.group(1)

    def renew(self) -> None:
        """Forget the token: signing in and out invalidate it."""
        self.page_with_form, self.signed_in_as = SMALL_PAGE, None
        self.__dict__.pop("token", None)

    def get(self, path: str, **headers: str) -> TestResponse:
        return self.client.get(path, headers=headers)

    def post(self, path: str, _headers: dict[str, str] | None = None, **data: Any) -> TestResponse:
        return self.client.post(path, data={"csrf_token": self.token, **data}, headers=_headers)


Visit = Callable[[Person | None], Visitor]
"""The type of ``visit``."""


@pytest.fixture
def visit(app: Flask, wiring: Wiring) -> Visit:
    """Return a new browser, signed in as this person; with None not signed in."""

    app.test_client_class = OneLineClient

    def begin(person: Person | None) -> Visitor:
        client = app.test_client()
        if person is None:
            return Visitor(client, "/sign-in")
        with wiring.database.writing() as session:
            token = sessions.begin(session, session.get_one(Account, person.account_id), "Test")
        client.set_cookie("bridgenote", token)
        return Visitor(client, signed_in_as=person.account_id)

    return begin


@pytest.fixture
def mailbox(wiring: Wiring, jobs: InlineEngine) -> Mailbox:
    return Mailbox(wiring, jobs)


@pytest.fixture
def moderator(visit: Visit, cast: Cast) -> Visitor:
    return visit(cast.moderator)


@pytest.fixture
def operator(visit: Visit, cast: Cast) -> Visitor:
    return visit(cast.operator)


@pytest.fixture
def admin(visit: Visit, cast: Cast) -> Visitor:
    return visit(cast.admin)


@pytest.fixture
def rater(visit: Visit, cast: Cast) -> Visitor:
    return visit(cast.rater)


@pytest.fixture
def outsider(visit: Visit, cast: Cast) -> Visitor:
    return visit(cast.outsider)


@dataclass
class FixedClassifier:
    """Fake of a classifier: the same score and one match for every text."""

    category: str = "toxicity"
    name: str = "fixed"
    version: str = "1"
    languages: frozenset[str] | None = None
    cost: int = 0
    local: bool = True
    calibrated: bool = True
    max_chars: int = 100_000
    tier1_categories: frozenset[str] = frozenset()
    score_given: float = SCORE

    @property
    def categories(self) -> frozenset[str]:
        return frozenset({self.category})

    def score(self, texts: list[str], context: Context) -> list[Result]:
        match = Match("fixed-rule", self.category, 0, 4, 0.7777)
        return [Result(scores={self.category: self.score_given}, matches=(match,)) for _text in texts]


@dataclass
class Stage:
    """Creates posts under review and ratings of other people."""

    wiring: Wiring
    jobs: InlineEngine
    cast: Cast
    made: int = field(default=0)

    def post(
        self, text: str = "This is what somebody wrote.", *, category: str = "toxicity", away: bool = False
    ) -> uuid.UUID:
        """Create a post under community review and return its action's id. ``away``: in the other community."""
        self.made += 1
        self.wiring.classifiers = [FixedClassifier(category=category)]
        community_id = self.cast.other_community_id if away else self.cast.community_id
        submission = submitting.Submission(f"post-{self.made}", "poster", text)
        with self.wiring.database.writing() as session:
            request_id = submitting.submit(session, SYSTEM, community_id, submission).request.id
        self.jobs.run_all()
        with self.wiring.database.reading() as session:
            return session.scalars(sa.select(Action.id).where(Action.request_id == request_id)).one()

    def rate(self, action_id: uuid.UUID, *levels: HelpfulnessLevel) -> None:
        """Let this many members of the platform rate the action's rationale."""
        for number, level in enumerate(levels):
            with self.wiring.database.writing() as session:
                action = session.get_one(Action, action_id)
                self._rate(session, session.get_one(Note, action.note_id), number, level)

    def note(self, action_id: uuid.UUID, number: int = 0, text: str = "A member explains.") -> uuid.UUID:
        """Let a member of the platform write a note on the post; return its id."""
        with self.wiring.database.writing() as session:
            action = session.get_one(Action, action_id)
            author = profiles.ensure(session, PLATFORM, f"author-{number}")
            return notes.write(
                session,
                SYSTEM,
                action.community_id,
                author,
                text,
                Classification.MISLEADING,
                request=session.get_one(Request, action.request_id),
                reasons=["unverified"],
                sources=["https://example.org/source"],
            ).id

    def rate_note(self, note_id: uuid.UUID, *levels: HelpfulnessLevel) -> None:
        for number, level in enumerate(levels):
            with self.wiring.database.writing() as session:
                self._rate(session, session.get_one(Note, note_id), number, level)

    def _rate(self, session: Any, note: Note, number: int, level: HelpfulnessLevel) -> None:
        rater = profiles.ensure(session, PLATFORM, f"member-{number}")
        actor = Actor(
            kind="key", name="Adapter", profile_id=rater.id, communities=frozenset({note.community_id})
        )
        ratings.rate(session, actor, note, rater, level)

    def rationale(self, action_id: uuid.UUID) -> Note:
        with self.wiring.database.reading() as session:
            return session.get_one(Note, session.get_one(Action, action_id).note_id)

    def own_rating(self, action_id: uuid.UUID, person: Person) -> HelpfulnessLevel | None:
        with self.wiring.database.reading() as session:
            note_id = session.get_one(Action, action_id).note_id
            assert note_id is not None
            rating = ratings.by_rater(session, note_id, person.profile_id)
            return rating.helpfulness_level if rating else None


def only_hold(wiring: Wiring) -> Hold | None:
    """Return the held decision, or None."""
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Hold)).one_or_none()


def the_hold(wiring: Wiring) -> Hold:
    """Return the held decision; there must be one, and no other."""
    with wiring.database.reading() as session:
        return session.scalars(sa.select(Hold)).one()


def events_of(wiring: Wiring) -> list[EventName]:
    """Return the names of the events that were emitted."""
    with wiring.database.reading() as session:
        return list(session.scalars(sa.select(Event.name).order_by(Event.id)))


@pytest.fixture
def stage(wiring: Wiring, jobs: InlineEngine, cast: Cast) -> Stage:
    return Stage(wiring, jobs, cast)


@pytest.fixture
def statements(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """``with statements() as seen``: records every statement sent to the database.

    Except the update of a session's last use, once a minute: on a slow machine that may happen between two counts.
    """
    monkeypatch.setattr(sessions, "SEEN_EVERY", timedelta(days=1))

    @contextmanager
    def watch() -> Iterator[list[str]]:
        seen: list[str] = []

        def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            seen.append(statement)

        sa.event.listen(wiring.database.engine, "before_cursor_execute", note)
        try:
            yield seen
        finally:
            sa.event.remove(wiring.database.engine, "before_cursor_execute", note)

    return watch


@pytest.fixture
def pass_time() -> Callable[[timedelta], None]:
    """Returns a function that moves the clock forward and stops it there."""
    return lambda by: advance(seconds=by.total_seconds())
