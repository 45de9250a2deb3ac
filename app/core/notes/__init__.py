"""Notes and ratings: what members write and how others judge it.

A member writes or edits a note (``notes``), or a model drafts one (``ai_notes``). Others rate it (``ratings``);
many new raters at once stop the decision (``bursts``). ``verdicts`` does what follows: a note's status changes,
and if it is the note of an action, that action is decided. ``explanations`` says afterwards why a note has its
status.
"""
