"""Fetching, checking and storing the attachments of posts (docs/attachments.md)."""
