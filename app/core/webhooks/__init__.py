"""Webhooks: how decisions reach integrations.

An operator or an integration registers a webhook (``registrations``). A change writes an event, and one delivery for
each webhook that subscribes to it, in its own transaction (``events``, ``payloads``; ``catalogue`` declares the events,
``shapes`` their bodies). A dispatcher claims due deliveries (``queue``), signs them (``signing``, with the sealed
``secrets``) and sends them through a ``sending.Sender``. The result is recorded; a failed delivery is retried or
finally given up (``queue``), and a webhook that keeps failing is disabled (``health``). Operators look deliveries up
(``deliveries``) and send them again (``replays``).
"""
