"""Adapters of connected services: one module for each protocol, and the kinds that they offer to operators.

Installed packages add kinds of their own by the entry point group ``bridgenote.classifiers`` (docs/run/classifiers.md).
"""
