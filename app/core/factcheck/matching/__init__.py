"""Which fact-check a post's claim belongs to: pure, no database (docs/moderate/fact-checks.md).

A full-text search gives the candidates (``matcher``: the protocol), their features are computed from the words and the
vectors (``terms``, ``features``), and a small shipped model (``weights``) ranks them and says whether the first one is
sure enough to be shown (``matcher``).
"""
