"""``backup`` and ``restore``: one file holds the whole database as it was at one moment."""
