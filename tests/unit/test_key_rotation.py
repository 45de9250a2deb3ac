"""The encryption key is changed while the service runs, and nothing that is sealed is ever out of reach."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result

from app.commands.main import cli
from app.core import clock
from app.core.db import Base
from app.core.models import Community, Webhook
from app.core.outbound import AllowList
from app.core.permissions import SYSTEM
from app.core.sealing import SealBroken, Sealer
from app.core.upkeep import resealing
from app.core.webhooks import registrations as webhooks
from app.core.webhooks import signing
from app.process import runtime
from app.wiring import Wiring
from tests.cast import Cast

pytestmark = pytest.mark.both_databases

OLD, NEW, THIRD = "an old key of thirty-two letters", "a new key of thirty-two letters!", "x" * 40


def test_every_sealed_column_has_been_thought_of() -> None:
    blobs = {
        f"{table.name}.{column.name}"
        for table in Base.metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, sa.LargeBinary)
    }
    # Numbers, published fact-checks, what a person may read of themself, and no secret. A panel's seed is as secret as
    # its seats, which stand beside it.
    plain = {
        "learned_models.weights",
        "fact_check_vectors.vector",
        "dataset_import_pieces.content",
        "own_data_files.content",
        "post_scores.scores",
        "post_facts.signature",
        "passkeys.credential_id",
        "passkeys.public_key",
    }
    plain |= {"panel_rolls.raters", "panels.seed", "panels.shortlist"}
    assert blobs - plain == {f"{one.class_.__tablename__}.{one.key}" for one in resealing.SEALED}


def _register(wiring: Wiring, cast: Cast, sealer: Sealer, *numbers: int) -> None:
    allow = AllowList.parse("127.0.0.1")
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        for number in numbers:
            for secret in (f"former {number}", f"secret {number}"):
                url = f"http://127.0.0.1/{number}"
                webhooks.register(session, SYSTEM, sealer, allow, community, url, secret)


def _opened(wiring: Wiring, sealer: Sealer) -> set[str]:
    with wiring.database.reading() as session:
        rows = session.scalars(sa.select(Webhook)).all()
        blobs = [(one.id, blob) for one in rows for blob in (one.secret, one.previous_secret) if blob]
    return {sealer.open(blob, str(identity)) for identity, blob in blobs}


def _rotate(monkeypatch: pytest.MonkeyPatch, wiring: Wiring, folder: Path, new: str, old: str) -> Result:
    monkeypatch.setenv("BRIDGENOTE_DATABASE_URL", wiring.settings.database_url)
    monkeypatch.setenv("BRIDGENOTE_DATA_DIR", str(folder))
    monkeypatch.setenv("BRIDGENOTE_ENCRYPTION_KEY", new)
    monkeypatch.setenv("BRIDGENOTE_PREVIOUS_ENCRYPTION_KEY", old)
    return CliRunner().invoke(cli, ["rotate-encryption-key"])


def test_an_interrupted_rotation_goes_on_and_servers_with_both_keys_never_notice(
    wiring: Wiring, cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.migrate(wiring.settings)
    old, new = Sealer.from_secret(OLD), Sealer.from_secret(NEW)
    both = Sealer.from_secret(NEW, [OLD])
    everything = {f"{word} {number}" for word in ("former", "secret") for number in range(5)}
    _register(wiring, cast, old, 0, 1, 2, 3)
    forgotten = _rotate(monkeypatch, wiring, tmp_path, NEW, "")
    assert (forgotten.exit_code, "BRIDGENOTE_PREVIOUS_ENCRYPTION_KEY" in forgotten.output) == (2, True)
    with wiring.database.writing() as session:
        assert resealing.reseal(session, both, limit=3) == (3, [])
    # A server that has not been restarted yet, or only just, writes meanwhile.
    _register(wiring, cast, old, 4)
    assert _opened(wiring, both) == everything
    with wiring.database.reading() as session:
        assert resealing.unreadable(session, both) == 0
        assert resealing.unreadable(session, new) == resealing.outdated(session, both) == 7

    done = _rotate(monkeypatch, wiring, tmp_path, NEW, OLD)

    assert (done.exit_code, "7 secrets were sealed anew" in done.output) == (0, True)
    assert "encryption_key.rotated" in done.stderr, "a security event"
    assert _opened(wiring, new) == everything
    with pytest.raises(SealBroken):
        _opened(wiring, old)
    assert "0 secrets were sealed anew" in _rotate(monkeypatch, wiring, tmp_path, NEW, OLD).output
    wrong = _rotate(monkeypatch, wiring, tmp_path, THIRD, OLD)
    assert (wrong.exit_code, "10 secrets open with neither key" in wrong.output) == (1, True)


def test_secrets_of_several_rotations_are_sealed_anew_and_go_on_signing(wiring: Wiring, cast: Cast) -> None:
    old, both, new = Sealer.from_secret(OLD), Sealer.from_secret(NEW, [OLD]), Sealer.from_secret(NEW)
    for _ in range(2):
        _register(wiring, cast, old, 1)
    with wiring.database.writing() as session:
        webhook = session.scalars(sa.select(Webhook)).one()
        before = signing.live_secrets(session, webhook, old, clock.now())
        assert before == ["secret 1", "former 1"]
        assert resealing.outdated(session, both) == 3
        assert resealing.reseal(session, both) == (3, [])
        session.expire_all()
        assert resealing.unreadable(session, new) == 0
        assert signing.live_secrets(session, webhook, new, clock.now()) == before


def test_a_webhook_that_was_removed_has_no_secret_to_seal(
    wiring: Wiring, cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.migrate(wiring.settings)
    _register(wiring, cast, Sealer.from_secret(OLD), 1, 2)
    both = Sealer.from_secret(NEW, [OLD])
    with wiring.database.writing() as session:
        removed = session.scalars(sa.select(Webhook.id)).first()
        assert removed is not None
        webhooks.remove(session, SYSTEM, removed)
        left = resealing.outdated(session, both)
        assert resealing.unreadable(session, both) == 0
    done = _rotate(monkeypatch, wiring, tmp_path, NEW, OLD)
    assert (done.exit_code, f"{left} secrets were sealed anew" in done.output) == (0, True), done.output


def test_a_key_in_the_data_folder_is_replaced_there_under_a_running_server(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.migrate(wiring.settings)
    folder, running = wiring.settings.data_dir, wiring.sealer
    for _ in range(2):
        before = (folder / "encryption_key").read_text()
        _register(wiring, cast, wiring.sealer, 1)
        done = _rotate(monkeypatch, wiring, folder, "", "")
        assert done.exit_code == 0, done.output
        key, former = folder / "encryption_key", folder / "previous_encryption_key"
        assert former.read_text() == before != key.read_text()
        assert key.stat().st_mode & 0o777 == former.stat().st_mode & 0o777 == 0o600
        assert _opened(wiring, Sealer.from_secret(key.read_text())) == {"secret 1", "former 1"}
        # It had neither key in memory but the old one, and looks into the folder.
        assert _opened(wiring, running) == {"secret 1", "former 1"}
        wiring.sealer = Sealer.from_secret(key.read_text())
