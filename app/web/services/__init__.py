"""Connected services: classifiers, fact-check sources and note writers."""
