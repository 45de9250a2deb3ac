"""Draws the viewpoint strip (``core.scoring.viewpoints``): its drawing and the sentence that says the same."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from app.core import texts
from app.core.scoring import Camp, Mark, Strip
from app.core.scoring.viewpoints import LEAST
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext

MIDDLE, NEAREST, REACH = 186, 20, 74
"""In units of the drawing (-30 to 300): where the middle lies, how far from it the nearest mark, and the rest."""
SMALLEST, GROWTH = 9.0, 5.0
"""The radius of a mark, and how much larger that of the most answers is."""
FOR_ROW, AGAINST_ROW, ARCH = 30, 76, 26


@dataclass(frozen=True)
class Bubble:
    """One mark: its centre, radius and number of answers. ``kind`` is its CSS class."""

    kind: str
    x: int
    y: int
    r: float
    count: int


@dataclass(frozen=True)
class StripView:
    """What ``macros/viewpoints.html`` shows. ``bridge`` is the path that joins camps of one view, or empty.

    ``words`` name the two rows, ``sentence`` says what is seen, ``counts`` the numbers for those who do not see it.
    """

    bubbles: Sequence[Bubble]
    bridge: str
    words: tuple[str, str]
    sentence: str
    counts: str


_NOTHING = Camp(None, None)
_LEANS = {1: "for", -1: "against", 0: "divided"}
_TOO_FEW = lazy_gettext("Too few people of known viewpoint answered to show where they lie.")
_ANSWERED: Mapping[tuple[str, str], str] = {
    ("for", "for"): lazy_gettext("Both sides mostly said yes."),
    ("against", "against"): lazy_gettext("Both sides mostly said no."),
    ("divided", "divided"): lazy_gettext("Both sides were divided."),
    ("for", "against"): lazy_gettext("One side mostly said yes, the other mostly no."),
    ("for", "divided"): lazy_gettext("One side mostly said yes, the other was divided."),
    ("divided", "against"): lazy_gettext("One side was divided, the other mostly said no."),
    ("for", "few"): lazy_gettext("One side mostly said yes; too few of the other answered."),
    ("divided", "few"): lazy_gettext("One side was divided; too few of the other answered."),
    ("few", "against"): lazy_gettext("One side mostly said no; too few of the other answered."),
    ("few", "few"): _TOO_FEW,
}
_RATED: Mapping[tuple[str, str], str] = {
    ("for", "for"): lazy_gettext("Both sides mostly found it helpful."),
    ("against", "against"): lazy_gettext("Both sides mostly found it not helpful."),
    ("divided", "divided"): lazy_gettext("Both sides were divided."),
    ("for", "against"): lazy_gettext("One side mostly found it helpful, the other mostly not."),
    ("for", "divided"): lazy_gettext("One side mostly found it helpful, the other was divided."),
    ("divided", "against"): lazy_gettext("One side was divided, the other mostly found it not helpful."),
    ("for", "few"): lazy_gettext("One side mostly found it helpful; too few of the other rated it."),
    ("divided", "few"): lazy_gettext("One side was divided; too few of the other rated it."),
    ("few", "against"): lazy_gettext("One side mostly found it not helpful; too few of the other rated it."),
    ("few", "few"): _TOO_FEW,
}


def draw_strip(strip: Strip, *, is_question: bool = True) -> StripView:
    """Return the strip as it is drawn. ``is_question``: whether Yes and No were answered, or a note was rated."""
    camps = (strip.first, strip.second)
    leans = [_lean(camp) for camp in camps]
    # A camp that cannot be drawn has neither order nor view of its own.
    pair = (leans[0], leans[1]) if (leans[0], leans[1]) in _ANSWERED else (leans[1], leans[0])
    bubbles = list(_bubbles(camps))
    cells = [_cell(mark) for camp in camps for mark in (camp.yes, camp.no)]
    return StripView(
        bubbles=bubbles,
        bridge=_bridge(bubbles, pair),
        words=(_("Yes"), _("No")) if is_question else (_("Helpful"), _("Not helpful")),
        sentence=str((_ANSWERED if is_question else _RATED)[pair]),
        counts=_counts(cells, is_question=is_question),
    )


def _lean(camp: Camp) -> str:
    return "few" if camp == _NOTHING else _LEANS[camp.leans]


def _bubbles(camps: tuple[Camp, Camp]) -> Iterator[Bubble]:
    most = max((mark.count for camp in camps for mark in (camp.yes, camp.no) if mark), default=1)
    for camp, direction in zip(camps, (-1, 1), strict=True):
        for kind, mark, y in (("for", camp.yes, FOR_ROW), ("against", camp.no, AGAINST_ROW)):
            if mark is not None:
                x = MIDDLE + direction * round(NEAREST + REACH * mark.position)
                yield Bubble(kind, x, y, round(SMALLEST + GROWTH * sqrt(mark.count / most), 1), mark.count)


def _bridge(bubbles: Sequence[Bubble], leans: tuple[str, str]) -> str:
    if leans not in (("for", "for"), ("against", "against")):
        return ""
    one, other = (bubble for bubble in bubbles if bubble.kind == leans[0])
    height = ARCH if leans[0] == "for" else -ARCH
    return f"M{one.x} {one.y}Q{(one.x + other.x) / 2:g} {one.y - height} {other.x} {other.y}"


def _cell(mark: Mark | None) -> str:
    return texts.number(mark.count) if mark else _("fewer than %(count)s", count=texts.number(LEAST))


def _counts(cells: Sequence[str], *, is_question: bool) -> str:
    names = dict(zip(("yes", "no", "other_yes", "other_no"), cells, strict=True))
    if is_question:
        return _(
            "One side: %(yes)s yes, %(no)s no. The other side: %(other_yes)s yes, %(other_no)s no.", **names
        )
    return _(
        "One side: %(yes)s helpful, %(no)s not helpful. "
        "The other side: %(other_yes)s helpful, %(other_no)s not helpful.",
        **names,
    )
