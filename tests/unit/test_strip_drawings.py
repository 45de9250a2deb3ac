"""The drawing of the viewpoint strip: its marks, and the sentence beside it."""

import pytest

from app.core.scoring import Camp, Mark, Strip
from app.web.viewpoints import draw_strip


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        (Camp(Mark(6, 0.4), None), Camp(Mark(3, 1.0), None), "Both sides mostly said yes."),
        (Camp(None, Mark(6, 0.4)), Camp(None, Mark(3, 0.0)), "Both sides mostly said no."),
        (Camp(Mark(4, 0.4), Mark(3, 0.4)), Camp(Mark(3, 0.2), Mark(4, 1.0)), "Both sides were divided."),
        (
            Camp(Mark(9, 0.8), None),
            Camp(None, Mark(9, 0.8)),
            "One side mostly said yes, the other mostly no.",
        ),
        (
            Camp(Mark(3, 1.0), None),
            Camp(Mark(3, 0.0), Mark(3, 1.0)),
            "One side mostly said yes, the other was divided.",
        ),
        (
            Camp(Mark(3, 0.6), Mark(3, 0.6)),
            Camp(None, Mark(9, 0.8)),
            "One side was divided, the other mostly said no.",
        ),
        (
            Camp(Mark(9, 0.8), None),
            Camp(None, None),
            "One side mostly said yes; too few of the other answered.",
        ),
        (
            Camp(Mark(3, 0.8), Mark(3, 0.2)),
            Camp(None, None),
            "One side was divided; too few of the other answered.",
        ),
        (
            Camp(None, None),
            Camp(None, Mark(3, 0.2)),
            "One side mostly said no; too few of the other answered.",
        ),
        (
            Camp(None, None),
            Camp(None, None),
            "Too few people of known viewpoint answered to show where they lie.",
        ),
    ],
)
def test_the_sentence_says_what_is_drawn(first: Camp, second: Camp, sentence: str) -> None:
    drawn = draw_strip(Strip(first, second))
    assert drawn.sentence == sentence
    marks = [mark for camp in (first, second) for mark in (camp.yes, camp.no) if mark]
    assert [bubble.count for bubble in drawn.bubbles] == [mark.count for mark in marks]
    assert bool(drawn.bridge) == sentence.startswith("Both sides mostly")
    for bubble in drawn.bubbles:
        assert 76 <= bubble.x - bubble.r <= bubble.x + bubble.r <= 296, "within the axis"
    of_one, of_other = (
        [bubble.x for bubble in drawn.bubbles if (bubble.x < 186) == left] for left in (True, False)
    )
    assert len(of_one) == sum(mark is not None for mark in (first.yes, first.no))
    assert len(of_other) == sum(mark is not None for mark in (second.yes, second.no))


def test_a_note_is_called_helpful_or_not() -> None:
    drawn = draw_strip(Strip(Camp(Mark(4, 0.4), None), Camp(None, Mark(3, 0.2))), is_question=False)
    assert drawn.sentence == "One side mostly found it helpful, the other mostly not."
    assert drawn.words == ("Helpful", "Not helpful")
    assert drawn.counts.startswith("One side: 4 helpful, fewer than 3 not helpful.")
