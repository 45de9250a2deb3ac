"""Rulesets: a community's own rules for its classifier.

Operators edit a draft (``drafts``), try it on a text and on recent posts (``trials``), and publish it as a version
that can be reverted (``versions``). ``compiled`` caches the version in force for scoring.
"""
