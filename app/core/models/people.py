"""Accounts and their sessions, roles in communities, platform profiles and their links, API keys."""

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.limits import UNCONFIRMED
from app.core.types import UtcDateTime, word
from app.core.vocabulary import (
    Digest,
    KeyTemplate,
    LinkPurpose,
    MediaVeil,
    Role,
    SessionEnd,
    SignInMethod,
)


class Account(Stamped, Base):
    """A person who signs in to the dashboard.

    ``confirmed_at``: when they proved to own ``email``. None: their sign-up waits for that; or, where the address ends
    with ``limits.UNCONFIRMED``, they are a member who joined by a link that was not mailed.

    ``last_community_id``: the community they used last, in any browser. ``undo_seconds``: how long they can take
    back their own decisions; None uses the community's setting.

    ``languages``: the subtags of the languages they read, empty for those of their browser. ``avoided_categories``:
    the categories of posts that they prefer not to be asked about. ``break_after_severe``: after how many severe posts
    on one day a break is offered; None uses ``limits.BREAK_AFTER_SEVERE``, 0 means never. ``key_bindings`` maps the
    dashboard's shortcut keys to those that they press instead. ``attention_mail``: whether an operator wants mail when
    something needs one. ``roomy_rows``: whether rows of the moderators' lists show two lines of a post.

    ``totp_secret``: the secret of their codes (RFC 6238), sealed for the row's id; in use once ``totp_since`` is set.
    ``totp_step``: the time step of the code that was used last. ``two_step_asked_at``: when they were first told that
    their role requires a second factor.
    """

    __tablename__ = "accounts"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    email: Mapped[str] = mapped_column(sa.String(254), unique=True)
    display_name: Mapped[str] = mapped_column(sa.String(255))
    password_hash: Mapped[str] = mapped_column(sa.String(255))
    service_admin: Mapped[bool] = mapped_column(default=False)
    confirmed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    disabled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    theme: Mapped[str] = mapped_column(sa.String(10), default="system")
    shortcuts: Mapped[bool] = mapped_column(default=True)
    content_warnings: Mapped[bool] = mapped_column(default=True)
    media_veil: Mapped[MediaVeil] = mapped_column(
        word(MediaVeil), default=MediaVeil.BLUR, server_default="blur"
    )
    timezone: Mapped[str] = mapped_column(sa.String(64), default="UTC")
    undo_seconds: Mapped[int | None] = mapped_column()
    language: Mapped[str | None] = mapped_column(sa.String(16))
    languages: Mapped[list[str]] = mapped_column(sa.JSON, default=list, server_default=sa.text("'[]'"))
    avoided_categories: Mapped[list[str]] = mapped_column(
        sa.JSON, default=list, server_default=sa.text("'[]'")
    )
    break_after_severe: Mapped[int | None] = mapped_column()
    key_bindings: Mapped[dict[str, str]] = mapped_column(
        sa.JSON, default=dict, server_default=sa.text("'{}'")
    )
    digest: Mapped[Digest] = mapped_column(word(Digest), default=Digest.OFF, server_default="off")
    digest_sent_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    attention_mail: Mapped[bool] = mapped_column(default=True, server_default=sa.true())
    roomy_rows: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    last_community_id: Mapped[uuid.UUID | None] = mapped_column()
    totp_secret: Mapped[bytes | None] = mapped_column(sa.LargeBinary)
    totp_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    totp_step: Mapped[int | None] = mapped_column(sa.BigInteger)
    two_step_asked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    memberships: Mapped[list["Membership"]] = relationship(lazy="raise", back_populates="account")

    @property
    def sign_in_name(self) -> str:
        """The address as the person enters it to sign in, whether or not it was confirmed."""
        return self.email.removesuffix(UNCONFIRMED)


class SignIn(Base):
    """One signed-in browser: a server-side session that can be listed and revoked (ASVS 7.4).

    ``last_visit_at``: when they were last here before this visit (``sessions.VISIT_GAP``), in any browser.
    ``looking_at``: the action that a moderator's page showed at ``looked_at``, the newest only (``review/looking.py``).
    ``proved_at``: when the person last proved who they are in this session; ``is_strong``: with a passkey, a second
    factor or at a provider. ``provider_session``: the provider's ``sid``, for its back-channel logout.
    """

    __tablename__ = "sign_ins"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"), index=True)
    token_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    user_agent: Mapped[str] = mapped_column(sa.String(255), default="")
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_visit_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    looking_at: Mapped[uuid.UUID | None] = mapped_column(index=True)
    looked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    end_reason: Mapped[SessionEnd | None] = mapped_column(word(SessionEnd))
    method: Mapped[SignInMethod] = mapped_column(
        word(SignInMethod), default=SignInMethod.PASSWORD, server_default="password"
    )
    proved_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    is_strong: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    provider_id: Mapped[uuid.UUID | None] = mapped_column()
    provider_session: Mapped[str | None] = mapped_column(sa.String(255), index=True)


class AccountLink(Base):
    """A one-time link, sent by mail (ASVS 6.3, 6.4). Only the mail holds its token.

    ``token_hash`` is a SHA-256; None until the mail is written. A mail that is written again replaces the hash.
    ``account_id`` None: an invitation for an e-mail address without an account, or a password reset for an unknown
    address. ``password_hash`` and ``display_name``: typed at the sign-up that this link confirms.
    ``previous_email``: the old address after a change. ``failed_at``: when sending the mail was given up.
    """

    __tablename__ = "account_links"
    __table_args__ = (
        sa.Index("ix_account_links_account_id_purpose", "account_id", "purpose"),
        sa.Index("ix_account_links_email_purpose", "email", "purpose"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    purpose: Mapped[LinkPurpose] = mapped_column(word(LinkPurpose))
    account_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("accounts.id"))
    email: Mapped[str] = mapped_column(sa.String(254))
    token_hash: Mapped[str | None] = mapped_column(sa.String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    sent_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    failed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    withdrawn_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    password_hash: Mapped[str | None] = mapped_column(sa.String(255))
    display_name: Mapped[str | None] = mapped_column(sa.String(255))
    previous_email: Mapped[str | None] = mapped_column(sa.String(254))
    community_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("communities.id"), index=True)
    role: Mapped[Role | None] = mapped_column(word(Role))
    invited_by_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("accounts.id"))


class Membership(Stamped, Base):
    """An account's role in one community.

    ``welcomed_at``: when they were shown the welcome page. ``practice``: their answers there, by example.
    ``provider_id``: the provider whose groups gave the role, and take it back; None: people gave it. ``given_role``:
    the role that people gave and that a provider raised; it comes back when the provider takes its own.
    """

    __tablename__ = "memberships"
    __table_args__ = (
        sa.UniqueConstraint("account_id", "community_id"),
        # The list of members in its order; and the few who have a role.
        sa.Index("ix_memberships_community_id_created_at_id", "community_id", "created_at", "id"),
        sa.Index("ix_memberships_community_id_role", "community_id", "role"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"))
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"))
    role: Mapped[Role] = mapped_column(word(Role))
    welcomed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    practice: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict, server_default=sa.text("'{}'"))
    provider_id: Mapped[uuid.UUID | None] = mapped_column()
    given_role: Mapped[Role | None] = mapped_column(word(Role))

    account: Mapped[Account] = relationship(lazy="raise", back_populates="memberships")


class Removal(Base):
    """An account that another one removed from a community: it cannot join again without an invitation.

    The history tells of it too, but may be kept for a limited time only.
    """

    __tablename__ = "removals"

    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"), primary_key=True, index=True)
    removed_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Profile(Stamped, Base):
    """A person on one platform: author, rater, requester. Profiles of dashboard users have platform ``web``."""

    __tablename__ = "profiles"
    __table_args__ = (sa.UniqueConstraint("platform", "provider_scope", "platform_user_id"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    platform: Mapped[str] = mapped_column(sa.String(50))
    provider_scope: Mapped[str] = mapped_column(sa.String(255), default="")
    platform_user_id: Mapped[str] = mapped_column(sa.String(255))
    display_name: Mapped[str | None] = mapped_column(sa.String(255))
    trust_level: Mapped[int | None] = mapped_column()
    extra: Mapped[dict[str, Any]] = mapped_column("metadata", sa.JSON, default=dict)
    account_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("accounts.id"), index=True)


class LinkCode(Base):
    """A one-time code that links a platform profile to the account that shows the code (docs/integrate/api.md).

    One row per account: a new code replaces the old one. ``code_hash`` is a SHA-256; ``used_at`` and ``profile_id``
    record who used the code, so that a repeated call gets the same answer as the first.
    """

    __tablename__ = "link_codes"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"), unique=True)
    code_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    profile_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("profiles.id"))


class OwnDataFile(Base):
    """The file with all that is kept of a person, made by a job for them alone: one for each account.

    ``made_at`` and ``failed_at`` None: it is being made. ``counts`` has the number of rows of each kind, in the file's
    order. ``content`` is JSON in UTF-8, compressed with gzip. Who asks again gets a row with another ``id``, so that
    the job of an earlier one changes nothing.
    """

    __tablename__ = "own_data_files"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"), unique=True)
    asked_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    made_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    failed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    counts: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict)
    content: Mapped[bytes | None] = mapped_column(sa.LargeBinary, deferred=True)


class ApiKey(Stamped, Base):
    """An integration's key. Only a SHA-256 of its secret part is stored (docs/integrate/api.md).

    ``last_used_at`` and ``last_polled_at`` are written at most once a minute; a poll is a call that reads requests
    or moderation actions.
    """

    __tablename__ = "api_keys"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    public_part: Mapped[str] = mapped_column(sa.String(12), unique=True)
    secret_hash: Mapped[str] = mapped_column(sa.String(64))
    name: Mapped[str] = mapped_column(sa.String(255))
    template: Mapped[KeyTemplate] = mapped_column(word(KeyTemplate))
    scopes: Mapped[list[str]] = mapped_column(sa.JSON)
    everywhere: Mapped[bool] = mapped_column(default=False)
    may_open_communities: Mapped[bool] = mapped_column(default=False)
    may_assert_staff: Mapped[bool] = mapped_column(default=False)
    created_by_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("accounts.id"))
    expires_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    last_polled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    communities: Mapped[list["KeyCommunity"]] = relationship(lazy="raise")


class KeyCommunity(Base):
    """A community in which a key may act."""

    __tablename__ = "key_communities"

    key_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("api_keys.id"), primary_key=True)
    community_id: Mapped[uuid.UUID] = mapped_column(
        sa.ForeignKey("communities.id"), primary_key=True, index=True
    )
