"""Rulesets: a community's own rules for its classifier.

Operators edit a draft (``drafts``), try it on a text and on recent posts (``trials``), and publish it as a version
that can be reverted (``versions``). ``versions`` also caches the compiled rules in force.
"""
