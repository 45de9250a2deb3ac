"""Published fact-checks: imported as datasets, matched with posts (decision 0019).

The service's datasets are compared with every community's posts, because a publisher's verdict does not depend on
where the claim is quoted; a community may also have its own. ``words`` parses claims and ratings, ``items`` parses,
stores and finds items.
"""
