"""Processes: how the service starts, runs and stops.

``startup`` checks the settings and starts what was asked for; ``serve`` runs gunicorn with the worker class of ``worker``;
``runtime`` opens a migrated database with its jobs; ``logs`` and ``observing`` say what happens.
"""
