"""The tables of drawn panels beside everybody's votes, for a terminal and for the documentation."""

from collections.abc import Iterator, Sequence

from tools.bench.consensus.drawn import Who
from tools.bench.consensus.drawn_trials import DrawnCell, DrawnStage
from tools.bench.consensus.results import Measured, Tally
from tools.bench.consensus.tables import Sheet, percent, size_of


def drawn_sheets(stages: Sequence[DrawnStage]) -> list[Sheet]:
    """For each size: wrongful and missed actions by who decides, and what panels ask of people."""
    return [
        sheet
        for stage in stages
        if stage.stage.votes
        for sheet in ([_quiet(stage)] if stage.quiet else _full(stage) if stage.ripe else [_drawn(stage)])
    ]


def _named(cell: DrawnCell) -> list[str]:
    """The attack and the share of the raters, as the first two columns have them."""
    name = "none" if cell.attack is None else f"{cell.attack}, rushed" if cell.rushed else str(cell.attack)
    if cell.only_drawn:
        name = f"{name}, only when drawn"
    return [f"{name}; half never answer" if cell.half_silent else name, f"{cell.share:.0%}"]


def _drawn(stage: DrawnStage) -> Sheet:
    rows = []
    for cell in stage.cells:
        tallies = [cell.measured[who] for who in Who]
        row = [*_named(cell), str(tallies[0].wrongful.of)]
        row += [percent(measured.wrongful) for measured in tallies]
        row += [str(tallies[0].missed.of), *(percent(measured.missed) for measured in tallies)]
        rows.append([*row, *_asked(cell)])
    columns = ["Attack", "Raters", "n", *(f"wrongful: {who}" for who in Who)]
    columns += ["n", *(f"missed: {who}" for who in Who), "seats", "answers"]
    note = (
        f"Percent of content that must stay and was acted on, and that should go and was not. Seats and answers are "
        f"per panel where panels always decide. {size_of(stage.stage)}"
    )
    return Sheet(f"Drawn panels, {stage.stage.raters} raters", columns, rows, note)


def _quiet(stage: DrawnStage) -> Sheet:
    rows = []
    for cell in stage.cells:
        row = _named(cell)
        for one, two in (
            (cell.alone.wrongful, cell.confirmed.wrongful),
            (cell.alone.missed, cell.confirmed.missed),
        ):
            row += [str(one.of), percent(one), percent(two)]
        rows.append([*row, *_asked(cell)])
    columns = ["Attack", "Raters", "n", "wrongful: one panel", "wrongful: as it is"]
    columns += ["n", "missed: one panel", "missed: as it is", "seats", "answers"]
    note = (
        f"Percent of content that divides the camps and was acted on, and that should go and was not. Answers are "
        f"noisier. Seats and answers are per review. {size_of(stage.stage)}"
    )
    return Sheet(f"Panels against those who keep quiet, {stage.stage.raters} raters", columns, rows, note)


def _full(stage: DrawnStage) -> Iterator[Sheet]:
    """The full regime: wrongful, missed, what stays undecided and what a decision takes; with ranges."""
    raters = stage.stage.raters
    columns = ["Attack", "Raters", "n", *Who, "panel, without `opposed`"]
    ranges = "In brackets the least and the most of the single communities."
    for name, meaning, wrongful in (
        ("Wrongful actions", "must stay, and was acted on", True),
        ("Missed actions", "should go, and was not acted on", False),
    ):
        rows = []
        for cell in stage.cells:
            tallies = [_tally(cell.measured[who], wrongful) for who in Who]
            row = [*_named(cell), str(tallies[0].of)]
            for who, tally in zip(Who, tallies, strict=True):
                row.append(_with_range(tally, [_tally(one, wrongful) for one in cell.apart[who]]))
            rows.append([*row, f"{100 * _tally(cell.unopposed, wrongful).share:.1f}"])
        note = f"Percent of content that {meaning}. {ranges} {size_of(stage.stage)}"
        yield Sheet(f"{name} in the full regime, {raters} raters", columns, rows, note)
    rows = []
    for cell in stage.cells:
        undecided = [f"{100 * cell.undecided[who].share:.1f}" for who in Who]
        took = [f"{sum(cell.took[who]) / max(1, len(cell.took[who])):.1f}" for who in Who]
        rows.append([*_named(cell), *undecided, *took, *_asked(cell)])
    columns = ["Attack", "Raters", *(f"undecided: {who}" for who in Who)]
    columns += [*(f"ratings: {who}" for who in Who), "seats", "answers"]
    note = (
        "Undecided: percent of what is looked at in the two tables before that neither goes nor is found fit to stay: "
        "it waits, or a panel left it to moderators. Ratings: the mean number of them when a decision was made. Seats "
        "and answers are per panel where panels always decide, those without a decision included."
    )
    yield Sheet(f"What a decision takes in the full regime, {raters} raters", columns, rows, note)


def _tally(measured: Measured, wrongful: bool) -> Tally:
    return measured.wrongful if wrongful else measured.missed


def _with_range(tally: Tally, apart: Sequence[Tally]) -> str:
    shares = [100 * one.share for one in apart]
    return f"{100 * tally.share:.1f} ({min(shares):.1f}–{max(shares):.1f})"


def _asked(cell: DrawnCell) -> list[str]:
    asked = cell.asked[Who.PANEL]
    per = max(1, asked.ended)
    return [f"{asked.seats / per:.1f}", f"{asked.answers / per:.1f}"]
