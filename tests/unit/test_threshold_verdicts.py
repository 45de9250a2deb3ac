"""What the verdict on changed thresholds says, and in which tone."""

from collections.abc import Mapping

import pytest

from app.core.thresholds.previews import Acted, Change, Effect, Period
from app.core.vocabulary import Verb
from app.web.thresholds import threshold_verdicts
from app.web.thresholds.threshold_verdicts import Tone, Verdict

VERBS = dict.fromkeys(("spam", "hate", "pii"), Verb.HIDE)


def verdicts(found: Period) -> list[Verdict]:
    return threshold_verdicts.verdicts(found, VERBS)


def period(
    newly: Mapping[str, Acted] | None = None,
    no_longer: Mapping[str, Acted] | None = None,
    categories: Mapping[str, Change] | None = None,
) -> Period:
    return Period(
        days=30,
        scored=1_000,
        categories=categories or {},
        newly_acted=newly or {},
        no_longer_acted=no_longer or {},
        outcomes={},
        outcomes_before={},
        newly_affected=0,
        no_longer_affected=0,
    )


@pytest.mark.parametrize(
    ("newly", "sentence", "tone"),
    [
        (
            Acted(33, right=10, wrong=19),
            "Would hide 33 more posts without asking. Of 29 that people judged, 19 were fine.",
            Tone.BAD,
        ),
        (
            Acted(12, right=10),
            "Would hide 12 more posts without asking. Of 10 that people judged, 0 were fine.",
            Tone.GOOD,
        ),
        # Nine right ones in a row may be chance.
        (
            Acted(9, right=9),
            "Would hide 9 more posts without asking. Of 9 that people judged, 0 were fine.",
            Tone.UNSURE,
        ),
        (
            Acted(1),
            "Would hide 1 more post without asking. People judged none of them.",
            Tone.UNSURE,
        ),
    ],
)
def test_more_automatic_actions(newly: Acted, sentence: str, tone: Tone) -> None:
    (verdict,) = verdicts(period(newly={"spam": newly}))
    assert (verdict.title, verdict.sentence, verdict.tone) == ("Spam", sentence, tone)


def test_fewer_automatic_actions_are_good_where_they_were_wrong() -> None:
    (good,) = verdicts(period(no_longer={"spam": Acted(20, wrong=11, right=1)}))
    assert good.sentence == (
        "Would hide 20 fewer posts without asking. Of 12 that people judged, 11 were fine."
    )
    assert good.tone is Tone.GOOD
    (bad,) = verdicts(period(no_longer={"spam": Acted(20, wrong=1, right=11)}))
    assert bad.tone is Tone.BAD


def test_reviews_alone_are_neither_good_nor_bad() -> None:
    more = Change(before=Effect(reviewed=30), after=Effect(reviewed=60))
    (verdict,) = verdicts(period(categories={"hate": more}))
    assert verdict.sentence == "Would ask people about 30 more posts (30 → 60)."
    assert verdict.tone is Tone.NEUTRAL


def test_posts_that_are_acted_on_for_another_category_are_said_for_both() -> None:
    spam, pii = verdicts(
        period(
            newly={"spam": Acted(2, right=2)},
            categories={
                "spam": Change(before=Effect(acted=10), after=Effect(acted=5)),
                "pii": Change(before=Effect(acted=1), after=Effect(acted=8)),
            },
        )
    )
    assert spam.sentence == (
        "Would hide 2 more posts without asking. Of 2 that people judged, 0 were fine. "
        "Would leave 7 posts to another category, which acts on them."
    )
    assert pii.sentence == "Would act on 7 posts that another category acts on now."
    assert pii.tone is Tone.NEUTRAL
    (one,) = verdicts(period(categories={"hate": Change(before=Effect(), after=Effect(acted=1))}))
    assert one.sentence == "Would act on 1 post that another category acts on now."


def test_each_changed_category_has_its_own_the_worst_first_and_no_change_says_so() -> None:
    same = Change(before=Effect(acted=2), after=Effect(acted=2))
    found = verdicts(
        period(
            newly={"pii": Acted(10, right=10), "spam": Acted(2, wrong=2)},
            categories={"hate": same},
        )
    )
    assert [verdict.title for verdict in found] == ["Spam", "Private details"]
    (nothing,) = verdicts(period(categories={"hate": same}))
    assert (nothing.title, nothing.sentence) == (
        "",
        "Nothing would have been different in the last 30 days.",
    )


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        (Verb.DELETE, "Would delete 3 fewer posts without asking."),
        (Verb.FLAG, "Would flag 3 fewer posts without asking."),
        (Verb.NOTIFY, "Would warn the authors of 3 fewer posts without asking."),
    ],
)
def test_the_verdict_says_what_the_category_does(verb: Verb, words: str) -> None:
    (verdict,) = threshold_verdicts.verdicts(period(no_longer={"spam": Acted(3)}), {"spam": verb})
    assert verdict.sentence.startswith(words)
