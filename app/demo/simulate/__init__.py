"""Simulates an integration and many raters against a running server, using only HTTP."""
