"""Pages for operators: thresholds, classifiers, datasets, reasons, the community, insights."""
