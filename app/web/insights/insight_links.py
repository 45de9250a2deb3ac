"""Addresses of the rows behind the figures of the insights page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from flask import url_for

from app.core.insights.groups import DECIDED
from app.core.periods import Period
from app.core.permissions import Actor, Permission, allows
from app.core.vocabulary import ActionState
from app.web import auth
from app.web.filter_forms import Query, encoded

DECISIONS = tuple(what.removeprefix("action.") for what in DECIDED)
"""The states that end a review."""


@dataclass(frozen=True)
class RowLinks:
    """Links of one page: of its ``period``, for its reader. ``base`` is kept in each: the community, if it is named."""

    period: Period
    base: Query
    sees_classifiers: bool
    sees_community: bool

    @classmethod
    def for_reader(cls, period: Period, base: Query) -> "RowLinks":
        """Return the links for the signed-in reader."""
        actor: Actor = auth.current_actor()
        community_id = auth.current_community().id
        return cls(
            period,
            base,
            allows(actor, Permission.REVISE_POLICY, community_id),
            allows(actor, Permission.SEE_SETTINGS, community_id),
        )

    def history(
        self, *states: str, first: date | None = None, last: date | None = None, **filters: str
    ) -> str:
        """Return the action history of the whole period or of these days, of entries that led to these states."""
        query: Query = {**self.base, **filters}
        if states:
            query["state"] = sorted(states)
        query["from"] = (first or self.period.first).isoformat()
        query["to"] = (last or self.period.last).isoformat()
        return f"{url_for('web.history_page')}?{encoded(query)}"

    def overturned(self, **filters: str) -> str:
        """Return what was overturned since the period began: also later, as the figures count it."""
        query: Query = {
            **self.base,
            **filters,
            "state": ActionState.OVERTURNED.value,
            "from": self.period.first.isoformat(),
        }
        return f"{url_for('web.history_page')}?{encoded(query)}"

    def by_part(self, *states: str) -> Sequence[str]:
        """Return the action history of each day or week."""
        return [
            self.history(*states, first=first, last=last)
            for first, last in zip(self.period.starts, self.period.ends, strict=True)
        ]

    def queue(self, **filters: str) -> str:
        """Return the review queue with these filters."""
        return self._page("web.review", **filters)

    def classifiers(self) -> str | None:
        """Return the page of the classifiers, for those who may see it."""
        return self._page("web.classifiers") if self.sees_classifiers else None

    def webhook(self, webhook_id: object) -> str:
        """Return the page of a webhook."""
        return url_for("web.webhook_page", webhook_id=webhook_id)

    def paused(self) -> str:
        """Return where automatic actions are resumed, or what they sent to review for those who may not."""
        return self._page("web.community_page") if self.sees_community else self.queue(sort="newest")

    def _page(self, view: str, **filters: str) -> str:
        query = {**self.base, **filters}
        return f"{url_for(view)}?{encoded(query)}" if query else url_for(view)
