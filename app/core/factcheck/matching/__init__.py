"""Which fact-check a post's claim belongs to: pure, no database (docs/moderate/fact-checks.md).

A full-text search gives the candidates (``candidates``: the protocol), their features are computed from the words
(``terms``, ``features``), and a small shipped model ranks them and says whether the first one is sure enough to be
shown (``weights``, ``matcher``). ``meaning`` adds what vectors say.
"""
