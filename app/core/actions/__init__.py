"""Actions: what is done to a post, from proposal to restoration.

``opening`` opens an action when a score exceeds a threshold. ``moves.make_move`` changes its state by the table in
``states`` and writes the history entry and events. ``decisions`` stores the one decision of each request.
The integration acknowledges the actions it has carried out (``acknowledgements``) and says whether it has undone
overturned ones (``undoing``); restored content is not scanned again (``exemptions``).
"""
