"""Upkeep: verbs that span many nouns.

Erasing a person (``erasure``, ``traces``), linking profiles of one person (``linking``) and moving what they wrote
(``moving``), changing, pausing and archiving a community (``community_revisions``), what a restored backup must not
send again (``restoring``), encrypting every secret with a new key (``resealing``), the texts of mails (``mail_texts``),
and what is kept for a limited time only (``pruning``).
"""
