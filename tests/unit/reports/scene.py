"""People who report posts of the home community, and what came of it."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa

from app.core import clock
from app.core.actions import actions
from app.core.history.reason import Reason
from app.core.models import (
    Action,
    Community,
    Event,
    Profile,
    RaterParameters,
    Report,
    Request,
    ScoringState,
    Webhook,
)
from app.core.people import profiles
from app.core.reports import reporting
from app.core.reports.reporting import Filed, NewReport
from app.core.requests.submitting import Submission
from app.core.review import verbs
from app.core.vocabulary import ActionState, EventName, ReportState
from app.wiring import Wiring
from tests import factories
from tests.cast import PLATFORM, Cast
from tests.web.hooks import Hooks

CALM = "The ferry leaves at nine tomorrow, from the pier beside the market"


@dataclass
class Scene:
    """Reports in the home community, by the verbs that its integration calls."""

    wiring: Wiring
    cast: Cast

    def person(self, name: str, *, side: int = 0, days: float = 2) -> str:
        """Make a user of the forum who was first seen so many days ago, on a side of the axis."""
        with self.wiring.database.writing() as session:
            profile = self._profile(session, name)
            profile.created_at = clock.now() - timedelta(days=days)
            if side:
                session.merge(ScoringState(community_id=self.cast.community_id, model_version=1))
                session.flush()
                session.add(
                    RaterParameters(
                        community_id=self.cast.community_id,
                        version=1,
                        profile_id=profile.id,
                        intercept=0.0,
                        factor=0.5 * side,
                        kept=True,
                        volume=False,
                        correlated=False,
                    )
                )
        return name

    def _profile(self, session: sa.orm.Session, name: str) -> Profile:
        community = session.get_one(Community, self.cast.community_id)
        scope = profiles.scope_in(PLATFORM, community)
        profile = profiles.ensure(session, PLATFORM, name, scope)
        session.flush()
        return profile

    def post(self, name: str = "post-1", text: str = CALM) -> uuid.UUID:
        """Submit and score a post; return its id."""
        request_id = factories.submit(self.wiring, self.cast, text, name)
        self.run()
        return request_id

    def report(
        self,
        who: str,
        post: str = "post-1",
        category: str | None = "spam",
        *,
        text: str | None = None,
        **more: str,
    ) -> Filed:
        """Report a post by its ``request_id``; with ``text`` an unknown one is submitted."""
        with self.wiring.database.writing() as session:
            community = session.get_one(Community, self.cast.community_id)
            new = NewReport(
                more.get("report_id", f"{who}-{post}"),
                who,
                request_id=None if text else post,
                platform_message_id=f"m-{post}",
                category=category,
                text="Look at this",
                submission=Submission(f"report:{who}-{post}", who, text, platform_message_id=f"m-{post}")
                if text
                else None,
            )
            actor = factories.integration(self.cast)
            return reporting.file(session, actor, community, self._profile(session, who), new)

    def run(self) -> None:
        """Run the jobs that are due."""
        self.wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double

    def action(self, post: str = "post-1") -> Action | None:
        """The newest action of a post."""
        with self.wiring.database.reading() as session:
            request_id = session.scalars(sa.select(Request.id).where(Request.request_id == post)).one()
            return actions.live_for(session, request_id)

    def decide(self, state: ActionState, post: str = "post-1") -> None:
        """A moderator decides a review; what is decided to be done is then carried out, and the jobs run."""
        action = self.action(post)
        assert action is not None
        moderator = factories.moderator(self.cast)
        with self.wiring.database.writing() as session:
            found = session.get_one(Action, action.id)
            verbs.change_action(session, moderator, found, state, reason=Reason("Decided"))
        if state is ActionState.PROPOSED:
            self.acknowledge(post)
        self.run()

    def acknowledge(self, post: str = "post-1") -> None:
        """The platform carries a proposal out."""
        action = self.action(post)
        assert action is not None
        with self.wiring.database.writing() as session:
            found = session.get_one(Action, action.id)
            verbs.change_action(session, factories.integration(self.cast), found, ActionState.APPLIED)
        self.run()

    def states(self) -> dict[str, ReportState]:
        """The state of each report."""
        with self.wiring.database.reading() as session:
            rows = session.execute(sa.select(Report.report_id, Report.state).order_by(Report.report_id))
            return {report_id: state for report_id, state in rows}

    def listen(self) -> None:
        """Register a webhook that wants the outcomes."""
        webhook_id = Hooks(self.wiring, self.cast.community_id).register()
        with self.wiring.database.writing() as session:
            session.get_one(Webhook, webhook_id).events = [EventName.REPORT_RESOLVED.value]

    def heard(self) -> list[tuple[str, str]]:
        """Who heard which outcome, by events."""
        with self.wiring.database.reading() as session:
            found: Sequence[Event] = session.scalars(
                sa.select(Event).where(Event.name == EventName.REPORT_RESOLVED).order_by(Event.id)
            ).all()
            return sorted(
                (one.payload["data"]["reporter_id"], one.payload["data"]["outcome"]) for one in found
            )

    def count(self, model: type) -> int:
        with self.wiring.database.reading() as session:
            return session.scalar(sa.select(sa.func.count()).select_from(model)) or 0
