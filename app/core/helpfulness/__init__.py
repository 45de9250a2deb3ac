"""Helpfulness: from stored ratings to the score and status of a note.

``eligibility`` says whose ratings count. A rating updates its note's sums and status at once (``note_scores``).
From time to time all ratings of a community are fitted anew (``refits`` says when; ``rating_snapshots`` reads
them, ``fit_results`` writes what came out). The mathematics are in ``core.scoring``.
"""
