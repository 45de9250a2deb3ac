"""Notes and ratings: what members write and how others judge it.

A member writes or edits a note (``notes``), or a model drafts one (``ai_notes``). Other members rate it
(``ratings``). ``verdicts`` changes the note's status
after ratings and decides the action whose rationale it is. ``blindness`` says whether a note takes
ratings and what raters may see, and ``explanations`` why a note has its status. ``lists`` are those of the API.
"""
