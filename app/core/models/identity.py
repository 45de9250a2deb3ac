"""How people prove who they are beside a password: providers, passkeys, recovery codes and half-finished sign-ins."""

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core import clock
from app.core.db import Base, Stamped
from app.core.ids import new_id
from app.core.types import UtcDateTime, word
from app.core.vocabulary import Role, SignInStepPurpose


class SignInRules(Base):
    """What the service asks of every sign-in: one row, ``id`` 1; no row means the defaults.

    ``factor_role``: from this role up, in any community, a second factor or a passkey is required; None requires none.
    """

    __tablename__ = "sign_in_rules"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, default=1)
    passwords: Mapped[bool] = mapped_column(default=True)
    factor_role: Mapped[Role | None] = mapped_column(word(Role))
    etag: Mapped[int] = mapped_column(default=1)


class IdentityProvider(Stamped, Base):
    """An OpenID Connect provider (OpenID Connect Core 1.0). People sign in with it while ``enabled_at`` is set.

    ``client_secret`` is sealed for the row's id. ``discovered`` is what its discovery document said at
    ``discovered_at``. ``tried_at``: when a service admin last signed in with it as a try; it is enabled only after
    that. ``creates_accounts``: whether an unknown subject gets an account of its own. ``scim_token_hash``: SHA-256 of
    the bearer key of its SCIM client.
    """

    __tablename__ = "identity_providers"
    __table_args__ = (
        sa.Index(
            "uq_identity_providers_issuer_client_id",
            "issuer",
            "client_id",
            unique=True,
            sqlite_where=sa.text("removed_at IS NULL"),
            postgresql_where=sa.text("removed_at IS NULL"),
        ),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    label: Mapped[str] = mapped_column(sa.String(100))
    issuer: Mapped[str] = mapped_column(sa.String(500))
    client_id: Mapped[str] = mapped_column(sa.String(255))
    client_secret: Mapped[bytes | None] = mapped_column(sa.LargeBinary)
    scopes: Mapped[str] = mapped_column(sa.String(500), default="openid profile email")
    groups_claim: Mapped[str] = mapped_column(sa.String(100), default="groups")
    creates_accounts: Mapped[bool] = mapped_column(default=True)
    discovered: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True))
    discovered_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    tried_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    enabled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    scim_token_hash: Mapped[str | None] = mapped_column(sa.String(64), unique=True)
    scim_token_made_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    etag: Mapped[int] = mapped_column(default=1)
    removed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class GroupRole(Base):
    """Members of the provider's group ``value`` have ``role`` in the community (``people.group_roles``)."""

    __tablename__ = "group_roles"
    __table_args__ = (sa.UniqueConstraint("provider_id", "community_id", "value"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    provider_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("identity_providers.id"))
    community_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("communities.id"), index=True)
    value: Mapped[str] = mapped_column(sa.String(255))
    role: Mapped[Role] = mapped_column(word(Role))


class Identity(Stamped, Base):
    """An account as one provider knows it, found by provider and ``subject``, which is compared exactly.

    ``claimed_groups``: the values of the groups claim at the last sign-in or refresh; groups that the provider sends by
    SCIM are in ``ProviderGroup``. ``refresh_token`` is sealed for the row's id. ``refreshed_at``: when the provider was
    last asked whether the person still has their groups. ``user_name``: the name that SCIM gave. ``deactivated_at``:
    when SCIM switched the person off.
    """

    __tablename__ = "identities"
    __table_args__ = (sa.UniqueConstraint("provider_id", "subject"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"), index=True)
    provider_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("identity_providers.id"))
    subject: Mapped[str] = mapped_column(sa.String(255))
    user_name: Mapped[str | None] = mapped_column(sa.String(255))
    claimed_groups: Mapped[list[str]] = mapped_column(sa.JSON, default=list)
    refresh_token: Mapped[bytes | None] = mapped_column(sa.LargeBinary)
    refreshed_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    deactivated_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class ProviderGroup(Stamped, Base):
    """A group that a provider sends by SCIM 2.0 (RFC 7643)."""

    __tablename__ = "provider_groups"
    __table_args__ = (sa.UniqueConstraint("provider_id", "name"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    provider_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("identity_providers.id"))
    name: Mapped[str] = mapped_column(sa.String(255))
    external_id: Mapped[str | None] = mapped_column(sa.String(255))


class ProviderGroupMember(Base):
    """A person in a provider's group."""

    __tablename__ = "provider_group_members"

    group_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("provider_groups.id"), primary_key=True)
    identity_id: Mapped[uuid.UUID] = mapped_column(
        sa.ForeignKey("identities.id"), primary_key=True, index=True
    )


class Passkey(Base):
    """A WebAuthn credential of an account. ``public_key`` is in COSE form.

    ``sign_count``: the authenticator's counter at its last use; 0 of one that does not count. ``refused_at``: when a
    counter went back, a sign of a copied key; such a passkey signs nobody in.
    """

    __tablename__ = "passkeys"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"), index=True)
    credential_id: Mapped[bytes] = mapped_column(sa.LargeBinary, unique=True)
    public_key: Mapped[bytes] = mapped_column(sa.LargeBinary)
    sign_count: Mapped[int] = mapped_column(sa.BigInteger, default=0)
    name: Mapped[str] = mapped_column(sa.String(100))
    transports: Mapped[list[str]] = mapped_column(sa.JSON, default=list)
    backed_up: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    refused_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class RecoveryCode(Base):
    """A code that replaces the second factor once. Only its SHA-256 is stored."""

    __tablename__ = "recovery_codes"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=new_id)
    account_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("accounts.id"), index=True)
    code_hash: Mapped[str] = mapped_column(sa.String(64))
    used_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class SignInStep(Base):
    """What a browser has begun and not finished: a sign-in at a provider, a passkey's challenge, a second factor.

    The browser's cookie holds the token, the row its SHA-256. A step is used once: its row is deleted by the call that
    finishes it. ``details`` has what that call needs, such as ``nonce``, ``code_verifier`` or ``challenge``.
    """

    __tablename__ = "sign_in_steps"

    token_hash: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    purpose: Mapped[SignInStepPurpose] = mapped_column(word(SignInStepPurpose))
    account_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("accounts.id"), index=True)
    provider_id: Mapped[uuid.UUID | None] = mapped_column(sa.ForeignKey("identity_providers.id"))
    details: Mapped[dict[str, Any]] = mapped_column(sa.JSON, default=dict)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=clock.now)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
