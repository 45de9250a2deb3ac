"""Insights: figures, trends and what needs attention."""
