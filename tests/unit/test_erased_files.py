"""Who is erased is in no file any more: neither in the database's nor in any other of the data folder."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from flask.testing import FlaskClient

from app import create_app
from app.commands.main import cli
from app.core import mail
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.mail import Kind
from app.core.models import Account, Action, Event, Request, SavedFilter
from app.core.notes import notes, ratings
from app.core.people import accounts, invitations, mailed_links, profiles
from app.core.permissions import Actor
from app.core.requests import submitting
from app.core.review import verbs
from app.core.upkeep import linking
from app.core.upkeep.traces import Person, replaced
from app.core.vocabulary import ActionState, Classification, EventName, HelpfulnessLevel, Role
from app.jobs.registry import register_all
from app.settings import Settings
from app.wiring import Wiring, wire
from tests import factories
from tests.cast import COMMUNITY, PASSWORD, PLATFORM, Cast
from tests.inline_engine import InlineEngine

MARKER = "zirconlike"
EMAIL, NAME, NICK, USER_ID = "zirconlike@example.org", "Max Zirconlike", "Zirconlike-nick", "zirconlike-7701"


@dataclass
class Place:
    """A service with a data folder of its own, and rate limits."""

    wiring: Wiring
    cast: Cast
    folder: Path

    def files_with(self, word: str) -> list[str]:
        """The names of the files that contain the word, in any case."""
        word_bytes = word.lower().encode()
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(path.name for path in files if word_bytes in path.read_bytes().lower())


@pytest.fixture
def place(tmp_path: Path, sqlite_cast: tuple[Path, Cast], monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    folder = tmp_path / "var"
    folder.mkdir()
    shutil.copyfile(sqlite_cast[0], folder / "bridgenote.db")
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(folder))
    settings = Settings(_env_file=None, environment="development", data_dir=folder).ready()
    wiring = wire(settings)
    jobs = InlineEngine(wiring.database.engine)
    register_all(jobs, wiring)
    wiring.attach(jobs)
    yield Place(wiring, sqlite_cast[1], folder)
    wiring.database.dispose()


def _submit(place: Place, request_id: str, submitter: str, author: str, extra: dict[str, Any]) -> None:
    with place.wiring.database.writing() as session:
        submitting.submit(
            session,
            factories.integration(place.cast),
            place.cast.community_id,
            submitting.Submission(
                request_id, submitter, factories.REVIEWED, platform_author_id=author, extra=extra
            ),
        )


def _lived(place: Place, user_id: str) -> FlaskClient:
    """What a moderator leaves who also writes on the platform; return their browser."""
    wiring, cast = place.wiring, place.cast
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.moderator.account_id)
        account.email, account.display_name = EMAIL, NAME
        known = profiles.ensure(session, PLATFORM, user_id, COMMUNITY, display_name=NICK)
        linking.link(
            session, factories.integration(cast), known, mailed_links.show_code(session, account).text
        )
        mail.ask(session, Kind.PASSWORD_CHANGED, account_id=account.id)
    client = create_app(wiring).test_client()
    token = client.get("/sign-in").text.partition('name="csrf_token" value="')[2].partition('"')[0]
    client.post("/sign-in", data={"csrf_token": token, "email": EMAIL, "password": PASSWORD})
    assert client.get("/settings").status_code == 200
    author = {
        "id": user_id,
        "username": NICK,
        "avatar_url": f"https://cdn.example/{NICK}.png",
        "trust_level": 2,
    }
    _submit(
        place, "own", user_id, user_id, {"author": author, "author_name": "Zirconlike the Elder", "views": 3}
    )
    thread = [
        {"author": NICK, "text": "I say so.", "url": "https://forum.example/t/1/1"},
        {"author": "bob", "text": f"No, @{NICK}, and no, <@{user_id}>!"},
    ]
    _submit(
        place,
        "other",
        "bob",
        "bob",
        {"title": "Boats", "thread": thread, "reporter_id": user_id, "reports": 2},
    )
    wiring.jobs.run_all()  # type: ignore[union-attr]
    with wiring.database.writing() as session:
        actor = accounts.actor_for(
            accounts.get(session, cast.moderator.account_id), cast.moderator.profile_id
        )
        for action in session.scalars(sa.select(Action)).all():
            verbs.change_action(
                session, actor, action, ActionState.DISMISSED, reason=Reason(f"{NAME} says so", NICK)
            )
        inviter = Actor(
            kind="account",
            name=NAME,
            account_id=actor.account_id,
            roles={cast.community_id: Role.ADMIN},
            communities=frozenset({cast.community_id}),
        )
        invitations.invite(session, inviter, cast.community_id, "bea@example.org", Role.RATER)
        request = session.scalars(sa.select(Request).where(Request.request_id == "other")).one()
        own = profiles.find(session, PLATFORM, user_id, COMMUNITY)
        assert own is not None
        writer = factories.integration(cast, profile_id=own.id)
        note = notes.write(
            session,
            writer,
            cast.community_id,
            own,
            "The timetable says otherwise.",
            Classification.MISLEADING,
            request=request,
            author_ref=user_id,
        )
        session.add(
            Event(
                community_id=cast.community_id,
                name=EventName.PANEL_DRAWN,
                payload={"data": {"rater_ids": ["bob", user_id]}},
            )
        )
        session.add(
            SavedFilter(
                community_id=cast.community_id,
                account_id=cast.operator.account_id,
                name="One author",
                query={"author": [user_id]},
            )
        )
    with wiring.database.writing() as session:
        rater = profiles.ensure(session, PLATFORM, "rater-5", COMMUNITY)
        actor = factories.integration(cast, staff=False, profile_id=rater.id)
        ratings.rate(session, actor, session.merge(note), rater, HelpfulnessLevel.HELPFUL)
    wiring.jobs.run_all()  # type: ignore[union-attr]
    return client


def _verifies(place: Place) -> bool:
    with place.wiring.database.reading() as session:
        return history.verify(session, place.cast.community_id)[1] is None


def test_the_command_leaves_no_byte_of_the_person(place: Place) -> None:
    _lived(place, USER_ID)
    mails = sorted((place.folder / "mail").glob("*.eml"))
    assert len(mails) >= 2, "one to them, and their invitation of somebody"
    assert len(place.files_with(MARKER)) >= 3
    identity = ["--platform", PLATFORM, "--user-id", USER_ID, "--provider-scope", COMMUNITY]
    done = CliRunner().invoke(cli, ["erase-user", *identity])
    assert done.exit_code == 0, done.output
    assert "mails in the folder" in done.output
    assert place.files_with(MARKER) == []
    assert _verifies(place)
    with place.wiring.database.reading() as session:
        extra = session.scalars(sa.select(Request.extra).where(Request.request_id == "other")).one()
        filters = session.scalars(sa.select(SavedFilter.query)).one()
        own = session.scalars(sa.select(Request.extra).where(Request.request_id == "own")).one()
    assert own is not None
    assert (own["author"], own["views"]) == ({}, 3)
    assert extra is not None
    assert (extra["title"], extra["reports"]) == ("Boats", 2)
    assert [message["author"] for message in extra["thread"]] == ["Erased", "bob"]
    assert filters["author"][0].startswith("erased-")
    assert extra["thread"][0]["text"] == "I say so."


def test_a_deleted_account_leaves_no_byte_of_its_address_and_names(place: Place) -> None:
    client = _lived(place, "7701")
    token = client.get("/settings").text.partition('name="csrf_token" value="')[2].partition('"')[0]
    deleted = client.post("/settings/delete", data={"csrf_token": token, "delete_password": PASSWORD})
    assert deleted.status_code == 303
    left = place.files_with(EMAIL) + place.files_with(NAME) + place.files_with(NICK)
    assert left == []
    assert _verifies(place)


def test_what_changes_leaves_the_file_of_the_database(place: Place) -> None:
    with place.wiring.database.writing() as session:
        session.get_one(Account, place.cast.rater.account_id).display_name = NAME * 3
    assert place.files_with(MARKER)
    with place.wiring.database.writing() as session:
        session.get_one(Account, place.cast.rater.account_id).display_name = "Rita"
    place.wiring.database.empty_log()
    assert place.files_with(MARKER) == []


PERSON = Person(["7"], ["Ann"], "erased-1")


@pytest.mark.parametrize(
    ("metadata", "left"),
    [
        ({"author_id": 7, "author_name": "Annie"}, {"author_id": "erased-1", "author_name": "erased-1"}),
        ({"reports": 7, "views": 7}, {"reports": 7, "views": 7}),
        ({"reports": ["ann", "bob"]}, {"reports": ["erased-1", "bob"]}),
        ({"title": "7 boats, says Ann's aunt"}, {"title": "7 boats, says Ann's aunt"}),
        ([{"id": "7", "login": "a", "age": 3}], [{"id": "erased-1", "login": "erased-1", "age": 3}]),
        ({"text": "@ann, @annie and @7!"}, {"text": "@erased-1, @annie and @erased-1!"}),
        ({"flag": True, "nothing": None, "half": 7.5}, {"flag": True, "nothing": None, "half": 7.5}),
    ],
)  # fmt: skip
def test_metadata_loses_the_person_and_nothing_else(metadata: Any, left: Any) -> None:
    assert replaced(metadata, PERSON) == left
