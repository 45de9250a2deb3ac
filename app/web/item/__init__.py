"""The item page: the post, its thread, the notes, the timeline, and the explanation of a note's status."""
