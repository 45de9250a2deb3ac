"""Insights: statistics about moderation.

``trends`` computes the dashboard's statistics for a period (``trend_figures`` are their rows): from the counts that
``rollups`` keeps ready by the hour, and from the sums of ``trend_queries`` over what these do not cover yet.
``concerns`` judges what of it needs attention.
``insights`` computes a community's totals, ``monitoring`` the metrics of ``/metrics``.
"""
