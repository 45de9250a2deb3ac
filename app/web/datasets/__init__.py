"""Datasets of fact-checks: items, imports and feeds."""
