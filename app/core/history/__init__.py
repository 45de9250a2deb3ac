"""History: who did what, as an audit trail for moderators and operators.

A verb that changes something calls ``chain.record`` in the same transaction with actor, change, object, before,
after, and reason. The entries of one community form a hash chain, so that ``chain.verify`` detects an altered row.
Names and free text are in a side table, so that a person can be erased without breaking the chain. ``pages`` cuts
long lists into pages, ``settings`` lists the changes of a community's settings, ``notices`` holds the messages to
one person.
"""
