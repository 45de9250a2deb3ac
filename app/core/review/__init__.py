"""Review: what moderators work on, from an open item to a decision that is carried out.

The queue lists open items (``queue``, ``queue_order``, ``saved_filters``, ``post_search``, ``text_index``). A moderator
claims one (``claims``) and decides; the decision is held for some seconds in which it can be undone, then carried out
(``holds``). Later it can be looked at again (``second_looks``) or overturned, one or many at once (``overturns``,
``overturn_search``). ``action_history`` and ``author_history`` read earlier actions and posts; ``reason_templates``
stores reasons that moderators can choose.
"""
