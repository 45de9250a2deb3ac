"""Action history: changes of actions, and changes of settings."""
