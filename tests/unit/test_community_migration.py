"""Communities from before: what was in force stays in force, and integrations read back what they wrote."""

import json
import uuid
from pathlib import Path

import pytest
import sqlalchemy as sa

from app import migrations
from app.core.db import make_engine
from tests import postgres

pytestmark = pytest.mark.both_databases

GIVEN = {"min_ratings": 7, "helpful_at": 9, "lock_days": True, "theme": "blue", "nested": {"a": [1]}}


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_supplied_and_set_are_parted_and_put_together_again(
    dialect: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    if dialect == "postgresql":
        server: postgres.Server = request.getfixturevalue("postgres_server")
        url = server.url(server.create())
    engine = make_engine(url)
    migrations.upgrade(engine, "0010")
    insert = sa.text(
        "INSERT INTO communities (id, platform, platform_community_server_id, slug, name, is_active, is_public,"
        " ai_notes_enabled, settings, created_at, updated_at) VALUES (:id, 'p', :slug, :slug, :slug, :yes, :yes,"
        " :yes, :settings, '2026-01-01', '2026-01-01')"
    )
    with engine.execution_options(writing=True).begin() as connection:
        for slug, settings in (("full", GIVEN), ("empty", {})):
            values = {"id": uuid.uuid4().hex, "slug": slug, "yes": True, "settings": json.dumps(settings)}
            connection.execute(insert, values)

    def read(columns: str) -> dict[str, list[object]]:
        with engine.connect() as connection:
            rows = connection.execute(sa.text(f"SELECT slug, {columns} FROM communities"))  # noqa: S608 - ours
            return {
                row[0]: [json.loads(one) if isinstance(one, str) else one for one in row[1:]] for row in rows
            }

    migrations.upgrade(engine, "0011")
    assert read("settings, supplied") == {"full": [{"min_ratings": 7}, GIVEN], "empty": [{}, {}]}
    migrations.downgrade(engine, "0010")
    assert read("settings") == {"full": [GIVEN], "empty": [{}]}
    engine.dispose()
