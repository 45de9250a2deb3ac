"""Insights: statistics about moderation.

``insights`` and ``trends`` compute the dashboard's statistics for a period (``trend_figures`` are their rows);
``monitoring`` computes the metrics of ``/metrics``.
"""
