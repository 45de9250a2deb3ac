"""Words for ratings, imports and feeds on the pages of datasets."""

from collections.abc import Mapping

from app.core.models import DatasetImport, FactCheckItem
from app.core.vocabulary import ClaimRating, FeedOutcome, ImportState

RATINGS: Mapping[str, str] = {
    ClaimRating.FALSE: "False",
    ClaimRating.MOSTLY_FALSE: "Mostly false",
    ClaimRating.MIXTURE: "Mixture",
    ClaimRating.MOSTLY_TRUE: "Mostly true",
    ClaimRating.TRUE: "True",
    ClaimRating.MISLEADING: "Misleading",
    ClaimRating.UNPROVEN: "Unproven",
    ClaimRating.SATIRE: "Satire",
    ClaimRating.LEGEND: "Legend",
    ClaimRating.OUTDATED: "Outdated",
}
IMPORT_STATES: Mapping[str, str] = {
    ImportState.COLUMNS: "Waits for its columns",
    ImportState.READING: "Being read",
    ImportState.READ: "Read, not imported yet",
    ImportState.STORING: "Being imported",
    ImportState.FINISHED: "Imported",
    ImportState.STOPPED: "Stopped",
    ImportState.FAILED: "Failed",
}
FEED_OUTCOMES: Mapping[str, str] = {
    FeedOutcome.IMPORTED: "New content imported",
    FeedOutcome.UNCHANGED: "Nothing new",
    FeedOutcome.FAILED: "Failed",
}
EVERY: Mapping[str, str] = {"1": "Every hour", "6": "Every 6 hours", "24": "Every day", "168": "Every week"}


def rating_words(item: FactCheckItem) -> str:
    """What an item's rating means, or that we do not know."""
    return RATINGS[item.rating] if item.rating is not None else "Not understood"


def items(count: int) -> str:
    return "1 fact-check" if count == 1 else f"{count:,} fact-checks"


def summary(found: DatasetImport) -> str:
    """What reading a file found, in one sentence."""
    parts = [
        f"{found.added:,} new",
        f"{found.changed:,} changed",
        f"{found.unchanged:,} unchanged",
        *([f"{found.taken:,} not of this community"] if found.taken else []),
        *([f"{found.refused:,} refused"] if found.refused else []),
        *([f"{found.retiring:,} to retire"] if found.retiring else []),
    ]
    return f"{', '.join(parts)}."
