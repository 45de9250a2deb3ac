"""Processes: how the service starts, runs and stops.

``startup`` checks the settings and starts what was asked for; ``serve`` runs gunicorn with the worker class of
``worker``, which reads requests through ``connection`` and ``framing``; ``runtime`` opens a migrated database
with its jobs; ``hosts`` and ``peers`` say which host a request names and where it comes from; ``logs`` and
``observing`` say what happens.
"""
