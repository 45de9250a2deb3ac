"""The scoring analysis: equal to what the rows say after any change."""

import random
import uuid
from collections import Counter
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.errors import Conflict, Forbidden, NotFound
from app.core.insights import insights
from app.core.insights.insights import BORNE_OUT, TOOK_A_SIDE, Reviewer
from app.core.models import Note, Profile, Rating
from app.core.notes import notes, ratings
from app.core.people import accounts, mailed_links, profiles
from app.core.permissions import SYSTEM
from app.core.upkeep import erasure, linking
from app.core.vocabulary import Classification, HelpfulnessLevel, NoteStatus
from app.wiring import Wiring
from tests.cast import PLATFORM, Cast
from tests.clocks import advance, at
from tests.examples import turns

pytestmark = pytest.mark.both_databases

NOW = datetime(2026, 3, 27, 20, tzinfo=UTC)
RATERS = 24
SOMEWHERE = "discord"
"""A platform whose ids are unique, so that a person of it can be erased by theirs."""
Figures = tuple[int, int, int, float | None, list[Reviewer]]


def of_analysis(session: Session, community_id: uuid.UUID) -> Figures:
    """Ratings, those of seven days, raters, the share borne out, and who rated most."""
    found = insights.scoring_analysis(session, SYSTEM, community_id)
    activity = found.activity
    counts = (activity["ratings"], activity["ratings_last_7_days"], activity["raters"])
    return (*counts, found.consensus["agreement"], list(found.top_reviewers))


def of_rows(session: Session, community_id: uuid.UUID) -> Figures:
    """The same from every rating with its note."""
    rows = session.execute(
        sa.select(
            Rating.rater_id,
            sa.case((Rating.updated_at >= clock.now() - insights.WEEK, 1), else_=0),
            sa.case((TOOK_A_SIDE, 1), else_=0),
            sa.case((sa.and_(TOOK_A_SIDE, BORNE_OUT), 1), else_=0),
        )
        .join(Note, Note.id == Rating.note_id)
        .where(
            Rating.community_id == community_id,
            Rating.note_version == Note.version,
            Note.deleted_at.is_(None),
        )
    ).all()
    by_rater: dict[uuid.UUID, list[int]] = {}
    for rater_id, _, sided, borne_out in rows:
        counts = by_rater.setdefault(rater_id, [0, 0, 0])
        counts[:] = counts[0] + 1, counts[1] + sided, counts[2] + borne_out
    most = sorted(by_rater, key=lambda rater_id: (-by_rater[rater_id][0], str(rater_id)))[:10]
    named = session.execute(
        sa.select(Profile.id, Profile.display_name, Profile.platform_user_id).where(Profile.id.in_(most))
    )
    names = {rater_id: display_name or user_id for rater_id, display_name, user_id in named}
    reviewers = []
    for rater_id in most:
        name = names[rater_id]
        count, sided, borne_out = by_rater[rater_id]
        reviewers.append(Reviewer(name, count, round(borne_out / sided, 4) if sided else None))
    reviewers.sort(key=lambda reviewer: (-reviewer.review_count, reviewer.username))
    sided, borne_out = (sum(row[place] for row in rows) for place in (2, 3))
    share = round(borne_out / sided, 4) if sided else None
    return len(rows), sum(row[1] for row in rows), len(by_rater), share, reviewers


class Town:
    """Random notes, ratings and what ends them, with the verbs that make them, in two communities."""

    def __init__(self, wiring: Wiring, cast: Cast, seed: int) -> None:
        self._wiring, self._cast = wiring, cast
        self._chance = random.Random(seed)  # noqa: S311 - the same days each time
        self.done: Counter[str] = Counter()
        self._linked = 0

    def step(self) -> None:
        """One change, in a transaction that also compares what it sees of itself."""
        advance(hours=self._chance.randint(1, 20))
        verbs = {
            self._write: 3,
            self._rate: 12,
            self._settle: 3,
            self._edit: 2,
            self._withdraw: 1,
            self._withdraw_rating: 2,
            self._erase: 1,
            self._link: 1,
        }
        verb = self._chance.choices(list(verbs), list(verbs.values()))[0]
        try:
            with self._wiring.database.writing() as session:
                verb(session)
                session.flush()
                self.compare(session)
        except (Conflict, Forbidden, NotFound):
            return
        self.done[verb.__name__] += 1

    def compare(self, session: Session) -> None:
        for community_id in (self._cast.community_id, self._cast.other_community_id):
            assert of_analysis(session, community_id) == of_rows(session, community_id)

    def _home(self) -> uuid.UUID:
        homes = (*(self._cast.community_id,) * 4, self._cast.other_community_id)
        return self._chance.choice(homes)

    def _rater(self, session: Session) -> Profile:
        # Some rate often, some seldom, so that many have rated equally often.
        number = min(self._chance.randrange(RATERS), self._chance.randrange(RATERS))
        return profiles.ensure(session, SOMEWHERE, f"rater-{number}")

    def _note(self, session: Session) -> Note:
        found = session.scalars(sa.select(Note).where(Note.deleted_at.is_(None)).order_by(Note.id)).all()
        if not found:
            raise NotFound("note")
        return self._chance.choice(found)

    def _write(self, session: Session) -> None:
        author = profiles.ensure(session, PLATFORM, "writer")
        notes.write(session, SYSTEM, self._home(), author, "It is a joke.", Classification.MISLEADING)

    def _rate(self, session: Session) -> None:
        note = self._note(session)
        for _ in range(3):
            level = self._chance.choice(list(HelpfulnessLevel))
            ratings.rate(session, SYSTEM, note, self._rater(session), level)

    def _settle(self, session: Session) -> None:
        self._note(session).status = self._chance.choice(list(NoteStatus))

    def _edit(self, session: Session) -> None:
        notes.edit(session, SYSTEM, self._note(session), f"A joke, {self._chance.random()}")

    def _withdraw(self, session: Session) -> None:
        notes.withdraw(session, SYSTEM, self._note(session))

    def _withdraw_rating(self, session: Session) -> None:
        found = session.scalars(sa.select(Rating).order_by(Rating.id)).all()
        if found:
            ratings.withdraw(session, SYSTEM, self._chance.choice(found))

    def _erase(self, session: Session) -> None:
        erasure.erase_identity(session, SYSTEM, SOMEWHERE, self._rater(session).platform_user_id)

    def _link(self, session: Session) -> None:
        self._linked += 1
        account = accounts.create(session, f"linked-{self._linked}@example.org", "correct horse battery")
        for _ in range(2):
            linking.link(session, SYSTEM, self._rater(session), mailed_links.show_code(session, account).text)


def test_the_analysis_equals_the_rows_after_any_change(wiring: Wiring, cast: Cast) -> None:
    at(NOW)
    town = Town(wiring, cast, seed=1)
    most = 0
    for number in range(turns(60)):
        town.step()
        if number % 10 == 9:
            with wiring.database.reading() as session:
                town.compare(session)
                most = max(most, of_rows(session, cast.community_id)[2])
    assert most > insights.TOP_REVIEWERS, "more raters than are listed"
    assert len(town.done) == 8, town.done
    # Nobody rates any more, and the week ends.
    for _ in range(8):
        advance(days=1)
        with wiring.database.reading() as session:
            town.compare(session)
            found = of_analysis(session, cast.community_id)
    assert found[1] == 0
    assert found[0] > 0
