"""Erases a person: their names are removed, their decisions stay without a name (decision 0021).

Ratings and decisions stay, so that no score changes and every decision keeps its basis. Of history only the texts
are removed (``HistoryText``: name, reason, comment, and the salt, without which nobody can test names against the
hash), so that every chain still verifies.
"""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, security_events
from app.core.attachments import files
from app.core.db import Database, serialise
from app.core.errors import Conflict, Invalid, NotFound
from app.core.history import chain as history
from app.core.learning import versions
from app.core.models import (
    Account,
    AccountLink,
    Action,
    AuthorNote,
    Community,
    HistoryEntry,
    Hold,
    LinkCode,
    Membership,
    MutedReporter,
    Note,
    NoteDraft,
    Notice,
    OwnDataFile,
    Passkey,
    Profile,
    ProviderGroupMember,
    Rating,
    RecoveryCode,
    Removal,
    Report,
    Request,
    RulePackDraft,
    RulePackVersion,
    SavedFilter,
    SignIn,
    SignInStep,
    Strike,
    ThresholdSet,
    Wave,
)
from app.core.models import (
    Identity as ProviderIdentity,
)
from app.core.people import members, profiles
from app.core.people.profiles import Identity
from app.core.permissions import SYSTEM, Actor
from app.core.requests import kept_facts
from app.core.review import holds
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.upkeep import traces
from app.core.upkeep.traces import Person
from app.core.vocabulary import Digest, MediaVeil

NO_PASSWORD = "!"  # noqa: S105 - no password has this hash
OWN: tuple[Any, ...] = (
    SignIn,
    SignInStep,
    ProviderIdentity,
    Passkey,
    RecoveryCode,
    AccountLink,
    LinkCode,
    Membership,
    Removal,
    SavedFilter,
    Notice,
    NoteDraft,
    OwnDataFile,
)
"""Tables with an ``account_id`` whose rows belong only to that account: they are deleted with it."""


@dataclass(frozen=True)
class Erased:
    """The result of one erasure, as ``{what: rows}``: ``gone``, and ``kept`` without a name.

    ``emails`` and ``name`` are those that the account had, for what is outside the database.
    """

    gone: dict[str, int]
    kept: dict[str, int]
    emails: frozenset[str] = frozenset()
    name: str = ""


def erase(
    database: Database, actor: Actor, whom: uuid.UUID | Identity, *, note_texts: bool = False
) -> Erased:
    """Erase a person as ``erase_within`` does, and the many rows before that in transactions of their own.

    Killed in between, it is called again and goes on: only the last transaction takes what the person is found by, and
    says that they are erased. Raises what ``erase_account`` and ``erase_identity`` raise.
    """
    with database.reading() as session:
        statements = list(_blanking(session, actor, whom))
    texts = 0
    for what, statement in statements:
        with database.writing() as session:
            rows = bulk.change(session, statement)
        texts += rows if what == traces.TEXTS else 0
    with database.writing() as session:
        erased = erase_within(session, actor, whom, note_texts=note_texts)
    return replace(erased, gone=erased.gone | {traces.TEXTS: erased.gone[traces.TEXTS] + texts})


def erase_within(
    session: Session, actor: Actor, whom: uuid.UUID | Identity, *, note_texts: bool = False
) -> Erased:
    """Erase an account, or the person of a platform identity, in one transaction."""
    if isinstance(whom, Identity):
        return erase_identity(session, actor, *whom, note_texts=note_texts)
    return erase_account(session, actor, whom, note_texts=note_texts)


def _blanking(session: Session, actor: Actor, whom: uuid.UUID | Identity) -> Iterator[traces.Blanking]:
    """The statements for the many rows; refuses what would be refused at the end."""
    profile = None
    if isinstance(whom, Identity):
        profile = _find(session, actor, whom)
        if profile is None:
            return
    account_id = profile.account_id if profile is not None else whom
    if isinstance(account_id, uuid.UUID):
        account = _erasable(session, actor, account_id)
        if actor.account_id == account.id:
            members.refuse_last_admin(session, actor)
        yield from traces.blanking(session, _profiles_of(session, account), account)
    elif profile is not None:
        yield from traces.blanking(session, [profile], None)


def erase_account(
    session: Session, actor: Actor, account_id: uuid.UUID, *, note_texts: bool = False
) -> Erased:
    """Erase a person who signs in here. Repeating it changes nothing.

    The account's row stays, because others refer to it, without personal data; nobody can sign in to it. The
    profiles lose their names and their link to each other. ``note_texts``: also erase the text of the person's
    notes.

    Raises:
        NotFound: no such account, or another person's.
        Conflict: the only service admin cannot be erased, because nobody could appoint another; nor can the last
            admin of an open community.
    """
    serialise(session, members.SERVICE)
    session.execute(sa.select(Account.id).where(Account.id == account_id).with_for_update())
    account = _erasable(session, actor, account_id)
    linked_profiles = _profiles_of(session, account)
    pending_holds = session.execute(
        sa.select(Hold.id, Hold.community_id).where(Hold.account_id == account.id)
    ).all()
    community_ids = _communities_of(session, account, linked_profiles)
    for community_id in sorted({*community_ids, *(hold.community_id for hold in pending_holds)}):
        serialise(session, community_id)
    if actor.account_id == account.id:
        members.refuse_last_admin(session, actor)
    # A held decision has had no effect yet, and the person who made it is about to be erased.
    for hold_id, _due in pending_holds:
        with suppress(Conflict):  # it was carried out just now, and stays as a decision
            holds.undo(session, SYSTEM, hold_id)
    is_new = account.email != _placeholder_email(account)
    emails = _emails(session, account) if is_new else frozenset()
    name = account.display_name if is_new else ""
    gone_names = sum(_forget_names(session, profile) for profile in linked_profiles)
    gone = {"accounts": int(is_new), "held decisions": len(pending_holds)}
    gone |= {model.__tablename__.replace("_", " "): _delete(session, model, account) for model in OWN}
    gone |= {"names in metadata": gone_names}
    gone |= traces.forget(session, linked_profiles, account, note_texts=note_texts)
    kept = _kept(session, linked_profiles)
    # Later posts are not decided in their name any more.
    own_waves = sa.update(Wave).where(Wave.account_id == account.id)
    bulk.change(session, own_waves.values(account_id=None, joins=False, reason=None, author_text=None))
    for column, community in (
        (Community.paused_by, Community.id),
        (RulePackDraft.changed_by, RulePackDraft.community_id),
    ):
        _remove_name(session, column, column == account.display_name, community.in_(community_ids))
    _empty(session, account)
    for profile in linked_profiles:
        profile.account_id = None
    session.flush()
    if is_new:
        security_events.log_at_commit(session, SecurityEvent.ACCOUNT_ERASED, actor, account_id=account.id)
        authors = [profile.platform_user_id for profile in linked_profiles]
        versions.person_erased(session, community_ids, authors)
        _tell(session, actor, community_ids, "account", account.id, account.id)
        # The history says of each whose texts are erased, so that a text that is put back is found.
        for profile in linked_profiles:
            _tell(session, actor, community_ids, "profile", profile.id, account.id)
    return Erased(gone, kept, emails, name)


def erase_identity(
    session: Session,
    actor: Actor,
    platform: str,
    user_id: str,
    provider_scope: str = "",
    *,
    note_texts: bool = False,
) -> Erased:
    """Erase a person by their platform identity, including the account that their profile is linked to.

    Their user id is replaced by a pseudonym everywhere: as a post's author or submitter, a note's author or a
    rater, and in the metadata of posts. The attachments of their posts, the notes about them and their strikes are
    deleted. The platform's own data is not affected: what it sends about them later creates a new profile.

    Raises:
        Invalid: this platform's user ids are unique only together with a ``provider_scope``.
        NotFound: no person with this id is known here.
    """
    profile = _find(session, actor, Identity(platform, user_id, provider_scope))
    display_name = profile.display_name if profile is not None else None
    in_communities = sa.select(Community.id).where(Community.platform == platform)
    if provider_scope:
        in_communities = in_communities.where(Community.platform_community_server_id == provider_scope)
    is_known = (
        session.scalar(sa.select(Request.id).where(traces.mentioning(in_communities, user_id)).limit(1))
        is not None
    )
    if profile is None and not is_known:
        raise NotFound("user profile")
    account_id = profile.account_id if profile is not None else None
    account_result = (
        erase_account(session, actor, account_id, note_texts=note_texts) if account_id else Erased({}, {})
    )
    gone, kept, people = (
        dict(account_result.gone),
        dict(account_result.kept),
        [profile] if profile is not None else [],
    )
    community_ids = {row.community_id for row in session.execute(_where_active(people))}
    community_ids |= set(
        session.scalars(
            sa.select(Request.community_id).where(traces.mentioning(in_communities, user_id)).distinct()
        )
    )
    for community_id in sorted(community_ids):
        serialise(session, community_id)
    pseudonym = f"erased-{profile.id if profile is not None else uuid.uuid4()}"
    for what, rows in traces.forget(session, people, None, note_texts=note_texts).items():
        gone[what] = gone.get(what, 0) + rows
    for what, rows in _kept(session, people).items():
        kept[what] = kept.get(what, 0) + rows
    # A picture or the name of a file may show the person. The words of their posts stay, as the decisions' basis.
    gone["attachments"] = files.remove(session, traces.with_attachments(session, in_communities, user_id))
    about_them = sa.delete(AuthorNote).where(
        AuthorNote.community_id.in_(in_communities), AuthorNote.platform_author_id == user_id
    )
    gone["notes about authors"] = bulk.change(session, about_them)
    against_them = sa.delete(Strike).where(
        Strike.community_id.in_(in_communities), Strike.platform_author_id == user_id
    )
    gone["strikes"] = bulk.change(session, against_them)
    gone["facts about posts"] = kept_facts.forget_author(session, in_communities, user_id)
    person = Person([user_id], [display_name] if display_name else [], pseudonym)
    own_posts = sa.select(Request.id).where(traces.mentioning(in_communities, user_id))
    gone["names in metadata"] = (
        gone.get("names in metadata", 0)
        + traces.rename_own(session, own_posts, person)
        + traces.rename(session, in_communities, person)
    )
    gone["names on posts"] = traces.rename_on_posts(session, in_communities, user_id, pseudonym)
    versions.person_erased(session, community_ids, [pseudonym])
    if profile is not None:
        profile.platform_user_id = pseudonym
        session.flush()
        _tell(session, actor, community_ids, "profile", profile.id, None)
    return replace(account_result, gone=gone, kept=kept)


def _erasable(session: Session, actor: Actor, account_id: uuid.UUID) -> Account:
    """The account. Raises NotFound, and Conflict for the only service admin."""
    if not (actor.kind == "system" or actor.service_admin or actor.account_id == account_id):
        raise NotFound("account")
    account = session.get(Account, account_id, populate_existing=True)
    if account is None:
        raise NotFound("account")
    if actor.kind != "system" and _is_only_admin(session, account):
        raise Conflict(_("You are the only service administrator; appoint another one first"), account.id)
    return account


def _profiles_of(session: Session, account: Account) -> Sequence[Profile]:
    return session.scalars(sa.select(Profile).where(Profile.account_id == account.id)).all()


def _find(session: Session, actor: Actor, identity: Identity) -> Profile | None:
    """The person's profile, if they have one. Raises NotFound and Invalid as ``erase_identity`` does."""
    if not (actor.kind == "system" or actor.service_admin):
        raise NotFound("user profile")
    if not profiles.is_complete(identity):
        platform = identity.platform
        raise Invalid.field(
            "provider_scope",
            _("is needed: %(platform)s counts users anew in every community", platform=platform),
        )
    return profiles.find(session, *identity)


def _emails(session: Session, account: Account) -> frozenset[str]:
    """The account's address, and those that it had or was to get in the last weeks."""
    links = session.execute(
        sa.select(AccountLink.email, AccountLink.previous_email).where(AccountLink.account_id == account.id)
    )
    return frozenset({account.email, *(email for link in links for email in link if email)})


def _forget_names(session: Session, profile: Profile) -> int:
    """Remove the name of an account's profile from metadata. Its id there is the platform's, as in the profile."""
    if not profile.display_name:
        return 0
    in_communities = sa.select(Community.id).where(Community.platform == profile.platform)
    return traces.rename(session, in_communities, Person([], [profile.display_name], traces.NAMELESS))


def _is_only_admin(session: Session, account: Account) -> bool:
    others = sa.select(Account.id).where(
        Account.service_admin, Account.disabled_at.is_(None), Account.id != account.id
    )
    return account.service_admin and session.scalar(others.limit(1)) is None


def _placeholder_email(account: Account) -> str:
    """A unique address that no mail reaches (RFC 2606): the column is unique."""
    return f"{account.id}@erased.invalid"


def _empty(session: Session, account: Account) -> None:
    now = clock.now()
    account.email, account.display_name = _placeholder_email(account), traces.NAMELESS
    account.password_hash = NO_PASSWORD
    account.service_admin = False
    account.confirmed_at = None
    account.disabled_at = account.disabled_at or now
    account.theme, account.timezone = "system", "UTC"
    account.shortcuts = account.content_warnings = True
    account.digest, account.digest_sent_at, account.undo_seconds = Digest.OFF, None, None
    account.media_veil = MediaVeil.BLUR
    account.languages, account.avoided_categories, account.break_after_severe = [], [], None
    account.key_bindings = {}
    account.last_community_id = None
    account.totp_secret = account.totp_since = account.totp_step = account.two_step_asked_at = None
    bulk.change(
        session,
        sa.update(Action)
        .where(Action.claimed_by_id == account.id)
        .values(claimed_by_id=None, claimed_until=None, updated_at=Action.updated_at),
    )
    bulk.change(
        session,
        sa.update(Action)
        .where(Action.assigned_to_id == account.id)
        .values(assigned_to_id=None, updated_at=Action.updated_at),
    )
    _remove_name(session, AuthorNote.account_name, AuthorNote.account_id == account.id)
    _remove_name(session, MutedReporter.account_name, MutedReporter.account_id == account.id)
    _remove_name(session, Strike.account_name, Strike.account_id == account.id)
    _remove_name(session, Strike.lifted_by_name, Strike.lifted_by_id == account.id)
    for column, what in (
        (ThresholdSet.made_by, "policy.revised"),
        (RulePackVersion.made_by, "rules.revised"),
    ):
        made_by_them = sa.select(HistoryEntry.object_id).where(
            HistoryEntry.account_id == account.id, HistoryEntry.what == what
        )
        _remove_name(session, column, column.class_.id.in_(made_by_them))


def _remove_name(session: Session, column: Any, *rows: sa.ColumnElement[bool]) -> None:
    """Replace the person's name in a column of the rows that fulfil all conditions; it is no change of the row."""
    model = column.class_
    values = {column.key: traces.NAMELESS}
    if hasattr(model, "updated_at"):
        values["updated_at"] = model.updated_at
    bulk.change(session, sa.update(model).where(*rows).values(values))


def _delete(session: Session, model: Any, account: Account) -> int:
    theirs = model.account_id == account.id
    if model is AccountLink:
        # Invitations from before the account existed contain only the e-mail address.
        theirs = sa.or_(theirs, model.email == account.email, model.previous_email == account.email)
    if model is ProviderIdentity:
        identities = sa.select(ProviderIdentity.id).where(theirs)
        bulk.change(
            session, sa.delete(ProviderGroupMember).where(ProviderGroupMember.identity_id.in_(identities))
        )
    return bulk.change(session, sa.delete(model).where(theirs))


def _where_active(people: Sequence[Profile]) -> sa.CompoundSelect[Any]:
    identities = [profile.id for profile in people]
    return sa.union(
        sa.select(Rating.community_id).where(Rating.rater_id.in_(identities)),
        sa.select(Note.community_id).where(Note.author_id.in_(identities)),
        sa.select(Report.community_id).where(Report.reporter_id.in_(identities)),
        sa.select(HistoryEntry.community_id).where(HistoryEntry.profile_id.in_(identities)),
    )


def _communities_of(session: Session, account: Account, people: Sequence[Profile]) -> set[uuid.UUID]:
    """The communities whose history records the erasure: where the person had a role, rated, wrote or decided."""
    member = sa.select(Membership.community_id).where(Membership.account_id == account.id)
    decided = sa.select(HistoryEntry.community_id).where(HistoryEntry.account_id == account.id)
    return {
        *session.scalars(member.union(decided)),
        *(row.community_id for row in session.execute(_where_active(people))),
    }


def _kept(session: Session, people: Sequence[Profile]) -> dict[str, int]:
    identities = [profile.id for profile in people]
    counts = {"ratings": (Rating, Rating.rater_id), "notes": (Note, Note.author_id)}
    counts["reports"] = (Report, Report.reporter_id)
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
    """Write one entry to each community's history, without the name of an actor who erased their own account."""
    if account_id is not None and actor.account_id == account_id:
        actor = replace(actor, name=traces.NAMELESS)
    for community_id in sorted(communities):
        history.record(session, actor, community_id, f"{kind}.erased", kind, identity)
