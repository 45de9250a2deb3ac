"""A report as tables: for a terminal, and for the documentation."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.consensus.trials import (
    GROWTH_SHARE,
    Cell,
    Crowd,
    Measured,
    Method,
    Report,
    Stage,
    Tally,
)

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
    return [
        _attacks(report, "Wrongful actions", "must stay, and was acted on"),
        _attacks(report, "Missed actions", "should go, and was not acted on"),
        _stages(report.stages),
        _balances(report),
        _crowds(report.crowds),
    ]


def as_markdown(report: Report) -> str:
    """The tables of the documentation."""
    return "\n".join(line for sheet in sheets(report) for line in _markdown(sheet))


def _markdown(sheet: Sheet) -> Iterator[str]:
    yield from (f"**{sheet.title}.** {sheet.note}", "")
    yield "| " + " | ".join(sheet.columns) + " |"
    yield "|" + "|".join("---" if place == 0 else "--:" for place in range(len(sheet.columns))) + "|"
    for row in sheet.rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def _attacks(report: Report, title: str, meaning: str) -> Sheet:
    wrongful = title == "Wrongful actions"

    def tally(measured: Measured) -> Tally:
        return measured.wrongful if wrongful else measured.missed

    rows = []
    for cell in report.cells:
        row = [*_named(cell), str(tally(cell.measured[Method.OURS]).of)]
        row += [_percent(tally(cell.measured[method])) for method in Method]
        rows.append(row if not wrongful else [*row, _share(cell.measured[Method.OURS].to_staff)])
    columns = ["Attack", "Raters", "n", *Method]
    note = f"Percent of content that {meaning}; n is pieces of content over all communities. {_size(report.stage)}"
    return Sheet(title, columns if not wrongful else [*columns, "ours: to staff"], rows, note)


def _named(cell: Cell) -> tuple[str, str]:
    return (str(cell.attack), f"{cell.share:.0%}") if cell.attack else ("none", "0%")


def _size(stage: Stage) -> str:
    return (
        f"{len(stage.votes)} communities of {stage.raters} raters, with {_mean(stage.votes):.0f} votes by "
        f"{_mean(stage.voters):.0f} people when the attack begins ({_regimes(stage.regimes)})."
    )


def _stages(stages: Iterable[Stage]) -> Sheet:
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
                _percent(acted),
                str(attacked[Method.OURS].wrongful.of),
                *(_percent(attacked[method].wrongful) for method in Method),
            ]
        )
    columns = ["Votes so far", "Raters", "Each", "Regime", "n", "ours acts rightly"]
    wrongful = [f"{method} at {PERCENT}" for method in Method]
    note = (
        f"The first n and column: content that should go, unattacked; the others: content that must stay, under a "
        f"pile-on of {PERCENT} of the raters, of one camp."
    )
    return Sheet("By size of the community", [*columns, "n", *wrongful], rows, note)


def _balances(report: Report) -> Sheet:
    rows = []
    for balance in report.balances:
        ours = balance.measured[Method.OURS]
        acted = Tally(ours.missed.of - ours.missed.hits, ours.missed.of)
        rows.append(
            [
                f"{balance.smaller:.0%}",
                str(acted.of),
                _percent(acted),
                str(ours.wrongful.of),
                *(_percent(balance.measured[method].wrongful) for method in Method),
            ]
        )
    note = (
        f"Nobody attacks, in {report.stage.raters} raters. The first n and column: content that should go; the "
        f"others: the smaller camp's content that the larger one wants gone and that must stay."
    )
    columns = ["Smaller camp", "n", "ours acts rightly", "n", *Method]
    return Sheet("By size of the smaller camp", columns, rows, note)


def _crowds(crowds: Iterable[Crowd]) -> Sheet:
    rows = [
        [
            str(crowd.ratings),
            f"{crowd.raters} × {crowd.notes}",
            _regimes(crowd.regimes),
            str(crowd.recall[Method.OURS].of),
            *(f"{_percent(crowd.recall[method])}; {100 * crowd.bad[method].share:.0f}" for method in Method),
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
    return Sheet("Ordinary notes", columns, rows, note)


def _percent(tally: Tally) -> str:
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
