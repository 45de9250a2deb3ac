"""Published fact-checks: imported as datasets, matched with posts (decision 0019).

The service's datasets are compared with every community's posts, because a publisher's verdict does not depend on
where the claim is quoted; a community may also have its own. ``words`` reads ratings, ``items`` parses and
stores items, ``search`` is their index, ``matching`` ranks them for a post, and ``scorer`` scores posts by them.
"""
