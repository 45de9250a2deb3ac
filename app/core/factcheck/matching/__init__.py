"""Which fact-check a post's claim belongs to: pure, no database (docs/moderate/fact-checks.md).

A full-text index gives the candidates (``index``: the protocol, and one in memory), their features are computed from
the words (``terms``, ``rarity``, ``features``), and a small shipped model ranks them and says whether the first one is
sure enough to be shown (``weights``, ``matcher``).
"""
