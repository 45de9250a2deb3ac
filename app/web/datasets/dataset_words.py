"""Words for ratings, imports and feeds on the pages of datasets."""

from collections.abc import Mapping

from app.core.models import DatasetImport, FactCheckItem
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext, number
from app.core.vocabulary import ClaimRating, FeedOutcome, ImportState

RATINGS: Mapping[str, str] = {
    ClaimRating.FALSE: lazy_gettext("False"),
    ClaimRating.MOSTLY_FALSE: lazy_gettext("Mostly false"),
    ClaimRating.MIXTURE: lazy_gettext("Mixture"),
    ClaimRating.MOSTLY_TRUE: lazy_gettext("Mostly true"),
    ClaimRating.TRUE: "True",
    ClaimRating.MISLEADING: lazy_gettext("Misleading"),
    ClaimRating.UNPROVEN: lazy_gettext("Unproven"),
    ClaimRating.SATIRE: lazy_gettext("Satire"),
    ClaimRating.LEGEND: lazy_gettext("Legend"),
    ClaimRating.OUTDATED: lazy_gettext("Outdated"),
}
IMPORT_STATES: Mapping[str, str] = {
    ImportState.COLUMNS: lazy_gettext("Waits for its columns"),
    ImportState.READING: lazy_gettext("Being read"),
    ImportState.READ: lazy_gettext("Read, not imported yet"),
    ImportState.STORING: lazy_gettext("Being imported"),
    ImportState.FINISHED: lazy_gettext("Imported"),
    ImportState.STOPPED: lazy_gettext("Stopped"),
    ImportState.FAILED: lazy_gettext("Failed"),
}
FEED_OUTCOMES: Mapping[str, str] = {
    FeedOutcome.IMPORTED: lazy_gettext("New content imported"),
    FeedOutcome.UNCHANGED: lazy_gettext("Nothing new"),
    FeedOutcome.FAILED: lazy_gettext("Failed"),
}
EVERY: Mapping[str, str] = {
    "1": lazy_gettext("Every hour"),
    "6": lazy_gettext("Every 6 hours"),
    "24": lazy_gettext("Every day"),
    "168": lazy_gettext("Every week"),
}


def rating_words(item: FactCheckItem) -> str:
    """What an item's rating means, or that we do not know."""
    return str(RATINGS[item.rating]) if item.rating is not None else _("Not understood")


def items(count: int) -> str:
    return ngettext("%(num)s fact-check", "%(num)s fact-checks", count)


def summary(found: DatasetImport) -> str:
    """What reading a file found: "3 new, 2 changed"."""
    parts = [
        _("%(added)s new", added=number(found.added)),
        _("%(changed)s changed", changed=number(found.changed)),
        _("%(unchanged)s unchanged", unchanged=number(found.unchanged)),
        *([_("%(taken)s not of this community", taken=number(found.taken))] if found.taken else []),
        *([_("%(refused)s refused", refused=number(found.refused))] if found.refused else []),
        *([_("%(retiring)s to retire", retiring=number(found.retiring))] if found.retiring else []),
    ]
    return ", ".join(parts)
