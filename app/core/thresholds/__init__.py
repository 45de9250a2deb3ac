"""The thresholds of a community, and how they route scores.

An operator saves thresholds per category (``drafts``); each save is a new version (``threshold_sets``). ``routing``
compares scores with the version in force: act without review (Tier 1), ask raters (Tier 2), or do nothing.
Before saving, ``previews`` shows what the change would have done to stored scores (``post_scores``);
``outcomes`` says how known cases ended, and ``suggestions`` proposes thresholds from them.
"""
