"""Settings refuse what cannot work, by name."""

import stat
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from app.commands.settings_table import name_of
from app.core.people import providers
from app.process import startup
from app.settings import Settings
from app.wiring import Wiring


def test_production_refuses_to_start_without_secrets_and_names_them(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="BRIDGENOTE_SECRET_KEY"):
        Settings(_env_file=None, environment="production", data_dir=tmp_path)
    with pytest.raises(ValidationError, match="BRIDGENOTE_ENCRYPTION_KEY"):
        Settings(_env_file=None, environment="production", data_dir=tmp_path, secret_key="s" * 32)


def test_development_secrets_are_made_once_and_readable_by_their_owner_alone(tmp_path: Path) -> None:
    first = Settings(_env_file=None, data_dir=tmp_path / "var").ready()
    again = Settings(_env_file=None, data_dir=tmp_path / "var").ready()
    assert first.secret_key.get_secret_value() == again.secret_key.get_secret_value() != ""
    for name in ("secret_key", "encryption_key"):
        assert stat.S_IMODE((tmp_path / "var" / name).stat().st_mode) == 0o600


def test_the_environment_is_read_with_its_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIDGENOTE_PORT", "9000")
    monkeypatch.setenv("BRIDGENOTE_DATABASE_URL", "postgres://u@h/d")
    settings = Settings(_env_file=None)
    assert settings.port == 9000
    assert settings.sqlalchemy_url == "postgresql+psycopg://u@h/d"


def test_every_setting_can_be_written_as_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for field, info in Settings.model_fields.items():
        default = info.default.get_secret_value() if isinstance(info.default, SecretStr) else info.default
        monkeypatch.setenv(name_of(field), str(default))
    assert Settings() == Settings(_env_file=None)
    monkeypatch.setenv("BRIDGENOTE_DUPLICATE_REQUEST_STATUS", "409")
    assert Settings().duplicate_request_status == 409
    monkeypatch.setenv("BRIDGENOTE_DUPLICATE_REQUEST_STATUS", "204")
    with pytest.raises(ValidationError, match="200 or 409"):
        Settings()


@pytest.mark.parametrize("written", ["ten", "10,-1", "10,100000"])
def test_retry_delays_are_checked(written: str) -> None:
    with pytest.raises(ValidationError, match="webhook_retry_delays"):
        Settings(_env_file=None, webhook_retry_delays=written)


def test_demo_sign_ins_exist_on_loopback_in_development_only() -> None:
    assert Settings(_env_file=None).is_demo_allowed
    assert not Settings(_env_file=None, host="0.0.0.0").is_demo_allowed  # noqa: S104 - the very thing tested


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"public_url": "moderation.example.org"}, "public_url"),
        ({"mail_from": "Bridgenote"}, "mail_from"),
        ({"mail_from": "Bridgenote <a@b.example>\r\nBcc: c@d.example"}, "mail_from"),
        ({"smtp_host": "mail.example.org", "smtp_username": "bridge"}, "BRIDGENOTE_SMTP_PASSWORD"),
        (
            {
                "smtp_host": "mail.example.org",
                "smtp_username": "bridge",
                "smtp_password": "x",
                "smtp_security": "none",
            },
            "BRIDGENOTE_SMTP_SECURITY",
        ),
        (
            {
                "environment": "production",
                "secret_key": "s" * 32,
                "encryption_key": "s" * 32,
                "smtp_host": "mail.example.org",
            },
            "BRIDGENOTE_PUBLIC_URL",
        ),
        (
            {
                "environment": "production",
                "secret_key": "s" * 32,
                "encryption_key": "s" * 32,
                "smtp_host": "mail.example.org",
                "public_url": "https://moderation.example.org",
            },
            "BRIDGENOTE_MAIL_FROM",
        ),
    ],
)
def test_what_mail_needs_is_named(given: dict[str, str], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        Settings(_env_file=None, **given)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"oidc_issuer": "https://login.example.org"}, "BRIDGENOTE_OIDC_CLIENT_ID"),
        ({"oidc_client_id": "bridgenote"}, "BRIDGENOTE_OIDC_ISSUER"),
        (
            {"oidc_issuer": "https://a.example", "oidc_client_id": "b", "oidc_scopes": "email"},
            "BRIDGENOTE_OIDC_SCOPES",
        ),
    ],
)
def test_what_a_sign_in_provider_needs_is_named(given: dict[str, str], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        Settings(_env_file=None, **given)


def test_links_in_mails_begin_with_the_public_address_or_where_it_listens() -> None:
    assert Settings(_env_file=None, public_url="https://m.example.org/").base_url == "https://m.example.org"
    assert Settings(_env_file=None, host="::1", port=9000).base_url == "http://[::1]:9000"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"replica_url": "postgresql://replica/x"}, "BRIDGENOTE_DATABASE_URL must be postgresql"),
        (
            {"replica_url": "postgresql://replica/x", "database_url": "sqlite:///some.db"},
            "BRIDGENOTE_DATABASE_URL must be postgresql",
        ),
        (
            {"replica_url": "sqlite:///some.db", "database_url": "postgresql://host/x"},
            "BRIDGENOTE_REPLICA_URL must be postgresql",
        ),
    ],
)
def test_only_postgresql_has_a_replica(given: dict[str, str], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        Settings(_env_file=None, **given)
    given = {"database_url": "postgres://host/x", "replica_url": "postgres://replica/x"}
    options = Settings(_env_file=None, **given).database_options
    assert options["replica_url"] == "postgresql+psycopg://replica/x"


def test_the_provider_of_the_settings_is_one_that_people_can_use(wiring: Wiring) -> None:
    settings = wiring.settings.model_copy(
        update={
            "oidc_issuer": "https://login.example.org",
            "oidc_client_id": "bridgenote",
            "oidc_client_secret": SecretStr("a-secret"),
            "oidc_label": "Example",
        }
    )
    startup.set_provider(settings)
    with wiring.database.reading() as session:
        (provider,) = providers.enabled(session)
        assert providers.client_of(provider, wiring.sealer).client_secret == "a-secret"
        assert provider.label == "Example"
    startup.set_provider(wiring.settings)
    with wiring.database.reading() as session:
        assert providers.enabled(session) == []
