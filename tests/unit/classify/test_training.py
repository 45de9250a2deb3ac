"""Training: the same data give the same bytes, and what the corpus and the points are made of."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner, Result

from app.core.classify import Context, corpus
from app.core.classify.corpus import own_examples, read_corpus
from app.core.classify.features import BUCKETS
from app.core.classify.linear import read_weights
from app.core.classify.seed import SeedClassifier, shipped_file
from tools.training import __main__ as cli
from tools.training import calibrating, fitting, packing, reserved
from tools.training.examples import CATEGORIES
from tools.training.fitting import Linear

GOOD = (
    "The garden party starts at noon",
    "Please bring a chair",
    "My bike has a flat tyre",
    "See you at eight",
)
BAD = ("You absolute blockhead", "What a blockhead you are", "Shut up, blockhead", "blockheads everywhere")


def _data(path: Path) -> Path:
    rows = [
        {
            "text": f"{text} {number}",
            "labels": dict.fromkeys(CATEGORIES, label),
            "source": source,
            "lang": "en",
        }
        for label, lines in enumerate((GOOD, BAD))
        for text in lines
        for number, source in enumerate(("goemotions", "polis", "sms", "invented"))
    ]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    return path


def _train(*options: str) -> Result:
    return CliRunner().invoke(cli.cli, ["seed", *options])


_fit = fitting._fit


def _fit_what_is_there(matrix: "sp.csr_matrix[np.float64]", labels: Any, weights: Any) -> Linear:
    """Fit only the features that the rows have. The weights of others stay 0, but each of 262,144 takes its time."""
    there = np.unique(matrix.indices)
    found = _fit(matrix[:, there], labels, weights)
    whole = np.zeros(BUCKETS)
    whole[there] = found.weights
    return Linear(whole, found.constant)


@pytest.fixture
def small_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly no sentences of our own and few steps of the optimiser: with all of them, a training takes minutes."""
    monkeypatch.setattr(corpus, "FILLINGS", 1)
    monkeypatch.setattr(fitting, "STEPS", 2)
    monkeypatch.setattr(fitting, "_fit", _fit_what_is_there)
    whole = corpus.own_examples()
    monkeypatch.setattr(cli, "own_examples", lambda: whole[::60])


@pytest.mark.usefixtures("small_corpus")
def test_the_same_file_gives_the_same_bytes_and_a_model_that_works(tmp_path: Path) -> None:
    data = _data(tmp_path / "rows.jsonl.gz")
    shipped = shipped_file().read_bytes()
    made = []
    for name in ("one.npz", "two.npz"):
        result = _train("--data", str(data), "--out", str(tmp_path / name))
        assert result.exit_code == 0, result.output
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    assert shipped_file().read_bytes() == shipped
    model = SeedClassifier(made[0])
    good, bad = model.score(["Please bring a flat chair", "You blockhead"], Context(language="en"))
    assert bad.scores["toxicity"] > good.scores["toxicity"]
    assert model.load().facts["examples"] == 32
    assert model.version != SeedClassifier().version


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("not json", "line 2 is no labelled text"),
        ('{"text": "a", "source": "s"}', "line 2 is no labelled text"),
        ('{"text": "a", "labels": {"spam": 2}, "source": "s"}', "line 2: the text must be"),
        ('{"text": 7, "labels": {"spam": 1}, "source": "s"}', "line 2: the text must be"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "a", "labels": {}, "source": "s"}\n' + line + "\n")
    result = _train("--data", str(path), "--out", str(tmp_path / "out.npz"))
    assert result.exit_code == 1
    assert words in result.output
    assert not (tmp_path / "out.npz").exists()


def test_a_corpus_file_is_templates_with_slots() -> None:
    text = "# note\n@thing = cup | plate\n[benign.kitchen | toxicity=0 lang=de]\nA {thing} and a spoon\nNo slot\n"
    examples = list(read_corpus(text))
    assert [example.text for example in examples] == ["A cup and a spoon", "A plate and a spoon", "No slot"]
    assert {(e.source, e.language, e.labels["toxicity"]) for e in examples} == {
        ("own:benign.kitchen", "de", 0)
    }
    assert examples[0].template == examples[1].template != examples[2].template
    with pytest.raises(ValueError, match="unknown slot 'spoon'"):
        list(read_corpus("[a | spam=1]\nA {spoon}\n"))
    with pytest.raises(ValueError, match="before the first section"):
        list(read_corpus("A spoon\n"))


def test_the_own_corpus_has_both_kinds_of_every_category_and_no_text_twice_with_two_labels() -> None:
    examples = own_examples()
    for category in CATEGORIES:
        labels = {example.labels.get(category) for example in examples}
        assert {0, 1} <= labels, category
    seen: dict[str, dict[str, int]] = {}
    for example in examples:
        known = seen.setdefault(example.text, dict(example.labels))
        assert all(known.get(name, label) == label for name, label in example.labels.items()), example.text


def test_the_shipped_threshold_is_the_same_share_of_ordinary_talk_in_every_category() -> None:
    logits = np.linspace(-1000, 500, 100_000)
    weights = np.full(100_000, 1e-5)
    for category in CATEGORIES:
        points = calibrating.points_of(category, logits, weights, -1200.0)
        scores = np.interp(logits, points[0], points[1])
        assert (scores > calibrating.POINT).mean() == pytest.approx(calibrating.ASKED, rel=0.05)
        assert (scores > 0.9).mean() == pytest.approx(calibrating.SURE, rel=0.1)
        assert (np.diff(points[0]) > 0).all()
        assert (np.diff(points[1]) > 0).all()


def test_what_the_rules_raise_is_part_of_that_share() -> None:
    logits = np.linspace(-1000, 500, 100_000)
    weights = np.full(100_000, 1e-5)
    ruled = np.zeros(100_000)
    ruled[:100] = 0.7
    points = calibrating.points_of("spam", logits, weights, -1200.0, ruled)
    scores = np.maximum(np.interp(logits, points[0], points[1]), ruled)
    assert (scores > calibrating.POINT).mean() == pytest.approx(calibrating.ASKED, rel=0.05)


def test_what_is_only_a_little_like_hate_or_a_threat_counts_less_than_an_insult() -> None:
    logits = np.linspace(-1000, 500, 10_000)
    weights = np.full(10_000, 1e-4)
    found = {}
    for category in ("toxicity", "hate", "threat"):
        points = calibrating.points_of(category, logits, weights, -1200.0)
        found[category] = np.interp(logits, points[0], points[1])
    doubtful = (found["toxicity"] > 0.1) & (found["toxicity"] < 0.49)
    for category in ("hate", "threat"):
        assert np.allclose(found[category][doubtful], 0.6 * found["toxicity"][doubtful], atol=0.01)
        assert np.allclose(
            found[category][found["toxicity"] > 0.52], found["toxicity"][found["toxicity"] > 0.52]
        )


def test_every_post_is_scored_by_a_model_that_has_not_seen_it() -> None:
    examples = [example for example in own_examples() if example.source == "own:threat.direct"]
    parts = reserved.parts_of(examples)
    assert set(parts) == set(range(reserved.PARTS))
    by_template: dict[str, set[int]] = {}
    for example, part in zip(examples, parts, strict=True):
        by_template.setdefault(example.template, set()).add(int(part))
    assert all(len(found) == 1 for found in by_template.values())


def test_a_packed_model_keeps_the_largest_weights_and_reads_back() -> None:
    dice = np.random.default_rng(1)
    weights = dice.normal(size=BUCKETS)
    weights[:30] *= 20.0
    points = np.array([[-2.0, 2.0], [0.0, 1.0]])
    thresholds = np.array([0.5])
    content = packing.packed(
        {"spam": Linear(weights, -0.25)},
        {"spam": points},
        {"spam": (np.array([0.6]), np.array([0.01]), 12)},
        thresholds,
        {},
    )
    read = read_weights(content)
    assert read.categories == ("spam",)
    column = read.matrix[:, 0].astype(float) * read.scales[0]
    kept = column != 0
    assert kept.sum() == packing.KEPT
    assert np.abs(weights[kept]).min() >= np.abs(weights[~kept]).max()
    assert np.abs(column - weights)[kept].max() <= read.scales[0] / 2 + 1e-9
    assert np.abs(column).max() == pytest.approx(np.abs(weights).max(), rel=0.001)
    assert read.curves["spam"].shares_at(0.5) == (0.6, 0.01)
