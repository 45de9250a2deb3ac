"""The rules of Prometheus and the dashboard of Grafana in deploy/: each rule fires, by Prometheus' own `promtool`."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.commands.doctor import database, work
from app.core.vocabulary import AttentionReason
from tests.house.source import ROOT

RULES = ROOT / "deploy" / "prometheus" / "bridgenote-rules.yml"
GRAFANA = ROOT / "deploy" / "grafana" / "bridgenote.json"
HEALTHY = {
    'up{job="bridgenote", instance="a"}': "1x300",
    "bridgenote_live_workers": "2x300",
    "bridgenote_dead_workers": "0x300",
    'bridgenote_build_info{version="1", instance="a"}': "1x300",
    'bridgenote_build_info{version="1", instance="b"}': "1x300",
    'bridgenote_http_request_duration_seconds_count{status="200"}': "0+600x300",
    'bridgenote_http_request_duration_seconds_count{status="500"}': "0+1x300",
    "bridgenote_oldest_waiting_post_age_seconds": "300x300",
    'bridgenote_requests{status="FAILED"}': "0x300",
    'bridgenote_requests{status="COMPLETED"}': "9x300",
    "bridgenote_oldest_waiting_attachment_age_seconds": "300x300",
    "bridgenote_oldest_due_delivery_age_seconds": "300x300",
    'bridgenote_deliveries{state="dead"}': "0x300",
    'bridgenote_deliveries{state="parked"}': "0x300",
    'bridgenote_deliveries{state="done"}': "9x300",
    "bridgenote_failing_services": "0x300",
    **{f'bridgenote_attention{{reason="{reason}"}}': "0x300" for reason in AttentionReason},
    "bridgenote_replica_is_read": "1x300",
    "bridgenote_backup_age_seconds": "93600x300",
}
"""Series by minute of a service that nothing is wrong with, at the limits."""
FIRE = {
    "BridgenoteServerDown": {'up{job="bridgenote", instance="a"}': "0x300"},
    "BridgenoteWorkerDied": {"bridgenote_dead_workers": "1x300"},
    "BridgenoteNoWorker": {"bridgenote_live_workers": "0x300"},
    "BridgenoteVersionsDiffer": {'bridgenote_build_info{version="2", instance="b"}': "1x300"},
    "BridgenoteErrors": {'bridgenote_http_request_duration_seconds_count{status="503"}': "0+60x300"},
    "BridgenotePostsWait": {"bridgenote_oldest_waiting_post_age_seconds": "301x300"},
    "BridgenotePostsFailed": {'bridgenote_requests{status="FAILED"}': "1x300"},
    "BridgenoteAttachmentsWait": {"bridgenote_oldest_waiting_attachment_age_seconds": "301x300"},
    "BridgenoteDeliveriesLate": {"bridgenote_oldest_due_delivery_age_seconds": "301x300"},
    "BridgenoteDeliveriesFailed": {'bridgenote_deliveries{state="dead"}': "1x300"},
    "BridgenoteDeliveriesParked": {'bridgenote_deliveries{state="parked"}': "1x300"},
    "BridgenoteServiceFails": {"bridgenote_failing_services": "1x300"},
    "BridgenoteBacklog": {'bridgenote_attention{reason="backlog"}': "1x300"},
    "BridgenoteReviewsOverdue": {'bridgenote_attention{reason="overdue"}': "1x300"},
    "BridgenoteWebhookFails": {'bridgenote_attention{reason="webhook_failing"}': "1x300"},
    "BridgenoteActionsPaused": {'bridgenote_attention{reason="paused"}': "1x300"},
    "BridgenoteReplicaNotRead": {"bridgenote_replica_is_read": "0x300"},
    "BridgenoteBackupLate": {"bridgenote_backup_age_seconds": "_x300"},
}
"""What differs for each alert to fire, and no other."""


def _rules() -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]}


def _test(changed: dict[str, str], fires: str | None) -> dict[str, Any]:
    """A test of promtool: after two hours the alert ``fires``, and no other."""
    rules = _rules()
    series = {**HEALTHY, **changed}
    # Of two versions on one instance, the newer one is what it runs.
    if fires == "BridgenoteVersionsDiffer":
        del series['bridgenote_build_info{version="1", instance="b"}']
    return {
        "name": fires or "healthy",
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [
            {
                "eval_time": "2h",
                "alertname": name,
                "exp_alerts": [_firing(name, rule)] if name == fires else [],
            }
            for name, rule in rules.items()
        ],
    }


def _firing(name: str, rule: dict[str, Any]) -> dict[str, Any]:
    value = {
        "BridgenotePostsWait": "5m 1s",
        "BridgenoteAttachmentsWait": "5m 1s",
        "BridgenoteDeliveriesLate": "5m 1s",
    }
    summary = re.sub(
        r"\{\{ \$value.*?\}\}",
        value.get(name, "1"),
        rule["annotations"]["summary"].replace("{{ $labels.instance }}", "a"),
    )
    labels = {"job": "bridgenote", "instance": "a"} if name == "BridgenoteServerDown" else {}
    if name == "BridgenoteErrors":
        # 60 errors a minute, beside the one of a healthy service.
        summary = re.sub(r"^1 ", "1.017 ", summary)
    return {"exp_labels": labels, "exp_annotations": {"summary": summary}}


def test_each_rule_fires_and_a_healthy_service_fires_none(tmp_path: Path) -> None:
    assert set(FIRE) == set(_rules())
    tests = [_test({}, None), *(_test(changed, name) for name, changed in FIRE.items())]
    file = tmp_path / "test.yml"
    file.write_text(
        yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests}, width=1_000)
    )
    ran = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # With one rule fewer it fails: the test can.
    (tmp_path / "rules.yml").write_text(
        RULES.read_text().replace("> 93600", "> 1e9").replace("or absent", "and absent")
    )
    file.write_text(file.read_text().replace(str(RULES), str(tmp_path / "rules.yml")))
    ran = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "BridgenoteBackupLate" in ran.stdout + ran.stderr


def test_the_configuration_is_one(tmp_path: Path) -> None:
    folder = RULES.parent
    text = (folder / "prometheus.yml").read_text()
    key = tmp_path / "bridgenote.key"
    key.write_text("secret")
    (tmp_path / "prometheus.yml").write_text(text.replace("/etc/prometheus/bridgenote.key", str(key)))
    (tmp_path / RULES.name).write_text(RULES.read_text())
    subprocess.run(
        ["promtool", "check", "config", tmp_path / "prometheus.yml"], check=True, capture_output=True
    )


@pytest.mark.parametrize("source", ["the page", "doctor"])
def test_each_alert_is_explained(source: str) -> None:
    if source == "the page":
        page = (ROOT / "docs" / "run" / "operations.md").read_text()
        assert set(re.findall(r"^\| `(Bridgenote\w+)` \|", page, re.MULTILINE)) == set(_rules())
        return
    checks = "".join(Path(module.__file__).read_text() for module in (database, work))
    named = set(re.findall(r'"(Bridgenote[A-Z]\w+)"', checks))
    # What only Prometheus sees: a server that is gone, and what several servers say together.
    assert set(_rules()) - named == {"BridgenoteServerDown", "BridgenoteVersionsDiffer", "BridgenoteErrors"}
    assert named <= set(_rules())


def test_the_dashboard_asks_what_prometheus_understands(tmp_path: Path) -> None:
    dashboard = json.loads(GRAFANA.read_text())
    asked = [
        (panel["title"], target["expr"])
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
    ]
    assert len(asked) > 20
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    file = tmp_path / "rules.yml"
    rules = [
        {"record": f"asked:{number}", "expr": expression} for number, (_, expression) in enumerate(asked)
    ]
    file.write_text(yaml.safe_dump({"groups": [{"name": "asked", "rules": rules}]}))
    subprocess.run(["promtool", "check", "rules", file], check=True, capture_output=True)
    for title, expression in asked:
        # Figures of the database are the same on every server; the histogram is of one.
        assert ("sum" in expression) == ("http_request" in expression), title
