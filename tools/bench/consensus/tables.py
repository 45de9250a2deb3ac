"""A report as tables: for a terminal, and for the documentation."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tools.bench.consensus.population import World
from tools.bench.consensus.results import (
    FIXED_BOUND,
    Cell,
    Crowd,
    Large,
    Measured,
    Method,
    Report,
    Stage,
    Tally,
)
from tools.bench.consensus.trials import GROWTH_SHARE

PERCENT = f"{GROWTH_SHARE:.0%}"


@dataclass(frozen=True)
class Sheet:
    """A table: its title, what the columns are called, the rows, and what a reader must know."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str


def sheets(report: Report) -> list[Sheet]:
    """Percentages with 95 % intervals."""
    large = [large for large in report.large if large.stage.votes]
    return [
        _attacks(report.cells, "Wrongful actions", size_of(report.stage)),
        _attacks(report.cells, "Missed actions", size_of(report.stage)),
        *(_large(one) for one in large),
        _axis(report),
        _stages(report.stages, World.DIVIDED),
        _stages(report.united, World.UNITED),
        _balances(report),
        _crowds(report.crowds, World.DIVIDED),
        _crowds(report.united_crowds, World.UNITED),
        _reasons(report.crowds),
        *(_bars(crowd) for crowd in report.crowds if crowd.bars),
    ]


def as_markdown(made: Sequence[Sheet]) -> str:
    """The tables of the documentation."""
    return "\n".join(line for sheet in made for line in _markdown(sheet))


def _markdown(sheet: Sheet) -> Iterator[str]:
    yield from (f"**{sheet.title}.** {sheet.note}", "")
    yield "| " + " | ".join(sheet.columns) + " |"
    yield "|" + "|".join("---" if place == 0 else "--:" for place in range(len(sheet.columns))) + "|"
    for row in sheet.rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def _attacks(cells: Sequence[Cell], title: str, size: str) -> Sheet:
    wrongful = title == "Wrongful actions"

    def tally(measured: Measured) -> Tally:
        return measured.wrongful if wrongful else measured.missed

    rows = []
    for cell in cells:
        row = [*_named(cell), str(tally(cell.measured[Method.OURS]).of)]
        row += [percent(tally(cell.measured[method])) for method in Method]
        rows.append(row if not wrongful else [*row, _share(cell.measured[Method.OURS].to_staff)])
    columns = ["Attack", "Raters", "n", *Method]
    meaning = "must stay, and was acted on" if wrongful else "should go, and was not acted on"
    note = f"Percent of content that {meaning}; n is pieces of content over all communities. {size}"
    return Sheet(title, columns if not wrongful else [*columns, "ours: to staff"], rows, note)


def _large(large: Large) -> Sheet:
    rows = []
    for cell in large.cells:
        ours = cell.measured[Method.OURS]
        row = [*_named(cell), str(ours.wrongful.of)]
        row += [percent(cell.measured[method].wrongful) for method in (Method.MAJORITY, Method.OURS)]
        rows.append([*row, str(ours.missed.of), percent(ours.missed), _share(ours.to_staff)])
    columns = [
        "Attack",
        "Raters",
        "n",
        "majority: wrongful",
        "ours: wrongful",
        "n",
        "ours: missed",
        "ours: to staff",
    ]
    note = (
        f"Percent of content that must stay and was acted on, and of content that should go and was not, among "
        f"{large.stage.items} notes and posts. Rushed: the attackers' votes come first. {size_of(large.stage)}"
    )
    return Sheet(f"Large communities, {large.world}", columns, rows, note)


def _axis(report: Report) -> Sheet:
    rows = [
        [
            world.value,
            regime.value,
            str(count.communities),
            str(count.presumed.of),
            _share(count.presumed),
            str(count.wrong.of),
            percent(count.wrong),
            percent(count.fixed),
            *([str(count.lost.of), percent(count.lost)] if world is not World.UNITED else ["", ""]),
        ]
        for (world, regime), count in report.axis.items()
        if count.presumed.of
    ]
    note = (
        f"Is it known whether there are camps? Fits: all of them, and percent in which they were presumed for want of "
        f"ratings. Wrong: percent of the tested fits that gave camps up where there are some, or took some to be there "
        f"where there are none; then the same had the ratio been held to {FIXED_BOUND} by itself. Lost: percent of "
        f"fits that gave up camps which the fit before had. Fits of one community are alike, so the true intervals are "
        f"wider. Where there are no camps, attacked communities are left out: the organised are a camp."
    )
    columns = [
        "World",
        "Regime",
        "Runs",
        "Fits",
        "presumed",
        "Tested",
        "wrong",
        f"wrong at {FIXED_BOUND}",
        "Pairs",
        "lost",
    ]
    return Sheet("The axis test", columns, rows, note)


def _named(cell: Cell) -> tuple[str, str]:
    if cell.attack is None:
        return "none", "0%"
    return f"{cell.attack}, rushed" if cell.rushed else str(cell.attack), f"{cell.share:.0%}"


def size_of(stage: Stage) -> str:
    count = len(stage.votes)
    return (
        f"{count} {'community' if count == 1 else 'communities'} of {stage.raters} raters, "
        f"with {_mean(stage.votes):.0f} votes by {_mean(stage.voters):.0f} people "
        f"when the attack begins ({_regimes(stage.regimes)})."
    )


def _stages(stages: Iterable[Stage], world: World) -> Sheet:
    rows = []
    for stage in stages:
        votes = _mean(stage.votes)
        ours, attacked = stage.quiet[Method.OURS].missed, stage.attacked
        acted = Tally(ours.of - ours.hits, ours.of)
        rows.append(
            [
                f"{votes:.0f}",
                str(stage.raters),
                f"{votes / _mean(stage.voters):.0f}",
                _regimes(stage.regimes),
                str(acted.of),
                percent(acted),
                str(attacked[Method.OURS].wrongful.of),
                *(percent(attacked[method].wrongful) for method in Method),
                percent(stage.rushed[Method.OURS].wrongful),
            ]
        )
    columns = ["Votes so far", "Raters", "Each", "Regime", "n", "ours acts rightly"]
    wrongful = [*(f"{method} at {PERCENT}" for method in Method), "ours, rushed"]
    note = (
        f"The first n and column: content that should go, unattacked; the others: content that must stay, under a "
        f"pile-on of {PERCENT} of the raters, of one camp."
    )
    return Sheet(f"By size of the community, {world}", [*columns, "n", *wrongful], rows, note)


def _balances(report: Report) -> Sheet:
    rows = []
    for balance in report.balances:
        ours = balance.measured[Method.OURS]
        acted = Tally(ours.missed.of - ours.missed.hits, ours.missed.of)
        rows.append(
            [
                f"{balance.smaller:.0%}",
                str(acted.of),
                percent(acted),
                str(ours.wrongful.of),
                *(percent(balance.measured[method].wrongful) for method in Method),
            ]
        )
    note = (
        f"Nobody attacks, in {report.stage.raters} raters. The first n and column: content that should go; the "
        f"others: the smaller camp's content that the larger one wants gone and that must stay."
    )
    columns = ["Smaller camp", "n", "ours acts rightly", "n", *Method]
    return Sheet("By size of the smaller camp", columns, rows, note)


def _crowds(crowds: Iterable[Crowd], world: World) -> Sheet:
    rows = [
        [
            str(crowd.ratings),
            f"{crowd.raters} × {crowd.notes}",
            _regimes(crowd.regimes),
            str(crowd.recall[Method.OURS].of),
            *(f"{percent(crowd.recall[method])}; {100 * crowd.bad[method].share:.0f}" for method in Method),
            _share(crowd.decidable),
        ]
        for crowd in crowds
    ]
    note = (
        "Notes of any quality, once all ratings are in. Percent of good notes called helpful; after the semicolon, "
        "percent of poor or divisive notes among those called helpful. n is good notes; the last column leaves those "
        "out that have fewer than five ratings, which nobody decides."
    )
    columns = ["Ratings", "Raters × notes", "Regime", "n", *Method, "ours, of those with 5"]
    return Sheet(f"Ordinary notes, {world}", columns, rows, note)


def _reasons(crowds: Iterable[Crowd]) -> Sheet:
    crowds = list(crowds)
    most = Counter[str]()
    for crowd in crowds:
        most += crowd.missed_by
    slugs = [slug for slug, _ in most.most_common()]
    rows = []
    for crowd in crowds:
        good = crowd.recall[Method.OURS]
        shares = [f"{100 * crowd.missed_by[slug] / max(1, good.of):.1f}" for slug in slugs]
        rows.append([str(crowd.ratings), _regimes(crowd.regimes), f"{100 * good.share:.1f}", *shares])
    note = (
        "Percent of the good notes of the table of ordinary notes with two camps: those that ours calls helpful, and "
        "those that it does not, by the rule that decided."
    )
    return Sheet("Why good notes are missed", ["Ratings", "Regime", "helpful", *slugs], rows, note)


def _bars(crowd: Crowd) -> Sheet:
    rows = [
        [str(shown), percent(bar.recall), f"{100 * bar.bad.share:.1f}", _share(bar.between)]
        for shown, bar in crowd.bars.items()
    ]
    note = (
        "The setting `helpful_at`, as it is shown. Percent of good notes called helpful; of all notes called helpful, "
        "percent poor or divisive, and percent that are neither good nor that."
    )
    columns = ["Bar", "recall", "poor or divisive", "between"]
    return Sheet(f"The bar, at {crowd.ratings} ratings ({_regimes(crowd.regimes)})", columns, rows, note)


def percent(tally: Tally) -> str:
    low, high = tally.interval
    return f"{100 * tally.share:.1f} ({100 * low:.1f}–{100 * high:.1f})"


def _share(tally: Tally) -> str:
    return f"{100 * tally.share:.1f}"


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / max(1, len(numbers))


def _regimes(regimes: "Counter[str]") -> str:
    """The regimes that were met, the most frequent first; how often each where there are several."""
    if len(regimes) == 1:
        return next(iter(regimes))
    return ", ".join(f"{count} {regime}" for regime, count in regimes.most_common())
