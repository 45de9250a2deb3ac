"""The API under load, each line beside its floor: the same rows by the barest view under the same server.

The floor reads and writes what ours does, the engine's job and the history included, and checks nothing.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from tools.bench._service import Caller, Figures, free_port, load, running, service

CALLS = 900
ROUNDS = 5
TEXT = "The tide tables for Tuesday are on the notice board, thanks to everybody who helped. "
API = "/api/public/v1"
Call = Callable[[Caller, int], tuple[int, bytes]]


def _submission(community: str, name: str) -> dict[str, object]:
    attributes = {
        "request_id": name,
        "requested_by": "ann",
        "community_server_id": community,
        "original_message_content": TEXT * 3,
        "platform_message_id": f"m-{name}",
    }
    return {"data": {"type": "requests", "attributes": attributes}}


def _middle(rounds: list[Figures]) -> Figures:
    return Figures(*(median(getattr(one, name) for one in rounds) for name in ("rate", "p50", "p99")))


def _row(table: Table, what: str, ours: list[Figures], floor: list[Figures]) -> None:
    ratios = [one.rate / other.rate for one, other in zip(ours, floor, strict=True)]
    cells = [f"{x.rate:.0f} {x.p50:.1f} {x.p99:.1f}".split() for x in (_middle(ours), _middle(floor))]
    table.add_row(
        what, *cells[0], *cells[1], f"{median(ratios):.0%}", f"{min(ratios):.0%} - {max(ratios):.0%}"
    )


def main() -> None:
    # Jobs off for the reads and writes themselves: scoring is measured by `latency`.
    with service(BRIDGENOTE_JOBS_IN_PROCESS="false") as running_service:
        headers = {"Authorization": f"Bearer {running_service.key}"}
        caller = Caller(running_service.port, headers)
        query = "platform=bench&platform_community_server_id=bench"
        community = json.loads(caller.call("GET", f"{API}/community-servers/lookup?{query}")[1])["data"]["id"]
        for number in range(100):
            made = caller.call("POST", f"{API}/requests", _submission(community, f"there-{number}"))
        one, notes = json.loads(made[1])["data"]["id"], _notes(caller, community)
        listing = f"{API}/requests?page%5Bsize%5D=100"
        calls: list[tuple[str, int, Call, Call]] = [
            (
                "POST request",
                CALLS,
                lambda c, n: c.call("POST", f"{API}/requests", _submission(community, f"a-{n}")),
                lambda c, n: c.call("POST", "/requests", _submission(community, f"b-{n}")),
            ),
            (
                "GET one",
                CALLS,
                lambda c, n: c.call("GET", f"{API}/requests/{one}"),
                lambda c, n: c.call("GET", f"/requests/{one}"),
            ),
            (
                "GET list of 100",
                CALLS // 5,
                lambda c, n: c.call("GET", listing),
                lambda c, n: c.call("GET", "/requests"),
            ),
            (
                "POST rating",
                CALLS // 3,
                lambda c, n: c.call("POST", f"{API}/ratings", _rating(notes, n, "rater")),
                lambda c, n: c.call("POST", "/ratings", _rating(notes, n, "bare")),
            ),
        ]
        table = Table(title=f"HTTP, 8 connections, {os.cpu_count()} cores, SQLite, median of {ROUNDS} rounds")
        for name in ("Call", "req/s", "p50 ms", "p99 ms", "floor req/s", "floor p50", "floor p99", "ratio"):
            table.add_column(name, justify="left" if name == "Call" else "right")
        table.add_column("of all rounds", justify="right")
        bare = free_port()
        database = running_service.folder / "var" / "bridgenote.db"
        command = [sys.executable, "-m", "tools.bench._floor", str(bare), str(database)]
        with running(command, bare, dict(os.environ), Path(running_service.folder) / "floor.log"):
            for what, count, ours, floor in calls:
                rounds: tuple[list[Figures], list[Figures]] = ([], [])
                # By turns: what else the machine does meets both.
                for number in range(ROUNDS):
                    at = number * count
                    rounds[0].append(
                        load(running_service.port, _from(at, ours), calls=count, headers=headers)
                    )
                    rounds[1].append(load(bare, _from(at, floor), calls=count))
                _row(table, what, *rounds)
    Console(width=120).print(table)


def _from(first: int, one: Call) -> Call:
    return lambda caller, number: one(caller, first + number)


def _notes(caller: Caller, community: str) -> list[str]:
    """Fifty notes to rate."""
    notes = []
    for number in range(50):
        attributes = {
            "summary": f"Note {number}",
            "classification": "NOT_MISLEADING",
            "community_server_id": community,
            "author_id": f"author-{number}",
        }
        document = {"data": {"type": "notes", "attributes": attributes}}
        notes.append(json.loads(caller.call("POST", f"{API}/notes", document)[1])["data"]["id"])
    return notes


def _rating(notes: list[str], number: int, prefix: str) -> dict[str, object]:
    """One rating each by many raters of many notes."""
    attributes = {
        "note_id": notes[number % len(notes)],
        "rater_id": f"{prefix}-{number // len(notes)}",
        "helpfulness_level": "HELPFUL" if number % 3 else "NOT_HELPFUL",
    }
    return {"data": {"type": "ratings", "attributes": attributes}}


if __name__ == "__main__":
    main()
