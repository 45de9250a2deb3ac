"""Review: what moderators work on, from an open item to a decision that is carried out.

The queue lists open items (``queue``, ``queue_filters``, ``saved_filters``, ``post_search``). A moderator sees who else
looks at one (``looking``), claims it (``claims``), hands it over (``assignments``) or decides; the decision is held for
some seconds in which it can be undone, then carried out (``holds``, ``verbs``). Later it can be looked at again
(``second_looks``) or overturned, one or many at once (``overturns``, ``overturn_search``); ``expiry`` ends reviews
without consensus.
``conditions`` says what is late or failing, ``action_history`` and ``authors`` read earlier actions and posts;
``reason_templates`` stores reasons to choose.
"""
