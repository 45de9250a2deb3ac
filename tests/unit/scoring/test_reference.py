"""``score_full`` against the formulas of docs/develop/consensus.md written again, slowly and by another optimiser."""

import pytest

from app.core.scoring import score_full
from tests.unit.scoring import slow
from tests.unit.scoring.communities import community

CASES = [
    (40, 30, 600, 0.28, 0),
    (40, 30, 600, 0.28, 3),
    (60, 60, 1500, 0.28, 0),
    (60, 60, 1500, 0.28, 3),
    (100, 200, 3000, 0.28, 3),
    (150, 100, 3000, 0.4, 0),
]


@pytest.mark.parametrize(("raters", "notes", "count", "lean", "seed"), CASES)
def test_scores_and_statuses_are_those_of_the_formulas(
    raters: int, notes: int, count: int, lean: float, seed: int
) -> None:
    given = community(raters, notes, count, seed=seed, lean=lean)
    scores = score_full(*given.columns)
    rows = [(int(n), int(u), float(r)) for n, u, r in zip(*given.columns, strict=True)]
    expected = slow.full(rows)
    assert len(expected) > 0.9 * len(scores.note_ids)
    statuses = set()
    for place, note in enumerate(scores.note_ids.tolist()):
        if note not in expected:
            assert scores.statuses[place] == slow.MORE
            assert scores.rules[place] in {"full:few-ratings", "full:few-counted"}
            continue
        intercept, factor, status = expected[note]
        assert scores.intercepts[place] == pytest.approx(intercept, abs=1e-3)
        assert abs(scores.factors[place]) == pytest.approx(abs(factor), abs=1e-2)
        assert scores.statuses[place] == status
        statuses.add(status)
    assert len(statuses) == 3
