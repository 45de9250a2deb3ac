"""Everything that is kept of a person, for that person alone: to take along as JSON.

Each table lists the columns that are handed out, so a new column is not handed out before it is listed. Never
handed out: hashes of passwords, tokens and codes; a note's score and its ratings, which are other people's; and on
which side the raters' parameters place a person, which is shown to no one (``NOT_HANDED_OUT``).

Nor does anything tell a sample from a review, now or later: answers about both, and skips of both, are
one list with what both have. So history leaves out ratings, and seats of panels when they were answered.
"""

import heapq
import json
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from operator import itemgetter
from typing import IO, Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.classify.facts import FACTS
from app.core.limits import UNCONFIRMED
from app.core.models import (
    Account,
    AccountLink,
    Action,
    ApiKey,
    Attachment,
    AuthorNote,
    Community,
    DatasetImport,
    HistoryEntry,
    HistoryText,
    Hold,
    Identity,
    IdentityProvider,
    LinkCode,
    Membership,
    MutedReporter,
    Note,
    NoteDraft,
    NoteSkip,
    Notice,
    Overturn,
    OwnDataFile,
    PanelSeat,
    Passkey,
    PostFacts,
    Profile,
    ProviderGroup,
    ProviderGroupMember,
    RaterDay,
    RaterParameters,
    Rating,
    RecoveryCode,
    Removal,
    Report,
    Request,
    SampleAnswer,
    SampledPost,
    SavedFilter,
    SignIn,
    SignInStep,
    Skip,
    Strike,
    Wave,
)
from app.core.people import profiles
from app.core.vocabulary import SeatState

BATCH = 500
"""Rows that are read at once."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """One kind of rows: those where one of ``by`` is the account (or, in ``by_profile``, one of its profiles).

    ``names``: the columns that are handed out; ``expressions``: what is beside them, also of a table that is ``joined``
    (the table and how). ``where``: only those rows. Parts of one name make one list. Its rows are in the order in which
    they were created, if they say when.
    """

    name: str
    model: Any
    names: str = ""
    by: tuple[str, ...] = ()
    by_profile: tuple[str, ...] = ()
    joined: tuple[Any, sa.ColumnElement[bool]] | None = None
    where: sa.ColumnElement[bool] | None = None
    expressions: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.names.split())


_GROUPS_OF_IDENTITY = sa.select(ProviderGroupMember.group_id).where(
    ProviderGroupMember.identity_id == Identity.id
)
_OF_NOTE = (Note, Note.id == Rating.note_id)
"""A rating whose note is the service's rationale is an answer about a post."""
_OF_SAMPLE = (SampledPost, SampledPost.id == SampleAnswer.sample_id)

_ACCOUNT = (
    "email display_name created_at confirmed_at service_admin theme shortcuts content_warnings timezone undo_seconds "
    "media_veil languages avoided_categories break_after_severe key_bindings digest digest_sent_at attention_mail "
    "roomy_rows last_community_id totp_since two_step_asked_at"
)
_NOTE = (
    "id community_id request_id author_ref summary classification reasons sources version created_at updated_at "
    "deleted_at"
)
_RATING = (
    "note_id community_id rater_ref helpfulness_level blind_level reasons note_version exclusion_reason created_at "
    "updated_at"
)
_ATTACHMENT = "url kind alt filename width height size state media_type stored_size sha256 created_at"
_POST = "id request_id community_id content edit_of duplicate_of requested_at"
_STRIKE = "community_id points category action_id created_at expires_at lifted_at"
_PROFILE = "id platform provider_scope platform_user_id display_name trust_level extra created_at"
_REPORT = (
    "report_id community_id request_id reporter_ref category text origin state reported_at resolved_at outcome_text "
    "created_at"
)
_HOLD = "community_id action_id note_id verb reason comment author_text until category due_at created_at"
_WAVE = "id community_id category verb act_as reason author_text decided_at joins created_at"
_SIGN_IN = "user_agent method created_at last_seen_at looking_at looked_at ended_at"
_ACCOUNT_ID, _PROFILE_ID = ("account_id",), ("profile_id",)
PARTS = (
    Part("account", Account, _ACCOUNT, by=("id",)),
    Part(
        "memberships",
        Membership,
        "community_id role given_role welcomed_at practice created_at",
        by=_ACCOUNT_ID,
    ),
    Part("removed_from", Removal, "community_id removed_at", by=_ACCOUNT_ID),
    Part("profiles", Profile, _PROFILE, by=_ACCOUNT_ID),
    Part("ratings", Rating, _RATING, by_profile=("rater_id",), joined=_OF_NOTE, where=~Note.rationale),
    Part(
        "answers_about_posts",
        Rating,
        by_profile=("rater_id",),
        joined=_OF_NOTE,
        where=Note.rationale.is_(True),
        expressions={
            "community_id": Rating.community_id,
            "request_id": Note.request_id,
            "level": Rating.helpfulness_level,
            "created_at": Rating.created_at,
        },
    ),
    Part(
        "answers_about_posts",
        SampleAnswer,
        by_profile=_PROFILE_ID,
        joined=_OF_SAMPLE,
        where=SampleAnswer.level.is_not(None),
        expressions={
            "community_id": SampledPost.community_id,
            "request_id": SampledPost.request_id,
            "level": SampleAnswer.level,
            "created_at": SampleAnswer.created_at,
        },
    ),
    Part("notes", Note, _NOTE, by_profile=("author_id",)),
    Part(
        "panel_seats",
        PanelSeat,
        "panel_id state drawn_at expires_at",
        by_profile=_PROFILE_ID,
        # A draw that passed the person over asked them nothing.
        where=PanelSeat.state != SeatState.PASSED,
    ),
    Part(
        "skipped_posts",
        Skip,
        by_profile=_PROFILE_ID,
        joined=(Action, Action.id == Skip.action_id),
        expressions={
            "request_id": Action.request_id,
            "created_at": Skip.created_at,
        },
    ),
    Part(
        "skipped_posts",
        SampleAnswer,
        by_profile=_PROFILE_ID,
        joined=_OF_SAMPLE,
        where=SampleAnswer.level.is_(None),
        expressions={
            "request_id": SampledPost.request_id,
            "created_at": SampleAnswer.created_at,
        },
    ),
    Part("skipped_notes", NoteSkip, "note_id created_at", by_profile=_PROFILE_ID),
    Part("signed_in_browsers", SignIn, _SIGN_IN, by=_ACCOUNT_ID),
    Part(
        "identities",
        Identity,
        "subject user_name claimed_groups created_at last_used_at refreshed_at deactivated_at",
        by=_ACCOUNT_ID,
        joined=(IdentityProvider, IdentityProvider.id == Identity.provider_id),
        expressions={"issuer": IdentityProvider.issuer},
    ),
    Part(
        "provider_groups",
        Identity,
        "subject",
        by=_ACCOUNT_ID,
        joined=(ProviderGroup, ProviderGroup.id.in_(_GROUPS_OF_IDENTITY)),
        expressions={"group": ProviderGroup.name},
    ),
    Part(
        "passkeys",
        Passkey,
        "name transports backed_up sign_count created_at last_used_at refused_at",
        by=_ACCOUNT_ID,
    ),
    Part("recovery_codes", RecoveryCode, "used_at", by=_ACCOUNT_ID),
    Part(
        "mailed_links",
        AccountLink,
        "purpose email previous_email display_name created_at expires_at sent_at used_at",
        by=_ACCOUNT_ID,
    ),
    Part("invitations_sent", AccountLink, "community_id role created_at used_at", by=("invited_by_id",)),
    Part(
        "link_codes",
        LinkCode,
        "created_at expires_at used_at profile_id",
        by=_ACCOUNT_ID,
        by_profile=_PROFILE_ID,
    ),
    Part("saved_filters", SavedFilter, "community_id name query shared created_at", by=_ACCOUNT_ID),
    Part("notices", Notice, "community_id action_id note_id created_at read_at", by=_ACCOUNT_ID),
    Part("held_decisions", Hold, _HOLD, by=_ACCOUNT_ID),
    Part("waves", Wave, _WAVE, by=_ACCOUNT_ID),
    Part(
        "notes_about_authors", AuthorNote, "community_id platform_author_id text created_at", by=_ACCOUNT_ID
    ),
    Part("reports", Report, _REPORT, by_profile=("reporter_id",)),
    # A moderator may take along whom they muted; a reporter, that they are muted, and why.
    Part("muted_as_reporter", MutedReporter, "community_id until reason created_at", by_profile=_PROFILE_ID),
    Part("reporters_muted", MutedReporter, "community_id until reason created_at", by=_ACCOUNT_ID),
    Part("strikes_added", Strike, "community_id platform_author_id points reason created_at", by=_ACCOUNT_ID),
    Part(
        "strikes_lifted",
        Strike,
        "community_id platform_author_id points lift_reason lifted_at",
        by=("lifted_by_id",),
    ),
    Part(
        "note_drafts",
        NoteDraft,
        "community_id request_id summary classification sources created_at",
        by=_ACCOUNT_ID,
    ),
    Part(
        "imports",
        DatasetImport,
        "community_id source dataset_name publisher state created_at",
        by=_ACCOUNT_ID,
    ),
    Part("assigned", Action, "id community_id", by=("assigned_to_id",)),
    Part("claims", Action, "id community_id claimed_until", by=("claimed_by_id",)),
    Part("bulk_overturns", Overturn, "community_id reason state total ended_at", by=_ACCOUNT_ID),
    Part("keys_created", ApiKey, "name template created_at revoked_at", by=("created_by_id",)),
    Part(
        "history",
        HistoryEntry,
        "id community_id at what object_type object_id before after",
        by=_ACCOUNT_ID,
        by_profile=_PROFILE_ID,
        where=HistoryEntry.object_type != "rating",
    ),
)
NOT_HANDED_OUT: Mapping[Any, str] = {
    OwnDataFile: "it is this file",
    SignInStep: "a sign-in that is not finished; it is gone after some minutes",
    RaterDay: "the days of the ratings handed out",
    RaterParameters: "computed anew from the ratings with every fit; it says on which side a person is, which no one "
    "is shown",
}


def write(session: Session, account_id: uuid.UUID, file: IO[str]) -> dict[str, int]:
    """Write all rows about a person to ``file`` as JSON, a list for each kind, and return how many each kind has.

    Rows are read and written some hundred at a time.
    """
    file.write(f'{{\n  "exported_at": [{json.dumps({"at": clock.iso(clock.now())})}]')
    counts: dict[str, int] = {}
    for name, rows in _lists(session, account_id):
        file.write(f',\n  "{name}": [')
        counts[name] = 0
        for row in rows:
            file.write(",\n    " if counts[name] else "\n    ")
            file.write(json.dumps(row, ensure_ascii=False))
            counts[name] += 1
        file.write("\n  ]" if counts[name] else "]")
    file.write("\n}\n")
    return counts


def _lists(session: Session, account_id: uuid.UUID) -> Iterator[tuple[str, Iterator[Row]]]:
    linked = session.scalars(sa.select(Profile).where(Profile.account_id == account_id)).all()
    profile_ids = [profile.id for profile in linked]
    by_name: dict[str, list[Part]] = {}
    for part in PARTS:
        by_name.setdefault(part.name, []).append(part)
    for name, parts in by_name.items():
        lists = [_rows(session, part, account_id, profile_ids) for part in parts]
        yield name, heapq.merge(*lists, key=itemgetter("created_at")) if len(lists) > 1 else lists[0]
    yield "posts", _posts(session, linked)
    yield "strikes", _strikes(session, linked)


def _rows(
    session: Session, part: Part, account_id: uuid.UUID, profile_ids: Sequence[uuid.UUID]
) -> Iterator[Row]:
    mine: list[sa.ColumnElement[bool]] = [getattr(part.model, name) == account_id for name in part.by]
    mine += [getattr(part.model, name).in_(profile_ids) for name in part.by_profile]
    columns = {name: getattr(part.model, name) for name in part.columns}
    columns |= part.expressions
    chosen = sa.select(*(column.label(name) for name, column in columns.items())).where(sa.or_(*mine))
    if part.joined is not None:
        chosen = chosen.join(*part.joined)
    if part.where is not None:
        chosen = chosen.where(part.where)
    if "created_at" in columns:
        chosen = chosen.order_by(columns["created_at"])
    for rows in _batches(session, chosen):
        if part.model is Account:
            for row in rows:
                row["email"] = row["email"].removesuffix(UNCONFIRMED)
        if part.model is HistoryEntry:
            _add_reasons(session, rows)
        yield from rows


def _batches(session: Session, chosen: sa.Select[Any]) -> Iterator[list[Row]]:
    found = session.execute(chosen.execution_options(yield_per=BATCH)).mappings()
    for rows in found.partitions():
        yield [{name: _plain(value) for name, value in row.items()} for row in rows]


def _posts(session: Session, linked: Sequence[Profile]) -> Iterator[Row]:
    """The posts that the person wrote or submitted under their names on platforms."""
    chosen = _under_their_names(
        linked, Request, _POST, (Request.platform_author_id, Request.requested_by), Request.community_id
    )
    authors = {profile.platform_user_id for profile in linked}
    for posts in _batches(session, chosen) if chosen is not None else ():
        _add_attachments(session, posts)
        _add_facts(session, posts, authors)
        yield from posts


def _strikes(session: Session, linked: Sequence[Profile]) -> Iterator[Row]:
    """The strikes against the person, without the moderators' names and reasons."""
    chosen = _under_their_names(linked, Strike, _STRIKE, (Strike.platform_author_id,), Strike.community_id)
    for strikes in _batches(session, chosen.order_by(Strike.created_at)) if chosen is not None else ():
        yield from strikes


def _under_their_names(
    linked: Sequence[Profile], model: Any, columns: str, ids: Sequence[Any], community_id: Any
) -> sa.Select[Any] | None:
    """SELECT of the rows in which one of the columns ``ids`` is a person's id on the community's platform."""
    names = [
        sa.and_(
            Community.platform == profile.platform,
            Community.platform_community_server_id == profile.provider_scope
            if profile.provider_scope
            else sa.true(),
            sa.or_(*(column == profile.platform_user_id for column in ids)),
        )
        for profile in linked
        if profile.platform != profiles.WEB
    ]
    if not names:
        return None
    wanted: list[Any] = [getattr(model, name) for name in columns.split()]
    chosen: sa.Select[Any] = sa.select(*wanted)
    return chosen.join(Community, Community.id == community_id).where(sa.or_(*names))


def _add_facts(session: Session, posts: list[Row], authors: Collection[str]) -> None:
    """Add what was counted of posts and their author when they were scored, if the person is the author."""
    by_id = {uuid.UUID(post["id"]): post for post in posts}
    for post in posts:
        post["facts"] = {}
    theirs = (
        sa.select(PostFacts)
        .join(Request, Request.id == PostFacts.request_id)
        .where(PostFacts.request_id.in_(by_id), Request.platform_author_id.in_(authors))
    )
    for row in session.scalars(theirs):
        known = {name: getattr(row, name) for name in FACTS}
        by_id[row.request_id]["facts"] = {name: value for name, value in known.items() if value is not None}


def _add_attachments(session: Session, posts: list[Row]) -> None:
    """Add what was sent with the posts, in its order."""
    attachments: dict[uuid.UUID, list[Row]] = {}
    for post in posts:
        post["attachments"] = attachments[uuid.UUID(post["id"])] = []
    columns = [getattr(Attachment, name) for name in _ATTACHMENT.split()]
    found = session.execute(
        sa.select(Attachment.request_id, *columns)
        .where(Attachment.request_id.in_(attachments))
        .order_by(Attachment.request_id, Attachment.position)
    ).mappings()
    for row in found:
        attachments[row["request_id"]].append({name: _plain(value) for name, value in row.items()})


def _add_reasons(session: Session, entries: list[Row]) -> None:
    """Add what the person wrote as reason and comment."""
    by_id = {uuid.UUID(entry["id"]): entry for entry in entries}
    for text in session.scalars(sa.select(HistoryText).where(HistoryText.entry_id.in_(by_id))):
        by_id[text.entry_id] |= {"reason": text.reason, "comment": text.comment}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return clock.iso(value)
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, uuid.UUID) else value
