"""What the scorer makes of real votes: public Polis conversations, where people agree, pass or disagree.

    python -m tools.bench.votes FOLDER

``FOLDER`` has ``NAME.votes.csv.gz`` (participant, comment, vote 1, 0 or -1) and ``NAME.groups.csv.gz`` (participant,
group). A statement is good if in every opinion group with five votes on it 60 % agree, and poor if in one of them
fewer than half do. Recall is the share of good statements that are called helpful, precision the share of those
called helpful that are not poor. Each row changes one thing about the rules. The last table is about drawn panels
(``votes_by_panels``).
"""

import csv
import gzip
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from app.core.scoring import HELPFUL_AT, BoolArray, Facts, FloatArray, IntArray, Scores, rules, score
from app.core.scoring.verdict import OFFSET
from app.core.vocabulary import NoteStatus
from tools.bench import votes_by_panels

GOOD, POOR, ENOUGH = 0.6, 0.5, 5


@dataclass(frozen=True, eq=False)
class Conversation:
    """``note``, ``rater`` and ``value`` have an entry per vote; ``least`` is each statement's least agreement in any
    group, NaN where none has enough votes."""

    name: str
    note: IntArray
    rater: IntArray
    value: FloatArray
    least: FloatArray


def read(folder: Path) -> Iterator[Conversation]:
    for path in sorted(folder.glob("*.votes.csv.gz")):
        name = path.name.removesuffix(".votes.csv.gz")
        latest = {}
        for row in _rows(path):
            latest[int(row["comment"]), int(row["participant"])] = int(row["vote"])
        group = {
            int(row["participant"]): int(row["group"])
            for row in _rows(folder / f"{name}.groups.csv.gz")
            if row["group"]
        }
        pairs = np.array(list(latest), np.int64)
        vote = np.array(list(latest.values()))
        least = _least_agreement(pairs, vote, group)
        yield Conversation(name, pairs[:, 0], pairs[:, 1], (vote + 1) / 2, least)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", newline="") as lines:
        yield from csv.DictReader(lines)


def _least_agreement(pairs: IntArray, vote: IntArray, group: dict[int, int]) -> FloatArray:
    size = int(pairs[:, 0].max()) + 1
    groups = sorted(set(group.values()))
    of_rater = np.array([group.get(rater, -1) for rater in pairs[:, 1].tolist()])
    least = np.full(size, np.nan)
    for one in groups:
        theirs = of_rater == one
        total = np.bincount(pairs[theirs, 0], minlength=size)
        agree = np.bincount(pairs[theirs & (vote == 1), 0], minlength=size)
        share = np.where(total >= ENOUGH, agree / np.maximum(total, 1), np.nan)
        least = np.fmin(least, share)
    return least


@dataclass
class Counted:
    """Over all conversations."""

    good: int = 0
    found: int = 0
    helpful: int = 0
    right: int = 0

    def add(self, scores: Scores, least: FloatArray) -> None:
        judged = least[scores.note_ids]
        known: BoolArray = ~np.isnan(judged)
        helpful = (scores.statuses == NoteStatus.CURRENTLY_RATED_HELPFUL) & known
        good = known & (judged >= GOOD)
        self.good += int(good.sum())
        self.found += int((good & helpful).sum())
        self.helpful += int(helpful.sum())
        self.right += int((helpful & (judged >= POOR)).sum())


@contextmanager
def changed(bounds: Mapping[str, float]) -> Iterator[None]:
    """Other bounds of the rules, which are no settings."""
    before = {name: getattr(rules, name) for name in bounds}
    try:
        for name, bound in bounds.items():
            setattr(rules, name, bound)
        yield
    finally:
        for name, bound in before.items():
            setattr(rules, name, bound)


NEVER = 1e9
ONLY_BAR = {"FOR_RATINGS": NEVER}
VARIANTS: list[tuple[str, float, Mapping[str, float]]] = [
    ("published", HELPFUL_AT, {}),
    ("without both-sides-for", HELPFUL_AT, ONLY_BAR),
    ("and without one-sided (net 4, net 2)", HELPFUL_AT, ONLY_BAR | {"NET_FULL": -NEVER, "NET_WARM": -NEVER}),
    ("and without unbalanced", HELPFUL_AT, ONLY_BAR | {"LOPSIDED": NEVER, "NET_SHARE": -NEVER}),
    *((f"and the bar at {shown}", shown / 100 - OFFSET, ONLY_BAR) for shown in (70, 65, 60, 55)),
    *((f"both sides for within {below:.2f}", HELPFUL_AT, {"FOR_BELOW": below}) for below in (0.03, 0.05)),
]


def main(folder: str) -> None:
    console = Console(width=150)
    conversations = list(read(Path(folder)))
    table = Table(
        "Conversation", "Votes", "Statements", "Good", "Helpful", "Regime", "Why good ones are not", "ms"
    )
    for one in conversations:
        began = time.process_time()
        scores = score(one.note, one.rater, one.value)
        spent = time.process_time() - began
        good = one.least[scores.note_ids] >= GOOD
        helpful = scores.statuses == NoteStatus.CURRENTLY_RATED_HELPFUL
        why = Counter(str(rule) for rule in scores.rules[good & ~helpful])
        table.add_row(
            one.name.split(".")[0],
            str(len(one.note)),
            str(len(scores.note_ids)),
            str(int(good.sum())),
            str(int(helpful.sum())),
            scores.regime.value,
            ", ".join(f"{count} {rule}" for rule, count in why.most_common(3)),
            f"{1000 * spent:.0f}",
        )
    console.print(table)
    table = Table("Rules", "Good", "Recall", "Helpful", "Precision")
    for name, helpful_at, bounds in [("as it is", HELPFUL_AT, {}), *VARIANTS]:
        counted = Counted()
        facts = Facts(helpful_at=helpful_at, published=name != "as it is")
        with changed(bounds):
            for one in conversations:
                counted.add(score(one.note, one.rater, one.value, facts), one.least)
        table.add_row(
            name,
            str(counted.good),
            f"{counted.found / max(1, counted.good):.0%}",
            str(counted.helpful),
            f"{counted.right / max(1, counted.helpful):.3f}",
        )
    console.print(table)
    table = Table("Panels", "Good", "Acted on", "Poor", "Acted on", "Answers")
    for row in votes_by_panels.rows(votes_by_panels.measure(_kinds(one) for one in conversations)):
        table.add_row(*row)
    console.print(table)


def _kinds(one: Conversation) -> tuple[IntArray, IntArray, FloatArray, dict[int, str]]:
    """The votes of a conversation, and which statements are good and which poor."""
    kinds = {int(place): "good" for place in np.flatnonzero(one.least >= GOOD)}
    kinds |= {int(place): "poor" for place in np.flatnonzero(one.least < POOR)}
    return one.note, one.rater, one.value, kinds


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        print("Name the folder with the votes; without one nothing is measured.")
