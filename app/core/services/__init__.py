"""Connected services: classifiers over HTTP, or of installed packages, that operators add (docs/run/classifiers.md).

An operator adds a service (``services``); it is only observed until its scores are counted. Each change of its
settings is a new numbered version. ``pool`` builds the classifiers that score a community, and what asks for vectors
of texts instead; ``calling`` asks one service for scores, and ``calls`` is how every call is made: retries, a circuit
breaker, the daily budget. ``comparing`` says what a service or a new version of it changes, ``measuring`` how good
it is. The adapters that speak each service's protocol are in ``app/adapters/services/``.
"""
