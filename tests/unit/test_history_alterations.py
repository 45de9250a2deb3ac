"""What a person with access to the database could alter: verifying the history names each alteration."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from sqlalchemy.orm import Session

from app.core import clock
from app.core.errors import Invalid
from app.core.history import chain as history
from app.core.history import heads, marks
from app.core.history.marks import GENESIS
from app.core.history.reason import Reason
from app.core.models import Action, HistoryEntry, HistoryText, RetentionMark
from app.core.people import accounts
from app.core.permissions import SYSTEM
from app.core.review import verbs
from app.core.upkeep import erasure
from app.core.vocabulary import ActionState
from app.jobs.upkeep import NotSent, prune
from app.jobs.upkeep import export_heads as export
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import advance
from tests.conftest import RecordingSender
from tests.inline_engine import InlineEngine

pytestmark = pytest.mark.both_databases

LONG_AGO = datetime.min.replace(tzinfo=UTC)
ALL = range(1, 10_000)
"""The numbers of all entries."""


class Attacker:
    """Writes to the database as no verb would: every column that verifies a row as well."""

    def __init__(self, session: Session, cast: Cast) -> None:
        self.session, self.cast = session, cast

    @property
    def entries(self) -> list[HistoryEntry]:
        own = sa.select(HistoryEntry).where(HistoryEntry.community_id == self.cast.community_id)
        return list(self.session.scalars(own.order_by(HistoryEntry.number)))

    def one(self, number: int) -> HistoryEntry:
        return next(entry for entry in self.entries if entry.number == number)

    def text(self, entry: HistoryEntry) -> HistoryText:
        return self.session.get_one(HistoryText, entry.id)

    def set_about_an_action(self, **values: Any) -> None:
        self.set(next(entry for entry in self.entries if entry.object_type == "action"), **values)

    def set_text(self, entry: HistoryEntry, **values: Any) -> None:
        for name, value in values.items():
            setattr(self.text(entry), name, value)

    def delete(self, *numbers: int) -> None:
        ids = [entry.id for entry in self.entries if entry.number in numbers]
        for model, column in ((HistoryText, HistoryText.entry_id), (HistoryEntry, HistoryEntry.id)):
            self.session.execute(sa.delete(model).where(column.in_(ids)))

    def set(self, entry: HistoryEntry, **values: Any) -> None:
        self.session.execute(sa.update(HistoryEntry).where(HistoryEntry.id == entry.id).values(**values))

    def relink(self) -> None:
        """Hash all entries again, so that each follows the one before it."""
        self.session.flush()
        self.session.expire_all()
        previous = GENESIS
        for entry in self.entries:
            entry.previous_hash = previous
            entry.hash = previous = history._hash(entry)
        self.session.flush()
        mark = marks.mark(self.session, self.cast.community_id)
        mark.verified_number, mark.verified_hash = 0, GENESIS


def _lower_the_retention_mark(attacker: Attacker) -> None:
    mark = marks.mark(attacker.session, attacker.cast.community_id)
    first = attacker.one(1)
    mark.history_number, mark.history_hash = first.number, first.hash
    attacker.session.flush()
    attacker.delete(1)
    mark.history_number, mark.history_hash = 0, GENESIS


def _fill_an_erased_text(attacker: Attacker) -> None:
    entry = next(entry for entry in attacker.entries if attacker.text(entry).erased_at is not None)
    attacker.text(entry).actor_name = "Max Moderator"


def _swap_two(attacker: Attacker) -> None:
    second, third = attacker.one(2), attacker.one(3)
    attacker.set(second, number=10_000)
    attacker.set(third, number=2)
    attacker.set(second, number=3)


def _move_to_another_community(attacker: Attacker) -> None:
    last = attacker.entries[-1]
    attacker.set(last, community_id=attacker.cast.other_community_id, number=20_000)


IN_THE_DATABASE: dict[str, tuple[Callable[[Attacker], None], str]] = {
    "change a text": (lambda it: it.set_text(it.one(2), reason="because I say so"), "its text was altered"),
    "change a fact": (
        lambda it: it.set_about_an_action(category="harmless"),
        "its category is not that of its object",
    ),
    "change an author": (
        lambda it: it.set_about_an_action(author="another-author"),
        "its author is not that of its object",
    ),
    "change a type": (
        lambda it: it.set_about_an_action(action_type="restore"),
        "its action type is not that of its object",
    ),
    "change a language": (
        lambda it: it.set_about_an_action(language="xx"),
        "its language is not that of its object",
    ),
    "add a fact": (lambda it: it.set(it.one(1), author="nobody"), "its author is not that of its object"),
    "change a column": (lambda it: it.set(it.one(2), what="nothing.happened"), "its columns were altered"),
    "delete the first": (lambda it: it.delete(1), "entry 1 is missing"),
    "delete a middle one": (lambda it: it.delete(3), "entry 3 is missing"),
    "delete all": (lambda it: it.delete(*ALL), "entry 1 is missing"),
    "lower the retention mark": (_lower_the_retention_mark, "entry 1 is missing"),
    "fill an erased text": (_fill_an_erased_text, "its text was erased, and is there again"),
    "swap two": (_swap_two, "it does not follow the entry before it"),
}


def _fault(wiring: Wiring, community_id: uuid.UUID) -> str:
    with wiring.database.reading() as session:
        return _why(session, community_id)


def _why(session: Session, community_id: uuid.UUID) -> str:
    broken = history.verify(session, community_id)[1]
    return "" if broken is None else broken.why


@contextmanager
def _altered(wiring: Wiring, community: Cast, alter: Callable[[Attacker], None]) -> Iterator[Session]:
    """The database as the attacker leaves it, until the block ends: then all is as before."""
    with wiring.database.writing() as session:
        alter(Attacker(session, community))
        session.flush()
        session.expire_all()
        yield session
        session.rollback()


@pytest.fixture
def community(wiring: Wiring, cast: Cast) -> Cast:
    """The home community with actions that a moderator decided, whose words were erased afterwards."""
    for number in range(3):
        action_id = factories.scored_action(wiring, cast, request_id=f"post-{number}")
        with wiring.database.writing() as session:
            moderator = accounts.actor_for(
                accounts.get(session, cast.moderator.account_id), cast.moderator.profile_id
            )
            action = session.get_one(Action, action_id)
            verbs.change_action(
                session, moderator, action, ActionState.DISMISSED, reason=Reason("Just banter")
            )
    with wiring.database.writing() as session:
        erasure.erase_account(session, SYSTEM, cast.moderator.account_id)
    assert _fault(wiring, cast.community_id) == ""
    return cast


def _exported(wiring: Wiring, sender: RecordingSender) -> list[heads.Head]:
    wiring.settings.history_heads_url = SecretStr("https://archive.example/heads")
    export(wiring)
    return list(heads.parse([sender.sent[-1][1]]))


def _missing(wiring: Wiring, cast: Cast, exported: list[heads.Head], kept_since: datetime = LONG_AGO) -> str:
    with wiring.database.reading() as session:
        return _missing_in(session, cast, exported, kept_since)


def _missing_in(
    session: Session, cast: Cast, exported: list[heads.Head], kept_since: datetime = LONG_AGO
) -> str:
    own = [head for head in exported if head.community_id == cast.community_id]
    return heads.missing(session, cast.community_id, own, kept_since) or ""


def test_an_alteration_is_named(wiring: Wiring, community: Cast) -> None:
    found = dict[str, str]()
    for alteration, (alter, _) in IN_THE_DATABASE.items():
        with _altered(wiring, community, alter) as session:
            found[alteration] = _why(session, community.community_id)
        assert _fault(wiring, community.community_id) == "", alteration
    assert found == {alteration: fault for alteration, (_, fault) in IN_THE_DATABASE.items()}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)  # PostgreSQL refuses such values
@pytest.mark.parametrize("column", ["after", "at", "account_id"])
def test_an_entry_that_cannot_be_read_is_named_and_no_error(
    wiring: Wiring, community: Cast, column: str
) -> None:
    with wiring.database.writing() as session:
        session.execute(
            sa.text(f"UPDATE history SET \"{column}\" = '{{' WHERE community_id = :community AND number = 3"),  # noqa: S608
            {"community": community.community_id.hex},
        )
    assert "entries from there on, cannot be read" in _fault(wiring, community.community_id)


def test_an_entry_that_was_moved_to_another_community_is_named_there(wiring: Wiring, community: Cast) -> None:
    with wiring.database.writing() as session:
        _move_to_another_community(Attacker(session, community))
    assert "is missing" in _fault(wiring, community.other_community_id)


def test_a_text_that_was_put_back_as_it_was_is_named(wiring: Wiring, cast: Cast, community: Cast) -> None:
    """The row of a backup from before the erasure, with its salt: its hash agrees."""
    with wiring.database.writing() as session:
        attacker = Attacker(session, community)
        entry = next(one for one in attacker.entries if attacker.text(one).erased_at is not None)
        text = attacker.text(entry)
        text.actor_name, text.reason, text.salt, text.erased_at = "Moderator", "Just banter", "ab" * 16, None
        entry.text_hash = history._text_hash(text)
        attacker.relink()
    assert _fault(wiring, community.community_id) == "its text was erased with the person, and is there again"


def _edit_and_relink(attacker: Attacker) -> None:
    entry = attacker.one(2)
    entry.cause = "something else"
    attacker.relink()


def _delete_a_beginning_as_the_upkeep_does(attacker: Attacker) -> None:
    last = attacker.entries[-1]
    attacker.delete(*range(1, last.number))
    first = attacker.one(last.number)
    mark = marks.mark(attacker.session, attacker.cast.community_id)
    mark.history_number, mark.history_hash = first.number - 1, first.previous_hash
    mark.history_at = datetime(2001, 1, 1, tzinfo=UTC)


OUTSIDE: dict[str, tuple[Callable[[Attacker], None], str]] = {
    "edit and relink": (_edit_and_relink, "is another one now"),
    "delete the last": (lambda it: it.delete(it.entries[-1].number), "is missing"),
    "delete all after some": (lambda it: it.delete(*ALL[3:]), "is missing"),
    "move to another community": (_move_to_another_community, "is missing"),
    "delete all": (lambda it: it.delete(*ALL), "is missing"),
    "delete a beginning as the upkeep does": (
        _delete_a_beginning_as_the_upkeep_does,
        "was removed before its time",
    ),
}


def test_what_verifies_in_the_database_is_unlike_the_exported_heads(
    wiring: Wiring, community: Cast, sender: RecordingSender
) -> None:
    exported = _exported(wiring, sender)
    advance(days=1)
    (number,) = [head.number for head in exported if head.community_id == community.community_id]
    for alteration, (alter, end) in OUTSIDE.items():
        if alter is _delete_a_beginning_as_the_upkeep_does:
            factories.scored_action(wiring, community, request_id="later")
        assert _missing(wiring, community, exported) == "", alteration
        with _altered(wiring, community, alter) as session:
            if alteration not in IN_THE_DATABASE:
                assert _why(session, community.community_id) == "", alteration
            missing = _missing_in(session, community, exported)
        assert missing.startswith(f"entry {number}, exported on "), alteration
        assert missing.endswith(end), alteration


def test_an_end_that_was_removed_and_written_anew_is_unlike_the_exported_heads(
    wiring: Wiring, community: Cast, sender: RecordingSender
) -> None:
    exported = _exported(wiring, sender)
    with wiring.database.writing() as session:
        Attacker(session, community).delete(*ALL[3:])
    for number in range(20):
        factories.scored_action(wiring, community, request_id=f"anew-{number}")
    assert _fault(wiring, community.community_id) == ""
    assert _missing(wiring, community, exported).endswith("is another one now")


def test_what_the_upkeep_removed_in_its_time_is_not_missing(
    wiring: Wiring, community: Cast, sender: RecordingSender
) -> None:
    exported = _exported(wiring, sender)
    advance(days=200)
    wiring.settings.keep_history_days = 100
    factories.scored_action(wiring, community, request_id="later")
    exported += _exported(wiring, sender)
    prune(wiring)
    with wiring.database.reading() as session:
        assert session.get_one(RetentionMark, community.community_id).history_number > 0
    assert _missing(wiring, community, exported, clock.now() - timedelta(days=100)) == ""


def test_each_days_heads_go_to_the_log_the_file_and_the_webhook(
    wiring: Wiring,
    cast: Cast,
    sender: RecordingSender,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    jobs: InlineEngine,
) -> None:
    file = tmp_path / "heads"
    wiring.settings.history_heads_file = str(file)
    wiring.settings.history_heads_url = SecretStr("https://archive.example/heads?token=quartz")
    with caplog.at_level("INFO"):
        export(wiring)
        advance(days=1)
        export(wiring)
    assert file.stat().st_mode & 0o777 == 0o600
    lines = file.read_bytes().splitlines(keepends=True)
    assert [body for _, body, _ in sender.sent] == lines
    assert len({head.day for head in heads.parse(lines)}) == len(lines) == 2
    assert {head.community_id for head in heads.parse(lines)} == {cast.community_id, cast.other_community_id}
    with wiring.database.reading() as session:
        last = history.last(session, cast.community_id)
    assert last is not None
    assert f"entry {last.number}, hash {last.hash}" in caplog.text
    sender.status = 503
    with pytest.raises(NotSent) as refusal:
        export(wiring)
    assert "quartz" not in str(refusal.value) + caplog.text


@pytest.mark.parametrize(
    "line", [b"[]", b"{}", b"\xff", b'{"day": "2026-01-01", "heads": [{"number": 1}]}', b"[" * 9_999]
)
def test_a_file_without_heads_is_refused_with_its_line(line: bytes) -> None:
    with pytest.raises(Invalid, match="line 2"):
        list(heads.parse([b"\n", line]))
