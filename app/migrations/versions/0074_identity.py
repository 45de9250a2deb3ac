"""providers, passkeys, codes and half-finished sign-ins; how each session began"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0074"
down_revision = "0073"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "identity_providers",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("label", sa.String(length=100), nullable=False),
        sa.Column("issuer", sa.String(length=500), nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("client_secret", sa.LargeBinary(), nullable=True),
        sa.Column("scopes", sa.String(length=500), nullable=False),
        sa.Column("groups_claim", sa.String(length=100), nullable=False),
        sa.Column("creates_accounts", sa.Boolean(), nullable=False),
        sa.Column("discovered", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("discovered_at", UtcDateTime(), nullable=True),
        sa.Column("tried_at", UtcDateTime(), nullable=True),
        sa.Column("enabled_at", UtcDateTime(), nullable=True),
        sa.Column("scim_token_hash", sa.String(length=64), nullable=True),
        sa.Column("scim_token_made_at", UtcDateTime(), nullable=True),
        sa.Column("etag", sa.Integer(), nullable=False),
        sa.Column("removed_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_identity_providers"),
        sa.UniqueConstraint("scim_token_hash", name="uq_identity_providers_scim_token_hash"),
    )
    op.create_index(
        "uq_identity_providers_issuer_client_id",
        "identity_providers",
        ["issuer", "client_id"],
        unique=True,
        sqlite_where=sa.text("removed_at IS NULL"),
        postgresql_where=sa.text("removed_at IS NULL"),
    )
    op.create_table(
        "sign_in_rules",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("passwords", sa.Boolean(), nullable=False),
        sa.Column("factor_role", sa.String(40), nullable=True),
        sa.Column("etag", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sign_in_rules"),
    )
    op.create_table(
        "group_roles",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("provider_id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("value", sa.String(length=255), nullable=False),
        sa.Column("role", sa.String(40), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_group_roles_community_id"),
        sa.ForeignKeyConstraint(
            ["provider_id"], ["identity_providers.id"], name="fk_group_roles_provider_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_group_roles"),
        sa.UniqueConstraint(
            "provider_id", "community_id", "value", name="uq_group_roles_provider_id_community_id_value"
        ),
    )
    op.create_index("ix_group_roles_community_id", "group_roles", ["community_id"])
    op.create_table(
        "identities",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("provider_id", sa.Uuid(), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("user_name", sa.String(length=255), nullable=True),
        sa.Column("claimed_groups", sa.JSON(), nullable=False),
        sa.Column("refresh_token", sa.LargeBinary(), nullable=True),
        sa.Column("refreshed_at", UtcDateTime(), nullable=True),
        sa.Column("last_used_at", UtcDateTime(), nullable=True),
        sa.Column("deactivated_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_identities_account_id"),
        sa.ForeignKeyConstraint(["provider_id"], ["identity_providers.id"], name="fk_identities_provider_id"),
        sa.PrimaryKeyConstraint("id", name="pk_identities"),
        sa.UniqueConstraint("provider_id", "subject", name="uq_identities_provider_id_subject"),
    )
    op.create_index("ix_identities_account_id", "identities", ["account_id"])
    op.create_index("ix_identities_refreshed_at", "identities", ["refreshed_at"])
    op.create_table(
        "passkeys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("credential_id", sa.LargeBinary(), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("transports", sa.JSON(), nullable=False),
        sa.Column("backed_up", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("last_used_at", UtcDateTime(), nullable=True),
        sa.Column("refused_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_passkeys_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_passkeys"),
        sa.UniqueConstraint("credential_id", name="uq_passkeys_credential_id"),
    )
    op.create_index("ix_passkeys_account_id", "passkeys", ["account_id"])
    op.create_table(
        "provider_groups",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("provider_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("external_id", sa.String(length=255), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["provider_id"], ["identity_providers.id"], name="fk_provider_groups_provider_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_provider_groups"),
        sa.UniqueConstraint("provider_id", "name", name="uq_provider_groups_provider_id_name"),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.Column("used_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_recovery_codes_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_recovery_codes"),
    )
    op.create_index("ix_recovery_codes_account_id", "recovery_codes", ["account_id"])
    op.create_table(
        "sign_in_steps",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("purpose", sa.String(40), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("provider_id", sa.Uuid(), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_sign_in_steps_account_id"),
        sa.ForeignKeyConstraint(
            ["provider_id"], ["identity_providers.id"], name="fk_sign_in_steps_provider_id"
        ),
        sa.PrimaryKeyConstraint("token_hash", name="pk_sign_in_steps"),
    )
    op.create_index("ix_sign_in_steps_account_id", "sign_in_steps", ["account_id"])
    op.create_index("ix_sign_in_steps_expires_at", "sign_in_steps", ["expires_at"])
    op.create_table(
        "provider_group_members",
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("identity_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["provider_groups.id"], name="fk_provider_group_members_group_id"
        ),
        sa.ForeignKeyConstraint(
            ["identity_id"], ["identities.id"], name="fk_provider_group_members_identity_id"
        ),
        sa.PrimaryKeyConstraint("group_id", "identity_id", name="pk_provider_group_members"),
    )
    op.create_index("ix_provider_group_members_identity_id", "provider_group_members", ["identity_id"])
    op.add_column("accounts", sa.Column("totp_secret", sa.LargeBinary(), nullable=True))
    op.add_column("accounts", sa.Column("totp_since", UtcDateTime(), nullable=True))
    op.add_column("accounts", sa.Column("totp_step", sa.BigInteger(), nullable=True))
    op.add_column("accounts", sa.Column("two_step_asked_at", UtcDateTime(), nullable=True))
    op.add_column("memberships", sa.Column("provider_id", sa.Uuid(), nullable=True))
    op.add_column("sign_ins", sa.Column("end_reason", sa.String(40), nullable=True))
    op.add_column("sign_ins", sa.Column("method", sa.String(40), server_default="password", nullable=False))
    op.add_column("sign_ins", sa.Column("proved_at", UtcDateTime(), nullable=True))
    op.add_column("sign_ins", sa.Column("is_strong", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("sign_ins", sa.Column("provider_id", sa.Uuid(), nullable=True))
    op.add_column("sign_ins", sa.Column("provider_session", sa.String(length=255), nullable=True))
    op.create_index("ix_sign_ins_provider_session", "sign_ins", ["provider_session"])


def downgrade() -> None:
    op.drop_index("ix_sign_ins_provider_session", table_name="sign_ins")
    op.drop_column("sign_ins", "provider_session")
    op.drop_column("sign_ins", "provider_id")
    op.drop_column("sign_ins", "is_strong")
    op.drop_column("sign_ins", "proved_at")
    op.drop_column("sign_ins", "method")
    op.drop_column("sign_ins", "end_reason")
    op.drop_column("memberships", "provider_id")
    op.drop_column("accounts", "two_step_asked_at")
    op.drop_column("accounts", "totp_step")
    op.drop_column("accounts", "totp_since")
    op.drop_column("accounts", "totp_secret")
    op.drop_index("ix_provider_group_members_identity_id", table_name="provider_group_members")
    op.drop_table("provider_group_members")
    op.drop_index("ix_sign_in_steps_expires_at", table_name="sign_in_steps")
    op.drop_index("ix_sign_in_steps_account_id", table_name="sign_in_steps")
    op.drop_table("sign_in_steps")
    op.drop_index("ix_recovery_codes_account_id", table_name="recovery_codes")
    op.drop_table("recovery_codes")
    op.drop_table("provider_groups")
    op.drop_index("ix_passkeys_account_id", table_name="passkeys")
    op.drop_table("passkeys")
    op.drop_index("ix_identities_refreshed_at", table_name="identities")
    op.drop_index("ix_identities_account_id", table_name="identities")
    op.drop_table("identities")
    op.drop_index("ix_group_roles_community_id", table_name="group_roles")
    op.drop_table("group_roles")
    op.drop_table("sign_in_rules")
    op.drop_index("uq_identity_providers_issuer_client_id", table_name="identity_providers")
    op.drop_table("identity_providers")
