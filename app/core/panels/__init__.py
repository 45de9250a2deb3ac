"""Drawn panels: who decides a review is drawn by lot (docs/moderate/panels.md).

A review of a community that wants it, or one that gives reason for doubt (``doubts``), opens a panel (``opening``),
with a secret seed whose hash goes to history at once. Soon after, a job (``tending``) lists who could be drawn
(``rolls``), or takes a list of the last hour; with fewer than 15 people there is no panel. The seed and the list give
an order of people (``draw``), and the first of them get a seat each (``seats``). A seat ends with an answer, by
declining, or after a day; the next person in the order follows. Once enough have answered, their ratings alone decide
by the rules of every review. After 36 seats or 7 days without a decision moderators decide. Until the end nobody
learns who sits; afterwards the draw can be repeated (``results``).
"""
