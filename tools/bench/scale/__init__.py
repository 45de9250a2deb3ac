"""`make bench-scale`: pages and calls at many requests (docs/develop/performance.md).

``fill`` writes a database as a year of use would leave it. ``walk`` calls every page and interface on it, ``lists``
every list by each filter that it declares, and counts time, statements and blocks. Nothing fails here: it is run by
hand, and prints a table.
"""
