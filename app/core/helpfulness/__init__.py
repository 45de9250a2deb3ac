"""Helpfulness: computes the score and status of a note from stored ratings.

``eligibility`` says whose ratings count. A rating updates its note's sums and status at once (``note_scores``).
From time to time all ratings of a community are fitted again (``refits`` says when; ``rating_snapshots`` reads
them, ``fit_results`` writes the result). ``viewpoints`` lays out who said yes and no. The mathematics are in
``core.scoring``.
"""
