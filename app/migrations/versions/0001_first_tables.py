"""first tables"""

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

LIVE = sa.text(
    "restores_id IS NULL AND action_tier IS NOT NULL AND action_state IN "
    "('proposed', 'under_review', 'applied', 'retro_review', 'confirmed')"
)


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("display_name", sa.String(length=255), nullable=False),
        sa.Column("password_hash", sa.String(length=255), nullable=False),
        sa.Column("service_admin", sa.Boolean(), nullable=False),
        sa.Column("confirmed_at", UtcDateTime(), nullable=True),
        sa.Column("disabled_at", UtcDateTime(), nullable=True),
        sa.Column("theme", sa.String(length=10), nullable=False),
        sa.Column("shortcuts", sa.Boolean(), nullable=False),
        sa.Column("content_warnings", sa.Boolean(), nullable=False),
        sa.Column("timezone", sa.String(length=64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("email", name=op.f("uq_accounts_email")),
    )
    op.create_table(
        "communities",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("platform", sa.String(length=50), nullable=False),
        sa.Column("platform_community_server_id", sa.String(length=255), nullable=False),
        sa.Column("slug", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("policy_text", sa.Text(), nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("is_public", sa.Boolean(), nullable=False),
        sa.Column("ai_notes_enabled", sa.Boolean(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("server_stats", sa.JSON(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_communities")),
        sa.UniqueConstraint(
            "platform",
            "platform_community_server_id",
            name=op.f("uq_communities_platform_platform_community_server_id"),
        ),
        sa.UniqueConstraint("slug", name=op.f("uq_communities_slug")),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("public_part", sa.String(length=12), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column(
            "template",
            sa.Enum("adapter", "read-only", "metrics", name="keytemplate", native_enum=False, length=40),
            nullable=False,
        ),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("everywhere", sa.Boolean(), nullable=False),
        sa.Column("may_open_communities", sa.Boolean(), nullable=False),
        sa.Column("may_assert_staff", sa.Boolean(), nullable=False),
        sa.Column("created_by_id", sa.Uuid(), nullable=True),
        sa.Column("expires_at", UtcDateTime(), nullable=True),
        sa.Column("last_used_at", UtcDateTime(), nullable=True),
        sa.Column("revoked_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["created_by_id"], ["accounts.id"], name=op.f("fk_api_keys_created_by_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("public_part", name=op.f("uq_api_keys_public_part")),
    )
    op.create_table(
        "history",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("actor_kind", sa.String(length=10), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("profile_id", sa.Uuid(), nullable=True),
        sa.Column("what", sa.String(length=60), nullable=False),
        sa.Column("object_type", sa.String(length=40), nullable=False),
        sa.Column("object_id", sa.Uuid(), nullable=False),
        sa.Column("before", sa.JSON(), nullable=False),
        sa.Column("after", sa.JSON(), nullable=False),
        sa.Column("cause", sa.String(length=255), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("previous_hash", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name=op.f("fk_history_community_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_history")),
        sa.UniqueConstraint("community_id", "number", name=op.f("uq_history_community_id_number")),
    )
    with op.batch_alter_table("history", schema=None) as batch_op:
        batch_op.create_index("ix_history_community_id_at", ["community_id", "at"], unique=False)
        batch_op.create_index("ix_history_object", ["object_type", "object_id"], unique=False)

    op.create_table(
        "memberships",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column(
            "role",
            sa.Enum("rater", "moderator", "operator", "admin", name="role", native_enum=False, length=40),
            nullable=False,
        ),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_memberships_account_id")),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name=op.f("fk_memberships_community_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memberships")),
        sa.UniqueConstraint(
            "account_id", "community_id", name=op.f("uq_memberships_account_id_community_id")
        ),
    )
    with op.batch_alter_table("memberships", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_memberships_community_id"), ["community_id"], unique=False)

    op.create_table(
        "policies",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_by", sa.String(length=255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name=op.f("fk_policies_community_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_policies")),
        sa.UniqueConstraint("community_id", "version", name=op.f("uq_policies_community_id_version")),
    )
    op.create_table(
        "profiles",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("platform", sa.String(length=50), nullable=False),
        sa.Column("provider_scope", sa.String(length=255), nullable=False),
        sa.Column("platform_user_id", sa.String(length=255), nullable=False),
        sa.Column("display_name", sa.String(length=255), nullable=True),
        sa.Column("trust_level", sa.Integer(), nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_profiles_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_profiles")),
        sa.UniqueConstraint(
            "platform",
            "provider_scope",
            "platform_user_id",
            name=op.f("uq_profiles_platform_provider_scope_platform_user_id"),
        ),
    )
    with op.batch_alter_table("profiles", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_profiles_account_id"), ["account_id"], unique=False)

    op.create_table(
        "requests",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.String(length=255), nullable=False),
        sa.Column("requested_by", sa.String(length=255), nullable=False),
        sa.Column(
            "status",
            sa.Enum(
                "PENDING",
                "IN_PROGRESS",
                "COMPLETED",
                "FAILED",
                name="requeststatus",
                native_enum=False,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_sha256", sa.String(length=64), nullable=False),
        sa.Column("platform_message_id", sa.String(length=255), nullable=True),
        sa.Column("platform_channel_id", sa.String(length=255), nullable=True),
        sa.Column("platform_author_id", sa.String(length=255), nullable=True),
        sa.Column("platform_timestamp", UtcDateTime(), nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=True),
        sa.Column("similarity_score", sa.Float(), nullable=True),
        sa.Column("dataset_name", sa.String(length=100), nullable=True),
        sa.Column("dataset_item_id", sa.String(length=36), nullable=True),
        sa.Column("note_id", sa.Uuid(), nullable=True),
        sa.Column("requested_at", UtcDateTime(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("withdrawn_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name=op.f("fk_requests_community_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_requests")),
    )
    with op.batch_alter_table("requests", schema=None) as batch_op:
        batch_op.create_index(
            "ix_requests_community_id_content_sha256", ["community_id", "content_sha256"], unique=False
        )
        batch_op.create_index(
            "ix_requests_community_id_requested_at_id", ["community_id", "requested_at", "id"], unique=False
        )
        batch_op.create_index("ix_requests_request_id", ["request_id"], unique=False)
        batch_op.create_index("ix_requests_requested_at_id", ["requested_at", "id"], unique=False)
        batch_op.create_index(
            "uq_requests_community_id_request_id",
            ["community_id", "request_id"],
            unique=True,
            sqlite_where=sa.text("withdrawn_at IS NULL"),
            postgresql_where=sa.text("withdrawn_at IS NULL"),
        )

    op.create_table(
        "sign_ins",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("user_agent", sa.String(length=255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("last_seen_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_sign_ins_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_ins")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_sign_ins_token_hash")),
    )
    with op.batch_alter_table("sign_ins", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sign_ins_account_id"), ["account_id"], unique=False)

    op.create_table(
        "categories",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("policy_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("tier1", sa.Float(), nullable=True),
        sa.Column("tier2", sa.Float(), nullable=False),
        sa.Column(
            "tier1_action",
            sa.Enum("hide", "delete", "flag", "notify", name="verb", native_enum=False, length=40),
            nullable=False,
        ),
        sa.Column(
            "tier2_action",
            sa.Enum("hide", "delete", "flag", "notify", name="verb", native_enum=False, length=40),
            nullable=False,
        ),
        sa.Column(
            "review_group",
            sa.Enum("community", "trusted", "staff", name="reviewgroup", native_enum=False, length=40),
            nullable=False,
        ),
        sa.Column("severity", sa.Integer(), nullable=False),
        sa.Column("requires", sa.JSON(), nullable=False),
        sa.Column("on_error", sa.String(length=10), nullable=False),
        sa.Column("combine", sa.String(length=10), nullable=False),
        sa.CheckConstraint(
            "tier1 IS NULL OR (tier1 <= 1 AND tier2 <= tier1)", name=op.f("ck_categories_tier2_at_most_tier1")
        ),
        sa.CheckConstraint("tier2 >= 0 AND tier2 <= 1", name=op.f("ck_categories_tier2_range")),
        sa.ForeignKeyConstraint(["policy_id"], ["policies.id"], name=op.f("fk_categories_policy_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_categories")),
        sa.UniqueConstraint("policy_id", "name", name=op.f("uq_categories_policy_id_name")),
    )
    op.create_table(
        "history_texts",
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        sa.Column("salt", sa.String(length=32), nullable=False),
        sa.Column("actor_name", sa.String(length=255), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("erased_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(["entry_id"], ["history.id"], name=op.f("fk_history_texts_entry_id")),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_history_texts")),
    )
    op.create_table(
        "key_communities",
        sa.Column("key_id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name=op.f("fk_key_communities_community_id")
        ),
        sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"], name=op.f("fk_key_communities_key_id")),
        sa.PrimaryKeyConstraint("key_id", "community_id", name=op.f("pk_key_communities")),
    )
    with op.batch_alter_table("key_communities", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_key_communities_community_id"), ["community_id"], unique=False)

    op.create_table(
        "notes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.Column("author_id", sa.Uuid(), nullable=False),
        sa.Column("author_ref", sa.String(length=255), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column(
            "classification",
            sa.Enum(
                "NOT_MISLEADING",
                "MISINFORMED_OR_POTENTIALLY_MISLEADING",
                name="classification",
                native_enum=False,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column(
            "status",
            sa.Enum(
                "NEEDS_MORE_RATINGS",
                "CURRENTLY_RATED_HELPFUL",
                "CURRENTLY_RATED_NOT_HELPFUL",
                name="notestatus",
                native_enum=False,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("helpfulness_score", sa.Integer(), nullable=False),
        sa.Column("intercept", sa.Float(), nullable=True),
        sa.Column("status_rule", sa.String(length=100), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("ratings_count", sa.Integer(), nullable=False),
        sa.Column("rationale", sa.Boolean(), nullable=False),
        sa.Column("ai_generated", sa.Boolean(), nullable=False),
        sa.Column("ai_provider", sa.String(length=100), nullable=True),
        sa.Column("ai_model", sa.String(length=100), nullable=True),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("channel_id", sa.String(length=255), nullable=True),
        sa.Column("platform_message_id", sa.String(length=255), nullable=True),
        sa.Column("platform_channel_id", sa.String(length=255), nullable=True),
        sa.Column("locked", sa.Boolean(), nullable=False),
        sa.Column("force_published", sa.Boolean(), nullable=False),
        sa.Column("force_published_at", UtcDateTime(), nullable=True),
        sa.Column("dismissed_at", UtcDateTime(), nullable=True),
        sa.Column("deleted_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["profiles.id"], name=op.f("fk_notes_author_id")),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name=op.f("fk_notes_community_id")),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name=op.f("fk_notes_request_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notes")),
    )
    with op.batch_alter_table("notes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_notes_author_id"), ["author_id"], unique=False)
        batch_op.create_index(
            "ix_notes_community_id_created_at_id", ["community_id", "created_at", "id"], unique=False
        )
        batch_op.create_index("ix_notes_created_at_id", ["created_at", "id"], unique=False)
        batch_op.create_index("ix_notes_request_id", ["request_id"], unique=False)
        batch_op.create_index(
            "uq_notes_author_id_request_id",
            ["author_id", "request_id"],
            unique=True,
            sqlite_where=sa.text("deleted_at IS NULL AND NOT ai_generated AND request_id IS NOT NULL"),
            postgresql_where=sa.text("deleted_at IS NULL AND NOT ai_generated AND request_id IS NOT NULL"),
        )

    op.create_table(
        "scores",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("category", sa.String(length=40), nullable=False),
        sa.Column("classifier", sa.String(length=100), nullable=False),
        sa.Column("classifier_version", sa.String(length=100), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("tier1_capable", sa.Boolean(), nullable=False),
        sa.Column("matches", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name=op.f("fk_scores_community_id")),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name=op.f("fk_scores_request_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scores")),
        sa.UniqueConstraint(
            "request_id",
            "category",
            "classifier",
            "classifier_version",
            name=op.f("uq_scores_request_id_category_classifier_classifier_version"),
        ),
    )
    with op.batch_alter_table("scores", schema=None) as batch_op:
        batch_op.create_index(
            "ix_scores_community_id_category_created_at",
            ["community_id", "category", "created_at"],
            unique=False,
        )

    op.create_table(
        "webhook_endpoints",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("previous_secret", sa.LargeBinary(), nullable=True),
        sa.Column("previous_until", UtcDateTime(), nullable=True),
        sa.Column("events", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("disabled_reason", sa.Text(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("gone_answers", sa.Integer(), nullable=False),
        sa.Column("failing_since", UtcDateTime(), nullable=True),
        sa.Column("last_success_at", UtcDateTime(), nullable=True),
        sa.Column("deleted_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name=op.f("fk_webhook_endpoints_community_id")
        ),
        sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"], name=op.f("fk_webhook_endpoints_key_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_endpoints")),
    )
    with op.batch_alter_table("webhook_endpoints", schema=None) as batch_op:
        batch_op.create_index(
            "uq_webhook_endpoints_community_id_url",
            ["community_id", "url"],
            unique=True,
            sqlite_where=sa.text("deleted_at IS NULL"),
            postgresql_where=sa.text("deleted_at IS NULL"),
        )

    op.create_table(
        "moderation_actions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column(
            "action_type",
            sa.Enum(
                "hide", "unhide", "warn", "silence", "delete", name="actiontype", native_enum=False, length=40
            ),
            nullable=False,
        ),
        sa.Column(
            "action_tier",
            sa.Enum("tier_1_immediate", "tier_2_consensus", name="actiontier", native_enum=False, length=40),
            nullable=True,
        ),
        sa.Column(
            "action_state",
            sa.Enum(
                "proposed",
                "applied",
                "retro_review",
                "confirmed",
                "overturned",
                "scan_exempt",
                "under_review",
                "dismissed",
                name="actionstate",
                native_enum=False,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column(
            "review_group",
            sa.Enum("community", "trusted", "staff", name="reviewgroup", native_enum=False, length=40),
            nullable=True,
        ),
        sa.Column("category", sa.String(length=40), nullable=True),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("evidence", sa.JSON(), nullable=True),
        sa.Column("decided_verb", sa.String(length=20), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=True),
        sa.Column("restores_id", sa.Uuid(), nullable=True),
        sa.Column("platform_action_id", sa.String(length=255), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("overturned_reason", sa.Text(), nullable=True),
        sa.Column("proposed_at", UtcDateTime(), nullable=True),
        sa.Column("applied_at", UtcDateTime(), nullable=True),
        sa.Column("retro_review_at", UtcDateTime(), nullable=True),
        sa.Column("confirmed_at", UtcDateTime(), nullable=True),
        sa.Column("overturned_at", UtcDateTime(), nullable=True),
        sa.Column("dismissed_at", UtcDateTime(), nullable=True),
        sa.Column("scan_exempt_content_hash", sa.String(length=64), nullable=True),
        sa.Column("claimed_by_id", sa.Uuid(), nullable=True),
        sa.Column("claimed_until", UtcDateTime(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["claimed_by_id"], ["accounts.id"], name=op.f("fk_moderation_actions_claimed_by_id")
        ),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name=op.f("fk_moderation_actions_community_id")
        ),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name=op.f("fk_moderation_actions_note_id")),
        sa.ForeignKeyConstraint(
            ["request_id"], ["requests.id"], name=op.f("fk_moderation_actions_request_id")
        ),
        sa.ForeignKeyConstraint(
            ["restores_id"], ["moderation_actions.id"], name=op.f("fk_moderation_actions_restores_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_moderation_actions")),
    )
    with op.batch_alter_table("moderation_actions", schema=None) as batch_op:
        batch_op.create_index("ix_moderation_actions_created_at_id", ["created_at", "id"], unique=False)
        batch_op.create_index(
            "ix_moderation_actions_exempt", ["community_id", "scan_exempt_content_hash"], unique=False
        )
        batch_op.create_index("ix_moderation_actions_note_id", ["note_id"], unique=False)
        batch_op.create_index("ix_moderation_actions_request_id", ["request_id"], unique=False)
        batch_op.create_index(
            "ix_moderation_actions_state", ["community_id", "action_state", "created_at", "id"], unique=False
        )
        batch_op.create_index(
            "uq_moderation_actions_live",
            ["request_id", "action_tier"],
            unique=True,
            sqlite_where=LIVE,
            postgresql_where=LIVE,
        )

    op.create_table(
        "ratings",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("rater_id", sa.Uuid(), nullable=False),
        sa.Column("rater_ref", sa.String(length=255), nullable=False),
        sa.Column(
            "helpfulness_level",
            sa.Enum(
                "HELPFUL",
                "SOMEWHAT_HELPFUL",
                "NOT_HELPFUL",
                name="helpfulnesslevel",
                native_enum=False,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("note_version", sa.Integer(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name=op.f("fk_ratings_community_id")),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name=op.f("fk_ratings_note_id")),
        sa.ForeignKeyConstraint(["rater_id"], ["profiles.id"], name=op.f("fk_ratings_rater_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ratings")),
        sa.UniqueConstraint("note_id", "rater_id", name=op.f("uq_ratings_note_id_rater_id")),
    )
    with op.batch_alter_table("ratings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ratings_community_id"), ["community_id"], unique=False)
        batch_op.create_index("ix_ratings_rater_id_created_at", ["rater_id", "created_at"], unique=False)

    op.create_table(
        "decisions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("action_id", sa.Uuid(), nullable=False),
        sa.Column("decision", sa.String(length=20), nullable=False),
        sa.Column("tier", sa.Integer(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("decided_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["action_id"], ["moderation_actions.id"], name=op.f("fk_decisions_action_id")
        ),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name=op.f("fk_decisions_community_id")),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name=op.f("fk_decisions_request_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
        sa.UniqueConstraint("community_id", "decided_at", name=op.f("uq_decisions_community_id_decided_at")),
        sa.UniqueConstraint("request_id", name=op.f("uq_decisions_request_id")),
    )
    op.create_table(
        "events",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column(
            "name",
            sa.Enum(
                "moderation.decision",
                "moderation_action.created",
                "moderation_action.applied",
                "moderation_action.retro_review_started",
                "moderation_action.confirmed",
                "moderation_action.overturned",
                "moderation_action.dismissed",
                "note.status_changed",
                "webhook.test",
                name="eventname",
                native_enum=False,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.Column("action_id", sa.Uuid(), nullable=True),
        sa.Column("note_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name=op.f("fk_events_action_id")),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name=op.f("fk_events_community_id")),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name=op.f("fk_events_note_id")),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name=op.f("fk_events_request_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.create_index(
            "ix_events_community_id_created_at", ["community_id", "created_at"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_events_request_id"), ["request_id"], unique=False)

    op.create_table(
        "holds",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("action_id", sa.Uuid(), nullable=True),
        sa.Column("note_id", sa.Uuid(), nullable=True),
        sa.Column(
            "verb",
            sa.Enum(
                "force_publish",
                "dismiss",
                "overturn",
                "confirm",
                name="heldverb",
                native_enum=False,
                length=40,
            ),
            nullable=False,
        ),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("account_name", sa.String(length=255), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.CheckConstraint("(action_id IS NULL) <> (note_id IS NULL)", name=op.f("ck_holds_one_subject")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_holds_account_id")),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name=op.f("fk_holds_action_id")),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name=op.f("fk_holds_community_id")),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name=op.f("fk_holds_note_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_holds")),
        sa.UniqueConstraint("action_id", name=op.f("uq_holds_action_id")),
        sa.UniqueConstraint("note_id", name=op.f("uq_holds_note_id")),
    )
    with op.batch_alter_table("holds", schema=None) as batch_op:
        batch_op.create_index("ix_holds_due_at", ["due_at"], unique=False)

    op.create_table(
        "skips",
        sa.Column("profile_id", sa.Uuid(), nullable=False),
        sa.Column("action_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name=op.f("fk_skips_action_id")),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name=op.f("fk_skips_profile_id")),
        sa.PrimaryKeyConstraint("profile_id", "action_id", name=op.f("pk_skips")),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column(
            "state",
            sa.Enum(
                "due", "delivered", "dead", "cancelled", name="deliverystate", native_enum=False, length=40
            ),
            nullable=False,
        ),
        sa.Column("due_at", UtcDateTime(), nullable=True),
        sa.Column("leased_by", sa.String(length=100), nullable=True),
        sa.Column("leased_until", UtcDateTime(), nullable=True),
        sa.Column("attempts_made", sa.Integer(), nullable=False),
        sa.Column("delivered_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name=op.f("fk_deliveries_community_id")
        ),
        sa.ForeignKeyConstraint(
            ["endpoint_id"], ["webhook_endpoints.id"], name=op.f("fk_deliveries_endpoint_id")
        ),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_deliveries_event_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("event_id", "endpoint_id", name=op.f("uq_deliveries_event_id_endpoint_id")),
    )
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.create_index(
            "ix_deliveries_endpoint_id_state", ["endpoint_id", "state", "due_at"], unique=False
        )
        batch_op.create_index("ix_deliveries_state_due_at", ["state", "due_at"], unique=False)
        batch_op.create_index(
            "ix_deliveries_community_id_created_at", ["community_id", "created_at"], unique=False
        )

    op.create_table(
        "delivery_attempts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("delivery_id", sa.Uuid(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("excerpt", sa.Text(), nullable=False),
        sa.Column("error", sa.String(length=255), nullable=True),
        sa.ForeignKeyConstraint(
            ["delivery_id"], ["deliveries.id"], name=op.f("fk_delivery_attempts_delivery_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery_attempts")),
    )
    with op.batch_alter_table("delivery_attempts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_delivery_attempts_delivery_id"), ["delivery_id"], unique=False)
    # requests and notes name each other, so this one comes last.
    with op.batch_alter_table("requests") as batch_op:
        batch_op.create_foreign_key("fk_requests_note_id", "notes", ["note_id"], ["id"])


def downgrade() -> None:
    with op.batch_alter_table("requests") as batch_op:
        batch_op.drop_constraint("fk_requests_note_id", type_="foreignkey")
    with op.batch_alter_table("delivery_attempts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_delivery_attempts_delivery_id"))

    op.drop_table("delivery_attempts")
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.drop_index("ix_deliveries_community_id_created_at")
        batch_op.drop_index("ix_deliveries_state_due_at")
        batch_op.drop_index("ix_deliveries_endpoint_id_state")

    op.drop_table("deliveries")
    op.drop_table("skips")
    with op.batch_alter_table("holds", schema=None) as batch_op:
        batch_op.drop_index("ix_holds_due_at")

    op.drop_table("holds")
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_events_request_id"))
        batch_op.drop_index("ix_events_community_id_created_at")

    op.drop_table("events")
    op.drop_table("decisions")
    with op.batch_alter_table("ratings", schema=None) as batch_op:
        batch_op.drop_index("ix_ratings_rater_id_created_at")
        batch_op.drop_index(batch_op.f("ix_ratings_community_id"))

    op.drop_table("ratings")
    with op.batch_alter_table("moderation_actions", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_moderation_actions_live",
            sqlite_where=LIVE,
            postgresql_where=LIVE,
        )
        batch_op.drop_index("ix_moderation_actions_state")
        batch_op.drop_index("ix_moderation_actions_request_id")
        batch_op.drop_index("ix_moderation_actions_note_id")
        batch_op.drop_index("ix_moderation_actions_exempt")
        batch_op.drop_index("ix_moderation_actions_created_at_id")

    op.drop_table("moderation_actions")
    with op.batch_alter_table("webhook_endpoints", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_webhook_endpoints_community_id_url",
            sqlite_where=sa.text("deleted_at IS NULL"),
            postgresql_where=sa.text("deleted_at IS NULL"),
        )

    op.drop_table("webhook_endpoints")
    with op.batch_alter_table("scores", schema=None) as batch_op:
        batch_op.drop_index("ix_scores_community_id_category_created_at")

    op.drop_table("scores")
    with op.batch_alter_table("notes", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_notes_author_id_request_id",
            sqlite_where=sa.text("deleted_at IS NULL AND NOT ai_generated AND request_id IS NOT NULL"),
            postgresql_where=sa.text("deleted_at IS NULL AND NOT ai_generated AND request_id IS NOT NULL"),
        )
        batch_op.drop_index("ix_notes_request_id")
        batch_op.drop_index("ix_notes_created_at_id")
        batch_op.drop_index("ix_notes_community_id_created_at_id")
        batch_op.drop_index(batch_op.f("ix_notes_author_id"))

    op.drop_table("notes")
    with op.batch_alter_table("key_communities", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_key_communities_community_id"))

    op.drop_table("key_communities")
    op.drop_table("history_texts")
    op.drop_table("categories")
    with op.batch_alter_table("sign_ins", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sign_ins_account_id"))

    op.drop_table("sign_ins")
    with op.batch_alter_table("requests", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_requests_community_id_request_id",
            sqlite_where=sa.text("withdrawn_at IS NULL"),
            postgresql_where=sa.text("withdrawn_at IS NULL"),
        )
        batch_op.drop_index("ix_requests_requested_at_id")
        batch_op.drop_index("ix_requests_request_id")
        batch_op.drop_index("ix_requests_community_id_requested_at_id")
        batch_op.drop_index("ix_requests_community_id_content_sha256")

    op.drop_table("requests")
    with op.batch_alter_table("profiles", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_profiles_account_id"))

    op.drop_table("profiles")
    op.drop_table("policies")
    with op.batch_alter_table("memberships", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_memberships_community_id"))

    op.drop_table("memberships")
    with op.batch_alter_table("history", schema=None) as batch_op:
        batch_op.drop_index("ix_history_object")
        batch_op.drop_index("ix_history_community_id_at")

    op.drop_table("history")
    op.drop_table("api_keys")
    op.drop_table("communities")
    op.drop_table("accounts")
