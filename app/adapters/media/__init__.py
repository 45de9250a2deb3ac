"""Fetching, checking and storing the attachments of posts (docs/integrate/attachments.md)."""
