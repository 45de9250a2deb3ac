"""``import-items``: imports published fact-checks from a JSON Lines file into the datasets (decision 0019)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from app.commands.opening import opened_wiring
from app.core.db import Database
from app.core.factcheck import items
from app.core.factcheck.items import Imported, Item
from app.core.factcheck.reading import CHUNK, SHOWN_FAULTS, read, unknown_ratings


class BadFile(click.ClickException):
    """The file is invalid; nothing was imported."""

    exit_code = 2


@click.command("import-items")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path))
@click.option("--skip-bad", is_flag=True, help="Import the good lines although others are bad.")
@click.option("--dry-run", is_flag=True, help="Check the file and report, import nothing.")
def import_items(file: Path, skip_bad: bool, dry_run: bool) -> None:
    """Import fact-checks from FILE, one JSON object a line.

    Members: claim, rating, url, publisher, dataset_name (or dataset), item_id (or dataset_item_id); others are passed
    over. An item that is there already, by dataset and item id, is updated. Every community's posts are compared with
    the items of every dataset. One bad line, and nothing is imported.
    """
    with file.open("rb") as lines:
        reading = read(lines)
    for fault in reading.faults[:SHOWN_FAULTS]:
        click.echo(fault, err=True)
    if len(reading.faults) > SHOWN_FAULTS:
        click.echo(f"… and {len(reading.faults) - SHOWN_FAULTS} more.", err=True)
    if reading.bad_lines and not skip_bad:
        raise BadFile(f"{_lines(reading.bad_lines)} of {file.name} cannot be read; nothing was imported.")
    if not reading.items:
        raise BadFile(f"{file.name} holds no items; nothing was imported.")
    if dry_run:
        click.echo(f"{_items(len(reading.items))} of {file.name} can be imported; nothing was.")
    else:
        with opened_wiring() as wiring:
            totals = keep(wiring.database, reading.items)
        click.echo(
            f"{_items(len(reading.items))} of {file.name}: {totals.new} new, {totals.changed} changed, "
            f"{totals.unchanged} unchanged."
        )
    if reading.bad_lines:
        click.echo(f"{_lines(reading.bad_lines)} left out.")
    for words in _unknown(reading.items):
        click.echo(words)


def keep(database: Database, fact_checks: Sequence[Item]) -> Imported:
    """Store the items, some hundreds in each transaction, and return the totals."""
    totals = Imported()
    for start in range(0, len(fact_checks), CHUNK):
        with database.writing() as session:
            totals += items.keep(session, fact_checks[start : start + CHUNK])
    return totals


def _unknown(fact_checks: Sequence[Item]) -> Iterator[str]:
    words = unknown_ratings(fact_checks)
    if words:
        yield f"{_items(words.total())} with a rating in words that we do not know, kept as they are:"
    for word, count in words.most_common(SHOWN_FAULTS):
        yield f"  {word!r} ({count})"


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count} items"
