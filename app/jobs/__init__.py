"""Jobs: work that happens after a transaction commits. Bodies run at least once, so each is idempotent."""
