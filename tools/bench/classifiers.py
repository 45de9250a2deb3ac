"""How well and how fast the shipped classifiers score posts.

    python -m tools.bench.classifiers [FILE]

FILE holds labelled posts as docs/run/model-card.md describes; without it, BRIDGENOTE_TRAINING_DATA names the file. The
figures are of models that have not seen the posts they are measured on (`tools.training.reserved`), with the
shipped rules beside them; fitting these takes some minutes. Without a file
only speed and memory are measured, on texts of our own.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.core.classify import Classifier, Context
from app.core.classify.corpus import Example, own_examples
from app.core.classify.rulepack import RulePackClassifier
from app.core.classify.seed import SeedClassifier
from tools.training import calibrating
from tools.training.equivalence import area, reserved_scores
from tools.training.examples import CATEGORIES, read_examples
from tools.training.fitting import Floats, labels_of

VARIABLE = "BRIDGENOTE_TRAINING_DATA"
TIMED = 2_000


def quality(path: Path) -> None:
    examples = [*read_examples(path), *own_examples()]
    scores = reserved_scores(examples, lambda message: print(message, file=sys.stderr, flush=True))
    sources = np.array([example.source for example in examples])
    print(
        f"{'category':<10} {'source':<20} {'posts':>7} {'AUC':>5} {'caught':>7} {'raised':>7}   (above 0.55)"
    )
    for category in CATEGORIES:
        labels = labels_of(examples, category)
        for source in np.unique(sources[labels == 1]):
            rows = (sources == source) & (labels >= 0)
            if source.startswith("own:"):
                continue
            above = scores[category][rows] > calibrating.POINT
            ones = labels[rows] == 1
            # Of a source with label 1 alone, only the share that is caught can be measured.
            figure = "–" if ones.all() else f"{area(labels[rows], scores[category][rows]):.2f}"
            raised = "–" if ones.all() else f"{above[~ones].mean():.2%}"
            print(
                f"{category:<10} {source:<20} {rows.sum():>7,} {figure:>5} {above[ones].mean():>7.1%} {raised:>7}"
            )
    _ordinary(examples, sources, scores)


def _ordinary(examples: Sequence[Example], sources: NDArray[np.str_], scores: Mapping[str, Floats]) -> None:
    """Shares of ordinary talk above the shipped threshold, in each category and in any, and above 0.9 in any."""
    ordinary = calibrating.is_ordinary(examples)
    highest = np.max([scores[name] for name in scores], axis=0)
    names = "".join(f" {name[:9]:>9}" for name in scores)
    print(f"\n{'ordinary talk':<20} {'posts':>7}{names} {'any':>9} {'any > 0.9':>9}")
    totals = []
    for source in np.unique(sources[ordinary]):
        rows = ordinary & (sources == source)
        shares = [(scores[name][rows] > calibrating.POINT).mean() for name in scores]
        shares += [(highest[rows] > calibrating.POINT).mean(), (highest[rows] > 0.9).mean()]
        totals.append(shares)
        print(f"{source:<20} {rows.sum():>7,}" + "".join(f" {share:>9.2%}" for share in shares))
    print(f"{'mean':<20} {'':>7}" + "".join(f" {share:>9.2%}" for share in np.mean(totals, axis=0)))


def speed() -> None:
    """Milliseconds of processor time a post, by all shipped classifiers together."""
    texts = [example.text for example in own_examples()]
    texts = [" ".join(texts[place : place + 2]) for place in range(0, min(2 * TIMED, len(texts) - 1), 2)]
    classifiers: list[Classifier] = [RulePackClassifier(), SeedClassifier()]
    english = Context(language="en")
    for classifier in classifiers:
        classifier.score(texts[:20], english)
    taken = []
    for text in texts:
        started = time.thread_time()
        for classifier in classifiers:
            classifier.score([text], english)
        taken.append((time.thread_time() - started) * 1000)
    deciles = statistics.quantiles(taken, n=20)
    print(f"\nprocessor time a post: p50 {statistics.median(taken):.2f} ms, p95 {deciles[-1]:.2f} ms")


def memory() -> None:
    """Megabytes that the shipped model adds to a process."""
    command = [sys.executable, "-m", "tools.bench.classifiers", "--memory"]
    print("memory:", subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


def measure_memory() -> None:
    english, text = Context(language="en"), "You are a kind neighbour and I like your garden."
    before = _peak()
    SeedClassifier().score([text], english)
    model = _peak()
    RulePackClassifier().score([text], english)
    print(f"the model {model - before:.0f} MB, the rules {_peak() - model:.0f} MB")


def _peak() -> float:
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def main(named: str | None) -> None:
    path = Path(named or os.environ.get(VARIABLE, ""))
    if path.is_file():
        quality(path)
    else:
        print(
            f"No quality without labelled posts: name their file, or set {VARIABLE} to it (docs/run/model-card.md)."
        )
    speed()
    memory()


if __name__ == "__main__":
    if sys.argv[1:] == ["--memory"]:
        measure_memory()
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else None)
