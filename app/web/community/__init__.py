"""A community's own settings, reasons and decisions overturned in bulk."""
