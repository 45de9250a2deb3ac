"""``simulate-consensus``: measure by simulation how often votes lead to wrong actions (docs/develop/consensus.md)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tools.bench.consensus import drawn_tables, drawn_trials, tables
from tools.bench.consensus.drawn import MOST_AGAINST
from tools.bench.consensus.drawn_trials import DrawnPlan
from tools.bench.consensus.tables import Sheet
from tools.bench.consensus.trials import Plan, run

PLAIN_WIDTH = 150
"""Columns of a table that goes to a file or a pipe."""


@click.command("simulate-consensus")
@click.option("--trials", type=click.IntRange(1, 1_000), help=f"Communities.  [default: {Plan.trials}]")
@click.option(
    "--raters", type=click.IntRange(20, 2_000), help=f"People in each of them.  [default: {Plan.raters}]"
)
@click.option(
    "--items",
    type=click.IntRange(30, 2_000),
    help=f"Pieces of content; the first half is the past.  [default: {Plan.items}]",
)
@click.option(
    "--seed",
    default=Plan.seed,
    show_default=True,
    type=click.IntRange(0, 2**63 - 1),
    help="The same seed gives the same figures.",
)
@click.option(
    "--large",
    type=click.IntRange(0, 100),
    help=f"Large communities of each kind; 0 leaves them out.  [default: {Plan.large}]",
)
@click.option(
    "--large-raters", type=click.IntRange(100, 5_000), help=f"People in each.  [default: {Plan.large_raters}]"
)
@click.option(
    "--large-items",
    type=click.IntRange(100, 5_000),
    help=f"Notes and posts in each.  [default: {Plan.large_items}]",
)
@click.option("--quick", is_flag=True, help="Small communities and few of them: seconds, and wide intervals.")
@click.option(
    "--panels", is_flag=True, help="Drawn panels beside everyone's votes, instead of the other tables."
)
@click.option(
    "--full",
    type=click.IntRange(1, 100),
    help="Drawn panels in so many communities of the full regime, instead of the other tables.",
)
@click.option(
    "--quiet",
    type=click.IntRange(1, 100),
    help="Panels against those who keep quiet until drawn: so many communities, and four times as many small ones.",
)
@click.option("--one-panel", is_flag=True, help="Leave out the second panel where a side is not of one mind.")
@click.option(
    "--most-against",
    type=click.IntRange(0, 36),
    help=f"A panel does not act if more of one side say no; 36 leaves this rule out.  [default: {MOST_AGAINST}]",
)
@click.option("--markdown", is_flag=True, help="Print the tables as in the documentation.")
def simulate_consensus(
    trials: int | None,
    raters: int | None,
    items: int | None,
    seed: int,
    large: int | None,
    large_raters: int | None,
    large_items: int | None,
    quick: bool,
    panels: bool,
    full: int | None,
    quiet: int | None,
    one_panel: bool,
    most_against: int | None,
    markdown: bool,
) -> None:
    """Measure how often votes lead to wrong actions under attack.

    Made-up communities of two camps, or of none, decide about content whose truth is known, by a simple majority, by
    a Bayesian average and by this service's own scoring, while raters pile on, sign up twice, do not care or block.
    What is assumed stands in docs/develop/consensus.md. Progress goes to standard error; no database is touched.
    """
    if panels or full or quiet:
        drawn = DrawnPlan(seed=seed, full=full or 0, quiet=quiet or 0, confirmed=not one_panel)
        drawn = replace(drawn, trials=drawn.trials if trials is None else trials)
        drawn = replace(drawn, most_against=MOST_AGAINST if most_against is None else most_against)
        drawn = replace(drawn, large=drawn.large if large is None else large)
        with _progress(sum(stage.trials for stage in drawn.stages())) as advance:
            _print(drawn_tables.drawn_sheets(drawn_trials.run(drawn, advance)), markdown)
        return
    plan = Plan.quick(seed) if quick else Plan(seed=seed)
    plan = replace(
        plan,
        trials=plan.trials if trials is None else trials,
        raters=plan.raters if raters is None else raters,
        items=plan.items if items is None else items,
        large=plan.large if large is None else large,
        large_raters=plan.large_raters if large_raters is None else large_raters,
        large_items=plan.large_items if large_items is None else large_items,
    )
    with _progress(plan.steps) as advance:
        report = run(plan, advance)
    _print(tables.sheets(report), markdown)


def _print(sheets: Sequence[Sheet], markdown: bool) -> None:
    if markdown:
        click.echo(tables.as_markdown(sheets), nl=False)
        return
    console = Console() if Console().is_terminal else Console(width=PLAIN_WIDTH)
    for sheet in sheets:
        console.print(_as_table(sheet))


@contextmanager
def _progress(steps: int) -> Iterator[Callable[[str], None]]:
    """A bar on a terminal, a line per step elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        done = iter(range(1, steps + 1))
        yield lambda what: click.echo(f"{next(done)} of {steps}: {what}", err=True)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=steps)
        yield lambda what: progress.update(task, advance=1, description=what)


def _as_table(sheet: Sheet) -> Table:
    table = Table(title=sheet.title, caption=sheet.note, caption_justify="left", title_justify="left")
    for place, name in enumerate(sheet.columns):
        table.add_column(name, justify="left" if place == 0 else "right")
    for row in sheet.rows:
        table.add_row(*row)
    return table
