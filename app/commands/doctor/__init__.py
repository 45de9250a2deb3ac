"""``doctor``: checks of what the service stands on."""
