"""Settings of the server: addresses, database, secrets, sessions and logs. ``settings`` has the others."""

import os
import re
import secrets
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

_HOST = re.compile(
    r"\*|\.?[0-9a-z]([0-9a-z-]*[0-9a-z])?(\.[0-9a-z]([0-9a-z-]*[0-9a-z])?)*|\[[0-9a-f:.]+\]", re.IGNORECASE
)


class ServerSettings(BaseSettings):
    """What a server process needs of itself. Times are in seconds unless the name says otherwise."""

    model_config = SettingsConfigDict(env_prefix="BRIDGENOTE_", env_file=".env", extra="ignore")

    environment: Literal["development", "production", "test"] = Field(
        "development", description="`production` requires secrets, https cookies and refuses demo sign-ins."
    )
    data_dir: Path = Field(Path("var"), description="Folder for the database, generated secrets and mail.")
    database_url: str = Field(
        "",
        description="SQLAlchemy URL; empty means SQLite in the data folder. `postgresql://…` for PostgreSQL.",
    )
    replica_url: str = Field(
        "",
        description="`postgresql://…` of a streaming replica of that database, for what only reads and may be seconds "
        "old.",
    )
    prepared_statements: bool = Field(
        True,
        description="Let PostgreSQL keep statements prepared. `false` behind a PgBouncer in transaction mode that is"
        " older than 1.22.",
    )
    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=1, le=65535, description="Port to listen on.")
    web_processes: int = Field(2, ge=1, le=64, description="Server processes.")
    web_threads: int = Field(4, ge=1, le=64, description="Threads in each server process.")
    jobs_in_process: bool = Field(
        True, description="Run jobs and deliveries inside the server; off when `worker` processes run them."
    )
    job_slots: int = Field(
        8, ge=1, le=128, description="Jobs of one community that one process runs at a time."
    )
    secret_key: SecretStr = Field(
        SecretStr(""), description="Signs sessions and forms. Generated into the data folder in development."
    )
    encryption_key: SecretStr = Field(
        SecretStr(""),
        description="Seals webhook secrets at rest. Generated into the data folder in development.",
    )
    previous_encryption_key: SecretStr = Field(
        SecretStr(""),
        description="Opens what was sealed with it, until `rotate-encryption-key` has sealed everything again.",
    )
    trusted_proxies: str = Field(
        "", description="Comma-separated addresses whose X-Forwarded-For and -Proto headers count."
    )
    trusted_hosts: str = Field(
        "",
        description="Comma-separated hosts that requests may name beside that of `BRIDGENOTE_PUBLIC_URL`, without "
        "port; `.example.org` is every name below it, `*` any. Others get 400, but for `/healthz`, `/readyz` and "
        "`/metrics`.",
    )
    public_url: str = Field(
        "",
        description="Where people reach the service, such as `https://moderation.example.org`: links in mails and in "
        "the API's answers begin with it. Empty means `http://`, host and port; in answers, the host of the request.",
    )
    security_contact: str = Field(
        "",
        description="Comma-separated addresses to report vulnerabilities to, such as `mailto:security@example.org` or "
        "`https://…`, in the order of preference; `/.well-known/security.txt` names them. Empty means there is no such "
        "file.",
    )
    oidc_issuer: str = Field(
        "",
        description="Issuer of an OpenID Connect provider that people sign in with, beside those set in the dashboard; "
        "empty means none (docs/run/sign-in.md).",
    )
    oidc_client_id: str = Field("", description="Its client id for this service.")
    oidc_client_secret: SecretStr = Field(
        SecretStr(""), description="Its client secret; a public client has none."
    )
    oidc_label: str = Field("your organisation", description="What the button on the sign-in page calls it.")
    oidc_scopes: str = Field("openid profile email", description="The scopes to ask it for.")
    oidc_groups_claim: str = Field(
        "groups", description="The claim that lists a person's groups; empty means none."
    )
    oidc_creates_accounts: bool = Field(True, description="Whether people unknown here get an account.")
    session_idle_minutes: int = Field(30, ge=1, description="A session unused for this long ends.")
    session_hours: int = Field(12, ge=1, description="A session ends after this long.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Least level logged.")
    log_format: Literal["auto", "text", "json"] = Field(
        "auto",
        description="`json` is one object a line, with a line for each request; `auto` is that in production.",
    )

    tracing: bool = Field(
        False,
        description="Send traces by OTLP over HTTP; needs the extra `otel`. Where to, and what share of them, say "
        "OpenTelemetry's own variables, such as `OTEL_EXPORTER_OTLP_ENDPOINT`.",
    )

    @field_validator("trusted_hosts")
    @classmethod
    def _trusted_hosts_are_hosts(cls, value: str) -> str:
        for part in filter(None, map(str.strip, value.split(","))):
            if not _HOST.fullmatch(part):
                raise ValueError("must be hosts such as moderation.example.org or .example.org, without port")
        return value

    @field_validator("public_url")
    @classmethod
    def _public_url_is_an_address(cls, value: str) -> str:
        if value and not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", value):
            raise ValueError("must be an address such as https://moderation.example.org, without a query")
        return value.rstrip("/")

    @field_validator("security_contact")
    @classmethod
    def _security_contacts_are_addresses(cls, value: str) -> str:
        for part in filter(None, map(str.strip, value.split(","))):
            if not re.fullmatch(r"(mailto:[^\s@]+@[^\s@]+|https://[^\s]+|tel:\+?[0-9().-]+)", part):
                raise ValueError(
                    "must begin with mailto:, https:// or tel:, such as mailto:security@example.org"
                )
        return value

    @model_validator(mode="after")
    def _replica_is_of_postgresql(self) -> Self:
        if self.replica_url:
            for name, url in (("REPLICA", self.replica_url), ("DATABASE", self.database_url)):
                if not url.startswith(("postgres://", "postgresql://", "postgresql+psycopg://")):
                    raise ValueError(
                        f"BRIDGENOTE_{name}_URL must be postgresql://… when BRIDGENOTE_REPLICA_URL is set: "
                        "only PostgreSQL has replicas"
                    )
        return self

    @model_validator(mode="after")
    def _provider_has_what_it_needs(self) -> Self:
        if bool(self.oidc_issuer) != bool(self.oidc_client_id):
            raise ValueError(
                "BRIDGENOTE_OIDC_ISSUER and BRIDGENOTE_OIDC_CLIENT_ID must be set together or not at all"
            )
        if self.oidc_issuer and "openid" not in self.oidc_scopes.split():
            raise ValueError("BRIDGENOTE_OIDC_SCOPES must include openid")
        return self

    @model_validator(mode="after")
    def _production_needs_secrets(self) -> Self:
        if self.environment == "production":
            for name in ("secret_key", "encryption_key"):
                if len(getattr(self, name).get_secret_value()) < 32:
                    raise ValueError(
                        f"BRIDGENOTE_{name.upper()} must be set to at least 32 characters in production"
                    )
        return self

    @property
    def security_contacts(self) -> tuple[str, ...]:
        """The entries of ``security_contact``."""
        return tuple(part.strip() for part in self.security_contact.split(",") if part.strip())

    @property
    def trusted_host_names(self) -> frozenset[str]:
        """The entries of ``trusted_hosts``, in lower case."""
        return frozenset(part.strip().lower() for part in self.trusted_hosts.split(",") if part.strip())

    @property
    def sqlalchemy_url(self) -> str:
        """The database URL for SQLAlchemy, with our PostgreSQL driver (psycopg) added."""
        if not self.database_url:
            return f"sqlite:///{(self.data_dir / 'bridgenote.db').resolve()}"
        return _with_driver(self.database_url)

    @property
    def database_options(self) -> dict[str, Any]:
        """Options for ``Database`` beside the URL."""
        return {"prepares": self.prepared_statements, "replica_url": _with_driver(self.replica_url)}

    @property
    def base_url(self) -> str:
        """Base of links in mails, without a slash at the end. Never taken from a request's Host header."""
        if self.public_url:
            return self.public_url
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def logs_as_json(self) -> bool:
        return self.log_format == "json" or (self.log_format == "auto" and self.environment == "production")

    @property
    def is_demo_allowed(self) -> bool:
        """Whether demo sign-ins are allowed: outside production, and only on a loopback address."""
        return self.environment != "production" and self.host in {"127.0.0.1", "localhost", "::1"}

    def ready(self) -> Self:
        """Create the data folder, generate missing secrets into it, and return the settings with those secrets."""
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        generated = {
            name: SecretStr(_kept_secret(self.data_dir / name))
            for name in ("secret_key", "encryption_key")
            if not getattr(self, name).get_secret_value()
        }
        return self.model_copy(update=generated)

    def kept_encryption_keys(self) -> list[str]:
        """Read the encryption keys in the data folder: the current one and the previous one."""
        paths = [self.data_dir / name for name in ("encryption_key", "previous_encryption_key")]
        return [text for path in paths if path.is_file() and (text := path.read_text().strip())]


def _with_driver(url: str) -> str:
    for plain in ("postgres://", "postgresql://"):
        if url.startswith(plain):
            return "postgresql+psycopg://" + url.removeprefix(plain)
    return url


def _kept_secret(path: Path) -> str:
    """Return the secret in the file ``path``; generate it on first use. Only the owner can read the file."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        secret = secrets.token_urlsafe(32)
        file.write(secret)
    return secret
