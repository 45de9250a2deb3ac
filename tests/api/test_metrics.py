"""``/metrics``: figures from the database, behind a Metrics key (docs/integrate/api.md)."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa
import yaml
from prometheus_client.parser import text_string_to_metric_families

from app import __version__
from app.core import clock
from app.core.models import ApiKey, Community, Delivery, Request
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.review import conditions
from app.core.upkeep import attention
from app.core.vocabulary import KeyTemplate
from app.jobs.engine import Engine
from app.process import runtime
from app.wiring import Wiring
from tests.api.conftest import INSULT, Api
from tests.api.test_webhooks import REGISTER, registration
from tests.cast import Cast
from tests.clocks import advance, at
from tests.inline_engine import InlineEngine

DOCS = Path(__file__).parents[2] / "docs" / "run"


def _figures(api: Api, key: str) -> dict[tuple[str, ...], float]:
    answer = api.client.get("/metrics", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 200
    assert answer.mimetype == "text/plain"
    return {
        (sample.name.removeprefix("bridgenote_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_every_figure_is_read_from_the_database(
    api: Api, wiring: Wiring, cast: Cast, jobs: InlineEngine, decide: Callable[..., None]
) -> None:
    api.post(REGISTER, json=registration())
    at(clock.now())
    empty = _figures(api, cast.metrics_key)
    assert empty
    assert set(empty.values()) == {0}
    advance(minutes=1)
    decide("spam")
    api.submit("insult", INSULT)
    jobs.run_all()
    api.submit("waiting")
    with wiring.database.writing() as session:
        late = clock.now() - timedelta(minutes=10)
        first = session.scalars(sa.select(Delivery.id).order_by(Delivery.id).limit(1)).one()
        session.execute(sa.update(Delivery).where(Delivery.id == first).values(due_at=late))
    full = _figures(api, cast.metrics_key)
    assert full.keys() == empty.keys()
    assert full["requests", "PENDING"] == 1
    assert full["requests", "IN_PROGRESS"] == 1
    assert full["requests", "COMPLETED"] == 1
    assert full["requests", "FAILED"] == 0
    assert full["moderation_actions", "proposed"] == 1
    assert full["moderation_actions", "under_review"] == 1
    assert full["notes", "NEEDS_MORE_RATINGS"] == 2
    assert full["deliveries", "due"] == 2, "of the decision and of the action"
    assert full["review_queue_length", "community"] == 1
    assert full["review_queue_length", "staff"] == 0
    with wiring.database.writing() as session:
        waits = sa.update(Request).where(Request.request_id == "waiting")
        session.execute(waits.values(created_at=clock.now() - timedelta(minutes=3)))
    assert 180 <= _figures(api, cast.metrics_key)["oldest_waiting_post_age_seconds",] < 280
    assert 600 <= full["oldest_due_delivery_age_seconds",] < 700
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        community.paused_at = clock.now() - timedelta(days=2)
        attention.update(session, cast.community_id)
    after = _figures(api, cast.metrics_key)
    assert (after["attention", "paused"], after["attention", "backlog"]) == (1, 0)


def test_a_key_counts_its_own_communities_alone(
    api: Api, wiring: Wiring, cast: Cast, decide: Callable[..., None]
) -> None:
    decide("spam")
    with wiring.database.writing() as session:
        foreign = keys.mint(session, SYSTEM, "Other", KeyTemplate.METRICS, [cast.other_community_id]).text
        everywhere = keys.mint(session, SYSTEM, "All", KeyTemplate.METRICS, None).text
    assert _figures(api, foreign)["moderation_actions", "proposed"] == 0
    assert _figures(api, everywhere)["moderation_actions", "proposed"] == 1
    with wiring.database.reading() as session:
        used = session.scalars(sa.select(ApiKey.name).where(ApiKey.last_used_at.is_not(None))).all()
    assert {"Other", "All"} <= set(used)


def test_a_key_of_the_whole_service_sees_version_workers_and_backup(
    api: Api, wiring: Wiring, cast: Cast
) -> None:
    runtime.migrate(wiring.settings)
    with wiring.database.writing() as session:
        everywhere = keys.mint(session, SYSTEM, "All", KeyTemplate.METRICS, None).text
    before = _figures(api, everywhere)
    assert before["build_info", __version__] == 1
    assert (before["live_workers",], before["dead_workers",]) == (0, 0)
    assert ("backup_age_seconds",) not in before, "none was made on this machine"
    at(clock.now())
    for name in ("dies", "goes on"):
        engine = Engine(wiring.database.engine, executor_id=name)
        engine._heartbeat.beat()
        engine.stop()
    runtime.record_backup(wiring.settings)
    assert _figures(api, everywhere)["live_workers",] == 2
    advance(seconds=10)
    engine = Engine(wiring.database.engine, executor_id="goes on")
    engine._heartbeat.beat()
    engine.stop()
    after = _figures(api, everywhere)
    assert (after["live_workers",], after["dead_workers",]) == (1, 1), "ten seconds later"
    assert 0 <= after["backup_age_seconds",] < 60
    own = _figures(api, cast.metrics_key)
    assert not {name for name, *_ in own} & {
        "build_info",
        "live_workers",
        "dead_workers",
        "backup_age_seconds",
    }


def test_rules_and_the_page_name_the_figures_that_are_there(api: Api, wiring: Wiring, cast: Cast) -> None:
    runtime.record_backup(wiring.settings)
    api.get("/requests")
    with wiring.database.writing() as session:
        key = keys.mint(session, SYSTEM, "All", KeyTemplate.METRICS, None).text
    answer = api.client.get("/metrics", headers={"Authorization": f"Bearer {key}"})
    # Server processes state no times of creation.
    families = {
        family.name.removesuffix("_created") for family in text_string_to_metric_families(answer.text)
    }
    rules = (DOCS.parents[1] / "deploy" / "prometheus" / "bridgenote-rules.yml").read_text()
    alerts = {rule["alert"]: rule["expr"] for rule in yaml.safe_load(rules)["groups"][0]["rules"]}
    named = {name.removesuffix("_count") for name in re.findall(r"bridgenote_\w+", " ".join(alerts.values()))}
    with_replica = {"bridgenote_replica_is_read"}  # tests/faults/test_replica.py
    assert named - families == with_replica
    rows = re.findall(r"^\| (`bridgenote_[^|]+)", (DOCS / "operations.md").read_text(), re.MULTILINE)
    assert set(re.findall(r"bridgenote_\w+", " ".join(rows))) == families
    limits = {name: re.findall(r"> (\d{3,})", expression) for name, expression in alerts.items()}
    late, old = f"{conditions.JOB_LATE_AFTER.seconds}", f"{conditions.BACKUP_LATE_AFTER.total_seconds():.0f}"
    assert {name: found for name, found in limits.items() if found} == {
        "BridgenotePostsWait": [late],
        "BridgenoteAttachmentsWait": [late],
        "BridgenoteDeliveriesLate": [late],
        "BridgenoteBackupLate": [old],
    }
    summed = [name for name, expression in alerts.items() if "sum" in expression]
    assert summed == ["BridgenoteErrors"], (
        "each server answers for the whole database, but for its own answers"
    )


def test_only_a_metrics_key_may_read_them(api: Api, cast: Cast) -> None:
    for headers, status in (
        ({}, 401),
        ({"Authorization": "Bearer nonsense"}, 401),
        (cast.headers, 403),
        (cast.read_only_headers, 403),
        ({"X-API-Key": cast.metrics_key}, 200),
    ):
        assert api.client.get("/metrics", headers=headers).status_code == status, headers


def test_the_format_is_the_one_that_the_scraper_prefers(api: Api, cast: Cast) -> None:
    headers = {
        "Authorization": f"Bearer {cast.metrics_key}",
        "Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5",
    }
    answer = api.client.get("/metrics", headers=headers)
    assert answer.mimetype == "application/openmetrics-text"
    assert answer.text.endswith("# EOF\n")
