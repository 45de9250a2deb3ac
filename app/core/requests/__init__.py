"""Requests: a post from submission to its scores.

An integration submits content (``submitting``) and reads it back (``reading``). A job scores it and opens the
action (``scoring``). A community's rules that take too long are recorded (``slow_rules``). Content older than the
retention period is removed (``retention``).
"""
