"""Every setting: name, type, default, meaning. Only this module and ``server_settings`` read environment variables.

Environment variables carry the prefix ``BRIDGENOTE_`` (``BRIDGENOTE_PORT=9000``); a ``.env`` file works too.
"""

import re
from email.utils import parseaddr
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, ValidationInfo, field_validator, model_validator

from app.server_settings import ServerSettings

NO_SENDER = "Bridgenote <bridgenote@localhost>"
"""Default sender. Enough for mail written to a folder; no mail server would deliver it."""


class Settings(ServerSettings):
    """The operator's settings. Times are in seconds unless the name says otherwise."""

    webhook_allow_hosts: str = Field(
        "",
        description="Comma-separated `host` or `host:port` entries that webhooks and feeds of fact-checks may "
        "reach over plain http.",
    )
    service_allow_hosts: str = Field(
        "",
        description="Comma-separated `host` or `host:port` entries of classifiers in your network. Operators of every "
        "community may connect services there, over plain http and at private addresses.",
    )
    models_dir: str = Field(
        "",
        description="Folder in which folders of models lie. Operators of every community may use them as classifiers; "
        "empty means none.",
    )
    model_threads: int = Field(
        1, ge=1, le=64, description="Threads that compute such models at once in one process."
    )
    model_memory_mb: int = Field(
        512,
        ge=16,
        le=65_536,
        description="Megabytes of such models that one process keeps loaded, and again of working memory for them.",
    )
    media_allow_hosts: str = Field(
        "",
        description="Comma-separated `host` or `host:port` entries in your network that attachments of posts may be "
        "fetched from.",
    )
    media_url: str = Field(
        "",
        description="Bucket of an S3-compatible store for attachments, such as `https://s3.example.org/bucket/prefix`; "
        "empty means the folder `media` in the data folder.",
    )
    media_region: str = Field("us-east-1", description="Its region.")
    media_key_id: str = Field("", description="Its access key id.")
    media_secret_key: SecretStr = Field(SecretStr(""), description="Its secret access key.")
    webhook_retry_delays: str = Field(
        "10,30", description="Seconds to wait before the second, third, … delivery attempt."
    )
    undo_seconds: float = Field(
        10.0,
        ge=0,
        le=600,
        description="How long a decision made in the dashboard can be undone. A community may set its own, and every "
        "moderator theirs (10 to 60).",
    )
    # Environment variables are strings, and pydantic does not convert them for a Literal of numbers.
    duplicate_request_status: Annotated[
        Literal[200, 409], BeforeValidator(lambda value: {"200": 200, "409": 409}.get(value, value))
    ] = Field(200, description="Status of the reply to a request_id that is already known: 200 or 409.")
    rate_limit_enabled: bool = Field(True, description="Whether rate limits apply.")
    rate_limit_storage: str = Field(
        "", description="`redis://…` to share limits between machines; empty means a file in the data folder."
    )
    rate_limit_key: str = Field("600 per minute", description="Calls per API key.")
    rate_limit_ratings: str = Field("30 per minute; 500 per day", description="Ratings per rater.")
    rate_limit_ai_notes: str = Field(
        "5 per minute; 20 per hour", description="AI notes per API key, and drafts of notes per moderator."
    )
    rate_limit_scores: str = Field(
        "600 per minute", description="Calls for scores per API key, beside its other calls."
    )
    rate_limit_link_codes: str = Field(
        "10 per minute; 60 per hour", description="Wrong codes for linking a profile, per API key."
    )
    rate_limit_webhook_tests: str = Field(
        "6 per minute; 60 per hour", description="Test events to one webhook, by all senders together."
    )
    rate_limit_sign_in: str = Field(
        "10 per minute; 60 per hour", description="Sign-in attempts for one account from one address."
    )
    rate_limit_sign_in_account: str = Field(
        "30 per minute; 200 per hour",
        description="Sign-in attempts for one account, wherever they come from.",
    )
    rate_limit_sign_in_address: str = Field(
        "100 per minute; 1000 per hour",
        description="Sign-in attempts from one address, for whatever account.",
    )
    rate_limit_communities: str = Field(
        "5 per hour; 20 per day", description="Communities that one account opens in the dashboard."
    )
    rate_limit_sign_up: str = Field(
        "10 per minute; 60 per hour",
        description="Accounts created, and mails asked for by people who are not signed in, per address.",
    )
    rate_limit_mail: str = Field(
        "5 per 10 minutes; 20 per day", description="Mails with a link to one mail address."
    )
    rate_limit_invitations: str = Field(
        "50 per hour; 200 per day",
        description="Invitations that one account sends, from all its communities.",
    )
    rate_limit_test_posts: str = Field(
        "10 per minute; 100 per day", description="Test posts that one account sends from the dashboard."
    )
    mcp_key: SecretStr = Field(
        SecretStr(""),
        description="API key of the template Assistants, for `mcp` over standard input and output.",
    )
    note_writer: Literal["builtin", "openai_compatible"] = Field(
        "builtin", description="Who drafts AI notes; `builtin` quotes fact-checks and needs no model."
    )
    ai_base_url: str = Field(
        "", description="Address of an OpenAI-compatible API, such as `https://api.openai.com/v1`."
    )
    ai_api_key: SecretStr = Field(
        SecretStr(""), description="Its key; any word for a server that asks for none."
    )
    ai_model: str = Field("", max_length=100, description="The model to ask there.")
    ai_deadline: float = Field(
        20.0, ge=0.1, le=120, description="Seconds that drafting one AI note may take in all."
    )
    min_ratings: int = Field(5, ge=1, le=1000, description="Ratings a note needs before it gets a status.")
    review_days: int = Field(
        14, ge=1, le=365, description="Days after which a review without consensus ends."
    )
    keep_history_days: int = Field(
        1830,
        ge=0,
        description="Days that entries of the history are kept, at least 100; 0 keeps them for ever. What is older is "
        "removed daily, and the rest still verifies.",
    )
    history_heads_file: str = Field(
        "",
        description="File to which each day's last entry of every history is appended, for `verify-history --expect`. "
        "Keep it where those who can change the database cannot write.",
    )
    history_heads_url: SecretStr = Field(
        SecretStr(""),
        description="Webhook that each day's line is sent to as well: https, or a host in "
        "`BRIDGENOTE_WEBHOOK_ALLOW_HOSTS`.",
    )
    keep_scores_days: int = Field(
        400, ge=0, description="Days that scores of posts are kept, at least 100; 0 keeps them for ever."
    )
    keep_deliveries_days: int = Field(
        365,
        ge=0,
        description="Days that events and their ended deliveries are kept, at least 30; 0 keeps them for ever.",
    )
    keep_attempts_days: int = Field(
        30, ge=1, le=3650, description="Days that each attempt of a delivery is kept."
    )
    keep_jobs_hours: float = Field(
        72.0,
        ge=1,
        le=8760,
        description="Hours that finished jobs are kept; those without a key go after ten minutes.",
    )
    open_communities: bool = Field(
        True,
        description="Whether anybody with a confirmed account may open a community; off, only service admins.",
    )
    open_sign_up: bool = Field(
        True, description="Whether anybody may create an account; invitations work either way."
    )
    mail_from: str = Field(
        NO_SENDER,
        description="Sender of every mail: an address, with a name or without.",
    )
    smtp_host: str = Field(
        "",
        description="Mail server; empty means that mails are written to the folder `mail` in the data folder.",
    )
    smtp_port: int = Field(587, ge=1, le=65535, description="Its port: 587 for STARTTLS, 465 for TLS.")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        "starttls", description="How the connection to it is protected; its certificate is checked."
    )
    smtp_username: str = Field("", description="User name for the mail server; empty means without sign-in.")
    smtp_password: SecretStr = Field(SecretStr(""), description="Its password.")

    @field_validator("webhook_retry_delays")
    @classmethod
    def _delays_are_numbers(cls, value: str) -> str:
        try:
            delays = [float(part) for part in value.split(",") if part.strip()]
        except ValueError as error:
            raise ValueError("must be numbers of seconds separated by commas") from error
        if any(not 0 <= delay <= 86_400 for delay in delays):
            raise ValueError("each delay must be from 0 to 86400 seconds")
        return value

    @field_validator("keep_history_days", "keep_scores_days", "keep_deliveries_days")
    @classmethod
    def _kept_long_enough(cls, value: int, info: ValidationInfo) -> int:
        # Previews of thresholds look 90 days back, and an operator replays deliveries of the last weeks.
        least = 30 if info.field_name == "keep_deliveries_days" else 100
        if 0 < value < least:
            raise ValueError(f"must be 0 or at least {least}")
        return value

    @field_validator("ai_base_url")
    @classmethod
    def _ai_base_url_is_an_address(cls, value: str) -> str:
        if value and not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", value):
            raise ValueError("must be an address such as https://api.openai.com/v1, without a query")
        return value

    @model_validator(mode="after")
    def _note_writer_has_what_it_needs(self) -> Self:
        if self.note_writer == "openai_compatible":
            required = {
                "ai_base_url": self.ai_base_url,
                "ai_api_key": self.ai_api_key.get_secret_value(),
                "ai_model": self.ai_model,
            }
            for name, value in required.items():
                if not value:
                    raise ValueError(
                        f"BRIDGENOTE_{name.upper()} must be set when BRIDGENOTE_NOTE_WRITER is openai_compatible"
                    )
            # The key is sent in a header, where a line break or a non-ASCII character would fail at the first request.
            if not re.fullmatch(r"[!-~]+", required["ai_api_key"]):
                raise ValueError("BRIDGENOTE_AI_API_KEY must be printable ASCII without spaces")
        return self

    @model_validator(mode="after")
    def _media_store_has_what_it_needs(self) -> Self:
        if not self.media_url:
            return self
        if not re.fullmatch(r"https?://[^\s/?#@]+/[^\s/?#]+(/[^\s?#]*)?", self.media_url):
            raise ValueError("BRIDGENOTE_MEDIA_URL must be an address such as https://s3.example.org/bucket")
        if not (self.media_key_id and self.media_secret_key.get_secret_value()):
            raise ValueError(
                "BRIDGENOTE_MEDIA_KEY_ID and BRIDGENOTE_MEDIA_SECRET_KEY must be set with BRIDGENOTE_MEDIA_URL"
            )
        return self

    @field_validator("mail_from")
    @classmethod
    def _mail_from_is_an_address(cls, value: str) -> str:
        if not value.isprintable() or not re.fullmatch(r"[^\s<>@,;]+@[^\s<>@,;]+", parseaddr(value)[1]):
            raise ValueError("must be an address such as Bridgenote <bridgenote@example.org>")
        return value

    @model_validator(mode="after")
    def _mail_server_has_what_it_needs(self) -> Self:
        if bool(self.smtp_username) != bool(self.smtp_password.get_secret_value()):
            raise ValueError(
                "BRIDGENOTE_SMTP_USERNAME and BRIDGENOTE_SMTP_PASSWORD must be set together or not at all"
            )
        local = self.smtp_host in {"localhost", "127.0.0.1", "::1"}
        if self.smtp_username and self.smtp_security == "none" and not local:
            raise ValueError("BRIDGENOTE_SMTP_SECURITY none would send the password unprotected")
        if self.environment == "production" and self.smtp_host and not self.public_url:
            raise ValueError("BRIDGENOTE_PUBLIC_URL must be set when BRIDGENOTE_SMTP_HOST is, in production")
        if self.environment == "production" and self.smtp_host and self.mail_from == NO_SENDER:
            raise ValueError("BRIDGENOTE_MAIL_FROM must be set when BRIDGENOTE_SMTP_HOST is, in production")
        return self

    @property
    def retry_delays(self) -> tuple[float, ...]:
        """Seconds to wait after the first, second, … failed attempt. There is one more attempt than delays."""
        return tuple(float(part) for part in self.webhook_retry_delays.split(",") if part.strip())

    @property
    def media_folder(self) -> Path:
        """Where attachments are stored, unless ``media_url`` names a bucket."""
        return self.data_dir.resolve() / "media"
