"""every table, index and trigger of version 0.1.0

The triggers keep the counts (``tallies`` and their sums), note which finished days have changed (``day_changes``), and
keep the search index of SQLite. Each row they write is told by an SQL pattern: {row} is OLD or NEW.
"""

import logging
from typing import Any

import sqlalchemy as sa
from alembic import op

from app.core.types import UtcDateTime

revision = "0060"
down_revision = None
branch_labels = None
depends_on = None

log = logging.getLogger("alembic.runtime.migration")

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    dialect = op.get_bind().dialect.name
    _communities()
    _people()
    _history()
    _posts()
    _actions()
    _webhooks()
    _fact_checks()
    _services()
    _vectors()
    _scoring()
    _classifiers()
    _learning()
    _desk()
    _overturns()
    _insights()
    _packed_days()
    _imports()
    _attachments()
    _panels()
    _run(tally_triggers(dialect))
    if dialect == "sqlite":
        _search_on_sqlite()
    else:
        _search_on_postgresql()
    _run(sum_triggers(dialect))
    _run(day_triggers(dialect))


def downgrade() -> None:
    raise NotImplementedError("there is no version before this one")


def _run(statements: list[str]) -> None:
    for statement in statements:
        op.execute(sa.text(statement))


_SECOND_LOOK = (
    "restores_id IS NULL AND (action_state = 'retro_review' OR action_state = 'applied' "
    "AND action_tier = 'tier_1_immediate')"
)
_LIVE = (
    "restores_id IS NULL AND action_tier IS NOT NULL AND action_state IN "
    "('proposed', 'under_review', 'applied', 'retro_review', 'confirmed')"
)


def _index(name: str, table: str, columns: str, *, unique: bool = False, where: str = "") -> None:
    op.create_index(name, table, columns.split(", "), unique=unique, **(_where(where) if where else {}))


def _where(condition: str) -> dict[str, Any]:
    """Arguments of a partial index. SQLite uses it only for queries that repeat the condition word for word."""
    of_postgresql = condition.replace(" = 1", "")
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(of_postgresql)}


def _communities() -> None:
    op.create_table(
        "communities",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("platform", sa.String(50), nullable=False),
        sa.Column("platform_community_server_id", sa.String(255), nullable=False),
        sa.Column("slug", sa.String(255), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("policy_text", sa.Text(), nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("is_public", sa.Boolean(), nullable=False),
        sa.Column("ai_notes_enabled", sa.Boolean(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("server_stats", sa.JSON(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("supplied", sa.JSON(), nullable=False, server_default="{}"),
        sa.Column("archived_at", UtcDateTime(), nullable=True),
        sa.Column("paused_at", UtcDateTime(), nullable=True),
        sa.Column("paused_by", sa.String(255), nullable=True),
        sa.Column("paused_reason", sa.Text(), nullable=True),
        sa.Column("getting_started_hidden_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_communities"),
        sa.UniqueConstraint(
            "platform",
            "platform_community_server_id",
            name="uq_communities_platform_platform_community_server_id",
        ),
        sa.UniqueConstraint("slug", name="uq_communities_slug"),
    )
    _index("ix_communities_archived_at", "communities", "archived_at")
    op.create_table(
        "policies",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_by", sa.String(255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_policies"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_policies_community_id"),
        sa.UniqueConstraint("community_id", "version", name="uq_policies_community_id_version"),
    )
    op.create_table(
        "categories",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("policy_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("tier1", sa.Float(), nullable=True),
        sa.Column("tier2", sa.Float(), nullable=False),
        sa.Column("tier1_action", sa.String(40), nullable=False),
        sa.Column("tier2_action", sa.String(40), nullable=False),
        sa.Column("review_group", sa.String(40), nullable=False),
        sa.Column("severity", sa.Integer(), nullable=False),
        sa.Column("requires", sa.JSON(), nullable=False),
        sa.Column("on_error", sa.String(10), nullable=False),
        sa.Column("observe_only", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("target_minutes", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_categories"),
        sa.CheckConstraint(
            "tier1 IS NULL OR (tier1 <= 1 AND tier2 <= tier1)", name=op.f("ck_categories_tier2_at_most_tier1")
        ),
        sa.CheckConstraint("tier2 >= 0 AND tier2 <= 1", name=op.f("ck_categories_tier2_range")),
        sa.ForeignKeyConstraint(["policy_id"], ["policies.id"], name="fk_categories_policy_id"),
        sa.UniqueConstraint("policy_id", "name", name="uq_categories_policy_id_name"),
    )


def _people() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("display_name", sa.String(255), nullable=False),
        sa.Column("password_hash", sa.String(255), nullable=False),
        sa.Column("service_admin", sa.Boolean(), nullable=False),
        sa.Column("confirmed_at", UtcDateTime(), nullable=True),
        sa.Column("disabled_at", UtcDateTime(), nullable=True),
        sa.Column("theme", sa.String(10), nullable=False),
        sa.Column("shortcuts", sa.Boolean(), nullable=False),
        sa.Column("content_warnings", sa.Boolean(), nullable=False),
        sa.Column("timezone", sa.String(64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("digest", sa.String(40), nullable=False, server_default="off"),
        sa.Column("digest_sent_at", UtcDateTime(), nullable=True),
        sa.Column("last_community_id", sa.Uuid(), nullable=True),
        sa.Column("undo_seconds", sa.Integer(), nullable=True),
        sa.Column("media_veil", sa.String(40), nullable=False, server_default="blur"),
        sa.Column("languages", sa.JSON(), nullable=False, server_default="[]"),
        sa.Column("avoided_categories", sa.JSON(), nullable=False, server_default="[]"),
        sa.Column("break_after_severe", sa.Integer(), nullable=True),
        sa.Column("key_bindings", sa.JSON(), nullable=False, server_default="{}"),
        sa.Column("attention_mail", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        sa.UniqueConstraint("email", name="uq_accounts_email"),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("public_part", sa.String(12), nullable=False),
        sa.Column("secret_hash", sa.String(64), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("template", sa.String(40), nullable=False),
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
        sa.Column("last_polled_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.ForeignKeyConstraint(["created_by_id"], ["accounts.id"], name="fk_api_keys_created_by_id"),
        sa.UniqueConstraint("public_part", name="uq_api_keys_public_part"),
    )
    op.create_table(
        "memberships",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.String(40), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("welcomed_at", UtcDateTime(), nullable=True),
        sa.Column("practice", sa.JSON(), nullable=False, server_default="{}"),
        sa.PrimaryKeyConstraint("id", name="pk_memberships"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_memberships_account_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_memberships_community_id"),
        sa.UniqueConstraint("account_id", "community_id", name="uq_memberships_account_id_community_id"),
    )
    _index("ix_memberships_community_id", "memberships", "community_id")
    op.create_table(
        "profiles",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("platform", sa.String(50), nullable=False),
        sa.Column("provider_scope", sa.String(255), nullable=False),
        sa.Column("platform_user_id", sa.String(255), nullable=False),
        sa.Column("display_name", sa.String(255), nullable=True),
        sa.Column("trust_level", sa.Integer(), nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_profiles"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_profiles_account_id"),
        sa.UniqueConstraint(
            "platform",
            "provider_scope",
            "platform_user_id",
            name="uq_profiles_platform_provider_scope_platform_user_id",
        ),
    )
    _index("ix_profiles_account_id", "profiles", "account_id")
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("user_agent", sa.String(255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("last_seen_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_sign_ins"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_sign_ins_account_id"),
        sa.UniqueConstraint("token_hash", name="uq_sign_ins_token_hash"),
    )
    _index("ix_sign_ins_account_id", "sign_ins", "account_id")
    op.create_table(
        "key_communities",
        sa.Column("key_id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.PrimaryKeyConstraint("key_id", "community_id", name="pk_key_communities"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_key_communities_community_id"),
        sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"], name="fk_key_communities_key_id"),
    )
    _index("ix_key_communities_community_id", "key_communities", "community_id")
    op.create_table(
        "link_codes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("code_hash", sa.String(64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("used_at", UtcDateTime(), nullable=True),
        sa.Column("profile_id", sa.Uuid(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_link_codes"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_link_codes_account_id"),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name="fk_link_codes_profile_id"),
        sa.UniqueConstraint("account_id", name="uq_link_codes_account_id"),
        sa.UniqueConstraint("code_hash", name="uq_link_codes_code_hash"),
    )
    op.create_table(
        "account_links",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("purpose", sa.String(40), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("sent_at", UtcDateTime(), nullable=True),
        sa.Column("failed_at", UtcDateTime(), nullable=True),
        sa.Column("used_at", UtcDateTime(), nullable=True),
        sa.Column("withdrawn_at", UtcDateTime(), nullable=True),
        sa.Column("password_hash", sa.String(255), nullable=True),
        sa.Column("display_name", sa.String(255), nullable=True),
        sa.Column("previous_email", sa.String(254), nullable=True),
        sa.Column("community_id", sa.Uuid(), nullable=True),
        sa.Column("role", sa.String(40), nullable=True),
        sa.Column("invited_by_id", sa.Uuid(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_account_links"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_account_links_account_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_account_links_community_id"),
        sa.ForeignKeyConstraint(["invited_by_id"], ["accounts.id"], name="fk_account_links_invited_by_id"),
        sa.UniqueConstraint("token_hash", name="uq_account_links_token_hash"),
    )
    _index("ix_account_links_account_id_purpose", "account_links", "account_id, purpose")
    _index("ix_account_links_email_purpose", "account_links", "email, purpose")
    _index("ix_account_links_community_id", "account_links", "community_id")
    _index("ix_account_links_expires_at", "account_links", "expires_at")
    op.create_table(
        "removals",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("removed_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "account_id", name="pk_removals"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_removals_community_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_removals_account_id"),
    )
    _index("ix_removals_account_id", "removals", "account_id")


def _history() -> None:
    op.create_table(
        "history",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("actor_kind", sa.String(10), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("profile_id", sa.Uuid(), nullable=True),
        sa.Column("what", sa.String(60), nullable=False),
        sa.Column("object_type", sa.String(40), nullable=False),
        sa.Column("object_id", sa.Uuid(), nullable=False),
        sa.Column("before", sa.JSON(), nullable=False),
        sa.Column("after", sa.JSON(), nullable=False),
        sa.Column("cause", sa.String(255), nullable=False),
        sa.Column("text_hash", sa.String(64), nullable=False),
        sa.Column("previous_hash", sa.String(64), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("action_type", sa.String(20), nullable=True),
        sa.Column("category", sa.String(40), nullable=True),
        sa.Column("author", sa.String(255), nullable=True),
        sa.Column("language", sa.String(8), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_history"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_history_community_id"),
        sa.UniqueConstraint("community_id", "number", name="uq_history_community_id_number"),
    )
    _index("ix_history_community_id_at", "history", "community_id, at")
    _index("ix_history_object", "history", "object_type, object_id")
    _index("ix_history_actions_what", "history", "community_id, what, number", where="object_type = 'action'")
    _index("ix_history_actions", "history", "community_id, number, what, at", where="object_type = 'action'")
    _index(
        "ix_history_actions_category",
        "history",
        "community_id, category, number",
        where="object_type = 'action'",
    )
    _index(
        "ix_history_actions_author", "history", "community_id, author, number", where="object_type = 'action'"
    )
    _index(
        "ix_history_actions_language",
        "history",
        "community_id, language, number",
        where="object_type = 'action'",
    )
    _index(
        "ix_history_actions_account_id",
        "history",
        "community_id, account_id, number",
        where="object_type = 'action'",
    )
    _index(
        "ix_history_not_about_posts",
        "history",
        "community_id, number",
        where="object_type NOT IN ('action', 'note', 'rating', 'request')",
    )
    op.create_table(
        "history_texts",
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        sa.Column("salt", sa.String(32), nullable=False),
        sa.Column("actor_name", sa.String(255), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("erased_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("entry_id", name="pk_history_texts"),
        sa.ForeignKeyConstraint(["entry_id"], ["history.id"], name="fk_history_texts_entry_id"),
    )
    op.create_table(
        "retention_marks",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("history_number", sa.Integer(), nullable=False),
        sa.Column("history_hash", sa.String(64), nullable=False),
        sa.Column("history_at", UtcDateTime(), nullable=True),
        sa.Column("verified_number", sa.Integer(), nullable=False),
        sa.Column("verified_hash", sa.String(64), nullable=False),
        sa.Column("scores_until", UtcDateTime(), nullable=True),
        sa.Column("scores_kept_from", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("community_id", name="pk_retention_marks"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_retention_marks_community_id"),
    )


def _posts() -> None:
    op.create_table(
        "requests",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.String(255), nullable=False),
        sa.Column("requested_by", sa.String(255), nullable=False),
        sa.Column("status", sa.String(40), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_sha256", sa.String(64), nullable=False),
        sa.Column("platform_message_id", sa.String(255), nullable=True),
        sa.Column("platform_channel_id", sa.String(255), nullable=True),
        sa.Column("platform_author_id", sa.String(255), nullable=True),
        sa.Column("platform_timestamp", UtcDateTime(), nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=True),
        sa.Column("similarity_score", sa.Float(), nullable=True),
        sa.Column("dataset_name", sa.String(100), nullable=True),
        sa.Column("dataset_item_id", sa.String(36), nullable=True),
        sa.Column("note_id", sa.Uuid(), nullable=True),
        sa.Column("requested_at", UtcDateTime(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("withdrawn_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("scored_at", UtcDateTime(), nullable=True),
        sa.Column("content_removed_at", UtcDateTime(), nullable=True),
        sa.Column("is_test", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("language", sa.String(8), nullable=True),
        sa.Column("has_attachments", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("id", name="pk_requests"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_requests_community_id"),
        # With use_alter SQLite makes it here, PostgreSQL below.
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name="fk_requests_note_id", use_alter=True),
    )
    _index("ix_requests_requested_at_id", "requests", "requested_at, id")
    _index("ix_requests_community_id_content_sha256", "requests", "community_id, content_sha256")
    _index("ix_requests_request_id", "requests", "request_id")
    _index(
        "uq_requests_community_id_request_id",
        "requests",
        "community_id, request_id",
        unique=True,
        where="withdrawn_at IS NULL",
    )
    _index("ix_requests_platform_message_id", "requests", "platform_message_id")
    _index(
        "ix_requests_community_id_platform_author_id",
        "requests",
        "community_id, platform_author_id, requested_at",
    )
    _index("ix_requests_community_id_scored_at", "requests", "community_id, scored_at")
    _index(
        "ix_requests_content_kept",
        "requests",
        "community_id, requested_at",
        where="content_removed_at IS NULL",
    )
    _index("ix_requests_tests", "requests", "community_id, id", where="is_test = 1")
    _index(
        "ix_requests_community_id_language",
        "requests",
        "community_id, language",
        where="language IS NOT NULL",
    )
    _index(
        "ix_requests_fact_check",
        "requests",
        "community_id, dataset_name, dataset_item_id, requested_at",
        where="dataset_item_id IS NOT NULL",
    )
    _index(
        "ix_requests_community_id_requested_at_id",
        "requests",
        "community_id, requested_at, id, withdrawn_at, status",
    )
    _index("ix_requests_withdrawn", "requests", "community_id, id", where="withdrawn_at IS NOT NULL")
    op.create_table(
        "notes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.Column("author_id", sa.Uuid(), nullable=False),
        sa.Column("author_ref", sa.String(255), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("classification", sa.String(40), nullable=False),
        sa.Column("status", sa.String(40), nullable=False),
        sa.Column("helpfulness_score", sa.Integer(), nullable=False),
        sa.Column("intercept", sa.Float(), nullable=True),
        sa.Column("status_rule", sa.String(100), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("ratings_count", sa.Integer(), nullable=False),
        sa.Column("rationale", sa.Boolean(), nullable=False),
        sa.Column("ai_generated", sa.Boolean(), nullable=False),
        sa.Column("ai_provider", sa.String(100), nullable=True),
        sa.Column("ai_model", sa.String(100), nullable=True),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("channel_id", sa.String(255), nullable=True),
        sa.Column("platform_message_id", sa.String(255), nullable=True),
        sa.Column("platform_channel_id", sa.String(255), nullable=True),
        sa.Column("locked", sa.Boolean(), nullable=False),
        sa.Column("force_published", sa.Boolean(), nullable=False),
        sa.Column("force_published_at", UtcDateTime(), nullable=True),
        sa.Column("dismissed_at", UtcDateTime(), nullable=True),
        sa.Column("deleted_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("factor", sa.Float(), nullable=True),
        sa.Column("rating_changes", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("status_since", UtcDateTime(), nullable=True),
        sa.Column("status_locked_at", UtcDateTime(), nullable=True),
        sa.Column("helpful_pending_since", UtcDateTime(), nullable=True),
        sa.Column("text_ended_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_notes"),
        sa.ForeignKeyConstraint(["author_id"], ["profiles.id"], name="fk_notes_author_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_notes_community_id"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_notes_request_id"),
    )
    _index("ix_notes_author_id", "notes", "author_id")
    _index("ix_notes_created_at_id", "notes", "created_at, id")
    _index("ix_notes_request_id", "notes", "request_id")
    _index(
        "uq_notes_author_id_request_id",
        "notes",
        "author_id, request_id",
        unique=True,
        where="deleted_at IS NULL AND NOT ai_generated AND request_id IS NOT NULL",
    )
    _index(
        "ix_notes_helpful_pending_since",
        "notes",
        "helpful_pending_since",
        where="helpful_pending_since IS NOT NULL",
    )
    _index("ix_notes_community_id_created_at_id", "notes", "community_id, created_at, id, deleted_at")
    _index(
        "ix_notes_open",
        "notes",
        "community_id, created_at, id",
        where="NOT rationale AND deleted_at IS NULL AND NOT locked AND status_locked_at IS NULL",
    )
    _index("ix_notes_text_ended", "notes", "community_id, text_ended_at", where="text_ended_at IS NOT NULL")
    if op.get_bind().dialect.name == "postgresql":
        op.create_foreign_key("fk_requests_note_id", "requests", "notes", ["note_id"], ["id"])
    op.create_table(
        "scores",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("category", sa.String(40), nullable=False),
        sa.Column("classifier", sa.String(100), nullable=False),
        sa.Column("classifier_version", sa.String(100), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("tier1_capable", sa.Boolean(), nullable=False),
        sa.Column("matches", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("is_highest", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("observed_tier", sa.Integer(), nullable=True),
        sa.Column("is_observed", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("is_acting", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("id", name="pk_scores"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_scores_community_id"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_scores_request_id"),
        sa.UniqueConstraint(
            "request_id",
            "category",
            "classifier",
            "classifier_version",
            name="uq_scores_request_id_category_classifier_classifier_version",
        ),
    )
    _index(
        "ix_scores_observed",
        "scores",
        "community_id, created_at, category, observed_tier",
        where="observed_tier IS NOT NULL",
    )
    _index(
        "ix_scores_previewed",
        "scores",
        "community_id, created_at, request_id, category, score, tier1_capable, is_highest, is_acting",
        where="is_highest = 1 AND score > 0 OR is_acting = 1",
    )
    op.create_table(
        "ratings",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("rater_id", sa.Uuid(), nullable=False),
        sa.Column("rater_ref", sa.String(255), nullable=False),
        sa.Column("helpfulness_level", sa.String(40), nullable=False),
        sa.Column("note_version", sa.Integer(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("excluded", sa.String(20), nullable=True),
        sa.Column("blind_level", sa.String(40), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_ratings"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_ratings_community_id"),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name="fk_ratings_note_id"),
        sa.ForeignKeyConstraint(["rater_id"], ["profiles.id"], name="fk_ratings_rater_id"),
        sa.UniqueConstraint("note_id", "rater_id", name="uq_ratings_note_id_rater_id"),
    )
    _index("ix_ratings_rater_id_created_at", "ratings", "rater_id, created_at")
    _index("ix_ratings_community_id_created_at", "ratings", "community_id, created_at, rater_id")
    _index("ix_ratings_community_id_updated_at", "ratings", "community_id, updated_at")
    op.create_table(
        "note_skips",
        sa.Column("profile_id", sa.Uuid(), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("profile_id", "note_id", name="pk_note_skips"),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name="fk_note_skips_profile_id"),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name="fk_note_skips_note_id"),
    )


def _actions() -> None:
    op.create_table(
        "moderation_actions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("action_type", sa.String(40), nullable=False),
        sa.Column("action_tier", sa.String(40), nullable=True),
        sa.Column("action_state", sa.String(40), nullable=False),
        sa.Column("review_group", sa.String(40), nullable=True),
        sa.Column("category", sa.String(40), nullable=True),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("evidence", sa.JSON(), nullable=True),
        sa.Column("decided_verb", sa.String(20), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=True),
        sa.Column("restores_id", sa.Uuid(), nullable=True),
        sa.Column("platform_action_id", sa.String(255), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("overturned_reason", sa.Text(), nullable=True),
        sa.Column("proposed_at", UtcDateTime(), nullable=True),
        sa.Column("applied_at", UtcDateTime(), nullable=True),
        sa.Column("retro_review_at", UtcDateTime(), nullable=True),
        sa.Column("confirmed_at", UtcDateTime(), nullable=True),
        sa.Column("overturned_at", UtcDateTime(), nullable=True),
        sa.Column("dismissed_at", UtcDateTime(), nullable=True),
        sa.Column("scan_exempt_content_hash", sa.String(64), nullable=True),
        sa.Column("claimed_by_id", sa.Uuid(), nullable=True),
        sa.Column("claimed_until", UtcDateTime(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("decided_category", sa.String(40), nullable=True),
        sa.Column("lapsed_at", UtcDateTime(), nullable=True),
        sa.Column("reopens_id", sa.Uuid(), nullable=True),
        sa.Column("reopened_at", UtcDateTime(), nullable=True),
        sa.Column("platform_author_id", sa.String(255), nullable=True),
        sa.Column("due_at", UtcDateTime(), nullable=True),
        sa.Column("urgent_at", UtcDateTime(), nullable=True),
        sa.Column("snoozed_until", UtcDateTime(), nullable=True),
        sa.Column("assigned_to_id", sa.Uuid(), nullable=True),
        sa.Column("platform_channel_id", sa.String(255), nullable=True),
        sa.Column("language", sa.String(8), nullable=True),
        sa.Column("review_opened_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_moderation_actions"),
        sa.ForeignKeyConstraint(
            ["claimed_by_id"], ["accounts.id"], name="fk_moderation_actions_claimed_by_id"
        ),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_moderation_actions_community_id"
        ),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name="fk_moderation_actions_note_id"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_moderation_actions_request_id"),
        sa.ForeignKeyConstraint(
            ["restores_id"], ["moderation_actions.id"], name="fk_moderation_actions_restores_id"
        ),
    )
    _index("ix_moderation_actions_created_at_id", "moderation_actions", "created_at, id")
    _index("ix_moderation_actions_exempt", "moderation_actions", "community_id, scan_exempt_content_hash")
    _index("ix_moderation_actions_note_id", "moderation_actions", "note_id")
    _index("ix_moderation_actions_request_id", "moderation_actions", "request_id")
    _index("ix_moderation_actions_state", "moderation_actions", "community_id, action_state, created_at, id")
    _index(
        "uq_moderation_actions_live",
        "moderation_actions",
        "request_id, action_tier",
        unique=True,
        where=_LIVE,
    )
    _index("uq_moderation_actions_reopens_id", "moderation_actions", "reopens_id", unique=True)
    _index(
        "ix_moderation_actions_second_looks",
        "moderation_actions",
        "community_id, action_state, retro_review_at, created_at, id",
        where=_SECOND_LOOK,
    )
    _index(
        "ix_moderation_actions_open",
        "moderation_actions",
        "action_state, created_at, retro_review_at",
        where="action_state IN ('under_review', 'retro_review')",
    )
    _index(
        "ix_moderation_actions_due",
        "moderation_actions",
        "community_id, due_at",
        where="action_state = 'under_review'",
    )
    _index(
        "ix_moderation_actions_hidden",
        "moderation_actions",
        "community_id, platform_author_id",
        where="restores_id IS NULL AND action_type = 'hide' AND action_state IN "
        "('applied', 'retro_review', 'confirmed')",
    )
    _index(
        "ix_moderation_actions_queued_author",
        "moderation_actions",
        "community_id, platform_author_id",
        where="action_state = 'under_review'",
    )
    _index(
        "ix_moderation_actions_community_id_created_at_id",
        "moderation_actions",
        "community_id, created_at, id",
    )
    _index(
        "ix_moderation_actions_urgent",
        "moderation_actions",
        "community_id, urgent_at, id, snoozed_until, category, language, platform_channel_id, request_id, action_state",
        where="action_state = 'under_review'",
    )
    _index(
        "ix_moderation_actions_claimed",
        "moderation_actions",
        "claimed_by_id, claimed_until",
        where="claimed_by_id IS NOT NULL",
    )
    _index(
        "ix_moderation_actions_assigned",
        "moderation_actions",
        "assigned_to_id",
        where="action_state = 'under_review' AND assigned_to_id IS NOT NULL",
    )
    _index(
        "ix_moderation_actions_asked",
        "moderation_actions",
        "community_id, created_at, id, action_state, note_id, category, language",
        where="action_state IN ('under_review', 'retro_review') AND restores_id IS NULL AND review_group <> 'staff'",
    )
    op.create_index(
        "ix_moderation_actions_look_list",
        "moderation_actions",
        [
            "community_id",
            sa.text("action_state DESC"),
            sa.text("coalesce(urgent_at, created_at)"),
            "id",
            "urgent_at",
            "created_at",
            "category",
            "score",
        ],
        **_where(_SECOND_LOOK),
    )
    op.create_index(
        "ix_moderation_actions_score",
        "moderation_actions",
        ["community_id", sa.text("coalesce(score, 0.0) DESC"), "created_at", "id"],
        **_where("action_state = 'under_review'"),
    )
    op.create_table(
        "decisions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("action_id", sa.Uuid(), nullable=False),
        sa.Column("decision", sa.String(20), nullable=False),
        sa.Column("tier", sa.Integer(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("decided_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_decisions"),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name="fk_decisions_action_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_decisions_community_id"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_decisions_request_id"),
        sa.UniqueConstraint("community_id", "decided_at", name="uq_decisions_community_id_decided_at"),
        sa.UniqueConstraint("request_id", name="uq_decisions_request_id"),
    )
    _index("ix_decisions_decided_at", "decisions", "decided_at")
    op.create_table(
        "holds",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("action_id", sa.Uuid(), nullable=True),
        sa.Column("note_id", sa.Uuid(), nullable=True),
        sa.Column("verb", sa.String(40), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("account_name", sa.String(255), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("category", sa.String(40), nullable=True),
        sa.Column("reopen_to", sa.String(40), nullable=True),
        sa.Column("act_as", sa.String(40), nullable=True),
        sa.Column("author_text", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_holds"),
        sa.CheckConstraint("(action_id IS NULL) <> (note_id IS NULL)", name=op.f("ck_holds_one_subject")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_holds_account_id"),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name="fk_holds_action_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_holds_community_id"),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name="fk_holds_note_id"),
        sa.UniqueConstraint("action_id", name="uq_holds_action_id"),
        sa.UniqueConstraint("note_id", name="uq_holds_note_id"),
    )
    _index("ix_holds_due_at", "holds", "due_at")
    op.create_table(
        "skips",
        sa.Column("profile_id", sa.Uuid(), nullable=False),
        sa.Column("action_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("profile_id", "action_id", name="pk_skips"),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name="fk_skips_action_id"),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name="fk_skips_profile_id"),
    )


def _webhooks() -> None:
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("url", sa.String(2048), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("previous_secret", sa.LargeBinary(), nullable=True),
        sa.Column("previous_until", UtcDateTime(), nullable=True),
        sa.Column("events", sa.JSON(), nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("disabled_reason", sa.Text(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("gone_answers", sa.Integer(), nullable=False),
        sa.Column("failing_since", UtcDateTime(), nullable=True),
        sa.Column("last_success_at", UtcDateTime(), nullable=True),
        sa.Column("deleted_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_endpoints"),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_webhook_endpoints_community_id"
        ),
        sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"], name="fk_webhook_endpoints_key_id"),
    )
    _index(
        "uq_webhook_endpoints_community_id_url",
        "webhook_endpoints",
        "community_id, url",
        unique=True,
        where="deleted_at IS NULL",
    )
    op.create_table(
        "events",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.Column("action_id", sa.Uuid(), nullable=True),
        sa.Column("note_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name="fk_events_action_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_events_community_id"),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name="fk_events_note_id"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_events_request_id"),
    )
    _index("ix_events_community_id_created_at", "events", "community_id, created_at")
    _index("ix_events_request_id", "events", "request_id")
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=True),
        sa.Column("leased_by", sa.String(100), nullable=True),
        sa.Column("leased_until", UtcDateTime(), nullable=True),
        sa.Column("attempts_made", sa.Integer(), nullable=False),
        sa.Column("delivered_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("event_name", sa.String(40), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_deliveries_community_id"),
        sa.ForeignKeyConstraint(["endpoint_id"], ["webhook_endpoints.id"], name="fk_deliveries_endpoint_id"),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name="fk_deliveries_event_id"),
        sa.UniqueConstraint("event_id", "endpoint_id", name="uq_deliveries_event_id_endpoint_id"),
    )
    _index("ix_deliveries_endpoint_id_state", "deliveries", "endpoint_id, state, due_at")
    _index("ix_deliveries_state_due_at", "deliveries", "state, due_at")
    _index("ix_deliveries_community_id_created_at", "deliveries", "community_id, created_at")
    _index(
        "ix_deliveries_community_id_event_name_created_at",
        "deliveries",
        "community_id, event_name, created_at",
    )
    _index("ix_deliveries_dead", "deliveries", "community_id, created_at", where="state = 'dead'")
    op.create_table(
        "delivery_attempts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("delivery_id", sa.Uuid(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("excerpt", sa.Text(), nullable=False),
        sa.Column("error", sa.String(255), nullable=True),
        sa.Column("endpoint_id", sa.Uuid(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_delivery_attempts"),
        sa.ForeignKeyConstraint(["delivery_id"], ["deliveries.id"], name="fk_delivery_attempts_delivery_id"),
    )
    _index("ix_delivery_attempts_delivery_id", "delivery_attempts", "delivery_id")
    _index("ix_delivery_attempts_at", "delivery_attempts", "at")
    _index("ix_delivery_attempts_endpoint_id_at", "delivery_attempts", "endpoint_id, at")
    op.create_table(
        "replays",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("filters", sa.JSON(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("sent", sa.Integer(), nullable=False),
        sa.Column("last_id", sa.Uuid(), nullable=True),
        sa.Column("stopped", sa.Text(), nullable=True),
        sa.Column("finished_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_replays"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_replays_community_id"),
    )
    _index("ix_replays_community_id_created_at", "replays", "community_id, created_at")
    op.create_table(
        "webhook_former_secrets",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("until", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_former_secrets"),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["webhook_endpoints.id"],
            name="fk_webhook_former_secrets_endpoint_id_webhook_endpoints",
        ),
    )
    _index("ix_webhook_former_secrets_endpoint_id", "webhook_former_secrets", "endpoint_id")


def _fact_checks() -> None:
    op.create_table(
        "fact_check_items",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("dataset_name", sa.String(100), nullable=False),
        sa.Column("item_id", sa.String(36), nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("rating", sa.String(40), nullable=True),
        sa.Column("rating_given", sa.String(255), nullable=False),
        sa.Column("url", sa.String(2048), nullable=False),
        sa.Column("publisher", sa.String(255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=True),
        sa.Column("title", sa.String(500), nullable=True),
        sa.Column("language", sa.String(16), nullable=True),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("search_language", sa.String(8), nullable=True),
        sa.Column("reviewed_on", sa.Date(), nullable=True),
        sa.Column("feed_id", sa.Uuid(), nullable=True),
        sa.Column("retired_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_fact_check_items"),
        sa.UniqueConstraint("dataset_name", "item_id", name="uq_fact_check_items_dataset_name_item_id"),
    )
    _index("ix_fact_check_items_community_id_number", "fact_check_items", "community_id, number")
    _index("ix_fact_check_items_waiting", "fact_check_items", "id", where="number IS NULL")
    _index("ix_fact_check_items_feed_id", "fact_check_items", "feed_id")
    op.create_table(
        "ai_drafts",
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=True),
        sa.Column("provider", sa.String(100), nullable=False),
        sa.Column("model", sa.String(100), nullable=False),
        sa.Column("prompt_version", sa.String(40), nullable=False),
        sa.Column("prompt_sha256", sa.String(64), nullable=True),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.Column("fell_back", sa.String(255), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("language", sa.String(8), nullable=True),
        sa.Column("language_gap", sa.String(255), nullable=True),
        sa.PrimaryKeyConstraint("note_id", name="pk_ai_drafts"),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name="fk_ai_drafts_note_id"),
        sa.ForeignKeyConstraint(
            ["item_id"], ["fact_check_items.id"], name="fk_ai_drafts_item_id", ondelete="SET NULL"
        ),
    )
    _index("ix_ai_drafts_item_id", "ai_drafts", "item_id")
    op.create_table(
        "fact_check_postings",
        sa.Column("owner", sa.Uuid(), nullable=False),
        sa.Column("word", sa.String(40), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("numbers", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "word", "block", name="pk_fact_check_postings"),
    )
    op.create_table(
        "note_drafts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("classification", sa.String(40), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("provider", sa.String(100), nullable=False),
        sa.Column("model", sa.String(100), nullable=False),
        sa.Column("prompt_version", sa.String(40), nullable=False),
        sa.Column("prompt_sha256", sa.String(64), nullable=True),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.Column("fell_back", sa.String(255), nullable=True),
        sa.Column("language", sa.String(8), nullable=True),
        sa.Column("language_gap", sa.String(255), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_note_drafts"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_note_drafts_community_id"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_note_drafts_request_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_note_drafts_account_id"),
        sa.UniqueConstraint("request_id", "account_id", name="uq_note_drafts_request_id_account_id"),
    )
    _index("ix_note_drafts_account_id", "note_drafts", "account_id")


def _services() -> None:
    op.create_table(
        "connected_services",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("mode", sa.String(40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=True),
        sa.Column("consents", sa.JSON(), nullable=False),
        sa.Column("model_seen", sa.String(100), nullable=False),
        sa.Column("model_before", sa.String(100), nullable=False),
        sa.Column("model_changed_at", UtcDateTime(), nullable=True),
        sa.Column("etag", sa.Integer(), nullable=False),
        sa.Column("removed_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_connected_services"),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_connected_services_community_id"
        ),
    )
    _index(
        "uq_connected_services_community_id_name",
        "connected_services",
        "community_id, name",
        unique=True,
        where="removed_at IS NULL",
    )
    op.create_table(
        "connected_service_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("service_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_by_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_connected_service_versions"),
        sa.ForeignKeyConstraint(
            ["service_id"], ["connected_services.id"], name="fk_connected_service_versions_service_id"
        ),
        sa.UniqueConstraint("service_id", "version", name="uq_connected_service_versions_service_id_version"),
    )
    op.create_table(
        "connected_service_days",
        sa.Column("service_id", sa.Uuid(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("errors", sa.Integer(), nullable=False),
        sa.Column("cached", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.Column("milliseconds", sa.JSON(), nullable=False),
        sa.Column("last_error", sa.String(255), nullable=False),
        sa.PrimaryKeyConstraint("service_id", "day", name="pk_connected_service_days"),
        sa.ForeignKeyConstraint(
            ["service_id"], ["connected_services.id"], name="fk_connected_service_days_service_id"
        ),
    )


def _vectors() -> None:
    op.create_table(
        "vector_spaces",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("service_id", sa.Uuid(), nullable=False),
        sa.Column("settings_version", sa.Integer(), nullable=False),
        sa.Column("identity", sa.String(64), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("covered", sa.String(60), nullable=False),
        sa.Column("complete_at", UtcDateTime(), nullable=True),
        sa.Column("leased_until", UtcDateTime(), nullable=True),
        sa.Column("problem", sa.String(255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_vector_spaces"),
        sa.ForeignKeyConstraint(
            ["service_id"], ["connected_services.id"], name="fk_vector_spaces_service_id"
        ),
        sa.UniqueConstraint("service_id", "identity", name="uq_vector_spaces_service_id_identity"),
    )
    op.create_table(
        "fact_check_vectors",
        sa.Column("space_id", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("space_id", "item_id", name="pk_fact_check_vectors"),
        sa.ForeignKeyConstraint(["space_id"], ["vector_spaces.id"], name="fk_fact_check_vectors_space_id"),
        sa.ForeignKeyConstraint(
            ["item_id"], ["fact_check_items.id"], name="fk_fact_check_vectors_item_id", ondelete="CASCADE"
        ),
    )
    _index("ix_fact_check_vectors_space_id_position", "fact_check_vectors", "space_id, position")
    _index("ix_fact_check_vectors_space_id_sha256", "fact_check_vectors", "space_id, sha256")
    _index("ix_fact_check_vectors_item_id", "fact_check_vectors", "item_id")


def _scoring() -> None:
    op.create_table(
        "scoring_models",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("regime", sa.String(10), nullable=False),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("ratings", sa.Integer(), nullable=False),
        sa.Column("notes", sa.Integer(), nullable=False),
        sa.Column("raters", sa.Integer(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_scoring_models"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_scoring_models_community_id"),
        sa.UniqueConstraint("community_id", "version", name="uq_scoring_models_community_id_version"),
    )
    op.create_table(
        "scoring_states",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("model_version", sa.Integer(), nullable=False),
        sa.Column("last_version", sa.Integer(), nullable=False),
        sa.Column("ratings_since", sa.Integer(), nullable=False),
        sa.Column("ratings_fitted", sa.Integer(), nullable=False),
        sa.Column("fitted_at", UtcDateTime(), nullable=True),
        sa.Column("fit_milliseconds", sa.Integer(), nullable=False),
        sa.Column("refit_due_at", UtcDateTime(), nullable=True),
        sa.Column("lease_owner", sa.Uuid(), nullable=True),
        sa.Column("lease_until", UtcDateTime(), nullable=True),
        sa.Column("camps", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("community_id", name="pk_scoring_states"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_scoring_states_community_id"),
    )
    _index("ix_scoring_states_refit_due_at", "scoring_states", "refit_due_at")
    op.create_table(
        "rater_parameters",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("profile_id", sa.Uuid(), nullable=False),
        sa.Column("intercept", sa.Float(), nullable=False),
        sa.Column("factor", sa.Float(), nullable=False),
        sa.Column("helpfulness", sa.Float(), nullable=True),
        sa.Column("kept", sa.Boolean(), nullable=False),
        sa.Column("volume", sa.Boolean(), nullable=False),
        sa.Column("correlated", sa.Boolean(), nullable=False),
        sa.Column("acting_intercept", sa.Float(), nullable=True),
        sa.Column("acting_factor", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("community_id", "version", "profile_id", name="pk_rater_parameters"),
    )
    op.create_table(
        "note_sums",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("note_version", sa.Integer(), nullable=False),
        sa.Column("rating_changes", sa.Integer(), nullable=False),
        sa.Column("sums", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "version", "note_id", name="pk_note_sums"),
    )


def _classifiers() -> None:
    op.create_table(
        "rule_packs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("starter_off", sa.JSON(), nullable=False),
        sa.Column("pack", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_by", sa.String(255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_rule_packs"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_rule_packs_community_id"),
        sa.UniqueConstraint("community_id", "version", name="uq_rule_packs_community_id_version"),
    )
    op.create_table(
        "rule_pack_drafts",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("starter_off", sa.JSON(), nullable=False),
        sa.Column("pack", sa.JSON(), nullable=False),
        sa.Column("edition", sa.Integer(), nullable=False),
        sa.Column("changed_by", sa.String(255), nullable=False),
        sa.Column("changed_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", name="pk_rule_pack_drafts"),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_rule_pack_drafts_community_id"
        ),
    )
    op.create_table(
        "slow_rules",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("rule", sa.String(80), nullable=False),
        sa.Column("version", sa.String(100), nullable=False),
        sa.Column("texts", sa.Integer(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("last_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "rule", name="pk_slow_rules"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_slow_rules_community_id"),
    )


def _learning() -> None:
    op.create_table(
        "learning",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("asks_first", sa.Boolean(), nullable=False),
        sa.Column("history_number", sa.Integer(), nullable=False),
        sa.Column("erasures", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=True),
        sa.Column("lease_owner", sa.Uuid(), nullable=True),
        sa.Column("lease_until", UtcDateTime(), nullable=True),
        sa.Column("sample_share", sa.Float(), nullable=False, server_default="0"),
        sa.Column("sample_key", sa.String(32), nullable=True),
        sa.PrimaryKeyConstraint("community_id", name="pk_learning"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_learning_community_id"),
    )
    op.create_table(
        "learned_categories",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("category", sa.String(40), nullable=False),
        sa.Column("decisions", sa.Integer(), nullable=False),
        sa.Column("labels", sa.Integer(), nullable=False),
        sa.Column("positives", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("trained_at", UtcDateTime(), nullable=True),
        sa.Column("newest_label_at", UtcDateTime(), nullable=True),
        sa.Column("last_version", sa.Integer(), nullable=False),
        sa.Column("version_in_force", sa.Integer(), nullable=False),
        sa.Column("in_force_since", UtcDateTime(), nullable=True),
        sa.Column("waiting_version", sa.Integer(), nullable=False),
        sa.Column("asks_first", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "category", name="pk_learned_categories"),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_learned_categories_community_id"
        ),
    )
    op.create_table(
        "learned_models",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("category", sa.String(40), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("features", sa.Integer(), nullable=False),
        sa.Column("weights", sa.LargeBinary(), nullable=True),
        sa.Column("blend_a", sa.Float(), nullable=False),
        sa.Column("blend_b", sa.Float(), nullable=False),
        sa.Column("blend_c", sa.Float(), nullable=False),
        sa.Column("labels", sa.Integer(), nullable=False),
        sa.Column("positives", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("words", sa.JSON(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("erased_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_learned_models"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_learned_models_community_id"),
        sa.UniqueConstraint(
            "community_id", "category", "version", name="uq_learned_models_community_id_category_version"
        ),
    )
    op.create_table(
        "learning_samples",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("category", sa.String(40), nullable=False),
        sa.Column("decided_verb", sa.String(20), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("acted", sa.Boolean(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("ends_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_learning_samples"),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_learning_samples_community_id"
        ),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_learning_samples_request_id"),
        sa.UniqueConstraint("request_id", name="uq_learning_samples_request_id"),
    )
    _index("ix_learning_samples_community_id_created_at", "learning_samples", "community_id, created_at")
    _index(
        "ix_learning_samples_labelled",
        "learning_samples",
        "community_id, category, ended_at",
        where="acted IS NOT NULL",
    )
    op.create_table(
        "learning_answers",
        sa.Column("sample_id", sa.Uuid(), nullable=False),
        sa.Column("profile_id", sa.Uuid(), nullable=False),
        sa.Column("level", sa.String(40), nullable=True),
        sa.Column("exclusion_reason", sa.String(20), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("sample_id", "profile_id", name="pk_learning_answers"),
        sa.ForeignKeyConstraint(["sample_id"], ["learning_samples.id"], name="fk_learning_answers_sample_id"),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name="fk_learning_answers_profile_id"),
    )


def _desk() -> None:
    op.create_table(
        "reason_templates",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.String(100), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("category", sa.String(40), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("verb", sa.String(40), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_reason_templates"),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_reason_templates_community_id"
        ),
    )
    _index("ix_reason_templates_community_id_title", "reason_templates", "community_id, title")
    op.create_table(
        "saved_filters",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("query", sa.JSON(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.Column("members", sa.JSON(), nullable=False, server_default="[]"),
        sa.PrimaryKeyConstraint("id", name="pk_saved_filters"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_saved_filters_account_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_saved_filters_community_id"),
        sa.UniqueConstraint(
            "community_id", "account_id", "name", name="uq_saved_filters_community_id_account_id_name"
        ),
    )
    op.create_table(
        "notices",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("action_id", sa.Uuid(), nullable=True),
        sa.Column("note_id", sa.Uuid(), nullable=True),
        sa.Column("decided_id", sa.Uuid(), nullable=True),
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("read_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_notices_account_id"),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name="fk_notices_action_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_notices_community_id"),
        sa.ForeignKeyConstraint(["decided_id"], ["history.id"], name="fk_notices_decided_id"),
        sa.ForeignKeyConstraint(["entry_id"], ["history.id"], name="fk_notices_entry_id"),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name="fk_notices_note_id"),
        sa.UniqueConstraint("account_id", "entry_id", name="uq_notices_account_id_entry_id"),
    )
    _index("ix_notices_account_id_read_at", "notices", "account_id, read_at")
    _index("ix_notices_entry_id", "notices", "entry_id")
    _index("ix_notices_decided_id", "notices", "decided_id")
    op.create_table(
        "author_notes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("platform_author_id", sa.String(255), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("account_name", sa.String(255), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_author_notes"),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_author_notes_community_id_communities"
        ),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_author_notes_account_id_accounts"),
    )
    _index("ix_author_notes_author", "author_notes", "community_id, platform_author_id, created_at, id")
    op.create_table(
        "attention",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.String(40), nullable=False),
        sa.Column("subject_id", sa.Uuid(), nullable=False),
        sa.Column("since", UtcDateTime(), nullable=False),
        sa.Column("told_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "reason", "subject_id", name="pk_attention"),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_attention_community_id_communities"
        ),
    )


def _overturns() -> None:
    op.create_table(
        "overturns",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("category", sa.String(40), nullable=True),
        sa.Column("rule", sa.String(255), nullable=True),
        sa.Column("since", UtcDateTime(), nullable=False),
        sa.Column("with_reviewed", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("moved_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_overturns"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_overturns_account_id"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_overturns_community_id"),
    )
    _index("ix_overturns_community_id_created_at", "overturns", "community_id, created_at")
    _index("ix_overturns_state_moved_at", "overturns", "state, moved_at")
    op.create_table(
        "overturn_items",
        sa.Column("overturn_id", sa.Uuid(), nullable=False),
        sa.Column("action_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("why", sa.String(255), nullable=False),
        sa.PrimaryKeyConstraint("overturn_id", "action_id", name="pk_overturn_items"),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name="fk_overturn_items_action_id"),
        sa.ForeignKeyConstraint(["overturn_id"], ["overturns.id"], name="fk_overturn_items_overturn_id"),
    )
    _index("ix_overturn_items_state", "overturn_items", "overturn_id, state, action_id")


def _insights() -> None:
    op.create_table(
        "insight_rollups",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("end", sa.BigInteger(), nullable=False),
        sa.Column("changes_until", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", name="pk_insight_rollups"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_insight_rollups_community_id"),
    )
    op.create_table(
        "insight_slots",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("slot", sa.BigInteger(), nullable=False),
        sa.Column("submitted", sa.Integer(), nullable=False),
        sa.Column("acted", sa.Integer(), nullable=False),
        sa.Column("reviewed", sa.Integer(), nullable=False),
        sa.Column("ignored", sa.Integer(), nullable=False),
        sa.Column("opened", sa.Integer(), nullable=False),
        sa.Column("closed", sa.Integer(), nullable=False),
        sa.Column("ratings", sa.Integer(), nullable=False),
        sa.Column("sided", sa.Integer(), nullable=False),
        sa.Column("borne_out", sa.Integer(), nullable=False),
        sa.Column("reviews", sa.Integer(), nullable=False),
        sa.Column("split", sa.Integer(), nullable=False),
        sa.Column("waits", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("community_id", "slot", name="pk_insight_slots"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_insight_slots_community_id"),
    )
    op.create_table(
        "insight_outcomes",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("slot", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("of_which", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "slot", "kind", "name", name="pk_insight_outcomes"),
        sa.ForeignKeyConstraint(
            ["community_id"], ["communities.id"], name="fk_insight_outcomes_community_id"
        ),
    )
    op.create_table(
        "tallies",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "community_id", "day", "name", name="pk_tallies"),
    )
    op.create_index(
        "ix_tallies_most_ratings",
        "tallies",
        ["community_id", sa.text("(-total)"), "name"],
        **_where("kind = 'rating'"),
    )
    op.create_table(
        "tally_changes",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("change", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tally_changes"),
    )
    op.create_table(
        "tally_sums",
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("names", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "community_id", name="pk_tally_sums"),
    )
    op.create_table(
        "insight_groups",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("slot", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("of_which", sa.Integer(), nullable=False),
        sa.Column("waits", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("community_id", "kind", "slot", "name", name="pk_insight_groups"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_insight_groups_community_id"),
    )


def _packed_days() -> None:
    op.create_table(
        "packed_days",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("ids", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("community_id", "kind", "day", name="pk_packed_days"),
    )
    if op.get_bind().dialect.name == "postgresql":
        # To compress them would take a third off their size, and most of the time of reading them.
        for column in ("data", "ids"):
            op.execute(f"ALTER TABLE packed_days ALTER COLUMN {column} SET STORAGE EXTERNAL")
    op.create_table(
        "day_changes",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_day_changes"),
    )
    _index(
        "ix_day_changes_community_id_kind_day_request_id",
        "day_changes",
        "community_id, kind, day, request_id",
    )
    op.create_table(
        "rater_numbers",
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("rater_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("community_id", "rater_id", name="pk_rater_numbers"),
        sa.UniqueConstraint("community_id", "number", name="uq_rater_numbers_community_id_number"),
    )


def _imports() -> None:
    op.create_table(
        "dataset_feeds",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("serves_all", sa.Boolean(), nullable=False),
        sa.Column("url", sa.String(2048), nullable=False),
        sa.Column("dataset_name", sa.String(100), nullable=False),
        sa.Column("publisher", sa.String(255), nullable=False),
        sa.Column("columns", sa.JSON(), nullable=False),
        sa.Column("hours", sa.Integer(), nullable=False),
        sa.Column("retires", sa.Boolean(), nullable=False),
        sa.Column("is_paused", sa.Boolean(), nullable=False),
        sa.Column("etag", sa.String(255), nullable=True),
        sa.Column("last_modified", sa.String(255), nullable=True),
        sa.Column("content_sha256", sa.String(64), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.Column("removed_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_dataset_feeds"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_dataset_feeds_community_id"),
    )
    _index("ix_dataset_feeds_due_at", "dataset_feeds", "due_at")
    op.create_table(
        "dataset_imports",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=True),
        sa.Column("feed_id", sa.Uuid(), nullable=True),
        sa.Column("serves_all", sa.Boolean(), nullable=False),
        sa.Column("source", sa.String(2048), nullable=False),
        sa.Column("format", sa.String(40), nullable=False),
        sa.Column("dataset_name", sa.String(100), nullable=False),
        sa.Column("publisher", sa.String(255), nullable=False),
        sa.Column("columns", sa.JSON(), nullable=False),
        sa.Column("headers", sa.JSON(), nullable=False),
        sa.Column("samples", sa.JSON(), nullable=False),
        sa.Column("after_reading", sa.String(40), nullable=False),
        sa.Column("retires", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("problem", sa.String(500), nullable=False),
        sa.Column("total_bytes", sa.Integer(), nullable=False),
        sa.Column("read_bytes", sa.Integer(), nullable=False),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("added", sa.Integer(), nullable=False),
        sa.Column("changed", sa.Integer(), nullable=False),
        sa.Column("unchanged", sa.Integer(), nullable=False),
        sa.Column("taken", sa.Integer(), nullable=False),
        sa.Column("refused", sa.Integer(), nullable=False),
        sa.Column("retiring", sa.Integer(), nullable=False),
        sa.Column("stored", sa.Integer(), nullable=False),
        sa.Column("stored_position", sa.Integer(), nullable=False),
        sa.Column("retired", sa.Integer(), nullable=False),
        sa.Column("unknown", sa.JSON(), nullable=False),
        sa.Column("moved_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_dataset_imports"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_dataset_imports_community_id"),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_dataset_imports_account_id"),
        sa.ForeignKeyConstraint(["feed_id"], ["dataset_feeds.id"], name="fk_dataset_imports_feed_id"),
    )
    _index("ix_dataset_imports_community_id_created_at", "dataset_imports", "community_id, created_at")
    _index("ix_dataset_imports_state", "dataset_imports", "state")
    op.create_table(
        "dataset_import_pieces",
        sa.Column("import_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("import_id", "number", name="pk_dataset_import_pieces"),
        sa.ForeignKeyConstraint(
            ["import_id"], ["dataset_imports.id"], name="fk_dataset_import_pieces_import_id"
        ),
    )
    op.create_table(
        "dataset_import_rows",
        sa.Column("import_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(40), nullable=False),
        sa.Column("place", sa.String(60), nullable=False),
        sa.Column("dataset_name", sa.String(100), nullable=True),
        sa.Column("item_id", sa.String(36), nullable=True),
        sa.Column("why", sa.String(1000), nullable=False),
        sa.Column("values", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("import_id", "position", name="pk_dataset_import_rows"),
        sa.ForeignKeyConstraint(
            ["import_id"], ["dataset_imports.id"], name="fk_dataset_import_rows_import_id"
        ),
    )
    _index("ix_dataset_import_rows_key", "dataset_import_rows", "import_id, dataset_name, item_id")
    op.create_table(
        "dataset_feed_checks",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("feed_id", sa.Uuid(), nullable=False),
        sa.Column("outcome", sa.String(40), nullable=False),
        sa.Column("problem", sa.String(500), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("import_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_dataset_feed_checks"),
        sa.ForeignKeyConstraint(["feed_id"], ["dataset_feeds.id"], name="fk_dataset_feed_checks_feed_id"),
        sa.ForeignKeyConstraint(
            ["import_id"], ["dataset_imports.id"], name="fk_dataset_feed_checks_import_id"
        ),
    )
    _index("ix_dataset_feed_checks_feed_id_created_at", "dataset_feed_checks", "feed_id, created_at")


def _attachments() -> None:
    op.create_table(
        "attachments",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("alt", sa.Text(), nullable=True),
        sa.Column("filename", sa.String(255), nullable=True),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("reason", sa.String(40), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=True),
        sa.Column("fetched_at", UtcDateTime(), nullable=True),
        sa.Column("media_type", sa.String(100), nullable=True),
        sa.Column("sha256", sa.String(64), nullable=True),
        sa.Column("preview_sha256", sa.String(64), nullable=True),
        sa.Column("stored_size", sa.BigInteger(), nullable=True),
        sa.Column("stored_width", sa.Integer(), nullable=True),
        sa.Column("stored_height", sa.Integer(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_attachments"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_attachments_community_id"),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], name="fk_attachments_request_id"),
        sa.UniqueConstraint("request_id", "position", name="uq_attachments_request_id_position"),
    )
    _index("ix_attachments_sha256", "attachments", "sha256")
    _index("ix_attachments_preview_sha256", "attachments", "preview_sha256")
    _index("ix_attachments_waiting", "attachments", "due_at", where="state = 'waiting'")
    op.create_table(
        "media_files",
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("announced_at", UtcDateTime(), nullable=False),
        sa.Column("removing_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("sha256", name="pk_media_files"),
    )
    _index("ix_media_files_announced_at", "media_files", "announced_at")


def _panels() -> None:
    op.create_table(
        "panel_rolls",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("people", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("raters", sa.LargeBinary(), nullable=False),
        sa.Column("made_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_panel_rolls"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_panel_rolls_community_id"),
    )
    _index("ix_panel_rolls_community_id_made_at", "panel_rolls", "community_id, made_at")
    op.create_table(
        "panels",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("community_id", sa.Uuid(), nullable=False),
        sa.Column("action_id", sa.Uuid(), nullable=False),
        sa.Column("note_id", sa.Uuid(), nullable=False),
        sa.Column("roll_id", sa.Uuid(), nullable=True),
        sa.Column("review", sa.String(40), nullable=False),
        sa.Column("reason", sa.String(255), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("hours", sa.Integer(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.Column("shortlist", sa.LargeBinary(), nullable=True),
        sa.Column("opened_at", UtcDateTime(), nullable=False),
        sa.Column("due_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.Column("outcome", sa.String(40), nullable=True),
        sa.Column("answered", sa.Integer(), nullable=False),
        sa.Column("helpful", sa.Integer(), nullable=False),
        sa.Column("somewhat_helpful", sa.Integer(), nullable=False),
        sa.Column("not_helpful", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_panels"),
        sa.ForeignKeyConstraint(["community_id"], ["communities.id"], name="fk_panels_community_id"),
        sa.ForeignKeyConstraint(["action_id"], ["moderation_actions.id"], name="fk_panels_action_id"),
        sa.ForeignKeyConstraint(["note_id"], ["notes.id"], name="fk_panels_note_id"),
        sa.ForeignKeyConstraint(["roll_id"], ["panel_rolls.id"], name="fk_panels_roll_id"),
    )
    _index("uq_panels_open", "panels", "action_id", unique=True, where="ended_at IS NULL")
    _index("ix_panels_action_id_opened_at", "panels", "action_id, opened_at")
    _index("ix_panels_note_id", "panels", "note_id")
    _index("ix_panels_due", "panels", "community_id, due_at", where="ended_at IS NULL")
    _index("ix_panels_ended_at", "panels", "ended_at")
    _index("ix_panels_roll_id", "panels", "roll_id")
    op.create_table(
        "panel_seats",
        sa.Column("panel_id", sa.Uuid(), nullable=False),
        sa.Column("profile_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(40), nullable=False),
        sa.Column("passed_over", sa.String(20), nullable=True),
        sa.Column("drawn_at", UtcDateTime(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("panel_id", "profile_id", name="pk_panel_seats"),
        sa.ForeignKeyConstraint(["panel_id"], ["panels.id"], name="fk_panel_seats_panel_id"),
        sa.ForeignKeyConstraint(["profile_id"], ["profiles.id"], name="fk_panel_seats_profile_id"),
        sa.UniqueConstraint("panel_id", "number", name="uq_panel_seats_panel_id_number"),
    )
    _index("ix_panel_seats_open", "panel_seats", "profile_id, panel_id", where="state = 'open'")


def _search_on_postgresql() -> None:
    """An index of parts of words. Without the extension, search works too, and slowly."""
    try:
        with op.get_bind().begin_nested():
            op.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    except sa.exc.DBAPIError as error:
        log.warning("Search stays without an index: CREATE EXTENSION pg_trgm failed: %s", error.orig)
        return
    for table, columns in (
        ("requests", ["content", "platform_author_id", "request_id", "platform_message_id"]),
        ("history_texts", ["actor_name", "reason"]),
    ):
        op.create_index(
            f"ix_{table}_search",
            table,
            columns,
            postgresql_using="gin",
            postgresql_ops=dict.fromkeys(columns, "gin_trgm_ops"),
        )


_SEARCHED = {
    "requests": ("id", ("content", "platform_author_id", "request_id", "platform_message_id"), "1 = 1"),
    "history_texts": ("entry_id", ("reason",), "NEW.reason <> ''"),
}
"""What SQLite searches, by table: its key, the columns, and which rows have any text."""


def _search_on_sqlite() -> None:
    """An index of parts of words, so that a search need not read every post (docs/develop/performance.md)."""
    try:
        with op.get_bind().begin_nested():
            op.execute("CREATE VIRTUAL TABLE search_trial USING fts5(word, content='', tokenize='trigram')")
            op.execute("DROP TABLE search_trial")
    except sa.exc.DBAPIError as error:
        log.warning("Search stays without an index: this SQLite has no FTS5 with trigrams: %s", error.orig)
        return
    for table, (key, columns, condition) in _SEARCHED.items():
        search, numbers = f"search_{table}", f"search_{table}_rows"
        names = ", ".join(columns)
        old, new = (", ".join(f"{row}.{name}" for name in columns) for row in ("OLD", "NEW"))
        # The index knows rows by number. The rowid of a table with another key may change, so the numbers are our own.
        op.execute(f"CREATE TABLE {numbers} (number INTEGER PRIMARY KEY, id CHAR(32) NOT NULL UNIQUE)")
        # Without a copy of the texts: what is removed is given along, so that the index can forget it.
        op.execute(f"CREATE VIRTUAL TABLE {search} USING fts5({names}, content='', tokenize='trigram')")
        added = (
            f"INSERT INTO {numbers} (id) SELECT NEW.{key} WHERE {condition}; "  # noqa: S608 - our own words
            f"INSERT INTO {search} (rowid, {names}) SELECT number, {new} FROM {numbers} WHERE id = NEW.{key};"
        )
        gone = (
            f"INSERT INTO {search} ({search}, rowid, {names}) "  # noqa: S608 - our own words
            f"SELECT 'delete', number, {old} FROM {numbers} WHERE id = OLD.{key}; "
            f"DELETE FROM {numbers} WHERE id = OLD.{key};"
        )
        differs = " OR ".join(f"OLD.{name} IS NOT NEW.{name}" for name in columns)
        for event, when, body in (
            ("INSERT", "", added),
            ("DELETE", "", gone),
            (f"UPDATE OF {names}", f"WHEN {differs}", f"{gone} {added}"),
        ):
            name = f"{search}_{event.split()[0].lower()}"
            op.execute(
                sa.text(
                    f"CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW {when} BEGIN {body} END"
                )
            )


def _differs(dialect: str, columns: tuple[str, ...]) -> str:
    other = "IS DISTINCT FROM" if dialect == "postgresql" else "IS NOT"
    return " OR ".join(f"OLD.{name} {other} NEW.{name}" for name in columns)


def _trigger(dialect: str, name: str, event: str, when: str, statement: str) -> list[str]:
    """The statements that make a trigger which runs ``statement`` after each row."""
    head = f"CREATE TRIGGER {name} {event} FOR EACH ROW {when}"
    if dialect != "postgresql":
        return [f"{head} BEGIN {statement}; END"]
    return [_function(name, statement), f"{head} EXECUTE FUNCTION {name}()"]


def _function(name: str, statement: str) -> str:
    return (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN {statement}; RETURN NULL; END $$"
    )


def _day(dialect: str, column: str) -> str:
    """The day of a time, counted since 1970."""
    if dialect == "postgresql":
        return f"CAST(floor(extract(epoch FROM {column}) / 86400) AS INTEGER)"
    return f"CAST(strftime('%s', substr({column}, 1, 10)) AS INTEGER) / 86400"


# What one row counts for, as SELECTs of (community_id, kind, day, name, change). {change} is 1 or -1, {scored_day} and
# {created_day} are days since 1970, {rater} is the rater's id as text.
_ROW = "SELECT {row}.community_id AS community_id, '%s' AS kind, %s AS day, %s AS name, {change} AS change WHERE %s"
_RATING = (
    "SELECT {row}.community_id AS community_id, '%s' AS kind, 0 AS day, {rater} AS name, {change} AS change"
    " FROM {source} note.version = {row}.note_version AND note.deleted_at IS NULL AND %s"
)
_RATINGS = [
    _RATING % ("rating", "1 = 1"),
    _RATING
    % ("sided", "{row}.helpfulness_level <> 'SOMEWHAT_HELPFUL' AND note.status <> 'NEEDS_MORE_RATINGS'"),
    _RATING
    % (
        "borne_out",
        "({row}.helpfulness_level = 'HELPFUL' AND note.status = 'CURRENTLY_RATED_HELPFUL'"
        " OR {row}.helpfulness_level = 'NOT_HELPFUL' AND note.status = 'CURRENTLY_RATED_NOT_HELPFUL')",
    ),
]
_OWN = "{row}.action_tier IS NOT NULL AND {row}.restores_id IS NULL"
_IN_QUEUE = "{row}.action_state = 'under_review' AND {row}.review_group IS NOT NULL"
_IN_REVIEW = _OWN + " AND {row}.action_state IN ('under_review', 'retro_review')"
_DECISION = "{row}.tier || CASE WHEN {row}.decision = 'none' THEN ' none' ELSE ' action' END"
_BAR = "((CAST(round({row}.score * 10000) AS INTEGER) - 1) / 500) || ' ' || {row}.category"
COUNTED: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "requests": (
        ("community_id", "status", "withdrawn_at", "scored_at"),
        [
            _ROW % ("request", "0", "{row}.status", "{row}.withdrawn_at IS NULL"),
            _ROW % ("scored", "{scored_day}", "''", "{row}.scored_at IS NOT NULL"),
        ],
    ),
    "moderation_actions": (
        ("community_id", "action_state", "review_group", "category", "action_tier", "restores_id"),
        [
            _ROW % ("action", "0", "{row}.action_state", "1 = 1"),
            _ROW % ("queue", "0", "{row}.review_group", _IN_QUEUE),
            _ROW % ("opened", "0", "coalesce({row}.category, '')", _OWN),
            _ROW % ("reviewed", "0", "{row}.action_state", _IN_REVIEW),
        ],
    ),
    "notes": (
        ("community_id", "status", "deleted_at"),
        [_ROW % ("note", "0", "{row}.status", "{row}.deleted_at IS NULL")],
    ),
    "decisions": (("community_id", "tier", "decision"), [_ROW % ("decision", "0", _DECISION, "1 = 1")]),
    "deliveries": (("community_id", "state"), [_ROW % ("delivery", "0", "{row}.state", "1 = 1")]),
    "scores": (
        ("community_id", "category", "score", "is_highest", "created_at"),
        [_ROW % ("bar", "{created_day}", _BAR, "{row}.is_highest AND {row}.score > 0")],
    ),
    "ratings": (("community_id", "note_id", "rater_id", "note_version", "helpfulness_level"), _RATINGS),
}
"""By table: the columns whose change counts, and what a row counts for."""
_CHANGES = "INSERT INTO tally_changes (community_id, kind, day, name, change) "
SUMMED = (
    "SELECT community_id, kind, day, name, sum(change) FROM ({rows}) AS found "
    "GROUP BY community_id, kind, day, name HAVING sum(change) <> 0"
)


def tally_triggers(dialect: str) -> list[str]:
    """The statements that make the triggers: each writes what a change adds to the counts and takes from them."""
    made: list[str] = []
    for table, (columns, contributions) in COUNTED.items():
        old, new = (
            [
                counted(one, dialect, row, change, f"notes AS note WHERE note.id = {row}.note_id AND")
                for one in contributions
            ]
            for row, change in (("OLD", "-1"), ("NEW", "1"))
        )
        for event, rows in (("insert", new), ("delete", old)):
            name, on = f"tally_{table}_{event}", f"AFTER {event.upper()} ON {table}"
            made += _trigger(dialect, name, on, "", _CHANGES + " UNION ALL ".join(rows))
        made += _on_update(dialect, f"tally_{table}_update", table, columns, old + new)
    # Whether a rating counts depends on its note, too.
    ratings = [
        counted(
            one, dialect, "rating", change, "ratings AS rating WHERE rating.note_id = NEW.id AND"
        ).replace("note.", f"{note}.")
        for note, change in (("OLD", "-1"), ("NEW", "1"))
        for one in _RATINGS
    ]
    return made + _on_update(
        dialect, "tally_notes_ratings", "notes", ("version", "status", "deleted_at"), ratings
    )


def _on_update(dialect: str, name: str, table: str, columns: tuple[str, ...], rows: list[str]) -> list[str]:
    # Summed up: what a change takes and gives back again is no change.
    summed = _CHANGES + SUMMED.format(rows=" UNION ALL ".join(rows))
    when = f"WHEN ({_differs(dialect, columns)})"
    return _trigger(dialect, name, f"AFTER UPDATE OF {', '.join(columns)} ON {table}", when, summed)


def counted(contribution: str, dialect: str, row: str, change: str, source: str) -> str:
    """The SELECT of what ``row`` counts for. ``source``: of a rating, where its note is, up to the last AND."""
    rater = f"{row}.rater_id"
    return contribution.format(
        row=row,
        change=change,
        source=source,
        rater=f"CAST({rater} AS VARCHAR)" if dialect == "postgresql" else rater,
        scored_day=_day(dialect, f"{row}.scored_at"),
        created_day=_day(dialect, f"{row}.created_at"),
    )


_IS_SUMMED = "kind IN ('rating', 'sided', 'borne_out')"
_ADD_SUMS = (
    "INSERT INTO tally_sums (kind, community_id, total, names) {rows} "
    "ON CONFLICT (kind, community_id) DO UPDATE SET "
    "total = tally_sums.total + excluded.total, names = tally_sums.names + excluded.names"
)
SUMS = (
    "SELECT kind, community_id, sum(total), sum(names) FROM ({rows}) AS found GROUP BY kind, community_id "
    "HAVING sum(total) <> 0 OR sum(names) <> 0 ORDER BY kind, community_id"
)
SUMMED_ROWS = (
    "SELECT kind, community_id, {sign} total AS total, "
    "{sign} CASE WHEN total <> 0 THEN 1 ELSE 0 END AS names "
    "FROM {table} WHERE " + _IS_SUMMED
)
_SIGN = {"OLD": "-", "NEW": "+"}


def sum_triggers(dialect: str) -> list[str]:
    """The statements that make the triggers of the sums over raters, and of when a note's text ended.

    What edits or withdraws a note also sets ``updated_at``, by the clock that ratings have theirs from.
    """
    made: list[str] = []
    for event, rows in (("insert", ("NEW",)), ("update", ("OLD", "NEW")), ("delete", ("OLD",))):
        name, on = f"tally_sums_{event}", f"AFTER {event.upper()} ON tallies"
        if dialect == "postgresql":
            # One sum for a statement: the sweep adds up thousands of tallies in one.
            tables = " ".join(f"{row} TABLE AS tally_{row.lower()}" for row in rows)
            parts = (SUMMED_ROWS.format(sign=_SIGN[row], table=f"tally_{row.lower()}") for row in rows)
            made += [
                _function(name, _ADD_SUMS.format(rows=SUMS.format(rows=" UNION ALL ".join(parts)))),
                f"CREATE TRIGGER {name} {on} REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION {name}()",
            ]
        else:
            total = " ".join(f"{_SIGN[row]} {row}.total" for row in rows)
            names = " ".join(f"{_SIGN[row]} CASE WHEN {row}.total <> 0 THEN 1 ELSE 0 END" for row in rows)
            values = f"VALUES ({rows[0]}.kind, {rows[0]}.community_id, {total}, {names})"
            made += _trigger(dialect, name, on, f"WHEN {rows[0]}.{_IS_SUMMED}", _ADD_SUMS.format(rows=values))
    on, differs = "UPDATE OF version, deleted_at ON notes", _differs(dialect, ("version", "deleted_at"))
    if dialect != "postgresql":
        ended = "UPDATE notes SET text_ended_at = NEW.updated_at WHERE id = NEW.id"
        return [*made, *_trigger(dialect, "tally_notes_text", f"AFTER {on}", f"WHEN {differs}", ended)]
    return [
        *made,
        "CREATE FUNCTION tally_notes_text() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN NEW.text_ended_at := NEW.updated_at; RETURN NEW; END $$",
        f"CREATE TRIGGER tally_notes_text BEFORE {on} FOR EACH ROW WHEN ({differs}) "
        "EXECUTE FUNCTION tally_notes_text()",
    ]


_PREVIEWED = "({row}.is_highest AND {row}.score > 0 OR {row}.is_acting)"
_DAYS = "INSERT INTO day_changes (community_id, kind, day, request_id) "
# The days of all scores of a request that previews read: usually one day. {row} is the row that names the request.
_OF_REQUEST = (
    "SELECT DISTINCT scores.community_id, 'scores', {day_of_scores}, scores.request_id FROM scores"
    " WHERE scores.request_id = {row}.request_id"
    " AND (scores.is_highest AND scores.score > 0 OR scores.is_acting)"
)
_OF_REQUESTS = (
    "SELECT DISTINCT one.* FROM (SELECT DISTINCT request_id FROM day_scores AS made WHERE {previewed}) AS found"
    " CROSS JOIN LATERAL ({scores} OFFSET 0) AS one"
)
_OF_SCORE = "SELECT {row}.community_id, 'scores', {day}, {row}.request_id"
_OF_RATING = "SELECT {row}.community_id, 'raters', {day}, {none}"
_DAY_RATINGS = ("community_id", "rater_id", "created_at")
_DAY_SCORES = (
    "community_id",
    "created_at",
    "request_id",
    "category",
    "score",
    "tier1_capable",
    "is_highest",
    "is_acting",
)
_DAY_ACTIONS = (
    "community_id",
    "request_id",
    "action_state",
    "action_tier",
    "decided_verb",
    "restores_id",
    "reopened_at",
    "lapsed_at",
)


def day_triggers(dialect: str) -> list[str]:
    """The statements that make the triggers.

    They note every change, whether or not its day is packed: a transaction that packs the day at the same time does not
    see the change, and the trigger does not see the packed day.
    """
    made: list[str] = []
    for row, event in (("NEW", "insert"), ("OLD", "delete")):
        made += _day_trigger(dialect, "ratings", event, "", [_OF_RATING], (row,))
        if dialect == "postgresql" and event == "insert":
            made += _once_a_statement(dialect)
        else:
            # A score that was deleted is none of the request's any more.
            rows = [_OF_SCORE, _OF_REQUEST] if row == "OLD" else [_OF_REQUEST]
            made += _day_trigger(
                dialect, "scores", event, f"WHEN ({_PREVIEWED.format(row=row)})", rows, (row,)
            )
        made += _day_trigger(dialect, "moderation_actions", event, "", [_OF_REQUEST], (row,))
    both = ("OLD", "NEW")
    previewed = " OR ".join(_PREVIEWED.format(row=row) for row in both)
    for table, rows, columns, is_read in (
        ("ratings", [_OF_RATING], _DAY_RATINGS, ""),
        ("scores", [_OF_SCORE, _OF_REQUEST], _DAY_SCORES, previewed),
        ("moderation_actions", [_OF_REQUEST], _DAY_ACTIONS, ""),
    ):
        differs = _differs(dialect, columns)
        when = f"WHEN (({differs}) AND ({is_read}))" if is_read else f"WHEN ({differs})"
        made += _day_trigger(dialect, table, f"update OF {', '.join(columns)}", when, rows, both)
    return made


def _day_trigger(
    dialect: str, table: str, event: str, when: str, rows: list[str], of: tuple[str, ...]
) -> list[str]:
    word, columns, names = event.partition(" OF ")
    insert = _DAYS + " UNION ".join(_day_row(dialect, one, row) for one in rows for row in of)
    on = f"AFTER {word.upper()}{columns}{names} ON {table}"
    return _trigger(dialect, f"day_{table}_{word}", on, when, insert)


def _once_a_statement(dialect: str) -> list[str]:
    """The scores of a post are written by one statement: one note for all of them, and not one for each.

    The scores of each request are looked up one by one, whatever PostgreSQL expects (``OFFSET 0``).
    """
    name = "day_scores_insert"
    scores = _day_row(dialect, _OF_REQUEST, "found")
    return [
        _function(name, _DAYS + _OF_REQUESTS.format(previewed=_PREVIEWED.format(row="made"), scores=scores)),
        f"CREATE TRIGGER {name} AFTER INSERT ON scores REFERENCING NEW TABLE AS day_scores "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {name}()",
    ]


def _day_row(dialect: str, rows: str, row: str) -> str:
    return rows.format(
        row=row,
        day=_day(dialect, f"{row}.created_at"),
        day_of_scores=_day(dialect, "scores.created_at"),
        none="CAST(NULL AS UUID)" if dialect == "postgresql" else "NULL",
    )
