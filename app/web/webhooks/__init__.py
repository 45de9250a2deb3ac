"""Pages about webhooks: registering them, their deliveries, sending deliveries again."""
