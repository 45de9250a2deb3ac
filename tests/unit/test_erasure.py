"""Forgetting a person: nothing that names them is left anywhere, and what they decided stands."""

import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from app.commands.main import cli
from app.core.db import Base
from app.core.errors import Conflict, NotFound, Unauthenticated
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import (
    Account,
    Action,
    Event,
    HistoryEntry,
    HistoryText,
    Note,
    Profile,
    Rating,
    Request,
)
from app.core.notes import ratings
from app.core.people import accounts, mailed_links, profiles, sessions
from app.core.permissions import SYSTEM, Actor
from app.core.review import holds
from app.core.rulesets import drafts
from app.core.upkeep import erasure, linking, traces
from app.core.vocabulary import ActionVerb, EventName, HelpfulnessLevel, Role
from app.process import runtime
from app.wiring import Wiring
from tests import factories
from tests.cast import PASSWORD, PLATFORM, Cast, Person
from tests.mortal import Killed, MortalDatabase

pytestmark = pytest.mark.both_databases

KEPT_WITH_A_ROW_OF_THEIR_OWN = {
    "dataset_imports": "what an operator imported stays, and the account is nameless",
    "author_notes": "a note about an author is the community's, without the moderator's name",
    "api_keys": "an integration's key is the community's",
    "holds": "undone, with what that brings",
    "muted_reporters": "whom a moderator muted stays muted, without the moderator's name",
    "moderation_actions": "a claim is let go",
    "overturns": "what a moderator did for many actions at once is a decision",
    "strikes": "a strike against an author is the community's, without the moderator's name",
    "profiles": "the link is taken off, the ratings stay",
    "waves": "the posts stay together; what was decided about later ones goes",
}


def test_every_table_that_refers_to_an_account_has_been_thought_of() -> None:
    own = {model.__tablename__ for model in erasure.OWN}
    refer = {
        table.name
        for table in Base.metadata.tables.values()
        for key in table.foreign_keys
        if key.target_fullname == "accounts.id"
    }
    assert refer == own | KEPT_WITH_A_ROW_OF_THEIR_OWN.keys()


def _actor(wiring: Wiring, person: Person) -> Actor:
    with wiring.database.reading() as session:
        return accounts.actor_for(accounts.get(session, person.account_id), person.profile_id)


def _columns(wiring: Wiring) -> Iterator[tuple[str, str]]:
    """Every cell of every table of ours, as text."""
    with wiring.database.reading() as session:
        for table in Base.metadata.tables.values():
            for row in session.execute(sa.select(table)):
                yield table.name, repr(tuple(row))


def _scores(wiring: Wiring) -> list[tuple[object, ...]]:
    with wiring.database.reading() as session:
        return [tuple(row) for row in session.execute(sa.select(Note.id, Note.status, Note.ratings_count))]


def _erase(wiring: Wiring, actor: Actor, person: Person) -> erasure.Erased:
    with wiring.database.writing() as session:
        return erasure.erase_account(session, actor, person.account_id)


def test_a_moderator_erases_themself_and_their_decisions_stay(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    held_id = factories.scored_action(wiring, cast, request_id="post-2")
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.moderator.account_id)
        account.display_name = "Mo Quartzlike"
        account.last_community_id = cast.community_id
        sessions.begin(session, account, "Quartzlike browser")
        known = profiles.ensure(session, PLATFORM, "quartzlike-9", "forum-1", display_name="Quartzlike")
        linking.link(
            session,
            factories.integration(cast),
            known,
            mailed_links.show_code(session, account).text,
        )
    moderator = _actor(wiring, cast.moderator)
    with wiring.database.writing() as session:
        note = session.get_one(Note, session.get_one(Action, action_id).note_id)
        rater = session.get_one(Profile, cast.moderator.profile_id)
        ratings.rate(session, moderator, note, rater, HelpfulnessLevel.HELPFUL, rater_ref="quartzlike-9")
        action = session.get_one(Action, action_id)
        holds.hold(
            session,
            moderator,
            ActionVerb.DISMISS,
            action=action,
            reason=Reason("Quartzlike says so"),
            seconds=0,
        )
        rule = {"id": "a", "category": "spam", "kind": "word", "pattern": "tour", "weight": 0.5}
        operator = replace(moderator, roles={cast.community_id: Role.OPERATOR})
        drafts.put_rule(session, operator, cast.community_id, rule)
        drafts.publish(session, operator, cast.community_id, "Tours")
        drafts.put_rule(session, operator, cast.community_id, rule | {"id": "b"})
    assert wiring.jobs is not None
    wiring.jobs.run_all(delayed=True)  # type: ignore[attr-defined]
    with wiring.database.writing() as session:
        action = session.get_one(Action, held_id)
        holds.hold(session, moderator, ActionVerb.DISMISS, action=action, reason=Reason("Quartzlike again"))
    before = _scores(wiring)

    done = _erase(wiring, moderator, cast.moderator)

    assert done.gone["sign ins"] == done.gone["memberships"] == done.gone["held decisions"] == 1
    assert done.gone["texts in history"] >= 2
    assert done.kept["ratings"] == 1
    assert _scores(wiring) == before
    left = [
        (table, row)
        for table, row in _columns(wiring)
        if "uartzlike" in row or "moderator@" in row or "'Moderator'" in row
    ]
    # The platform's own number for somebody is the platform's, until that person is erased by it.
    assert [table for table, _ in left] == ["profiles"]
    with wiring.database.reading() as session:
        assert history.verify(session, cast.community_id)[1] is None
        assert session.get_one(Action, action_id).action_state == "dismissed"
        assert session.get_one(Account, cast.moderator.account_id).last_community_id is None
        with pytest.raises(Unauthenticated):
            accounts.verify_credentials(session, cast.moderator.email, PASSWORD)

    again = _erase(wiring, SYSTEM, cast.moderator)
    assert not any(again.gone.values())
    with wiring.database.writing() as session:
        accounts.create(session, cast.moderator.email, PASSWORD)


def test_somebody_else_and_the_only_administrator_are_refused(wiring: Wiring, cast: Cast) -> None:
    with pytest.raises(NotFound):
        _erase(wiring, _actor(wiring, cast.admin), cast.rater)
    with wiring.database.writing() as session:
        session.get_one(Account, cast.admin.account_id).service_admin = True
    with pytest.raises(Conflict):
        _erase(wiring, _actor(wiring, cast.admin), cast.admin)
    assert _erase(wiring, _actor(wiring, cast.admin), cast.rater).gone["accounts"] == 1


def test_a_platforms_user_is_erased_by_the_platforms_number(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    factories.rate(wiring, cast, action_id, "HHH", platform="discord")
    with wiring.database.writing() as session:
        for number in (0, 1):
            found = profiles.find(session, "discord", f"rater-{number}")
            assert found is not None
            found.display_name = f"Rater Zirconlike {number}"
    before = _scores(wiring)
    with wiring.database.writing() as session:
        session.get_one(Request, session.get_one(Action, action_id).request_id).extra = {
            "thread": [{"author": "Ann", "text": "@author-1 and Ann said so"}],
            "reporter": {"id": "author-1", "login": "Beryllike"},
        }
        drawn = {"data": {"rater_ids": ["author-1", "rater-9"]}}
        session.add(Event(community_id=cast.community_id, name=EventName.PANEL_DRAWN, payload=drawn))
    with wiring.database.writing() as session:
        with pytest.raises(NotFound):
            erasure.erase_identity(session, SYSTEM, "discord", str(uuid.uuid4()))
        erasure.erase_identity(session, SYSTEM, "discord", "rater-0", note_texts=True)
        erasure.erase_identity(session, SYSTEM, PLATFORM, "author-1", "forum-1")
    assert _scores(wiring) == before
    cells = [row for _, row in _columns(wiring)]
    assert not [row for row in cells if "Zirconlike 0" in row or "'rater-0'" in row or "'author-1'" in row]
    assert not [row for row in cells if "author-1" in row or "Beryllike" in row]
    assert [row for row in cells if "Zirconlike 1" in row]
    assert [row for row in cells if "and Ann said so" in row]
    assert [row for row in cells if "rater-9" in row]
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Rating)) == 3
        assert session.scalars(sa.select(Request.requested_by)).one().startswith("erased-")
        assert history.verify(session, cast.community_id)[1] is None


@pytest.mark.parametrize("by", ["account", "identity"])
def test_erasing_who_rated_much_can_be_killed_at_any_commit_and_goes_on(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr(traces, "AT_ONCE", 2)
    actions = [factories.scored_action(wiring, cast, request_id=f"post-{number}") for number in range(5)]
    with wiring.database.writing() as session:
        person = profiles.ensure(session, "discord", "garnetlike-3", display_name="Garnetlike")
        person.account_id = cast.rater.account_id if by == "account" else None
        who = replace(factories.integration(cast, staff=False, profile_id=person.id), name="Garnetlike")
        for action_id in actions:
            note = session.get_one(Note, session.get_one(Action, action_id).note_id)
            ratings.rate(session, who, note, person, HelpfulnessLevel.HELPFUL, rater_ref="garnetlike-3")
    whom = cast.rater.account_id if by == "account" else profiles.Identity("discord", "garnetlike-3")
    before = _scores(wiring)
    mortal = MortalDatabase(wiring.settings.sqlalchemy_url)
    mortal.enqueue = wiring.database.enqueue

    def left() -> tuple[int, int, int]:
        """Ratings with the person's id, texts of theirs, and entries that say that they are erased."""
        with wiring.database.reading() as session:
            assert history.verify(session, cast.community_id)[1] is None
            named = sa.select(Rating.id).where(Rating.rater_ref == "garnetlike-3")
            texts = sa.select(HistoryText.entry_id).where(HistoryText.actor_name == "Garnetlike")
            said = sa.select(HistoryEntry.id).where(HistoryEntry.what.in_(history.ERASURE_ENTRIES))
            counts = (len(session.scalars(rows).all()) for rows in (named, texts, said))
            return next(counts), next(counts), next(counts)

    seen, done = [left()], None
    while done is None:
        mortal.commits = len(seen)
        try:
            done = erasure.erase(mortal, SYSTEM, whom)
        except Killed:
            seen.append(left())
    mortal.dispose()
    assert (seen[0], seen[-1]) == ((5, 5, 0), (0, 0, 0))
    assert {said for _, _, said in seen} == {0}, "nothing says that they are erased before all of it is"
    assert any(0 < texts < 5 for _, texts, _ in seen)
    assert left() == (0, 0, 3 if by == "account" else 1)
    assert (done.kept["ratings"], _scores(wiring)) == (5, before)
    assert not [row for _, row in _columns(wiring) if "Garnetlike" in row]


def test_the_command_says_first_what_would_go(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.migrate(wiring.settings)
    monkeypatch.setenv("BRIDGENOTE_DATABASE_URL", wiring.settings.database_url)
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(wiring.settings.data_dir))
    before, person = list(_columns(wiring)), ["erase-user", "--email", cast.rater.email]
    dry = CliRunner().invoke(cli, [*person, "--dry-run"])
    assert (dry.exit_code, "1 memberships" in dry.output) == (0, True), dry.output
    assert list(_columns(wiring)) == before
    done = CliRunner().invoke(cli, person)
    assert (done.exit_code, "1 memberships" in done.output) == (0, True), done.output
    assert [row for _, row in _columns(wiring) if cast.rater.email in row] == []
    for wrong in (["--email", cast.rater.email], ["--platform", "discord", "--user-id", "nobody"]):
        assert CliRunner().invoke(cli, ["erase-user", *wrong]).exit_code == 1
    for wrong in ([], ["--platform", "discord"], ["--platform", PLATFORM, "--user-id", "7"]):
        assert CliRunner().invoke(cli, ["erase-user", *wrong]).exit_code == 2


def test_the_command_finds_a_member_by_their_unconfirmed_address(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.migrate(wiring.settings)
    monkeypatch.setenv("BRIDGENOTE_DATABASE_URL", wiring.settings.database_url)
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(wiring.settings.data_dir))
    with wiring.database.writing() as session:
        accounts.insert_unconfirmed_member(session, "ann@example.org", "!", "Ann")
    done = CliRunner().invoke(cli, ["erase-user", "--email", "Ann@Example.org"])
    assert done.exit_code == 0, done.output
    with wiring.database.reading() as session:
        assert accounts.find_unconfirmed_member(session, "ann@example.org") is None
