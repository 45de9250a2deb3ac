"""Helpfulness: computes the score and status of a note from stored ratings.

``eligibility`` says whose ratings count. A rating updates its note's sums and status at once (``note_scores``).
From time to time all ratings of a community are fitted again (``refits`` says when; ``rating_snapshots`` reads
them, ``fit_results`` writes the result). The mathematics are in ``core.scoring``.
"""
