"""Requests: a post from submission to its scores.

An integration submits content (``submitting``) and reads it back (``reading``). A job scores it and opens what
follows (``scoring``). Rules of a community that take too long are recorded (``slow_rules``). What is older than
the retention period is emptied (``retention``).
"""
