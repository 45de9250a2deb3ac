"""``doctor``."""

import json
from dataclasses import asdict

import click

from app.commands.doctor import examination
from app.commands.opening import prepared_settings


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="A JSON array instead of lines.")
def doctor(as_json: bool) -> None:
    """Check what the service stands on, and say what to do; exits with 1 when something is wrong.

    Each line is ok, warn (somebody should look) or fail.
    """
    findings = examination.examine(prepared_settings())
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            advice = f" → {finding.advice}" if finding.advice else ""
            click.echo(f"{finding.state:<5} {finding.what}: {finding.detail}{advice}")
    if any(finding.state is examination.State.FAIL for finding in findings):
        raise click.exceptions.Exit(1)
