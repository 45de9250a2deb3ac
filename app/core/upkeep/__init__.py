"""Upkeep: verbs that span many nouns.

Erasing a person (``erasure``, ``traces``), linking two profiles of one person (``linking``, ``manual_links``), whom ids
without a platform meant before (``bare_ids``), changing, pausing and archiving a community
(``community_revisions``), what a restored backup must not send again (``restoring``), encrypting every secret with a
new key (``resealing``), the texts of mails (``mail_texts``), and what is kept for a limited time only (``pruning``).
"""
