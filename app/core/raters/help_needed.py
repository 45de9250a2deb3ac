"""What a rater is asked about: items under community review and samples, not answered or skipped by them."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.classify.language import UNKNOWN, named
from app.core.communities import settings as community_settings
from app.core.helpfulness import eligibility
from app.core.helpfulness.eligibility import Person
from app.core.models import (
    Account,
    Action,
    Note,
    Profile,
    RaterParameters,
    Rating,
    Request,
    SampledPost,
    ScoringState,
    Skip,
)
from app.core.models.decisions import ASKED
from app.core.notes import blindness
from app.core.people import profiles
from app.core.permissions import Actor, Permission, require
from app.core.raters import help_order, samples
from app.core.raters.help_order import Candidate
from app.core.raters.samples import Asked

LOOKED_AT = 100
"""How many items are looked at, however many wait: half of them the oldest, half the newest."""
NEAREST = 60
OLDEST = 20
"""How many of these are ranked: those nearest to enough ratings, and the oldest."""
MOST_COUNTED = 100
"""A count ends here: "100+" tells a rater as much as a larger number, and costs the same in a large community."""


@dataclass(frozen=True)
class Reader:
    """The rater who is asked: their person, and the categories of posts that they prefer not to be asked about."""

    person: Person
    avoided: tuple[str, ...] = ()

    @property
    def names(self) -> Sequence[str]:
        """Their user ids on platforms."""
        return [row.platform_user_id for row in self.person.profiles if row.platform != profiles.WEB]


def reader(session: Session, profile_id: uuid.UUID) -> Reader:
    """The rater with this profile; none without a profile."""
    rater = session.get(Profile, profile_id)
    if rater is None:
        return Reader(Person(()))
    account = session.get(Account, rater.account_id) if rater.account_id else None
    avoided = tuple(account.avoided_categories) if account is not None else ()
    return Reader(eligibility.person_of(session, rater), avoided)


def candidates_for(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    profile_id: uuid.UUID,
    *,
    languages: Collection[str] = (),
    without: Collection[uuid.UUID] = (),
) -> tuple[Sequence[Candidate], float | None]:
    """The items to rank for this rater, and the rater's own factor. ``languages`` are those they read; none: all.

    ``without``: ids of items to leave out, because they are on the page already.
    """
    require(actor, Permission.RATE, community_id)
    who = reader(session, profile_id)
    if not who.person.profiles:
        return [], None
    columns = (
        Action.id,
        Action.note_id,
        Action.action_type,
        sa.func.coalesce(Action.retro_review_at, Action.created_at, type_=Action.created_at.type),
        Request.created_at,
        Action.language,
        Note.ratings_count,
    )
    waiting = _waiting(sa.select(*columns), community_id, profile_id, who, with_posts=True)
    if without:
        waiting = waiting.where(Action.id.not_in(without))
    needed = community_settings.read(session, community_id).min_ratings
    looked_at = oldest_and_newest(
        session, waiting, (Action.created_at, Action.id), Action.language, languages
    )
    rows = nearest_and_oldest(looked_at, needed)
    factor, sides = viewpoints(session, community_id, profile_id, [row.note_id for row in rows])
    candidates = []
    for action_id, note_id, action_type, since, submitted_at, language, ratings in rows:
        below, above = sides.get(note_id, (0, 0))
        counts = action_type not in eligibility.GRAVE or who.person.first_seen <= submitted_at
        read = is_read(language, languages)
        candidates.append(Candidate(action_id, ratings, needed, since, below, above, counts, read))
    sampled = _samples(
        sa.select(SampledPost.id, SampledPost.answers, SampledPost.created_at, Request.language),
        actor,
        community_id,
        profile_id,
        who,
    )
    if without:
        sampled = sampled.where(SampledPost.id.not_in(without))
    read_first = [sa.case((is_read_clause(Request.language, languages), 0), else_=1)] if languages else []
    for sample_id, answers, since, language in session.execute(
        sampled.order_by(
            *read_first, SampledPost.answers.desc(), SampledPost.created_at, SampledPost.id
        ).limit(OLDEST)
    ):
        read = is_read(language, languages)
        candidates.append(Candidate(sample_id, answers, needed, since, is_read=read))
    return candidates, factor


def is_read(language: str | None, languages: Collection[str]) -> bool:
    """Whether a rater of these languages reads a post; a post whose language is not known may be in any."""
    tag = named(language)
    return not languages or tag is None or tag in languages


def is_read_clause(language: Any, languages: Collection[str]) -> sa.ColumnElement[bool]:
    """``is_read`` in SQL, for a column of languages."""
    return sa.or_(language.is_(None), language == UNKNOWN, language.in_(languages))


def oldest_and_newest(
    session: Session,
    waiting: sa.Select[Any],
    order: tuple[Any, Any],
    language: Any,
    languages: Collection[str],
) -> list[Any]:
    """Up to ``LOOKED_AT`` rows of ``waiting``, oldest first: from both ends of ``order``, creation and id.

    Old ones alone would keep new ones from everybody who has not answered them all. Those in a language that the rater
    reads come first.
    """

    def both_ends(statement: sa.Select[Any], most: int) -> list[Any]:
        oldest = session.execute(statement.order_by(*order).limit(most - most // 2)).all()
        falling = [column.desc() for column in order]
        newest = session.execute(statement.order_by(*falling).limit(most // 2)).all()
        return list(dict.fromkeys([*oldest, *reversed(newest)]))

    if not languages:
        return both_ends(waiting, LOOKED_AT)
    of_read = is_read_clause(language, languages)
    rows = both_ends(waiting.where(of_read), LOOKED_AT)
    if len(rows) < LOOKED_AT:
        rows += both_ends(waiting.where(sa.not_(of_read)), LOOKED_AT - len(rows))
    return rows


def nearest_and_oldest(rows: Sequence[Any], needed: int) -> Sequence[Any]:
    """Those of ``rows``, oldest first, that are ranked. A row's last column is its number of ratings."""
    nearest = sorted(rows, key=lambda row: help_order.nearness(row[-1], needed), reverse=True)
    return list(dict.fromkeys([*nearest[:NEAREST], *rows[:OLDEST]]))


def waiting_since(
    session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID, moment: datetime
) -> int:
    """How many items and samples started to wait for this rater after ``moment``."""
    require(actor, Permission.RATE, community_id)
    who = reader(session, profile_id)
    items = _waiting(sa.select(Action.id), community_id, profile_id, who)
    items = items.where(sa.or_(Action.created_at > moment, Action.retro_review_at > moment))
    sampled = _samples(sa.select(SampledPost.id), actor, community_id, profile_id, who)
    return _count(session, items, sampled.where(SampledPost.created_at > moment))


def count(session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID) -> int:
    """How many items and samples wait for this rater, at most ``MOST_COUNTED``."""
    require(actor, Permission.RATE, community_id)
    who = reader(session, profile_id)
    return _count(
        session,
        # In the order of an index, so that PostgreSQL plans to stop early.
        _waiting(sa.select(Action.id), community_id, profile_id, who).order_by(Action.created_at, Action.id),
        _samples(sa.select(SampledPost.id), actor, community_id, profile_id, who),
    )


def _count(session: Session, items: Any, sampled: Any) -> int:
    # Each is limited by itself: PostgreSQL would plan to read all of both otherwise.
    parts = (sa.select(part.limit(MOST_COUNTED).subquery()) for part in (items, sampled))
    both = sa.union_all(*parts).limit(MOST_COUNTED).subquery()
    return session.scalar(sa.select(sa.func.count()).select_from(both)) or 0


def skip(session: Session, actor: Actor, action: Asked, profile_id: uuid.UUID) -> None:
    """Skip an item or a sample. Skipping it again changes nothing."""
    require(actor, Permission.RATE, action.community_id, "item")
    if isinstance(action, SampledPost):
        samples.skip(session, actor, action, session.get_one(Profile, profile_id))
        return
    if session.get(Skip, (profile_id, action.id)) is None:
        session.add(Skip(profile_id=profile_id, action_id=action.id))
        session.flush()


def is_skipped(session: Session, asked: Asked, profile_id: uuid.UUID) -> bool:
    """Whether this rater skipped the item or sample."""
    if isinstance(asked, SampledPost):
        return samples.is_skipped(session, asked, profile_id)
    return session.get(Skip, (profile_id, asked.id), populate_existing=True) is not None


def unskip(session: Session, actor: Actor, action: Asked, profile_id: uuid.UUID) -> None:
    """Offer a skipped item or sample again. Repeating it changes nothing."""
    require(actor, Permission.RATE, action.community_id, "item")
    if isinstance(action, SampledPost):
        samples.unskip(session, action, profile_id)
        return
    session.execute(sa.delete(Skip).where(Skip.profile_id == profile_id, Skip.action_id == action.id))


def _samples(
    statement: Any, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID, who: Reader
) -> Any:
    statement = samples.waiting(statement, actor, community_id, profile_id)
    if who.avoided:
        statement = statement.where(SampledPost.category.not_in(who.avoided))
    return not_theirs(statement, who)


def _waiting(
    statement: Any, community_id: uuid.UUID, profile_id: uuid.UUID, who: Reader, *, with_posts: bool = False
) -> Any:
    """The items of a statement that wait for this rater, joined with their posts if those are needed."""
    # NOT EXISTS and not NOT IN: these look up one row an item, and do not read all that this rater ever did.
    rated = sa.exists().where(
        Rating.note_id == Note.id, Rating.rater_id == profile_id, Rating.note_version == Note.version
    )
    skipped = sa.exists().where(Skip.action_id == Action.id, Skip.profile_id == profile_id)
    statement = statement.join(Note, Note.id == Action.note_id).where(
        Action.community_id == community_id,
        # Written out, not parameters: only so is the index of these few actions used for certain.
        sa.text(ASKED),
        Action.note_id.is_not(None),
        blindness.open_clause(),
        sa.not_(rated),
        sa.not_(skipped),
    )
    # Posts are read only where something of them counts: it is a look-up for each item that waits.
    if with_posts or who.names:
        statement = statement.join(Request, Request.id == Action.request_id)
    if who.avoided:
        statement = statement.where(sa.or_(Action.category.is_(None), Action.category.not_in(who.avoided)))
    return not_theirs(statement, who)


def not_theirs(statement: Any, who: Reader) -> Any:
    """Without posts that the rater submitted or wrote: their rating would not count
    (``eligibility.exclusion_reason``)."""
    if not who.names:
        return statement
    return statement.where(
        Request.requested_by.not_in(who.names),
        sa.or_(Request.platform_author_id.is_(None), Request.platform_author_id.not_in(who.names)),
    )


def viewpoints(
    session: Session, community_id: uuid.UUID, profile_id: uuid.UUID, note_ids: Sequence[uuid.UUID]
) -> tuple[float | None, dict[uuid.UUID, tuple[int, int]]]:
    """This rater's factor, and per note how many raters have a factor below and above zero, under the fit in force.

    (None, {}) without a fit in force, or when it has no factor for this rater.
    """
    in_force = sa.select(ScoringState.model_version).where(ScoringState.community_id == community_id)
    known = sa.and_(
        RaterParameters.community_id == community_id,
        RaterParameters.version == in_force.scalar_subquery(),
        RaterParameters.kept,
    )
    factor = session.scalar(
        sa.select(RaterParameters.factor).where(known, RaterParameters.profile_id == profile_id)
    )
    if not factor:
        return None, {}
    rows = session.execute(
        sa.select(
            Rating.note_id,
            sa.func.sum(sa.case((RaterParameters.factor < 0, 1), else_=0)),
            sa.func.sum(sa.case((RaterParameters.factor > 0, 1), else_=0)),
        )
        .join(RaterParameters, RaterParameters.profile_id == Rating.rater_id)
        .join(Note, sa.and_(Note.id == Rating.note_id, Note.version == Rating.note_version))
        .where(known, Rating.note_id.in_(note_ids), Rating.exclusion_reason.is_(None))
        .group_by(Rating.note_id)
    )
    return factor, {note_id: (int(below), int(above)) for note_id, below, above in rows}
