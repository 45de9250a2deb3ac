"""Connected services: classifiers over HTTP, or of installed packages, that operators add (docs/run/classifiers.md).

An operator adds a service (``services``); it is only observed until its scores are counted. Each change of its
settings is a new numbered version. ``pool`` builds the classifiers that score a community; ``calling`` asks one with
deadlines, retries, a circuit breaker and a cache; ``calls`` counts what was asked and enforces the daily budget.
``guarded`` is how every call is made, ``embedding`` asks for vectors of texts instead of scores.
``comparing`` says what an observed service would have changed, ``trials`` what a new version would change.
The adapters that speak each service's protocol are in ``app/adapters/services/``.
"""
