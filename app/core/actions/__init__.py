"""Actions: what is done to a post, from proposal to restoration.

``actions`` opens an action when a score asks for one; ``moves.make_move`` changes its state by the table in
``states``, and writes history and events along. ``decisions`` stores the one decision that a request ever gets.
The integration acknowledges what it has carried out (``acknowledgements``); content that was restored is not
scanned again (``exemptions``).
"""
