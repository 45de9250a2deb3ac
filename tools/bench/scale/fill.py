"""Fills a database with communities, posts and all that follows from them, written by COPY on PostgreSQL.

For each 1,000 requests: 3,000 scores, 350 actions (20 of them open, 7 in a second look), 300 reports, about 1,900
ratings (5 of them by the cast's rater), 5,400 history entries with valid hashes, 1,160 events and deliveries, and a
panel for one action in twenty. One community in a hundred has 60 % of them. ``life`` adds what does not come with
posts.
"""

import hashlib
import json
import multiprocessing
import random
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import sqlalchemy as sa

from app.core import clock
from app.core.communities import communities
from app.core.db import Base, Database
from app.core.history import chain, marks
from app.core.models import (
    Account,
    Action,
    Attempt,
    Decision,
    Delivery,
    Event,
    HistoryEntry,
    HistoryText,
    Note,
    Panel,
    PanelSeat,
    PostScores,
    Profile,
    Rating,
    Report,
    Request,
    Score,
    Webhook,
)
from app.core.permissions import SYSTEM
from app.core.thresholds import post_scores
from app.core.thresholds.routing import Scored
from app.core.vocabulary import (
    ActionState,
    ActionTier,
    ActionType,
    Classification,
    DeliveryState,
    EventName,
    HelpfulnessLevel,
    NoteStatus,
    PanelOutcome,
    ReportOrigin,
    ReportState,
    RequestStatus,
    ReviewGroup,
    SeatState,
)
from tests import bulk
from tests.cast import Cast
from tools.bench.scale import copies as repeating
from tools.bench.scale import life

DAYS = 300
COMMUNITIES = 100
BIG_SHARE = 0.6
BATCH = 5_000
CATEGORIES = ("toxicity", "spam", "threat", "misinformation", "hate", "pii", "sexual", "self_harm")
VERSION = "1.1+000000000000"
_WORDS = [
    "harbour",
    "quay",
    "ferry",
    "boat",
    "tide",
    "rope",
    "anchor",
    "captain",
    "crew",
    "market",
    "fish",
    "net",
    "storm",
    "light",
    "tower",
    "bell",
    "signal",
    "map",
    "route",
    "ticket",
    "office",
    "summer",
    "winter",
    "council",
    "meeting",
    "vote",
    "road",
    "bridge",
    "school",
    "garden",
    "music",
    "concert",
    "library",
    "bakery",
    "coffee",
    "train",
    "station",
    "letter",
    "parcel",
    "holiday",
    "weather",
    "forecast",
    "river",
    "lake",
    "mountain",
    "path",
    "bicycle",
    "repair",
]

RARE = {"lantern": 0.1, "orchard": 0.01, "glacier": 0.001, "meteor": 0.0001}
"""Words by their share of posts, and of reasons; each of the others is in a third of the posts."""
REQUESTERS = {"importer": 0.01, "rare-importer": 0.0001}
DATASET = "checks"
BUSY_SHARE = 1 / 42
"""Of how many notes at home the cast's rater rates one: 5,000 of 1,000,000 posts."""
REPORT_SHARE = 0.86
"""Of how many actions' posts there is a report: 300,000 of 1,000,000 posts."""
PANEL_SHARE = 0.05
FEW = 0.001
"""The share of posts and actions with a value of a filter that few have."""


class Writer:
    """Rows by table, written in batches: COPY on PostgreSQL, many rows a statement on SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows: dict[sa.Table, list[Mapping[str, Any]]] = defaultdict(list)
        self._waiting = 0

    def add(self, model: type[Base], **values: Any) -> None:
        table: sa.Table = model.__table__  # type: ignore[assignment]
        self._rows[table].append(values)
        self._waiting += 1
        if self._waiting >= BATCH * 10:
            self.flush()

    def flush(self) -> None:
        """Write what waits, in the order of the foreign keys."""
        with self._database.engine.connect().execution_options(writing=True) as connection:
            if connection.dialect.name == "postgresql":
                # The rows of a batch refer to each other in both directions.
                connection.execute(sa.text("SET session_replication_role = replica"))
            else:
                connection.execute(sa.text("PRAGMA defer_foreign_keys = 1"))
            for table in Base.metadata.sorted_tables:
                rows = self._rows.pop(table, [])
                if rows:
                    _write(connection, table, rows)
            connection.commit()
        self._waiting = 0


def _write(connection: sa.Connection, table: sa.Table, rows: list[Mapping[str, Any]]) -> None:
    columns = [column for column in table.columns if column.name in _names(table, rows[0])]
    if connection.dialect.name != "postgresql":
        connection.execute(sa.insert(table), [_complete(table, row) for row in rows])
        return
    processors: list[Callable[[Any], Any] | None] = [
        column.type.bind_processor(connection.dialect) for column in columns
    ]
    driver = connection.connection.driver_connection
    names = ", ".join(f'"{column.name}"' for column in columns)
    with driver.cursor() as cursor, cursor.copy(f'COPY "{table.name}" ({names}) FROM STDIN') as copy:  # type: ignore[union-attr]
        for row in rows:
            complete = _complete(table, row)
            copy.write_row(
                [
                    _plain(complete[column.key] if process is None else process(complete[column.key]))
                    for column, process in zip(columns, processors, strict=True)
                ]
            )


def _plain(value: Any) -> Any:
    # COPY takes the text of JSON.
    return json.dumps(value) if isinstance(value, dict | list) else value


def _names(table: sa.Table, row: Mapping[str, Any]) -> set[str]:
    return {table.columns[key].name for key in _complete(table, row)}


def _complete(table: sa.Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with every column, so that all rows of a batch have the same."""
    values = dict(bulk.defaults(table))
    values.update(row)
    return values


class Filler:
    """Writes the rows. The same seed and numbers give the same rows, but for what today is.

    On PostgreSQL two processes write them: one those of the home community, which has most, one those of all others.
    """

    def __init__(
        self, database: Database, people: Cast, requests: int, seed: int = 7, copies: int = 1
    ) -> None:
        self._database, self._cast, self._requests = database, people, requests
        self._copies = copies
        self._seed = seed
        self._chance = random.Random(seed)  # noqa: S311 - the same rows each time
        self._write = Writer(database)
        self._last: dict[uuid.UUID, tuple[int, str]] = {}

    def run(self) -> None:
        begin = clock.now() - timedelta(days=DAYS)
        self._communities = self._open_communities()
        self._staff = self._read_staff()
        self._people(begin)
        if self._database.engine.dialect.name == "postgresql":
            self._beside(begin, (True, False))
        else:
            self._posts(begin, (True, False))
        if self._copies > 1:
            repeating.repeat(self._database, self._copies, timedelta(days=DAYS) / self._copies)
        with self._database.engine.connect().execution_options(writing=True) as connection:
            bulk.rater_days(connection)
            connection.commit()

    def live(self) -> None:
        """Write what does not come with posts."""
        life.add(
            self._write,
            self._cast,
            self._requests * self._copies,
            clock.now() - timedelta(days=DAYS),
            self._id,
        )

    def _beside(self, begin: datetime, parts: tuple[bool, ...]) -> None:
        # A connection belongs to one process.
        self._database.engine.dispose()
        context = multiprocessing.get_context("fork")
        writers = [context.Process(target=self._posts, args=(begin, (part,))) for part in parts]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        if any(writer.exitcode for writer in writers):
            raise RuntimeError("A process that writes posts has failed.")

    def _posts(self, begin: datetime, at_home: tuple[bool, ...]) -> None:
        """Write the posts of the home community, of all others, or both."""
        where = random.Random(self._seed)  # noqa: S311
        self._chance = random.Random(f"{self._seed} {at_home}")  # noqa: S311
        step = timedelta(days=DAYS) / self._requests / self._copies
        for number in range(self._requests):
            is_home = where.random() < BIG_SHARE
            if is_home in at_home:
                self._post(number, begin + number * step, is_home=is_home)
        self._write.flush()

    def _open_communities(self) -> list[uuid.UUID]:
        """The home community first; it gets most of everything."""
        count = min(COMMUNITIES, max(2, self._requests // 100))
        with self._database.writing() as session:
            made = [
                communities.open_community(
                    session, SYSTEM, "bench", f"bench-{number}", name=f"Town {number}"
                ).id
                for number in range(count - 1)
            ]
            heads = session.execute(
                sa.select(HistoryEntry.community_id, HistoryEntry.number, HistoryEntry.hash).order_by(
                    HistoryEntry.number
                )
            )
            self._last = {row.community_id: (row.number, row.hash) for row in heads}
        return [self._cast.community_id, *made]

    def _read_staff(self) -> uuid.UUID:
        with self._database.reading() as session:
            return session.scalars(
                sa.select(Account.id).where(Account.id == self._cast.moderator.account_id)
            ).one()

    def _people(self, at: datetime) -> None:
        count = max(40, self._requests * self._copies // 100)
        self._raters = [self._id(at) for _ in range(count)]
        self._author = self._id(at)
        for number, profile_id in enumerate((*self._raters, self._author)):
            self._write.add(
                Profile,
                id=profile_id,
                platform="bench",
                platform_user_id=f"member-{number}",
                created_at=at,
                updated_at=at,
            )
        self._webhooks: dict[uuid.UUID, uuid.UUID] = {}
        for community_id in self._communities:
            self._webhooks[community_id] = self._id(at)
            self._write.add(
                Webhook,
                id=self._webhooks[community_id],
                community_id=community_id,
                url=f"https://forum.example/{community_id}",
                secret=b"sealed",
                created_at=at,
                updated_at=at,
            )
        self._write.flush()

    def _id(self, at: datetime) -> uuid.UUID:
        """A UUID version 7 of this time."""
        bits = int(at.timestamp() * 1000) << 80 | 7 << 76 | self._chance.getrandbits(76)
        return uuid.UUID(int=bits & ~(3 << 62) | 2 << 62)

    def _text(self) -> str:
        return " ".join(
            [*self._chance.choices(_WORDS, k=self._chance.randint(8, 40)), *self._sometimes(RARE)]
        )

    def _few(self, few: Any, many: Any) -> Any:
        return few if self._chance.random() < FEW else many

    def _sometimes(self, shares: Mapping[str, float]) -> list[str]:
        """Each of the words with its probability."""
        return [word for word, share in shares.items() if self._chance.random() < share]

    def _post(self, number: int, at: datetime, *, is_home: bool) -> None:
        chance = self._chance
        community_id = self._communities[0] if is_home else chance.choice(self._communities[1:])
        request_id, content = self._id(at), f"{self._text()} {number}"
        acted = chance.random() < 0.35
        # The open ones are among the last, as in a queue that people work on.
        is_open = acted and number > self._requests * 0.8 and chance.random() < 0.28
        scored = at + timedelta(seconds=1)
        first, *others = chance.sample(CATEGORIES, 3)
        categories = [self._few("doxxing", first), *others]
        scores = sorted((round(chance.random() ** 4, 4) for _ in categories), reverse=True)
        if acted:
            scores[0] = round(chance.uniform(0.56, 0.99), 4)
        author = f"author-{chance.randrange(max(50, self._requests // 50))}"
        post = {
            "author": "author-busy" if chance.random() < 0.05 else author,
            "language": self._few("fi", chance.choice(("en", "en", "en", "de", "und"))),
            "channel": self._few("channel-quiet", f"channel-{number % 40}"),
        }
        self._write.add(
            Request,
            id=request_id,
            community_id=community_id,
            request_id=f"post-{number}",
            requested_by=next(iter(self._sometimes(REQUESTERS)), "bench"),
            dataset_name=DATASET if number % 100 == 0 else None,
            dataset_item_id=f"check-{number % 5_000}" if number % 100 == 0 else None,
            status=RequestStatus.IN_PROGRESS if is_open else RequestStatus.COMPLETED,
            content=content,
            content_sha256=hashlib.sha256(content.encode()).hexdigest(),
            platform_message_id=f"m-{number}",
            platform_channel_id=post["channel"],
            platform_author_id=post["author"],
            language=post["language"],
            requested_at=at,
            scored_at=scored,
            completed_at=None if is_open else scored,
            created_at=at,
            updated_at=scored,
        )
        for category, score in zip(categories, scores, strict=True):
            self._write.add(
                Score,
                id=self._id(scored),
                community_id=community_id,
                request_id=request_id,
                category=category,
                classifier="builtin.rules",
                classifier_version=VERSION,
                score=score,
                tier1_capable=True,
                is_highest=True,
                created_at=scored,
            )
        columns = post_scores.packed(dict(zip(categories, map(Scored, scores), strict=True)))
        if columns:
            self._write.add(
                PostScores, request_id=request_id, community_id=community_id, scored_at=scored, **columns
            )
        self._entry(
            community_id, scored, "request.in_progress", "request", request_id, RequestStatus.IN_PROGRESS
        )
        if acted:
            self._action(community_id, request_id, scored, categories[0], scores[0], is_open=is_open, **post)
        if not is_open:
            done = scored + timedelta(minutes=chance.randint(0, 600) if acted else 0)
            self._entry(
                community_id, done, "request.completed", "request", request_id, RequestStatus.COMPLETED
            )

    def _action(
        self,
        community_id: uuid.UUID,
        request_id: uuid.UUID,
        at: datetime,
        category: str,
        score: float,
        *,
        is_open: bool,
        author: str,
        language: str,
        channel: str,
    ) -> None:
        chance = self._chance
        action_type = self._few(ActionType.WARN, ActionType.HIDE)
        facts = {
            "action_type": action_type.value,
            "category": category,
            "author": author,
            "language": language,
        }
        action_id, note_id = self._id(at), self._id(at)
        decided = at + timedelta(minutes=chance.randint(1, 600))
        state = ActionState.UNDER_REVIEW if is_open else chance.choice(_ENDS)
        rated = chance.randint(0, 4) if is_open else chance.randint(3, 8)
        same = {"community_id": community_id, "created_at": at, "updated_at": decided}
        helpful = state is not ActionState.DISMISSED
        self._write.add(
            Note,
            **same,
            id=note_id,
            request_id=request_id,
            author_id=self._few(self._raters[0], self._author),
            author_ref="bridgenote",
            summary=f"This looks like {category}.",
            classification=self._few(Classification.NOT_MISLEADING, Classification.MISLEADING),
            platform_message_id=self._few(f"m-{request_id}", None),
            status=NoteStatus.NEEDS_MORE_RATINGS
            if is_open
            else NoteStatus.CURRENTLY_RATED_HELPFUL
            if helpful
            else NoteStatus.CURRENTLY_RATED_NOT_HELPFUL,
            rationale=self._few(False, True),
            ratings_count=rated,
        )
        moments = {
            "proposed_at": decided,
            "applied_at": decided,
            "dismissed_at": decided if state is ActionState.DISMISSED else None,
            "retro_review_at": decided if state is ActionState.RETRO_REVIEW else None,
            "confirmed_at": decided if state is ActionState.CONFIRMED else None,
        }
        self._write.add(
            Action,
            **same,
            **({} if is_open else moments),
            id=action_id,
            request_id=request_id,
            action_type=action_type,
            action_tier=self._few(ActionTier.IMMEDIATE, ActionTier.CONSENSUS),
            action_state=state,
            review_group=ReviewGroup.COMMUNITY,
            category=category,
            score=score,
            evidence={"score": score, "category": category, "scores": {category: score}, "details": {}},
            decided_verb="hide",
            note_id=note_id,
            platform_author_id=author,
            platform_channel_id=channel,
            language=language,
            urgent_at=at,
        )
        self._entry(
            community_id, at, "action.under_review", "action", action_id, ActionState.UNDER_REVIEW, **facts
        )
        raters = chance.sample(self._raters, rated)
        if community_id == self._cast.community_id and chance.random() < BUSY_SHARE:
            raters.append(self._cast.rater.profile_id)
        for rater in raters:
            level = chance.choice(list(HelpfulnessLevel))
            rating_id = self._id(decided)
            self._write.add(
                Rating,
                **same,
                id=rating_id,
                note_id=note_id,
                rater_id=rater,
                rater_ref=str(rater),
                helpfulness_level=level,
                blind_level=level,
            )
            self._entry(community_id, at, "rating.given", "rating", rating_id, "")
        if chance.random() < REPORT_SHARE:
            self._report(community_id, request_id, at, decided, category, is_open=is_open, helpful=helpful)
        if chance.random() < PANEL_SHARE:
            self._panel(community_id, action_id, note_id, at, is_open=is_open)
        if is_open:
            return
        self._entry(community_id, decided, f"note.{_NOTE[helpful]}", "note", note_id, "")
        for step in _STEPS[state]:
            self._entry(
                community_id,
                decided,
                f"action.{step.value}",
                "action",
                action_id,
                step,
                account=self._staff,
                **facts,
            )
        self._write.add(
            Decision,
            id=self._id(decided),
            community_id=community_id,
            request_id=request_id,
            action_id=action_id,
            decision="hide" if helpful else "none",
            tier=2,
            confidence=score,
            # Unique in its community: a fraction that no other decision has.
            decided_at=decided
            + timedelta(microseconds=len(self._last) + self._last[community_id][0] % 900_000),
        )
        self._entry(community_id, decided, "request.decided", "request", request_id, "")
        for name in (EventName.ACTION_CREATED, EventName.DECISION, EventName.NOTE_STATUS):
            self._event(community_id, request_id, action_id, note_id, name, decided)

    def _report(
        self,
        community_id: uuid.UUID,
        request_id: uuid.UUID,
        at: datetime,
        decided: datetime,
        category: str,
        *,
        is_open: bool,
        helpful: bool,
    ) -> None:
        """A report of the post by one of the raters, with the outcome of its action."""
        state = ReportState.UPHELD if helpful else ReportState.REJECTED
        self._write.add(
            Report,
            community_id=community_id,
            created_at=at,
            updated_at=decided,
            id=self._id(at),
            report_id=f"report-{request_id}",
            request_id=request_id,
            reporter_id=self._chance.choice(self._raters),
            reporter_ref="reporter",
            category=category,
            text="Please look at this.",
            origin=ReportOrigin.PLATFORM,
            state=ReportState.OPEN if is_open else state,
            reported_at=at,
            resolved_at=None if is_open else decided,
            weight=0.5,
            side=self._chance.choice((-1, 0, 0, 1)),
            is_newcomer=False,
            is_late=False,
        )

    def _panel(
        self,
        community_id: uuid.UUID,
        action_id: uuid.UUID,
        note_id: uuid.UUID,
        at: datetime,
        *,
        is_open: bool,
    ) -> None:
        """A panel of five; the first rater has a seat in each."""
        panel_id, ended = self._id(at), None if is_open else at + timedelta(hours=1)
        self._write.add(
            Panel,
            id=panel_id,
            community_id=community_id,
            action_id=action_id,
            note_id=note_id,
            review=ActionState.UNDER_REVIEW,
            reason="Few raters agree",
            size=5,
            hours=24,
            wanted=5,
            seed=b"seed",
            opened_at=at,
            due_at=at + timedelta(days=DAYS),
            ended_at=ended,
            outcome=None if is_open else PanelOutcome.DECIDED,
        )
        for number, rater in enumerate((self._raters[0], *self._chance.sample(self._raters[1:], 4)), 1):
            self._write.add(
                PanelSeat,
                panel_id=panel_id,
                profile_id=rater,
                number=number,
                state=SeatState.OPEN if is_open else SeatState.ANSWERED,
                drawn_at=at,
                expires_at=at + timedelta(days=DAYS),
                ended_at=ended,
            )

    def _event(
        self,
        community_id: uuid.UUID,
        request_id: uuid.UUID,
        action_id: uuid.UUID,
        note_id: uuid.UUID,
        name: EventName,
        at: datetime,
    ) -> None:
        event_id, delivery_id = self._id(at), self._id(at)
        self._write.add(
            Event,
            id=event_id,
            community_id=community_id,
            name=name,
            payload={"event": name.value, "event_id": str(event_id), "data": {"request_id": str(request_id)}},
            request_id=request_id,
            action_id=action_id,
            note_id=note_id,
            created_at=at,
        )
        is_dead = self._chance.random() < 0.01
        self._write.add(
            Delivery,
            id=delivery_id,
            event_id=event_id,
            event_name=name,
            endpoint_id=self._webhooks[community_id],
            community_id=community_id,
            state=DeliveryState.DEAD if is_dead else DeliveryState.DELIVERED,
            due_at=None,
            attempts_made=1,
            delivered_at=None if is_dead else at,
            created_at=at,
            updated_at=at,
        )
        self._write.add(
            Attempt,
            id=self._id(at),
            delivery_id=delivery_id,
            endpoint_id=self._webhooks[community_id],
            at=at,
            status=500 if is_dead else 200,
            milliseconds=self._chance.randint(5, 400),
        )

    def _entry(
        self,
        community_id: uuid.UUID,
        at: datetime,
        what: str,
        kind: str,
        object_id: uuid.UUID,
        state: Any,
        *,
        account: uuid.UUID | None = None,
        **facts: str | None,
    ) -> None:
        number, previous = self._last.get(community_id, (0, marks.GENESIS))
        entry_id = self._id(at)
        key = "action_state" if kind == "action" else "status"
        # Plain objects: a mapped one costs as much as all the rest of an entry.
        text = SimpleNamespace(
            entry_id=entry_id,
            salt=f"{self._chance.getrandbits(128):032x}",
            actor_name="Moderator" if account else "Bridgenote",
            reason=" ".join(["Because of the", self._chance.choice(_WORDS), *self._sometimes(RARE)])
            if account
            else "",
            comment="",
        )
        entry = SimpleNamespace(
            id=entry_id,
            community_id=community_id,
            number=number + 1,
            at=at,
            actor_kind="account" if account else "system",
            account_id=account,
            key_id=None,
            profile_id=None,
            what=what,
            object_type=kind,
            object_id=object_id,
            before={},
            after={key: str(state)} if state else {},
            cause="",
            text_hash=chain._text_hash(cast(HistoryText, text)),
            previous_hash=previous,
            **facts,
        )
        entry.hash = chain._hash(cast(HistoryEntry, entry))
        self._last[community_id] = entry.number, entry.hash
        self._write.add(HistoryEntry, **vars(entry))
        self._write.add(HistoryText, **vars(text))


_ENDS = (
    *(ActionState.APPLIED,) * 30,
    *(ActionState.DISMISSED,) * 10,
    *(ActionState.CONFIRMED,) * 9,
    ActionState.RETRO_REVIEW,
)
_STEPS = {
    ActionState.APPLIED: (ActionState.PROPOSED, ActionState.APPLIED),
    ActionState.DISMISSED: (ActionState.DISMISSED,),
    ActionState.RETRO_REVIEW: (ActionState.PROPOSED, ActionState.APPLIED, ActionState.RETRO_REVIEW),
    ActionState.CONFIRMED: (
        ActionState.PROPOSED,
        ActionState.APPLIED,
        ActionState.RETRO_REVIEW,
        ActionState.CONFIRMED,
    ),
}
_NOTE = {True: "currently_rated_helpful", False: "currently_rated_not_helpful"}
