"""A simulated year of decisions: what a community's own model finds, and what one author's wrong labels do to it.

    python -m tools.bench.learning

The first table is about a made-up forum (tests/talk.py). Moderators see the posts that the others raise and decide
one in twenty wrongly. Recall is of posts that the model has not seen, at the threshold at which 1 % or 5 % of good
posts are raised, for the others alone and with the own model. "Poisoned": one author adds wrong labels, one to twenty.

BRIDGENOTE_TRAINING_DATA may name a file of labelled posts, one JSON object a line, with ``text``, ``labels`` (category
to 0 or 1) and ``source``; it may be compressed by gzip. Then a second table treats each source as a community, whose
base is a model of all other sources.
"""

import gzip
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from app.core.classify.features import vectorise
from app.core.learning import logistic, training
from app.core.learning.labels import Label, Ordinary
from app.core.learning.logistic import Blend, Linear
from tests import talk

Floats = NDArray[np.float64]

SETTING = "BRIDGENOTE_TRAINING_DATA"
DECISIONS = (200, 500, 1_000, 2_000)
MISTAKES = 0.05
ASKED_FROM = 0.5
POISON = 0.05
FALSE_ALARMS = (0.01, 0.05)
SEED = 11
COMMUNITIES = (("toxicity", "davidson"), ("hate", "edos"), ("toxicity", "germeval"), ("spam", "sms"))
"""A category and the source that is the community."""
BASE_ROWS = 30_000


@dataclass(frozen=True)
class Community:
    """Posts in the order in which they were written, and others to judge by; ``base`` are the scores of the others."""

    name: str
    category: str
    posts: Sequence[talk.Post]
    fresh: Sequence[talk.Post]


def recall(wrong: Floats, scores: Floats, share: float) -> float:
    """The share of wrong posts above the threshold that raises at most this share of the good ones."""
    good = np.sort(scores[wrong == 0])
    threshold = good[min(len(good) - 1, int(np.ceil(len(good) * (1.0 - share))) - 1)]
    return float((scores[wrong == 1] > threshold).mean())


def decided(community: Community, count: int) -> list[Label] | None:
    """The first decisions: about the posts that the others raise. None if there are not so many."""
    raised = [post for post in community.posts if post.base > ASKED_FROM][:count]
    return talk.labels(raised, mistakes=MISTAKES, seed=SEED) if len(raised) == count else None


def poisoned(community: Community, labels: Sequence[Label]) -> list[Label]:
    """The labels, with wrong posts by one author let through in between: a twentieth of all."""
    dice = random.Random(SEED)  # noqa: S311 - the same figures each time
    wrong = [post for post in community.posts if post.wrong and post.base > ASKED_FROM]
    number = round(len(labels) * POISON)
    at = sorted(dice.sample(range(len(labels)), number))
    made = [
        Label(post.text, "attacker", False, labels[place].decided_at + timedelta(seconds=1), post.base)
        for place, post in zip(at, dice.choices(wrong, k=number), strict=True)
    ]
    return sorted([*labels, *made], key=lambda label: label.decided_at)


def trained(community: Community, labels: Sequence[Label]) -> tuple[training.Trained, float]:
    ordinary = [
        Ordinary(post.text, {community.category: post.base})
        for post in community.posts
        if post.base <= ASKED_FROM
    ][:1_000]
    begin = time.perf_counter()
    made = training.train(labels, category=community.category, ordinary=ordinary, threshold=ASKED_FROM)
    return made, time.perf_counter() - begin


def scores(posts: Sequence[talk.Post], version: training.Version | None) -> Floats:
    base = np.array([post.base for post in posts])
    if version is None:
        return base
    return version.blend.scores(base, _outputs(posts, version.linear))


def _outputs(posts: Sequence[talk.Post], linear: Linear) -> Floats:
    return np.array([linear.output(vectorise(post.text)) for post in posts])


def rows(community: Community) -> Iterator[list[str]]:
    wrong = np.array([float(post.wrong) for post in community.fresh])
    before = scores(community.fresh, None)
    for count in DECISIONS:
        labels = decided(community, count)
        if labels is None:
            return
        made, seconds = trained(community, labels)
        bad, _ = trained(community, poisoned(community, labels))
        row = [community.name, f"{count:,}", f"{made.labels:,}", made.outcome.value]
        row.append(_figures(made))
        # Whatever the outcome, the version's own figures; only a better one would score.
        after = scores(community.fresh, made.version)
        against = scores(community.fresh, bad.version)
        for share in FALSE_ALARMS:
            row.append(f"{recall(wrong, before, share):.2f} → {recall(wrong, after, share):.2f}")
        row.append(f"{recall(wrong, against, FALSE_ALARMS[-1]):.2f}")
        yield [*row, f"{seconds:.1f}"]


def _figures(made: training.Trained) -> str:
    if made.version is None:
        return "–"
    figures = made.version.figures
    return f"{figures.base_precision:.2f} → {figures.own_precision:.2f}"


def made_up() -> Community:
    def common(posts: list[talk.Post]) -> list[talk.Post]:
        """Good posts are common, and look less like wrong ones than those that somebody raised."""
        return [post if post.wrong else replace(post, base=round(post.base * 0.9, 4)) for post in posts]

    posts = common(talk.posts(9_000, seed=21, share=0.15))
    # A large forum, in which few are raised more than once.
    posts = [replace(post, author=f"sailor-{number % 3_000}") for number, post in enumerate(posts)]
    return Community("made-up forum", "spam", posts, common(talk.posts(3_000, seed=22, share=0.1)))


def real(path: Path) -> Iterator[Community]:
    """Each source of the file as a community of its own."""
    found = _read(path)
    by_source = Counter(row["source"] for row in found)
    for category, source in COMMUNITIES:
        labelled = [row for row in found if category in row["labels"]]
        own = [row for row in labelled if row["source"] == source]
        if not own:
            print(f"{path.name} has no {category} of {source}; its sources: {sorted(by_source)}")
            continue
        base = _base([row for row in labelled if row["source"] != source], category)
        dice = random.Random(SEED)  # noqa: S311
        dice.shuffle(own)
        linear, blended = base
        posts = [
            talk.Post(row["text"], f"author-{number}", bool(row["labels"][category]), 0.0)
            for number, row in enumerate(own)
        ]
        heights = blended.scores(np.full(len(posts), 0.5), _outputs(posts, linear))
        posts = [
            replace(post, base=round(float(score), 4)) for post, score in zip(posts, heights, strict=True)
        ]
        cut = len(posts) // 3
        yield Community(f"{source}, {category}", category, posts[cut:], posts[:cut])


def _base(found: list[dict[str, Any]], category: str) -> tuple[Linear, Blend]:
    """A model of other communities, which raises about one in fifty of the good posts there."""
    dice = random.Random(SEED)  # noqa: S311
    found = dice.sample(found, min(BASE_ROWS, len(found)))
    matrix = logistic.matrix([vectorise(row["text"]) for row in found])
    wrong = np.array([float(row["labels"][category]) for row in found])
    linear = logistic.fit(matrix, wrong, np.arange(len(found)))
    heights = linear.outputs(matrix)[wrong == 0]
    return linear, Blend(0.0, 1.0, -float(np.quantile(heights, 0.98)))


def _read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        return [json.loads(line) for line in lines]


def table(title: str, communities: Iterator[Community]) -> Table:
    made = Table(title=title)
    headings = ["community", "decisions", "labels", "outcome", "average precision"]
    headings += [f"recall at {share:.0%}" for share in FALSE_ALARMS]
    headings += [f"poisoned, at {FALSE_ALARMS[-1]:.0%}", "s"]
    for heading in headings:
        made.add_column(heading, justify="left" if heading in {"community", "outcome"} else "right")
    for community in communities:
        for row in rows(community):
            made.add_row(*row)
    return made


def main() -> None:
    console = Console(width=130)
    console.print(table("A community's own model after so many decisions", iter([made_up()])))
    path = os.environ.get(SETTING)
    if path:
        console.print(table(f"The same with the sources of {Path(path).name}", real(Path(path))))
    else:
        print(f"For a table of real posts, let {SETTING} name a file of labelled posts.")


if __name__ == "__main__":
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        # NumPy reads it when it is loaded, which it is by now: begin again with it set.
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "tools.bench.learning"])  # noqa: S606 # no shell is meant
    main()
