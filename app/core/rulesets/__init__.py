"""Rulesets: a community's own rules for its classifier.

Operators edit a draft (``drafts``), try it on typed text and recent posts (``trials``), and publish it as a
version that can be reverted (``versions``). ``compiled`` keeps the version in force ready for scoring.
"""
