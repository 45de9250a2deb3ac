"""How fast a whole community is scored, what memory that takes, and what one more rating costs.

    python -m tools.bench.scoring            # 5k to 1.5M ratings
    python -m tools.bench.scoring 50000      # these sizes

Communities have two camps of raters with activity and popularity by a power law, and fixed seeds. Memory is the peak
resident set of a process of its own that scores once, less what it had with the ratings loaded.
"""

import cProfile
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from app.core.scoring import Scores, decide, score, score_full
from app.core.vocabulary import NoteStatus

SIZES = (5_000, 50_000, 500_000, 1_500_000)
REPEATS = 5
STAGES = {
    "sort and check": ("ratings",),
    "filter": ("eligible",),
    "matrix": ("from_ratings",),
    "axis test": ("axis_test",),
    "fits": ("fit",),
    "raters": ("reputation", "high_volume", "correlated"),
    "sums": ("tally",),
    "rules": ("judge",),
}
Column = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


def community(count: int, seed: int = 1, notes: int = 0) -> tuple[Ids, Ids, Column]:
    """About ``count`` ratings: note ids, rater ids, values. ``notes``: other than one for each 30 ratings."""
    dice = np.random.default_rng(seed)
    notes, raters = notes or max(60, count // 30), max(40, count // 45)
    pair = np.unique(_drawn(dice, notes, 2 * count) * raters + _drawn(dice, raters, 2 * count))
    pair = dice.permutation(pair)[:count]
    note, rater = pair // raters, pair % raters
    camp = np.where(dice.random(raters) < 0.5, 1.0, -1.0)
    liked = dice.normal(0.45, 0.22, notes)[note] + dice.normal(0, 0.28, notes)[note] * camp[rater]
    felt = liked + dice.normal(0, 0.1, raters)[rater] + dice.normal(0, 0.35, count)
    values = np.where(felt > 0.67, 1.0, np.where(felt < 0.33, 0.0, 0.5))
    return dice.permutation(notes * 3)[:notes][note], dice.permutation(raters * 3)[:raters][rater], values


def _drawn(dice: np.random.Generator, size: int, count: int) -> Ids:
    """Places 0 to ``size`` - 1, the first ones by far the most often."""
    weight = np.cumsum(1.0 / (np.arange(size) + 12.0) ** 0.7)
    drawn: Ids = np.searchsorted(weight, dice.random(count) * weight[-1])
    return np.minimum(drawn, size - 1)


def seconds(count: int, scorer: Callable[..., Scores] = score) -> tuple[float, float]:
    """Medians of the time that passed and of the processor's; they differ where others use the machine."""
    given = community(count)
    passed, used = [], []
    for _ in range(REPEATS):
        begin, begin_used = time.perf_counter(), time.process_time()
        scorer(*given)
        passed.append(time.perf_counter() - begin)
        used.append(time.process_time() - begin_used)
    return statistics.median(passed), statistics.median(used)


def megabytes(count: int) -> tuple[float, float]:
    """Peak resident set while scoring: over what the process had with the ratings loaded, and in all."""
    with tempfile.TemporaryDirectory() as folder:
        # The child only loads the columns, so that making them is not part of its peak.
        for number, column in enumerate(community(count)):
            np.save(f"{folder}/{number}.npy", column)
        command = [sys.executable, "-m", "tools.bench.scoring", "--memory", folder]
        child = subprocess.run(command, check=True, capture_output=True, text=True)
    over, whole = child.stdout.split()
    return float(over), float(whole)


def measure_memory(folder: str) -> None:
    given = [np.load(f"{folder}/{number}.npy") for number in range(3)]
    before = _peak()
    score(*given)
    print(_peak() - before, _peak())


def _peak() -> float:
    """Megabytes: this program's own high-water mark (getrusage would carry over its parent's)."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def shares(count: int) -> dict[str, float]:
    """Share of the time per stage, 0 to 1."""
    given = community(count)
    profile = cProfile.Profile()
    profile.runcall(score, *given)
    spent = dict.fromkeys(STAGES, 0.0)
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined] # not in its annotations
    for (path, _, name), (_, _, _, cumulative, callers) in stats.items():
        if "/scoring/" not in path:
            continue
        for stage, names in STAGES.items():
            if name in names and not any(caller[2] == "axis_test" for caller in callers):
                spent[stage] += cumulative
            elif name in names:
                spent[stage] += sum(timed[3] for caller, timed in callers.items() if caller[2] != "axis_test")
    whole = sum(row[2] for row in stats.values())
    return {stage: share / whole for stage, share in spent.items()}


def microseconds_per_rating(scores: Scores) -> float:
    """One rating added to a note and its status decided anew, in a community already scored."""
    note = int(np.argmax(scores.sums[:, 3]))
    sums, model = scores.sums_of(note), scores.model
    raters = [scores.rater(place) for place in range(min(1000, len(scores.rater_ids)))]
    begin = time.perf_counter()
    for rater in raters:
        sums = sums.plus(model, rater, 1.0)
        decide(sums, model, was=NoteStatus.NEEDS_MORE_RATINGS)
    return (time.perf_counter() - begin) / len(raters) * 1e6


def main(sizes: tuple[int, ...] = SIZES) -> None:
    heads = (
        "ratings",
        "regime",
        "seconds",
        "cpu s",
        "ratings/s",
        "full only",
        "peak MB",
        "process MB",
        "us/rating",
    )
    print(" ".join(f"{head:>10}" for head in heads), " share of the time per stage")
    for count in sizes:
        (passed, used), (full, _) = seconds(count), seconds(count, score_full)
        over, whole = megabytes(count)
        scores = score(*community(count))
        stages = ", ".join(f"{stage} {share:.0%}" for stage, share in shares(count).items())
        row = [f"{count:,}", str(scores.regime), f"{passed:.3f}", f"{used:.3f}", f"{count / used:,.0f}"]
        row += [f"{full:.3f}", f"{over:.0f}", f"{whole:.0f}", f"{microseconds_per_rating(scores):.1f}"]
        print(" ".join(f"{figure:>10}" for figure in row), f" {stages}", flush=True)


if __name__ == "__main__":
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        # NumPy reads it when it is loaded, which it is by now: begin again with it set.
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "tools.bench.scoring", *sys.argv[1:]])  # noqa: S606 # no shell is meant
    if sys.argv[1:2] == ["--memory"]:
        measure_memory(sys.argv[2])
    else:
        main(tuple(int(size) for size in sys.argv[1:]) or SIZES)
