"""Policies: the thresholds of a community, and what follows from a score.

An operator saves thresholds per category; each save is a new version (``policies``). ``routing`` compares scores
with the version in force: act by itself (Tier 1), ask people (Tier 2), or nothing. Before saving, ``previews``
shows what the change would have done to stored scores, counted in SQL by ``route_counts``; ``outcomes`` says how
known cases ended, and ``suggestions`` proposes thresholds from them.
"""
