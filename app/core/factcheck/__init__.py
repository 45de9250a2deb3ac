"""Published fact-checks: imported as datasets, matched with posts (decisions 0019 and 0045).

The service's datasets are compared with every community's posts, because a publisher's verdict does not depend on
where the claim is quoted; a community may also have its own. ``words`` parses claims and ratings, ``items`` stores and
finds items. ``formats`` reads files in every form; ``imports`` takes them in, ``import_steps`` reads and stores them in
batches, ``feeds`` and ``feed_looks`` fetch them again and again. ``storing`` retires items, ``item_search`` finds them
for operators.
where the claim is quoted; a community may also have its own. ``words`` reads ratings, ``items`` parses and
stores items, ``search`` is their index, ``matching`` ranks them for a post, and ``scorer`` scores posts by them.
"""
