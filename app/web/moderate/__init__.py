"""Pages for moderators: the review queue, decisions, second looks, notices."""
