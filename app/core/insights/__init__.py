"""Insights: figures about how moderation goes.

``insights`` and ``trends`` answer the dashboard's questions about a period (``trend_figures`` are their rows);
``monitoring`` holds the figures of ``/metrics``.
"""
