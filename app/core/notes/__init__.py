"""Notes and ratings: what members write and how others judge it.

A member writes or edits a note (``notes``), or a model drafts one (``ai_notes``, checked by ``draft_checks``). Other
members rate it (``ratings``). ``verdicts`` changes the note's status after ratings, and ``consequences`` decides the
action whose rationale it is. ``blindness`` says whether a note takes ratings and what raters may see, ``explanations``
why a note has its status. ``lists`` are those of the API.
"""
