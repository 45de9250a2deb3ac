"""Names of classifiers that other code treats in a special way."""

COMMUNITY_RULES = "community.rules"
"""The community's own rules: their score always counts as their author wrote it."""
COMMUNITY_MODEL = "community"
"""The model that learns from the community's decisions: its score replaces those of the others, except of the rules."""
FACT_CHECKS = "builtin.factcheck"
"""The published fact-checks that a community uses: they score whatever rules are in force or tried."""
