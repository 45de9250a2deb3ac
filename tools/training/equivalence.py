"""What our scores say where the raters of public sets used names of other services (docs/doors.md).

    python -m tools.training.equivalence FILE

FILE holds labelled posts as docs/run/model-card.md describes. For each name and set it prints how well our score tells
the labelled posts from the others (AUC), the threshold of ours above which as many posts lie as the raters labelled,
and the share of the labelled ones among these. The scores are of models that have not seen the posts; fitting these
takes some minutes. No text is printed.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from app.core.classify.corpus import Example, own_examples
from app.core.classify.vendor_names import OPENAI, PERSPECTIVE
from tools.training import calibrating
from tools.training.curves import RuleScores
from tools.training.examples import json_lines, read_examples
from tools.training.fitting import Floats, matrix_of
from tools.training.reserved import reserved_logits


class Labelled(NamedTuple):
    """A set whose raters labelled what ``names`` mean: by its own ``classes``, or by the label of our category."""

    names: Sequence[str]
    sources: Sequence[str]
    classes: Sequence[str] = ()


SETS = (
    Labelled(["TOXICITY", "harassment"], ["wikitalk", "wikitalk_rated"]),
    Labelled(["TOXICITY", "harassment"], ["davidson"]),
    Labelled(["TOXICITY"], ["germeval"]),
    Labelled(["harassment"], ["openai_moderation"]),
    Labelled(["SEVERE_TOXICITY"], ["davidson"], ["hate"]),
    Labelled(["INSULT"], ["germeval"], ["INSULT"]),
    Labelled(["IDENTITY_ATTACK", "hate"], ["edos"]),
    Labelled(["IDENTITY_ATTACK", "hate"], ["toxigen_demo"]),
    Labelled(["IDENTITY_ATTACK", "hate"], ["davidson"]),
    Labelled(["hate"], ["openai_moderation"]),
    Labelled(["hate/threatening"], ["openai_moderation"], ["hate+threat", "hate+toxicity+threat"]),
    Labelled(["THREAT", "violence"], ["edos"]),
    Labelled(["THREAT", "violence"], ["openai_moderation"]),
    Labelled(["SEXUALLY_EXPLICIT", "sexual"], ["openai_moderation"]),
    Labelled(["self-harm"], ["openai_moderation"]),
    Labelled(["SPAM"], ["sms"]),
    Labelled(["SPAM"], ["youtube"]),
)


def reserved_scores(examples: Sequence[Example], say: Callable[[str], None]) -> dict[str, Floats]:
    """By category, the score of each example by the shipped rules and a model that has not seen it."""
    matrix = matrix_of([example.text for example in examples])
    logits = reserved_logits(matrix, examples, say)
    rules = RuleScores(examples)
    points = calibrating.all_points(examples, logits, rules)
    rated = np.array([example.template == "" for example in examples])
    return {
        name: np.fmax(np.interp(logits[name], points[name][0], points[name][1]), rules(name, rated))
        for name in points
    }


def area(labels: Floats, scores: Floats) -> float:
    """The probability that a post with label 1 scores above one with label 0 (area under the ROC curve)."""
    ranks = rankdata(scores)
    ones = int(labels.sum())
    zeros = len(labels) - ones
    return float((ranks[labels == 1].sum() - ones * (ones + 1) / 2) / (ones * zeros))


def as_many(labels: Floats, scores: Floats) -> float:
    """The threshold above which as many scores lie as there are labels 1."""
    return float(np.sort(scores)[len(scores) - int(labels.sum()) - 1])


def main(path: Path) -> None:
    examples = read_examples(path)
    classes = [str(row.get("original")) for row in json_lines(path)]
    scores = reserved_scores(
        [*examples, *own_examples()], lambda said: print(said, file=sys.stderr, flush=True)
    )
    table = {**PERSPECTIVE, **OPENAI}
    print(
        "| Names | Set | Posts | Labelled | AUC | Ours | Of them labelled |\n|---|---|---:|---:|---:|---:|---:|"
    )
    for one in SETS:
        category = str(table[one.names[0]].category)
        labels = np.array(
            [
                np.nan
                if example.source not in one.sources
                else float(original in one.classes)
                if one.classes
                else example.labels.get(category, np.nan)
                for example, original in zip(examples, classes, strict=True)
            ]
        )
        found = scores[category][: len(examples)]
        rows = ~np.isnan(labels) & ~np.isnan(found)
        labels, found = labels[rows], found[rows]
        threshold = as_many(labels, found)
        names = ", ".join(f"`{name}`" for name in one.names)
        print(
            f"| {names} | {one.sources[0]} | {len(labels):,} | {labels.mean():.1%} | {area(labels, found):.2f} "
            f"| {threshold:.2f} | {labels[found > threshold].mean():.0%} |"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
