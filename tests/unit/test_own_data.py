"""What is kept of a person: all of it, for them alone, without secrets and without what is other people's."""

import io
import json
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.db import Base
from app.core.models import Account, Attachment, Note, Profile, SignIn, Skip
from app.core.notes import notes, ratings
from app.core.people import profiles, sessions
from app.core.permissions import SYSTEM, Actor
from app.core.requests import submitting
from app.core.upkeep import erasure, own_data, traces
from app.core.vocabulary import AttachmentKind, AttachmentState, Classification, HelpfulnessLevel, Role
from app.wiring import Wiring
from tests.cast import PLATFORM, Cast

pytestmark = pytest.mark.both_databases

SECRET = ("hash", "salt", "intercept", "factor", "helpfulness_score", "ratings_count", "status")


def _rita(cast: Cast) -> Actor:
    return Actor(
        kind="account",
        name="Rater",
        account_id=cast.rater.account_id,
        profile_id=cast.rater.profile_id,
        roles={cast.community_id: Role.RATER},
        communities=frozenset({cast.community_id}),
    )


def _written(session: Session, cast: Cast) -> dict[str, Any]:
    file = io.StringIO()
    counts = own_data.write(session, cast.rater.account_id, file)
    kept: dict[str, Any] = json.loads(file.getvalue())
    assert counts == {name: len(rows) for name, rows in kept.items() if name != "exported_at"}
    return kept


def test_every_column_that_names_a_person_is_handed_out_or_said_not_to_be() -> None:
    naming = {
        (mapper.class_, column.key)
        for mapper in Base.registry.mappers
        for column in mapper.columns
        if column.key in {"account_id", "profile_id", "rater_id", "author_id"}
        or any(key.column.table.name in {"accounts", "profiles"} for key in column.foreign_keys)
    }
    known = {(part.model, name) for part in own_data.PARTS for name in (*part.by, *part.by_profile)}
    missing = {(model, name) for model, name in naming - known if model not in own_data.NOT_HANDED_OUT}
    assert missing == set()


def test_no_part_hands_out_a_secret_or_a_score() -> None:
    for part in own_data.PARTS:
        for name in part.columns:
            assert name in part.model.__mapper__.columns, f"{part.name}: {name}"
            assert not any(word in name for word in SECRET), f"{part.name}: {name}"


def test_a_person_takes_along_what_is_theirs_and_nothing_of_others(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        rita = session.get_one(Profile, cast.rater.profile_id)
        profiles.ensure(session, PLATFORM, "rita-77", account_id=cast.rater.account_id)
        other = session.get_one(Profile, cast.moderator.profile_id)
        mine, theirs = (
            notes.write(session, SYSTEM, cast.community_id, author, text, Classification.MISLEADING)
            for author, text in ((rita, "Mine to take along"), (other, "Not mine at all"))
        )
        ratings.rate(session, _rita(cast), theirs, rita, HelpfulnessLevel.NOT_HELPFUL, reasons=["biased"])
        ratings.rate(session, SYSTEM, mine, other, HelpfulnessLevel.HELPFUL)
        sessions.begin(session, session.get_one(Account, cast.rater.account_id), "A browser of mine")
    with wiring.database.reading() as session:
        kept = _written(session, cast)
    text = json.dumps(kept)
    assert [row["email"] for row in kept["account"]] == ["rater@example.org"]
    assert [row["summary"] for row in kept["notes"]] == ["Mine to take along"]
    assert [(row["helpfulness_level"], row["reasons"]) for row in kept["ratings"]] == [
        ("NOT_HELPFUL", ["biased"])
    ]
    assert "rating" not in {row["object_type"] for row in kept["history"]}, "they are in the ratings"
    for mine_too in ("rita-77", "A browser of mine"):
        assert mine_too in text
    for not_mine in ("Not mine at all", "moderator@example.org", str(cast.moderator.profile_id)):
        assert not_mine not in text


def test_posts_come_with_their_attachments_in_order(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        profiles.ensure(session, PLATFORM, "rita-77", account_id=cast.rater.account_id)
        for number, author in enumerate(("rita-77", "somebody-else")):
            post = submitting.Submission(f"post-{number}", author, f"Written by {author}")
            made = submitting.submit(session, SYSTEM, cast.community_id, post).request
            session.add_all(
                Attachment(
                    community_id=cast.community_id,
                    request_id=made.id,
                    position=position,
                    url=f"https://cdn.example.org/{author}/{position}.png",
                    kind=AttachmentKind.IMAGE,
                    state=AttachmentState.WAITING,
                )
                for position in (2, 1)
            )
    with wiring.database.reading() as session:
        (post,) = _written(session, cast)["posts"]
    assert post["content"] == "Written by rita-77"
    assert [one["url"] for one in post["attachments"]] == [
        "https://cdn.example.org/rita-77/1.png",
        "https://cdn.example.org/rita-77/2.png",
    ]


def test_after_erasing_nothing_names_the_person_and_no_skip_is_left(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.rater.account_id)
        account.languages, account.avoided_categories, account.break_after_severe = ["de"], ["threat"], 3
        account.key_bindings = {"d": "q"}
        rita = session.get_one(Profile, cast.rater.profile_id)
        note = notes.write(session, SYSTEM, cast.community_id, rita, "My words", Classification.MISLEADING)
        sessions.begin(session, account, "A browser of mine")
        erasure.erase_account(session, _rita(cast), account.id, note_texts=True)
        session.flush()
        session.expire_all()
        account = session.get_one(Account, cast.rater.account_id)
        assert (account.languages, account.avoided_categories, account.break_after_severe) == ([], [], None)
        assert account.key_bindings == {}
        assert session.get_one(Note, note.id).summary == traces.NAMELESS
        for model, column in ((SignIn, SignIn.account_id), (Skip, Skip.profile_id)):
            ids = (cast.rater.account_id, cast.rater.profile_id)
            assert session.scalar(sa.select(sa.func.count()).select_from(model).where(column.in_(ids))) == 0
