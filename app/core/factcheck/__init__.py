"""Published fact-checks: imported in datasets, found again in posts (decision 0019).

Datasets belong to the service, and every community's posts are compared with all of them: what a publisher found does
not depend on where it is quoted. ``words`` reads claims and rating words, ``items`` reads rows, keeps and finds them.
"""
