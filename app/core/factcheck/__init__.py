"""Published fact-checks: imported as datasets, matched with posts (docs/run/datasets.md, docs/moderate/fact-checks.md).

A community uses the service's datasets and its own. ``items`` stores, finds and retires items, ``published`` and
``ratings`` read what publishers write, ``datasets`` lists them for operators. ``formats`` reads files in every form;
``imports`` stores files, ``import_steps`` reads and imports them in batches, ``feeds`` and ``feed_fetches`` fetch them
again and again. ``search`` is the database's full-text search, ``matching`` ranks what it finds for a post, and
``scorer`` scores posts by it. ``spaces``, ``filling`` and ``nearest`` keep, compute and search the vectors of a
connected embeddings service.
"""
