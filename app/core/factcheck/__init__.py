"""Published fact-checks: imported as datasets, matched with posts (docs/run/datasets.md, docs/moderate/fact-checks.md).

The service's datasets are compared with every community's posts, because a publisher's verdict does not depend on
where the claim is quoted; a community may also have its own. ``words`` and ``ratings`` read what publishers call
their ratings, ``items`` parses and finds items, ``storing`` stores and retires them, ``item_search`` finds them for
operators. ``formats`` reads files in every form; ``imports`` takes them in, ``import_steps`` reads and stores them in
batches, ``feeds`` and ``feed_looks`` fetch them again and again. ``search`` is the index, ``matching`` ranks items for
a post, and ``scorer`` scores posts by them. ``spaces`` keeps the vectors of a connected embeddings service,
``filling`` fills them and ``nearest`` searches them.
"""
