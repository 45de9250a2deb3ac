"""Pages for admins: API keys and people."""
