"""History: what people did and decided, for people to read.

A verb that changes something calls ``chain.record`` in the same transaction: who, what, which object, before, after,
why, when. Entries of one community form a chain of hashes, so an altered row is found by ``chain.verify``. Names and
free text stand in a side table, so a person can be erased without breaking the chain. ``pages`` reads long lists in
slices, ``settings`` the changes of a community's settings, ``notices`` what one person should be told.
"""
