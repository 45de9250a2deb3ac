"""The demonstration: a forum's month, its people and its posts, told into an empty database by ``app.seed``."""
