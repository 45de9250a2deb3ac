"""The item page: the post, its thread, the notes, the timeline and why a status was reached."""
