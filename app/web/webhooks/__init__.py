"""Pages for webhooks: register them, see their deliveries, replay deliveries."""
