"""``backup`` and ``restore``: one file contains the whole database at one point in time; ``move-to``: from SQLite to
PostgreSQL."""
