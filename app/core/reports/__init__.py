"""Reports: a person says that a post should be looked at (docs/integrate/reports.md).

A report is filed by an integration or a member (``reporting``), weighs as much as its reporter was right before
(``weighing``, ``reporters``), and together with others of the post it may have people asked (``asking``). It never
acts by itself. Once the post is decided, its reports are resolved and each reporter hears the outcome (``outcomes``).
Moderators read and mute (``lists``, ``muting``).
"""
