"""Rules that are written twice, in Python and in SQL, answer alike on every kind of row.

Routing is the third of them: ``test_previews.py`` compares it on random posts.
"""

import itertools

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.ids import new_id
from app.core.models import Action, Note, Profile, Request
from app.core.notes import blindness
from app.core.vocabulary import ActionState, ActionTier, ActionType, Classification, NoteStatus, RequestStatus
from app.wiring import Wiring
from tests.cast import Cast


def _every_kind_of_note(session: Session, cast: Cast) -> None:
    """Notes of people, and rationales of actions in every state and tier; of every status, locked and not."""
    author = session.scalars(sa.select(Profile).limit(1)).one()
    tiers = (*ActionTier, None)
    explained: list[tuple[ActionState, ActionTier | None] | None] = list(
        itertools.product(ActionState, tiers)
    )
    kinds = itertools.product([None, *explained], NoteStatus, (True, False))
    for number, (action, status, locked) in enumerate(kinds):
        request = Request(
            id=new_id(),
            community_id=cast.community_id,
            request_id=f"post-{number}",
            requested_by="u",
            status=RequestStatus.COMPLETED,
            content="x",
            content_sha256="0" * 64,
        )
        session.add(request)
        note = Note(
            id=new_id(),
            community_id=cast.community_id,
            author_id=author.id,
            author_ref="a",
            summary="s",
            classification=Classification.MISLEADING,
            status=status,
            rationale=action is not None,
            locked=locked,
        )
        session.add(note)
        session.flush()
        if action is not None:
            state, tier = action
            session.add(
                Action(
                    id=new_id(),
                    community_id=cast.community_id,
                    request_id=request.id,
                    action_type=ActionType.HIDE,
                    action_tier=tier,
                    action_state=state,
                    decided_verb="hide",
                    note_id=note.id,
                    proposed_at=clock.now(),
                )
            )
    session.flush()


def test_what_raters_may_see_and_what_takes_ratings_is_the_same_in_python_and_in_sql(
    wiring: Wiring, cast: Cast
) -> None:
    with wiring.database.writing() as session:
        _every_kind_of_note(session, cast)
    of_its_action = sa.and_(Action.note_id == Note.id, Action.restores_id.is_(None))
    with wiring.database.reading() as session:
        rows = session.execute(
            sa.select(Note, Action, blindness.outcome_visible_clause(), blindness.open_clause()).outerjoin(
                Action, of_its_action
            )
        ).all()
    assert len(rows) == (len(ActionState) * 3 + 1) * len(NoteStatus) * 2
    for note, action, is_visible, is_open in rows:
        kind = (note.status, note.locked, action and (action.action_state, action.action_tier))
        assert bool(is_visible) == blindness.outcome_visible_to_raters(note, action), kind
        assert bool(is_open) == (not blindness.is_closed(note, action)), kind
    assert {bool(is_visible) for *_, is_visible, _ in rows} == {True, False}
    assert {bool(is_open) for *_, is_open in rows} == {True, False}
