"""Scorers, rules and learned models of a community."""
