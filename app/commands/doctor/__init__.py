"""``doctor``: checks of the settings, the environment, the database and background work."""
