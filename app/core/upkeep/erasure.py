"""Forgetting a person: what names them goes, what they decided stays under nobody's name (Decision 0021).

Ratings and decisions stay, so that no score changes and no decision loses its ground. Of history only the texts go
(``HistoryText``: name, reason, comment, and the salt, without which nobody can try names against the hash), so every
chain still verifies.
"""

import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.db import serialise
from app.core.errors import Conflict, Invalid, NotFound
from app.core.history import chain as history
from app.core.models import (
    Account,
    AccountLink,
    Action,
    Community,
    HistoryEntry,
    HistoryText,
    Hold,
    LinkCode,
    Membership,
    Note,
    Notice,
    Profile,
    Rating,
    Request,
    RulePackDraft,
    RulePackVersion,
    SavedFilter,
    SignIn,
    ThresholdSet,
)
from app.core.people import members, profiles
from app.core.permissions import SYSTEM, Actor
from app.core.review import holds

NAMELESS = "Erased"
"""What stands where a name was and may not be empty."""

TOLD = ("account.erased", "profile.erased")
"""The entries that tell of an erasure; they hold nothing to erase."""

NO_PASSWORD = "!"  # noqa: S105 - no password has this hash
OWN = (SignIn, AccountLink, LinkCode, Membership, SavedFilter, Notice)
"""Rows with an ``account_id`` that are nobody else's: they go with the account."""


@dataclass(frozen=True)
class Erased:
    """What one erasure did, as ``{what: rows}``: ``gone``, and ``kept`` under nobody's name."""

    gone: dict[str, int]
    kept: dict[str, int]


def erase_account(
    session: Session, actor: Actor, account_id: uuid.UUID, *, note_texts: bool = False
) -> Erased:
    """Erase a person who signs in here. Said again, it changes nothing.

    The account's row stays, for others refer to it, with nothing of the person in it; nobody can sign in to it. The
    profiles lose their names and their link to each other. ``note_texts``: the text of the person's notes goes too.

    Raises:
        NotFound: no such account, or somebody else's.
        Conflict: the only service administrator cannot go: nobody could appoint another; nor can the last admin of
            a community that is open.
    """
    if not (actor.kind == "system" or actor.service_admin or actor.account_id == account_id):
        raise NotFound("account")
    serialise(session, members.SERVICE)
    account = session.scalars(
        sa.select(Account)
        .where(Account.id == account_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).first()
    if account is None:
        raise NotFound("account")
    if actor.kind != "system" and _is_only_admin(session, account):
        raise Conflict("You are the only service administrator; make somebody else one first", account.id)
    people = session.scalars(sa.select(Profile).where(Profile.account_id == account.id)).all()
    held = session.execute(sa.select(Hold.id, Hold.community_id).where(Hold.account_id == account.id)).all()
    told = _communities_of(session, account, people)
    for community_id in sorted({*told, *(one.community_id for one in held)}):
        serialise(session, community_id)
    if actor.account_id == account.id:
        members.refuse_last_admin(session, actor)
    # Nothing has heard of a held decision yet; there will be nobody to have made it.
    for hold_id, _ in held:
        with suppress(Conflict):  # it was carried out just now, and stays as a decision
            holds.undo(session, SYSTEM, hold_id)
    is_new = account.email != _nowhere(account)
    gone = {"accounts": int(is_new), "held decisions": len(held)}
    gone |= {model.__tablename__.replace("_", " "): _delete(session, model, account) for model in OWN}
    gone |= _forget(session, people, account, note_texts=note_texts)
    kept = _kept(session, people)
    session.execute(
        sa.update(Community)
        .where(Community.id.in_(told), Community.paused_by == account.display_name)
        .values(paused_by=NAMELESS, updated_at=Community.updated_at)
        .execution_options(synchronize_session=False)
    )
    session.execute(
        sa.update(RulePackDraft)
        .where(RulePackDraft.community_id.in_(told), RulePackDraft.changed_by == account.display_name)
        .values(changed_by=NAMELESS)
        .execution_options(synchronize_session=False)
    )
    _empty(session, account)
    for profile in people:
        profile.account_id = None
    session.flush()
    if is_new:
        _tell(session, actor, told, "account", account.id, account.id)
    return Erased(gone, kept)


def erase_identity(
    session: Session,
    actor: Actor,
    platform: str,
    user_id: str,
    provider_scope: str = "",
    *,
    note_texts: bool = False,
) -> Erased:
    """Erase a person as a platform knows them, and the account that their profile is linked to.

    Wherever their user id stood, as a post's author or submitter, a note's author or a rater, a made-up one stands
    instead. What the platform itself keeps is the platform's: what it sends of them later makes a new profile.

    Raises:
        Invalid: this platform's user ids mean one person only together with a ``provider_scope``.
        NotFound: nobody of this name is known here.
    """
    identity = profiles.Identity(platform, user_id, provider_scope)
    if not (actor.kind == "system" or actor.service_admin):
        raise NotFound("user profile")
    if not profiles.is_complete(identity):
        raise Invalid.field("provider_scope", f"is needed: {platform} counts users anew in every community")
    profile = profiles.find(session, *identity)
    within = sa.select(Community.id).where(Community.platform == platform)
    if provider_scope:
        within = within.where(Community.platform_community_server_id == provider_scope)
    is_known = session.scalar(sa.select(Request.id).where(_mentions(within, user_id)).limit(1)) is not None
    if profile is None and not is_known:
        raise NotFound("user profile")
    account_id = profile.account_id if profile is not None else None
    whole = erase_account(session, actor, account_id, note_texts=note_texts) if account_id else Erased({}, {})
    gone, kept, people = dict(whole.gone), dict(whole.kept), [profile] if profile is not None else []
    told = {one.community_id for one in session.execute(_where_active(people))}
    told |= set(session.scalars(sa.select(Request.community_id).where(_mentions(within, user_id)).distinct()))
    for community_id in sorted(told):
        serialise(session, community_id)
    pseudonym = f"erased-{profile.id if profile is not None else uuid.uuid4()}"
    for what, rows in _forget(session, people, None, note_texts=note_texts).items():
        gone[what] = gone.get(what, 0) + rows
    for what, rows in _kept(session, people).items():
        kept[what] = kept.get(what, 0) + rows
    gone["names on posts"] = _rename_on_posts(session, within, user_id, pseudonym)
    if profile is not None:
        profile.platform_user_id = pseudonym
        session.flush()
        _tell(session, actor, told, "profile", profile.id, None)
    return Erased(gone, kept)


def _is_only_admin(session: Session, account: Account) -> bool:
    others = sa.select(Account.id).where(
        Account.service_admin, Account.disabled_at.is_(None), Account.id != account.id
    )
    return account.service_admin and session.scalar(others.limit(1)) is None


def _nowhere(account: Account) -> str:
    """An address that no mail reaches (RFC 2606), one of its own for each: the column is unique."""
    return f"{account.id}@erased.invalid"


def _empty(session: Session, account: Account) -> None:
    now = clock.now()
    account.email, account.display_name = _nowhere(account), NAMELESS
    account.password_hash = NO_PASSWORD
    account.service_admin = False
    account.confirmed_at = None
    account.disabled_at = account.disabled_at or now
    account.theme, account.timezone = "system", "UTC"
    account.shortcuts = account.content_warnings = True
    account.last_community_id = None
    session.execute(
        sa.update(Action)
        .where(Action.claimed_by_id == account.id)
        .values(claimed_by_id=None, claimed_until=None, updated_at=Action.updated_at)
        .execution_options(synchronize_session=False)
    )
    for model, what in ((ThresholdSet, "policy.revised"), (RulePackVersion, "rules.revised")):
        made = sa.select(HistoryEntry.object_id).where(
            HistoryEntry.account_id == account.id, HistoryEntry.what == what
        )
        session.execute(
            sa.update(model)
            .where(model.id.in_(made))
            .values(made_by=NAMELESS)
            .execution_options(synchronize_session=False)
        )


def _forget(
    session: Session, people: Sequence[Profile], account: Account | None, *, note_texts: bool
) -> dict[str, int]:
    """Take names and words from the profiles and from history: what went, in rows."""
    identities = [one.id for one in people]
    theirs: sa.ColumnElement[bool] = HistoryEntry.profile_id.in_(identities)
    if account is not None:
        # With what others wrote when they gave this person a role or took it away.
        about = sa.and_(HistoryEntry.object_type == "account", HistoryEntry.object_id == account.id)
        theirs = sa.or_(theirs, HistoryEntry.account_id == account.id, about)
    gone = {"texts in history": _erase_texts(session, theirs)}
    gone["names"] = sum(one.display_name is not None or bool(one.extra) for one in people)
    for profile in people:
        profile.display_name, profile.extra = None, {}
    # How the platform calls them stands with what they gave, too.
    for model, column, ref in ((Rating, Rating.rater_id, "rater_ref"), (Note, Note.author_id, "author_ref")):
        for identity in identities:
            session.execute(
                sa.update(model)
                .where(column == identity)
                .values({ref: str(identity), "updated_at": model.updated_at})
                .execution_options(synchronize_session=False)
            )
    if note_texts:
        gone["texts of notes"] = _changed(
            session,
            sa.update(Note)
            .where(Note.author_id.in_(identities), Note.summary != NAMELESS)
            .values(summary=NAMELESS, sources=[], updated_at=Note.updated_at),
        )
    return gone


def _erase_texts(session: Session, theirs: sa.ColumnElement[bool]) -> int:
    return _changed(
        session,
        sa.update(HistoryText)
        .where(
            HistoryText.entry_id.in_(
                sa.select(HistoryEntry.id).where(theirs, HistoryEntry.what.not_in(TOLD))
            ),
            HistoryText.erased_at.is_(None),
        )
        .values(actor_name="", reason="", comment="", salt="", erased_at=clock.now()),
    )


def _mentions(within: sa.Select[Any], user_id: str) -> sa.ColumnElement[bool]:
    return sa.and_(
        Request.community_id.in_(within),
        sa.or_(Request.platform_author_id == user_id, Request.requested_by == user_id),
    )


def _rename_on_posts(session: Session, within: sa.Select[Any], user_id: str, pseudonym: str) -> int:
    rows = 0
    for column in (Request.platform_author_id, Request.requested_by):
        rows += _changed(
            session,
            sa.update(Request)
            .where(Request.community_id.in_(within), column == user_id)
            .values({column.key: pseudonym, "updated_at": Request.updated_at}),
        )
    return rows


def _delete(session: Session, model: Any, account: Account) -> int:
    theirs = model.account_id == account.id
    if model is AccountLink:
        # Invitations and the like, from before there was an account, know the address alone.
        theirs = sa.or_(theirs, model.email == account.email, model.previous_email == account.email)
    return _changed(session, sa.delete(model).where(theirs))


def _changed(session: Session, statement: sa.Update | sa.Delete) -> int:
    result = session.execute(statement.execution_options(synchronize_session=False))
    return int(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE's result is a CursorResult


def _where_active(people: Sequence[Profile]) -> sa.CompoundSelect[Any]:
    identities = [one.id for one in people]
    return sa.union(
        sa.select(Rating.community_id).where(Rating.rater_id.in_(identities)),
        sa.select(Note.community_id).where(Note.author_id.in_(identities)),
    )


def _communities_of(session: Session, account: Account, people: Sequence[Profile]) -> set[uuid.UUID]:
    """Where it is told that somebody went: wherever they had a role, rated or wrote."""
    member = sa.select(Membership.community_id).where(Membership.account_id == account.id)
    return {*session.scalars(member), *(row.community_id for row in session.execute(_where_active(people)))}


def _kept(session: Session, people: Sequence[Profile]) -> dict[str, int]:
    identities = [one.id for one in people]
    counts = {"ratings": (Rating, Rating.rater_id), "notes": (Note, Note.author_id)}
    return {
        what: session.scalar(sa.select(sa.func.count()).select_from(model).where(column.in_(identities))) or 0
        for what, (model, column) in counts.items()
    }


def _tell(
    session: Session,
    actor: Actor,
    communities: set[uuid.UUID],
    kind: str,
    identity: uuid.UUID,
    account_id: uuid.UUID | None,
) -> None:
    """One entry in each community's history, without the name of whoever erased themself."""
    if account_id is not None and actor.account_id == account_id:
        actor = replace(actor, name=NAMELESS)
    for community_id in sorted(communities):
        history.record(session, actor, community_id, f"{kind}.erased", kind, identity)
