"""``import-items``: imports a file of fact-checks of any size into the datasets (docs/run/datasets.md)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import click

from app.commands import files
from app.commands.opening import opened_wiring
from app.core.batches import BatchSize
from app.core.db import Database
from app.core.factcheck import columns, formats, items, reading
from app.core.factcheck.formats import Reading
from app.core.factcheck.items import Imported, Item
from app.core.factcheck.published import Defaults, Fault, Found
from app.core.factcheck.reading import CHUNK, SHOWN_FAULTS
from app.core.factcheck.reading import BadFile as UnreadableFile
from app.core.vocabulary import ImportFormat


class BadFile(click.ClickException):
    """The file is invalid; nothing was imported."""

    exit_code = 2


@dataclass
class Checked:
    """What a file holds: the number of good items, the faults with their number, the terms that we do not know.

    ``undated``: how many of the items have a date that we cannot read, and the first ones of those.
    """

    items: int = 0
    bad: int = 0
    undated: int = 0
    dates: list[str] = field(default_factory=list)
    reasons: int = 0
    faults: list[str] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)


@click.command("import-items")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path))
@click.option("--skip-bad", is_flag=True, help="Import the good lines although others are bad.")
@click.option("--dry-run", is_flag=True, help="Check the file and report, import nothing.")
@click.option(
    "--format",
    "kind",
    type=click.Choice([kind.value for kind in ImportFormat]),
    help="The form of the file; guessed from its name and beginning.",
)
@click.option("--dataset", default="", help="The dataset of items that do not name theirs.")
@click.option("--publisher", default="", help="The publisher of items that do not name theirs.")
@click.option(
    "--column",
    "chosen",
    multiple=True,
    metavar="MEMBER=HEADER",
    help="Which column of a CSV file is what; guessed from the headers.",
)
def import_items(
    file: Path,
    skip_bad: bool,
    dry_run: bool,
    kind: str | None,
    dataset: str,
    publisher: str,
    chosen: tuple[str, ...],
) -> None:
    """Import fact-checks from FILE: JSON Lines, CSV, ClaimReview (JSON-LD, or a page with it) or claims:search.

    Members of a line: claim, rating, url, publisher, dataset_name (or dataset), item_id (or dataset_item_id), title,
    language, reviewed_on; others are passed over. An item that is there already, by dataset and item id, is updated.
    Every community's posts are compared with the items of every dataset. One bad line, and nothing is imported. FILE
    may be compressed with gzip, and may be a pipe.
    """
    try:
        with files.stored(file) as whole:
            _import(whole, _how(whole, kind, Defaults(dataset, publisher), chosen), skip_bad, dry_run)
    except (UnreadableFile, files.DamagedFile) as bad:
        raise BadFile(f"{bad}. Nothing was imported.") from None


def _import(file: Path, how: Reading, skip_bad: bool, dry_run: bool) -> None:
    checked = check(file, how)
    for fault in checked.faults:
        click.echo(fault, err=True)
    if checked.reasons > len(checked.faults):
        click.echo(f"… and {checked.reasons - len(checked.faults)} more.", err=True)
    bad_lines = _lines(checked.bad)
    if checked.bad and not skip_bad:
        raise BadFile(f"{bad_lines} of {file.name} cannot be read; nothing was imported.")
    if not checked.items:
        raise BadFile(f"{file.name} holds no items; nothing was imported.")
    if dry_run:
        click.echo(f"{_items(checked.items)} of {file.name} can be imported; nothing was.")
    else:
        with opened_wiring() as wiring:
            totals = keep(wiring.database, file, how)
        click.echo(
            f"{_items(checked.items)} of {file.name}: {totals.new} new, {totals.changed} changed, "
            f"{totals.unchanged} unchanged."
        )
    if checked.bad:
        click.echo(f"{bad_lines} left out.")
    for words in (*_unknown(checked.unknown), *_undated(checked)):
        click.echo(words)


def check(file: Path, how: Reading) -> Checked:
    """Read the whole file without keeping it. Raises UnreadableFile or DamagedFile."""
    checked = Checked()
    with files.opened(file) as content:
        for one in formats.distinct(content, how):
            if isinstance(one, Found):
                checked.items += 1
                if one.item.rating is None:
                    checked.unknown[one.item.rating_given] += 1
                if one.item.date_unread:
                    checked.undated += 1
                    if len(checked.dates) < SHOWN_FAULTS:
                        checked.dates.append(f"{one.place}: {one.item.date_unread}")
            else:
                checked.bad += 1
                checked.reasons += len(one.reasons)
                room = SHOWN_FAULTS - len(checked.faults)
                checked.faults += [f"{one.place}: {reason}" for reason in one.reasons[:room]]
    return checked


def keep(database: Database, file: Path, how: Reading) -> Imported:
    """Store the items of a file, some hundreds at most in each transaction, and return the totals."""
    totals = Imported()
    with files.opened(file) as content:
        good = (one.item for one in formats.distinct(content, how) if not isinstance(one, Fault))
        size = BatchSize(CHUNK)
        while batch := list[Item](islice(good, size.rows)):
            with size.timed(), database.writing() as session:
                totals += items.keep(session, batch, None)
    return totals


def _how(file: Path, kind: str | None, defaults: Defaults, chosen: Sequence[str]) -> Reading:
    with files.opened(file) as content:
        form = ImportFormat(kind) if kind else reading.detect(content, file.name)
        if form is not ImportFormat.CSV:
            return Reading(form, defaults)
        head = columns.head(content)
    mapped = columns.guess(head.headers)
    for pair in chosen:
        member, _, header = pair.partition("=")
        if member not in columns.MEMBERS or header not in head.headers:
            raise click.UsageError(
                f"--column {pair}: the members are {', '.join(columns.MEMBERS)}; the headers {', '.join(head.headers)}"
            )
        mapped = {name: known for name, known in mapped.items() if known != header} | {member: header}
    missing = [member for member in columns.NEEDED if member not in mapped]
    if missing:
        raise BadFile(
            f"No column gives the {', '.join(missing)}: name it with --column. Nothing was imported."
        )
    return Reading(form, defaults, mapped)


def _unknown(words: Counter[str]) -> Iterator[str]:
    if words:
        yield f"{_items(words.total())} with a rating in words that we do not know, kept as they are:"
    for word, count in words.most_common(SHOWN_FAULTS):
        yield f"  {word!r} ({count})"


def _undated(checked: Checked) -> Iterator[str]:
    if checked.undated:
        yield f"{_items(checked.undated)} with a date that cannot be read, imported without it:"
    yield from (f"  {words}" for words in checked.dates)


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count} items"
