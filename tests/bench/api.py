"""The API under load, each line beside its floor: the same rows by the barest view under the same server.

The floor reads and writes what ours does, the engine's job and the history included, and checks nothing.
"""

import json
import os
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench._service import Caller, Figures, free_port, load, running, service

CALLS = 1500
RATINGS = 600
TEXT = "The tide tables for Tuesday are on the notice board, thanks to everybody who helped. "
API = "/api/public/v1"


def _submission(community: str, name: str) -> dict[str, object]:
    attributes = {
        "request_id": name,
        "requested_by": "ann",
        "community_server_id": community,
        "original_message_content": TEXT * 3,
        "platform_message_id": f"m-{name}",
    }
    return {"data": {"type": "requests", "attributes": attributes}}


def _row(table: Table, what: str, ours: Figures, floor: Figures | None) -> None:
    cells = [what, f"{ours.rate:.0f}", f"{ours.p50:.1f}", f"{ours.p99:.1f}"]
    if floor is not None:
        cells += [
            f"{floor.rate:.0f}",
            f"{floor.p50:.1f}",
            f"{floor.p99:.1f}",
            f"{ours.rate / floor.rate:.0%}",
        ]
    table.add_row(*cells)


def main() -> None:
    ours: dict[str, Figures] = {}
    floor: dict[str, Figures] = {}
    # Jobs off for the reads and writes themselves: scoring is measured by `latency`.
    with service(BRIDGENOTE_JOBS_IN_PROCESS="false") as running_service:
        headers = {"Authorization": f"Bearer {running_service.key}"}
        caller = Caller(running_service.port, headers)
        query = "platform=bench&platform_community_server_id=bench"
        community = json.loads(caller.call("GET", f"{API}/community-servers/lookup?{query}")[1])["data"]["id"]
        port = running_service.port
        ours["POST request"] = load(
            port,
            lambda c, n: c.call("POST", f"{API}/requests", _submission(community, f"a-{n}")),
            calls=CALLS,
            headers=headers,
        )
        one = json.loads(caller.call("GET", f"{API}/requests?page%5Bsize%5D=1")[1])["data"][0]["id"]
        ours["GET one"] = load(
            port, lambda c, n: c.call("GET", f"{API}/requests/{one}"), calls=CALLS, headers=headers
        )
        listing = f"{API}/requests?page%5Bsize%5D=100"
        ours["GET list of 100"] = load(
            port, lambda c, n: c.call("GET", listing), calls=CALLS // 5, headers=headers
        )
        notes = _notes(caller, community)
        ours["POST rating"] = load(
            port,
            lambda c, n: c.call("POST", f"{API}/ratings", _rating(notes, n, "rater")),
            calls=RATINGS,
            headers=headers,
        )
        database = running_service.folder / "var" / "bridgenote.db"
        bare = free_port()
        command = [sys.executable, "-m", "tests.bench._floor", str(bare), str(database)]
        with running(command, bare, dict(os.environ), Path(running_service.folder) / "floor.log"):
            floor["POST request"] = load(
                bare, lambda c, n: c.call("POST", "/requests", _submission(community, f"b-{n}")), calls=CALLS
            )
            floor["GET one"] = load(bare, lambda c, n: c.call("GET", f"/requests/{one}"), calls=CALLS)
            floor["GET list of 100"] = load(bare, lambda c, n: c.call("GET", "/requests"), calls=CALLS // 5)
            floor["POST rating"] = load(
                bare, lambda c, n: c.call("POST", "/ratings", _rating(notes, n, "bare")), calls=RATINGS
            )
    table = Table(title=f"HTTP, 8 connections, {os.cpu_count()} cores, SQLite")
    for name in ("Call", "req/s", "p50 ms", "p99 ms", "floor req/s", "floor p50", "floor p99", "ratio"):
        table.add_column(name, justify="left" if name == "Call" else "right")
    for what, figures in ours.items():
        _row(table, what, figures, floor.get(what))
    Console(width=110).print(table)


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
