"""``simulate``: acts as an integration and many raters against a running server, using only HTTP.

Submits varied content at a chosen rate, receives and verifies webhooks, acknowledges proposals, and rates what is under
review, with two camps of raters that agree on clear cases and disagree on others. Prints a table at the end.
"""

import random
import secrets
import statistics
import threading
from collections.abc import Sequence
from pathlib import Path

import click
import httpx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from app.demo import sign_ins
from app.demo.simulate.run import API, Integration, Rater, Receiver, Run, Tally

RECEIVER_PORT = 8999


def _demo_key(data_dir: Path) -> str:
    demo = sign_ins.load(data_dir)
    if demo is None:
        raise click.UsageError("no demo key found; name one with --key")
    return demo.api_key


@click.command()
@click.option("--url", default="http://127.0.0.1:8000", show_default=True, help="The running server.")
@click.option("--key", default=None, help="A Platform adapter key; default: the demo key in ./var/demo.json.")
@click.option("--platform", default=sign_ins.PLATFORM, show_default=True)
@click.option("--community", default=sign_ins.COMMUNITY, show_default=True, help="The platform's own id.")
@click.option("--count", default=60, show_default=True, type=click.IntRange(1), help="Submissions.")
@click.option(
    "--rate", default=4.0, show_default=True, type=click.FloatRange(0.1), help="Submissions a second."
)
@click.option("--raters", default=12, show_default=True, type=click.IntRange(2), help="People in two camps.")
@click.option(
    "--wait", default=60.0, show_default=True, type=click.FloatRange(1), help="Seconds for the rest."
)
@click.option("--receiver-port", default=RECEIVER_PORT, show_default=True, type=click.IntRange(1, 65535))
@click.option("--seed", default=1, show_default=True, help="Makes the content and the opinions repeatable.")
@click.option(
    "--data-dir", default=Path("var"), type=click.Path(path_type=Path), help="Where demo.json lies."
)
def simulate(
    url: str,
    key: str | None,
    platform: str,
    community: str,
    count: int,
    rate: float,
    raters: int,
    wait: float,
    receiver_port: int,
    seed: int,
    data_dir: Path,
) -> None:
    """Play an integration and a crowd of raters against a running server.

    The server must be allowed to reach the receiver: BRIDGENOTE_WEBHOOK_ALLOW_HOSTS=127.0.0.1:8999
    (`make run` sets it).
    """
    console, tally, secret = Console(), Tally(), secrets.token_urlsafe(24)
    integration = Integration(url, key or _demo_key(data_dir), platform, tally)
    try:
        receiver = Receiver(receiver_port, secret, tally)
    except OSError as error:
        raise click.ClickException(f"cannot listen on port {receiver_port}: {error.strerror}") from error
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    try:
        name = f"sim-{secrets.token_hex(3)}"
        run = Run(
            integration=integration,
            receiver=receiver,
            community_id=_register(integration, receiver, platform, community),
            count=count,
            rate=rate,
            wait=wait,
            raters=[Rater(f"{name}-rater-{n}", n % 2) for n in range(raters)],
            name=name,
            dice=random.Random(seed),  # noqa: S311 - repeatable traffic, not a secret
            tally=tally,
        )
        helpers = [
            threading.Thread(target=run.acknowledge_all, daemon=True),
            threading.Thread(target=run.rate_all, daemon=True),
        ]
        for thread in helpers:
            thread.start()
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        )  # fmt: skip
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("Submitting", total=count)
            run.submit_all(lambda: progress.advance(task))
            progress.add_task("Waiting for raters and deliveries", total=None)
            run.settle()
        run.done.set()
        for thread in helpers:
            thread.join(timeout=10)
        counts = run.statuses()
        console.print(summarise(run, counts))
        _check(run, counts)
    except httpx.TransportError as error:
        raise click.ClickException(f"cannot reach {url}: {error}") from error
    finally:
        receiver.shutdown()
    for text in tally.problems[:20]:
        console.print(f"Problem: {text}", style="red", markup=False)
    if tally.problems:
        raise SystemExit(1)


def _register(integration: Integration, receiver: Receiver, platform: str, community: str) -> str:
    """Register the receiver for the community's events, and return the community's id."""
    query = {"platform": platform, "platform_community_server_id": community}
    response = integration.call("GET", f"{API}/community-servers/lookup", params=query)
    if response.status_code != 200:
        raise click.ClickException(f"looking the community up: {response.status_code} {response.text[:300]}")
    hook = {
        "url": f"http://127.0.0.1:{receiver.server_address[1]}/hook",
        "secret": receiver.secret,
        "platform_community_server_id": community,
    }
    registered = integration.call("POST", "/webhooks/register", json=hook)
    if registered.status_code not in {200, 201}:
        raise click.ClickException(
            f"registering the webhook: {registered.status_code} {registered.text[:300]}\n"
            f"Does the server run with BRIDGENOTE_WEBHOOK_ALLOW_HOSTS=127.0.0.1:{receiver.server_address[1]}?"
        )
    return str(response.json()["data"]["id"])


def _check(run: Run, counts: dict[str, int]) -> None:
    """Check the results: nothing lost, nothing failed, every proposal acknowledged."""
    missing = len(run.tally.submitted) - sum(counts.values())
    if missing:
        run.tally.problem(f"{missing} submissions are not on the server")
    if counts.get("FAILED"):
        run.tally.problem(f"{counts['FAILED']} requests failed to be scored")


def summarise(run: Run, counts: dict[str, int]) -> Table:
    """Return the table with the results; latencies are in milliseconds."""
    tally = run.tally
    table = Table(title=f"Simulation {run.name}")
    table.add_column("What")
    for heading in ("Number", "Median ms", "p95 ms"):
        table.add_column(heading, justify="right")
    first = [at - tally.submitted[r] for r, (at, tier) in tally.decided.items() if tier == 1]
    second = [
        max(0.0, at - tally.last_rating[r])
        for r, (at, tier) in tally.decided.items()
        if tier == 2 and r in tally.last_rating
    ]
    scored = sum(counts.values()) - counts.get("PENDING", 0) - counts.get("FAILED", 0)
    for what, number, seconds in (
        ("submitted", len(tally.submitted), ()),
        ("scored", scored, ()),
        ("auto-acted (submission to decision)", len(first), first),
        ("queued for review", len(tally.queued), ()),
        ("ratings given", tally.ratings, ()),
        ("decided by raters (last rating to decision)", len(second), second),
        ("decided in all", len(tally.decided), ()),
        ("events delivered", sum(tally.events.values()), ()),
        ("delivered more than once", tally.repeated, ()),
        ("acknowledged", tally.acknowledged, ()),
    ):
        table.add_row(what, str(number), *_figures(seconds))
    return table


def _figures(seconds: Sequence[float]) -> tuple[str, str]:
    if not seconds:
        return "", ""
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"{statistics.median(ordered) * 1000:.0f}", f"{p95 * 1000:.0f}"
