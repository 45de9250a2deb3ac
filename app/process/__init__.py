"""Processes: how the service starts, runs and stops.

``startup`` runs the commands ``serve`` and ``worker``; until it has, ``starting`` answers the port. ``serve`` runs
gunicorn with the worker class of ``worker``, which reads requests through ``connection`` and ``framing``. ``runtime``
checks the settings, migrates the database and runs jobs. ``hosts`` and ``peers`` check which host a request names and
where it comes from. ``logs`` and ``observing`` write logs, health checks and counts. ``replica_reads`` decides what the
replica answers.
"""
