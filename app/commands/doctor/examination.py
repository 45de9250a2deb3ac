"""``doctor``: runs all checks and shows their findings."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

import click

from app.commands.doctor import database, environment, work
from app.commands.doctor.findings import Finding, Result, State
from app.commands.opening import prepared_settings
from app.settings import Settings
from app.wiring import Wiring, wire

_ADVICE = {
    "database": "PostgreSQL: start it, or correct BRIDGENOTE_DATABASE_URL; SQLite: see the data folder above",
}
"""Advice for a check that could not run, by check."""

Check = Callable[[Wiring], Iterator[Result]]

_WITHOUT_TABLES: tuple[tuple[str, Check], ...] = (
    ("settings", environment.settings),
    ("secrets", environment.secrets),
    ("data folder", environment.data_folder),
    ("port", environment.port),
    ("proxies", environment.proxies),
    ("rate limits", environment.rate_limits),
    ("mail server", environment.mail_server),
    ("database", database.reachable),
)
_WITH_TABLES: tuple[tuple[str, Check], ...] = (
    ("replica", database.replica),
    ("clock", database.clock),
    ("sealed secrets", database.sealed),
    ("job engine", work.engine),
    ("jobs", work.jobs),
    ("backup", work.backup),
    ("scoring", work.scoring),
    ("services", work.services),
    ("vectors of fact-checks", work.vectors),
    ("attachments", work.attachments),
    ("deliveries", work.deliveries),
    ("webhooks", work.endpoints),
    ("communities", work.communities),
    ("second factors", work.second_factors),
    ("sign-in", work.sign_in),
)


def examine(settings: Settings) -> list[Finding]:
    """Run all checks and return their findings in order."""
    with _wired(settings) as wiring:
        findings = [finding for what, check in _WITHOUT_TABLES for finding in _run(what, check, wiring)]
        # The other checks read tables, so they need a working database.
        if not any(finding.what == "database" and finding.state is State.FAIL for finding in findings):
            findings += [finding for what, check in _WITH_TABLES for finding in _run(what, check, wiring)]
    return findings


def _run(what: str, check: Check, wiring: Wiring) -> list[Finding]:
    findings: list[Finding] = []
    try:
        findings.extend(Finding(what, *result) for result in check(wiring))
    except Exception as error:
        reason = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
        advice = _ADVICE.get(what, "mend this first; the log of `serve` says more")
        findings.append(Finding(what, State.FAIL, reason.splitlines()[0], advice))
    # If a check fails after an OK finding, the OK is not true: leave it out.
    failed = any(finding.state is State.FAIL for finding in findings)
    return [finding for finding in findings if not (failed and finding.state is State.OK)]


@contextmanager
def _wired(settings: Settings) -> Iterator[Wiring]:
    wiring = wire(settings)
    try:
        yield wiring
    finally:
        wiring.database.dispose()


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="A JSON array instead of lines.")
def doctor(as_json: bool) -> None:
    """Check what the service stands on, and say what to do; exits with 1 when something is wrong.

    Each line is ok, warn (needs attention) or fail; in brackets stands the alert of Prometheus for it.
    """
    findings = examine(prepared_settings())
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            advice = f" → {finding.advice}" if finding.advice else ""
            alert = f" [{finding.alert}]" if finding.alert else ""
            click.echo(f"{finding.state:<5} {finding.what}: {finding.detail}{advice}{alert}")
    if any(finding.state is State.FAIL for finding in findings):
        raise click.exceptions.Exit(1)
