"""Thresholds of categories, with what a change would have done."""
