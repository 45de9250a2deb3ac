"""Requests: a post from submission to its scores.

An integration submits content (``submitting``) and reads it back (``reading``). A job scores it and opens the
action (``scoring``). Posts of the past can be scored only to see what would have been done (``observing``), and texts
at once without being stored (``text_scores``). A community's rules that take too long are recorded (``slow_rules``).
Content older than the retention period is removed (``retention``).
"""
