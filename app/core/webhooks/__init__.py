"""Webhooks: how a decision reaches the integration.

An operator or an integration registers a webhook (``endpoints``; ``values`` checks address and event names). A
change writes an event and one delivery for each webhook that wants it, in its own transaction (``events``,
``payloads``). A dispatcher claims due deliveries (``queue``), signs them (``signing``, with the sealed
``secrets``) and sends them through a ``sending.Sender``. The result is recorded and retried, or the delivery fails
for good (``queue``), and a webhook that keeps failing is disabled (``health``). People look deliveries up
(``deliveries``, ``figures``) and send them again (``replays``).
"""
