"""The demo data: a forum with its people and six weeks of posts, written to an empty database by ``seed``."""
