"""One author in one community: figures, a timeline of posts and what followed, search (docs/moderate/authors.md)."""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import silences, strikes
from app.core.author_facts import NO_FACTS, AuthorFacts, author_facts
from app.core.errors import NotFound
from app.core.models import Action, AuthorNote, Community, Profile, Report, Request, Strike
from app.core.models.decisions import HIDDEN, QUEUED
from app.core.people import profiles
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import ActionType, ReportState

FOUND = 30
"""The most authors that a search lists."""
PAGE = 25
"""How many entries of the timeline a page has."""
REPORTED = 2_000
"""Reports are counted about so many of an author's posts: with 5,000 it takes 22,000 blocks."""
_STEPS = 60
"""The most ids that a search by id looks at."""
Cursor = tuple[datetime, uuid.UUID]
"""The time and the id of the last entry of a page."""


@dataclass(frozen=True)
class Figures:
    """An author's figures. ``first_at``: when their first post was submitted; ``open``: items in the review queue.

    ``points``: of strikes that count now. ``silenced``: the silence in force that ends last.
    """

    posts: int = 0
    first_at: datetime | None = None
    hidden: int = 0
    open: int = 0
    points: int = 0
    silenced: Action | None = None


@dataclass(frozen=True)
class Entry:
    """One row of the timeline: a post with what followed, a strike by hand, a moderators' note, or a report by them.

    ``reports``: how many reports about the post there are, by category and state.
    """

    at: datetime
    id: uuid.UUID
    post: Request | None = None
    actions: Sequence[Action] = ()
    reports: Mapping[tuple[str, ReportState], int] = field(default_factory=dict)
    points: int = 0
    strike: Strike | None = None
    note: AuthorNote | None = None
    report: Report | None = None


@dataclass(frozen=True)
class FoundAuthor:
    """An author in a list. ``name``: what their profile calls them."""

    author: str
    name: str | None
    hidden: int
    open: int
    points: int


@dataclass(frozen=True)
class Standing:
    """An author's standing in a community. ``id`` and both times are their profile's.

    ``silenced_until`` None: there is no silence, or it has no end.
    """

    id: uuid.UUID
    posts: int
    hidden: int
    open: int
    reports: int
    strikes: Sequence[Strike]
    is_silenced: bool
    silenced_until: datetime | None
    created_at: datetime
    updated_at: datetime


def standing(session: Session, actor: Actor, community: Community, profile_id: uuid.UUID) -> Standing:
    """The standing of a profile's person in this community: zeros for one who wrote nothing here.

    Raises NotFound if the profile is unknown or of another community.
    """
    require(actor, Permission.MODERATE, community.id, "user profile")
    profile = _find(session, actor, community, profile_id)
    author = profile.platform_user_id
    found = figures(session, community.id, author)
    return Standing(
        profile.id,
        found.posts,
        found.hidden,
        found.open,
        reports_about(session, community.id, author),
        strikes.of_author(session, community.id, author),
        found.silenced is not None,
        found.silenced.until if found.silenced is not None else None,
        profile.created_at,
        profile.updated_at,
    )


def author_of(
    session: Session, actor: Actor, community: Community, profile_id: uuid.UUID
) -> tuple[Profile, str]:
    """The profile, and the id under which this person writes in the community.

    Raises NotFound if the profile is unknown, of another community, or of a person who wrote and reported nothing here.
    """
    require(actor, Permission.SEE_HISTORY, community.id, "author")
    profile = _find(session, actor, community, profile_id)
    if not _has_written(session, community.id, profile.platform_user_id):
        reported = sa.select(Report.id).where(
            Report.reporter_id == profile.id, Report.community_id == community.id
        )
        if session.scalar(reported.limit(1)) is None:
            raise NotFound("author")
    return profile, profile.platform_user_id


def _find(session: Session, actor: Actor, community: Community, profile_id: uuid.UUID) -> Profile:
    """The profile with this id of a user of the community's platform, as the community counts its users."""
    profile = profiles.get_known(session, actor, profile_id)
    scope = profiles.scope_in(community.platform, community)
    if profile is None or profile.platform != community.platform or profile.provider_scope not in ("", scope):
        raise NotFound("user profile")
    return profile


def profile_of(session: Session, actor: Actor, community: Community, author: str) -> Profile:
    """The profile of an author of this community, made if there is none.

    Raises NotFound if no post of the community is by this author.
    """
    require(actor, Permission.SEE_HISTORY, community.id, "author")
    if not _has_written(session, community.id, author):
        raise NotFound("author")
    return profiles.ensure(
        session, community.platform, author, profiles.scope_in(community.platform, community)
    )


def _has_written(session: Session, community_id: uuid.UUID, author: str) -> bool:
    return session.scalar(sa.select(_by(community_id, author).exists())) is True


def _by(community_id: uuid.UUID, author: str) -> sa.Select[Any]:
    return sa.select(Request.id).where(
        Request.community_id == community_id,
        Request.platform_author_id == author,
        Request.withdrawn_at.is_(None),
    )


def linked_to(session: Session, actor: Actor, profile: Profile) -> Sequence[Profile]:
    """The other profiles of this person that the actor may know of: all are linked to one account."""
    if profile.account_id is None:
        return []
    return session.scalars(
        sa.select(Profile)
        .where(Profile.account_id == profile.account_id, Profile.id != profile.id, profiles.known_to(actor))
        .order_by(Profile.platform, Profile.platform_user_id)
    ).all()


def figures(session: Session, community_id: uuid.UUID, author: str) -> Figures:
    """The author's figures; at most five queries, each on an index of this author's rows."""
    posts, first_at = session.execute(
        _by(community_id, author).with_only_columns(sa.func.count(), sa.func.min(Request.requested_at))
    ).one()
    return Figures(
        posts=posts,
        first_at=first_at,
        hidden=_counts(session, community_id, [author], HIDDEN).get(author, 0),
        open=_counts(session, community_id, [author], QUEUED).get(author, 0),
        points=strikes.points_of(session, community_id, author),
        silenced=silence_of(session, community_id, author),
    )


def _counts(
    session: Session, community_id: uuid.UUID, authors: Collection[str], which: str
) -> dict[str, int]:
    rows = session.execute(
        sa.select(Action.platform_author_id, sa.func.count())
        .where(Action.community_id == community_id, Action.platform_author_id.in_(authors), sa.text(which))
        .group_by(Action.platform_author_id)
    )
    return {author: count for author, count in rows if author}


def silence_of(session: Session, community_id: uuid.UUID, author: str) -> Action | None:
    """The author's silence in force that ends last; one without end comes first."""
    return session.scalars(
        sa.select(Action)
        .where(
            Action.community_id == community_id,
            Action.platform_author_id == author,
            Action.action_type == sa.literal(ActionType.SILENCE, literal_execute=True),
            Action.action_state.in_(silences.IN_FORCE),
            Action.ended_at.is_(None),
        )
        .order_by(Action.until.is_not(None), Action.until.desc())
        .limit(1)
    ).first()


def reports_about(session: Session, community_id: uuid.UUID, author: str) -> int:
    """How many reports there are about the author's newest posts (``REPORTED``), without those that were withdrawn."""
    newest = _by(community_id, author).order_by(Request.requested_at.desc()).limit(REPORTED)
    statement = sa.select(sa.func.count(Report.id)).where(
        Report.request_id.in_(newest), Report.state != ReportState.WITHDRAWN
    )
    return session.scalar(statement) or 0


def facts_of(session: Session, community_id: uuid.UUID, author: str) -> AuthorFacts:
    """What the integration said of the author with their newest post that says anything among the last few."""
    rows = session.scalars(
        _by(community_id, author)
        .with_only_columns(Request.extra)
        .order_by(Request.requested_at.desc())
        .limit(5)
    )
    return next((facts for extra in rows if (facts := author_facts(extra)) != NO_FACTS), NO_FACTS)


def timeline(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    author: str,
    profile_ids: Collection[uuid.UUID],
    *,
    older_than: Cursor | None = None,
) -> tuple[Sequence[Entry], Cursor | None]:
    """A page of the author's timeline, newest first, and the cursor of the next one; seven queries."""
    require(actor, Permission.SEE_HISTORY, community_id, "author")
    posts = _newest(
        session, _by(community_id, author).with_only_columns(Request), Request.requested_at, older_than
    )
    by_hand = sa.select(Strike).where(
        Strike.community_id == community_id, Strike.platform_author_id == author, Strike.action_id.is_(None)
    )
    notes = sa.select(AuthorNote).where(
        AuthorNote.community_id == community_id, AuthorNote.platform_author_id == author
    )
    reports = sa.select(Report).where(
        Report.community_id == community_id, Report.reporter_id.in_(profile_ids)
    )
    found = sorted(
        [
            *(Entry(post.requested_at, post.id, post=post) for post in posts),
            *(
                Entry(strike.created_at, strike.id, strike=strike, points=strike.points)
                for strike in _newest(session, by_hand, Strike.created_at, older_than)
            ),
            *(
                Entry(note.created_at, note.id, note=note)
                for note in _newest(session, notes, AuthorNote.created_at, older_than)
            ),
            *(
                Entry(report.reported_at, report.id, report=report)
                for report in _newest(session, reports, Report.reported_at, older_than)
            ),
        ],
        key=lambda entry: (entry.at, entry.id),
        reverse=True,
    )
    entries = list(_with_what_followed(session, found[:PAGE]))
    return entries, (entries[-1].at, entries[-1].id) if len(found) > PAGE else None


def _newest(session: Session, statement: sa.Select[Any], at: Any, older_than: Cursor | None) -> Sequence[Any]:
    row_id = at.class_.id
    if older_than is not None:
        moment, last = sa.literal(older_than[0], at.type), sa.literal(older_than[1], row_id.type)
        statement = statement.where(at <= moment, sa.or_(at < moment, row_id < last))
    return session.scalars(statement.order_by(at.desc(), row_id.desc()).limit(PAGE + 1)).all()


def _with_what_followed(session: Session, entries: Sequence[Entry]) -> Iterator[Entry]:
    """Add actions, reports and points to the posts among the entries; three queries for all."""
    ids = [entry.id for entry in entries if entry.post is not None]
    actions: dict[uuid.UUID, list[Action]] = {}
    reports: dict[uuid.UUID, dict[tuple[str, ReportState], int]] = {}
    points: dict[uuid.UUID, int] = {}
    if ids:
        for action in session.scalars(
            sa.select(Action).where(Action.request_id.in_(ids)).order_by(Action.created_at, Action.id)
        ):
            actions.setdefault(action.request_id, []).append(action)
        for request_id, category, state, count in session.execute(
            sa.select(Report.request_id, Report.category, Report.state, sa.func.count())
            .where(Report.request_id.in_(ids))
            .group_by(Report.request_id, Report.category, Report.state)
            .order_by(Report.category, Report.state)
        ):
            reports.setdefault(request_id, {})[category, state] = count
        given = sa.select(Action.request_id, sa.func.sum(Strike.points)).join(
            Action, Action.id == Strike.action_id
        )
        for request_id, total in session.execute(
            given.where(Action.request_id.in_(ids), strikes.counting(clock.now())).group_by(Action.request_id)
        ):
            points[request_id] = int(total)
    for entry in entries:
        if entry.post is None:
            yield entry
            continue
        yield Entry(
            entry.at,
            entry.id,
            post=entry.post,
            actions=actions.get(entry.id, ()),
            reports=reports.get(entry.id, {}),
            points=points.get(entry.id, 0),
        )


def search(session: Session, actor: Actor, community: Community, text: str) -> Sequence[FoundAuthor]:
    """Authors by the beginning of their id or a part of their name; without a text those whose strikes count now."""
    require(actor, Permission.SEE_HISTORY, community.id, "author")
    scopes = ("", profiles.scope_in(community.platform, community))
    known = sa.select(Profile.platform_user_id, Profile.display_name).where(
        Profile.platform == community.platform, Profile.provider_scope.in_(scopes)
    )
    if text:
        found = _by_id(session, community.id, text)
        writes = sa.exists().where(
            Request.community_id == community.id, Request.platform_author_id == Profile.platform_user_id
        )
        named = known.where(Profile.display_name.icontains(text, autoescape=True), writes).limit(FOUND)
        found = list(dict.fromkeys([*found, *(author for author, _ in session.execute(named))]))[:FOUND]
    else:
        found = _with_strikes(session, community.id)
    names = {
        author: name
        for author, name in session.execute(known.where(Profile.platform_user_id.in_(found)))
        if name
    }
    hidden = _counts(session, community.id, found, HIDDEN)
    waiting = _counts(session, community.id, found, QUEUED)
    points = strikes.points_by_author(session, community.id, found)
    return [
        FoundAuthor(
            author, names.get(author), hidden.get(author, 0), waiting.get(author, 0), points.get(author, 0)
        )
        for author in found
    ]


def _by_id(session: Session, community_id: uuid.UUID, text: str) -> list[str]:
    """Ids of authors that begin with the text, that very id first.

    It steps from one author to the next in the index of authors: to read each of their posts takes 1,000,000 blocks
    of 1,000,000 posts. The order need not be that of the letters, so it goes on after an id that begins otherwise.
    """
    author = Request.platform_author_id
    here = (Request.community_id == community_id, Request.withdrawn_at.is_(None))
    first = sa.select(author).where(*here, author >= text).order_by(author).limit(1).subquery()
    begin: sa.Select[Any] = sa.select(first.c.platform_author_id.label("author"), sa.literal(1).label("step"))
    steps = begin.cte("steps", recursive=True)
    following = sa.select(author).where(*here, author > steps.c.author).order_by(author).limit(1)
    onward: sa.Select[Any] = sa.select(following.scalar_subquery(), steps.c.step + 1)
    steps = steps.union_all(onward.where(steps.c.author.is_not(None), steps.c.step < _STEPS))
    found = session.scalars(
        sa.select(steps.c.author).where(steps.c.author.startswith(text, autoescape=True)).limit(FOUND)
    ).all()
    return sorted(found, key=lambda one: (one != text, one))


def _with_strikes(session: Session, community_id: uuid.UUID) -> list[str]:
    total = sa.func.sum(Strike.points)
    return list(
        session.scalars(
            sa.select(Strike.platform_author_id)
            .where(Strike.community_id == community_id, strikes.counting(clock.now()))
            .group_by(Strike.platform_author_id)
            .order_by(total.desc(), Strike.platform_author_id)
            .limit(FOUND)
        )
    )
