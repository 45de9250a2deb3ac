"""What a platform withdraws is gone: its text is in no table any more, and what was decided stays."""

import uuid
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from app.core.db import Base
from app.core.history import chain as history
from app.core.models import Action, Attachment, Decision, HistoryEntry, Request, Score
from app.core.requests import submitting
from app.core.vocabulary import ActionState
from app.jobs.upkeep import remove_content
from app.wiring import Wiring
from tests import factories
from tests.attached import attach
from tests.cast import Cast

pytestmark = pytest.mark.both_databases

MARKER = "Amethystine"
TEXT = f"{MARKER} people like you are idiots and everybody here knows it"


def _post(wiring: Wiring, cast: Cast) -> uuid.UUID:
    """A post in review, with all that can come with one."""
    with wiring.database.writing() as session:
        made = submitting.submit(
            session,
            factories.integration(cast),
            cast.community_id,
            submitting.Submission(
                "post-1",
                "reporter-1",
                TEXT,
                platform_author_id=f"{MARKER}-author",
                extra={"title": f"{MARKER} thread", "thread": [{"author": MARKER, "text": MARKER}]},
            ),
        )
    wiring.jobs.run_all()  # type: ignore[union-attr]
    return made.request.id


def _cells(wiring: Wiring) -> Iterator[str]:
    with wiring.database.reading() as session:
        for table in Base.metadata.tables.values():
            for row in session.execute(sa.select(table)):
                yield f"{table.name}: {tuple(row)!r}"


def _withdraw(wiring: Wiring, cast: Cast, request_id: uuid.UUID) -> None:
    with wiring.database.writing() as session:
        submitting.withdraw(session, factories.integration(cast), session.get_one(Request, request_id))


def test_nothing_of_a_withdrawn_post_is_left_but_its_decision_and_its_hash(
    wiring: Wiring, cast: Cast
) -> None:
    request_id = _post(wiring, cast)
    with wiring.database.reading() as session:
        action_id = session.scalars(sa.select(Action.id).where(Action.request_id == request_id)).one()
        hashed = session.get_one(Request, request_id).content_sha256
    attach(wiring, action_id)
    assert any(MARKER in cell for cell in _cells(wiring))
    _withdraw(wiring, cast, request_id)
    assert [cell for cell in _cells(wiring) if MARKER in cell] == []
    with wiring.database.reading() as session:
        request = session.get_one(Request, request_id)
        assert request.content_sha256 == hashed
        assert (request.extra, request.platform_author_id, request.has_attachments) == (None, None, False)
        assert request.content_removed_at is not None
        assert session.get_one(Action, action_id).action_state is ActionState.DISMISSED
        assert session.scalars(sa.select(Decision).where(Decision.request_id == request_id)).one()
        assert session.scalars(sa.select(Attachment)).all() == []
        scores = session.scalars(sa.select(Score).where(Score.request_id == request_id)).all()
        assert scores
        assert not any("start" in match for score in scores for match in score.matches)
        authors = sa.select(HistoryEntry.author).where(HistoryEntry.object_id == action_id)
        assert set(session.scalars(authors)) == {None}
        assert history.verify(session, cast.community_id)[1] is None
    assert factories.submit(wiring, cast) != request_id, "its id is free again"


def test_posts_that_were_withdrawn_before_are_emptied_by_the_upkeep(wiring: Wiring, cast: Cast) -> None:
    request_id = _post(wiring, cast)
    factories.submit(wiring, cast, "Another text", "post-2")
    with wiring.database.writing() as session:
        request = session.get_one(Request, request_id)
        request.withdrawn_at = request.requested_at
    for _ in range(2):
        remove_content(wiring)
    assert [cell for cell in _cells(wiring) if MARKER in cell] == []
    with wiring.database.reading() as session:
        texts = session.scalars(sa.select(Request.content)).all()
        assert sorted(texts) == ["Another text", "The submission was withdrawn"]
        assert history.verify(session, cast.community_id)[1] is None
